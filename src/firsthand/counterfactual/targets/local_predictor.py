"""A local model as predictor: exact probabilities of "Yes" and "No" after a question, in several wordings.

A model that spoke in the transcript, or is asked as if it had, gets the claim as the user's next turn; any other reads
the transcript as a quoted document. Nothing is sampled: the mass on both answers is read off the next token's
distribution over the whole vocabulary, and what it falls short of 1 is shown as coverage.

A transcript that does not fit is shortened in the middle of its longest texts, with a mark, where it is a document.
A model's own transcript is not shortened, since then it would not be its own: the answer is invalid and says why.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import torch

from firsthand.analysis.predictions.wordings import combined
from firsthand.counterfactual.predicting.answered import Answered, Said
from firsthand.counterfactual.predicting.documents import LEAST, WHOLE, as_prompt, document, transcript
from firsthand.counterfactual.predicting.predictions import Kind, Prediction
from firsthand.counterfactual.predicting.questions import ANSWERS, Question
from firsthand.counterfactual.predicting.wordings import WORDINGS, Wording
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Sampling
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.targets.rendering import opened
from firsthand.engine import LoadedModel, Row, candidate_tokens, inspect_model, score_candidates
from firsthand.engine.prompts import common_prefix_length
from firsthand.errors import CounterfactualError, ElicitationError, FirsthandError
from firsthand.trials.canonical import digest

Form: TypeAlias = Literal["turn", "document"]
"""How a question is put: as the next turn of the transcript, or with the transcript as a document."""

Tokens: TypeAlias = tuple[int, ...]

STEM: Final = "The answer is"
"""How the model's own turn begins. Without it small models begin with other words, and "Yes" and "No" hold a tenth of
the mass; with it they hold about half. It was chosen by that alone, before any claim was judged."""

VERSION: Final = 1
"""Changes with how questions are put or answers read."""

LONGEST: Final = 4096
"""Tokens of a question, unless more are asked for: the paper's limit in training."""

_TAIL: Final = 4
_SHORTER: Final = 0.7
_SEARCHED: Final = 2048


@dataclass(frozen=True, eq=False)
class Put:
    """A question as it is put to a model.

    Attributes:
        rows: Tokens in each wording; empty if it cannot be put.
        shortened: Characters that were left out of the transcript.
        why: Why it cannot be put, if so.
    """

    rows: tuple[Tokens, ...]
    shortened: int = 0
    why: str = ""

    @property
    def tokens(self) -> int:
        """Tokens that are computed: what wordings share counts once."""
        if not self.rows:
            return 0
        shared = common_prefix_length(self.rows)
        return shared + sum(len(row) - shared for row in self.rows)


class LocalPredictor:
    """Asks a model in this process.

    Args:
        loaded: The model.
        kind: What it is.
        form: How it is asked; by default as the next turn if it is the target, was trained, or has its tools, else
            with the transcript as a document.
        name: Name; by default the model's, with the form where it is not the kind's own.
        wordings: The wordings.
        longest: Most tokens of a question; the model's own limit if that is less.
        stem: How its own turn begins; empty for a model that was trained to begin with the answer.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        kind: Kind = "observer",
        form: Form | None = None,
        name: str | None = None,
        wordings: Sequence[Wording] = WORDINGS,
        longest: int = LONGEST,
        stem: str = STEM,
    ) -> None:
        usual: Form = "document" if kind == "observer" else "turn"
        self.loaded, self.kind, self.form = loaded, kind, form or usual
        self.name = name or (loaded.name if self.form == usual else f"{loaded.name}, as a {self.form}")
        self.wordings, self.stem = tuple(wordings), stem
        self._anatomy = inspect_model(loaded.model)
        limit = getattr(loaded.model.config.get_text_config(decoder=True), "max_position_embeddings", None)
        self.longest = longest if limit is None else min(longest, int(limit))
        self._answers: dict[Tokens, tuple[list[Tokens], list[Tokens]]] = {}

    @property
    def identity(self) -> str:
        """Hash of everything that answers depend on besides the question; the model's name is not among it."""
        loaded = self.loaded
        weights = [loaded.weights_sha256, loaded.tokenizer_sha256, loaded.config_sha256, loaded.dtype]
        asked = [self.form, [list(wording) for wording in self.wordings], self.stem, self.longest, VERSION]
        return f"local {digest([*weights, *asked])}"

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        """One prediction for each question, from all wordings together."""
        return [one.prediction for one in self.answer(questions)]

    def answer(self, questions: Sequence[Question]) -> list[Answered]:
        """One prediction for each question, with what was said in each wording."""
        puts = [self.put(question) for question in questions]
        rows = [row for put in puts for row in put.rows]
        said = iter(self._read(rows)) if rows else iter(())
        return [self._answered(question, put, said) for question, put in zip(questions, puts, strict=True)]

    def put(self, question: Question) -> Put:
        """A question as tokens, shortened if need be, or why it cannot be put."""
        try:
            if self.form == "document":
                return self._as_document(question)
            rows = tuple(self._begun(_next_turn(question, one)) for one in self.wordings)
            longest = max(map(len, rows))
            if longest > self.longest:
                return Put((), why=f"The transcript takes {longest:,} tokens with the claim; {self.longest:,} fit.")
            return Put(rows)
        except FirsthandError as error:
            return Put((), why=error.problem)

    def price(self, questions: Sequence[Question]) -> tuple[int, float | None]:
        """Tokens that asking would compute, and tokens a second of a short pass; ``None`` if nothing can be asked."""
        puts = [put for put in map(self.put, questions) if put.rows]
        tokens = sum(put.tokens for put in puts)
        if not puts:
            return 0, None
        few = puts[:: max(1, len(puts) // 2)][:2]
        self._read([few[0].rows[0][:32]])  # the first pass is slower
        begun = time.perf_counter()
        self._read([row for put in few for row in put.rows])
        return tokens, sum(put.tokens for put in few) / (time.perf_counter() - begun)

    def _as_document(self, question: Question) -> Put:
        limit = WHOLE
        while True:
            shown = document(question, limit)
            rows = tuple(self._begun(as_prompt(shown.text, wording.text)) for wording in self.wordings)
            if max(map(len, rows)) <= self.longest:
                return Put(rows, shown.shortened)
            widest = max(len(text) for _, text in transcript(question))
            if limit <= LEAST:
                return Put((), why=f"Even shortened, the question takes {max(map(len, rows)):,} tokens.")
            limit = max(LEAST, int(min(limit, widest) * _SHORTER))

    def _begun(self, prompt: Prompt) -> Tokens:
        """Tokens of a prompt with the assistant's turn open, and begun with the stem."""
        tokenizer = self.loaded.tokenizer
        tokens = opened(tokenizer, prompt)
        if not self.stem:
            return tokens
        end = str(tokenizer.decode(list(tokens[-_TAIL:]), clean_up_tokenization_spaces=False))
        space = "" if end[-1:].isspace() else " "
        return (*tokens, *candidate_tokens(tokenizer, end, [f"{space}{self.stem}"])[0])

    def _answered(self, question: Question, put: Put, read: Iterator[tuple[float, float]]) -> Answered:
        if not put.rows:
            failed = Prediction(
                claim=question.claim, predictor=self.name, probability=None, coverage=0.0, note=put.why[:300]
            )
            return Answered(prediction=failed)
        said = []
        for wording in self.wordings:
            log_odds, coverage = next(read)
            said.append(Said(wording=wording.name, log_odds=log_odds, coverage=min(1.0, coverage)))
        probability = combined([one.log_odds for one in said if one.log_odds is not None])
        coverage = sum(one.coverage for one in said) / len(said)
        note = f"{put.shortened:,} characters of the transcript were left out." if put.shortened else ""
        made = Prediction(
            claim=question.claim, predictor=self.name, probability=probability, coverage=coverage, note=note
        )
        return Answered(prediction=made, said=tuple(said), shortened=put.shortened, tokens=put.tokens)

    def _read(self, rows: Sequence[Tokens]) -> list[tuple[float, float]]:
        """Log-odds of "Yes" against "No" after each row, and the mass on both."""
        found: dict[int, tuple[float, float]] = {}
        by_end: dict[Tokens, list[int]] = {}
        for number, row in enumerate(rows):
            by_end.setdefault(row[-_TAIL:], []).append(number)
        for end, numbers in by_end.items():
            yes, no = self._ways(end)
            scores = score_candidates(self._anatomy, [Row(rows[number]) for number in numbers], [*yes, *no])
            yes_R = torch.logsumexp(scores.logprobs_RC[:, : len(yes)], 1)
            no_R = torch.logsumexp(scores.logprobs_RC[:, len(yes) :], 1)
            odds = (yes_R - no_R).nan_to_num(0.0, posinf=700.0, neginf=-700.0)
            for number, one, mass in zip(numbers, odds.tolist(), scores.coverage_R.tolist(), strict=True):
                found[number] = (one, mass)
        return [found[number] for number in range(len(rows))]

    def _ways(self, end: Tokens) -> tuple[list[Tokens], list[Tokens]]:
        """Tokens of both answers after the end of a row, in every way to write them that both have as one token."""
        if end not in self._answers:
            stem = str(self.loaded.tokenizer.decode(list(end), clean_up_tokenization_spaces=False))
            self._answers[end] = _ways(self.loaded, stem)
        return self._answers[end]


def _ways(loaded: LoadedModel, stem: str) -> tuple[list[Tokens], list[Tokens]]:
    bare = stem[-1:].isspace()
    spellings = [ANSWERS, tuple(word.lower() for word in ANSWERS), tuple(word.upper() for word in ANSWERS)]
    spaces = ("", " ") if bare else (" ", "")
    ways: list[tuple[Tokens, Tokens]] = []
    for space in spaces:
        for spelling in spellings:
            try:
                yes, no = candidate_tokens(loaded.tokenizer, stem, [f"{space}{word}" for word in spelling])
            except ElicitationError:
                continue
            used = {one for pair in ways for one in pair}
            # Longer answers only if there is none of one token each: a pass for each token of all the others is dear.
            if not used & {yes, no} and yes != no and len(yes) == len(no) == 1:
                ways.append((yes, no))
    if not ways:
        space = "" if bare else " "
        yes, no = candidate_tokens(loaded.tokenizer, stem, [f"{space}{word}" for word in ANSWERS])
        ways.append((yes, no))
    return [yes for yes, _ in ways], [no for _, no in ways]


def _next_turn(question: Question, wording: Wording) -> Prompt:
    prompt = question.follow_up
    last = prompt.turns[-1].model_copy(update={"content": f"{question.text}\n\n{wording.text}"})
    return prompt.model_copy(update={"turns": (*prompt.turns[:-1], last)})


def is_target(loaded: LoadedModel, target: str, sampling: Sampling | None = None) -> bool:
    """Whether a model is the target of claims, by the target's identity.

    An identity holds how responses were drawn, too. Where that is not known, the lengths of responses that are usual
    are tried, at temperature 1 and seed 0; a target that was drawn otherwise has to be named.

    Args:
        loaded: The model.
        target: The target's identity, as claims have it.
        sampling: How its responses were drawn, if that is known.
    """
    if not target.startswith("local "):
        return False
    try:
        one = LocalTarget(loaded, sampling or Sampling())
    except CounterfactualError:
        return False
    if sampling is not None:
        return one.identity == target
    for longest in range(1, _SEARCHED + 1):
        one.sampling = one.sampling.model_copy(update={"max_tokens": longest})
        if one.identity == target:
            return True
    return False
