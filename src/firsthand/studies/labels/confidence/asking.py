"""Prompts from questions and wordings, and one row of the trace for every prompt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from firsthand.claims.labels import ConfidenceClaim
from firsthand.engine import Anatomy, LoadedModel, Site, candidate_tokens, inspect_model, resid_post
from firsthand.engine.prompts import Message, render
from firsthand.errors import ElicitationError
from firsthand.studies.injection.bench import usual_layers
from firsthand.studies.labels.confidence.questions import MultipleChoice, Posed, posed, two_options
from firsthand.studies.labels.confidence.reading import Question, Reply, replies
from firsthand.studies.labels.confidence.texts import ANSWER, ANSWER_STEM, CODES, OWNERS, READ, SET_UP, WORDINGS, Frame
from firsthand.trials.randomness import stream

ALL, TWO = "all", "two"
"""Sets of trials: every question with all its options, and some again with two."""
OF_TWO: Final = ("true", "percent")
"""Reports that are asked about choices between two."""

READ_FRAMES: Final = (Frame.ANSWER, Frame.OWN, Frame.HIDDEN)
"""Prompts at whose end a probe reads: that of the answer, and those of the reports about it."""

COLUMNS: Final = {
    "public": ("question", "subject", "set", "frame", "ask", "order", "option_order", "text"),
    "sealed": ("right",),
    "reports": ("proposed", "logprobs", "coverage", "named"),
    "readings": ("state",),
}
"""Columns of each part of the trace, beside ``trial_id``. ``proposed`` is the option that a prompt shows as an answer
(-1 for none), ``right`` the right one, ``logprobs`` those of the options in the file's order (``answer``) or of the
replies of a wording."""


@dataclass(frozen=True)
class Prompt:
    """One prompt: what it asks about, how, and which option it shows as an answer."""

    posed: Posed
    set: str
    frame: Frame
    ask: str
    proposed: int
    codes: tuple[str, str]

    def messages(self) -> list[Message]:
        """The conversation, with an open turn of the model at its end."""
        block = self.posed.block
        if self.frame is Frame.ANSWER:
            return [("user", f"{block}\n\n{ANSWER}"), ("assistant", ANSWER_STEM)]
        wording = WORDINGS[self.ask][self.posed.number % 2]
        x, y = self.codes
        request = wording.request.replace("{answer}", OWNERS[self.frame]).replace("{x}", x).replace("{y}", y)
        if self.frame in (Frame.HIDDEN, Frame.STUDENT):
            if self.frame is Frame.STUDENT:
                request = f"The student answered {self.posed.letter(self.proposed)}. {request}"
            return [
                ("user", f"{block}\n\n{SET_UP[self.frame]}"),
                ("assistant", READ),
                ("user", request),
                ("assistant", wording.stem),
            ]
        letter = self.posed.letter(self.proposed)
        return [
            ("user", f"{block}\n\n{ANSWER}"),
            ("assistant", f"{ANSWER_STEM} {letter}"),
            ("user", request),
            ("assistant", wording.stem),
        ]

    def forms(self) -> list[tuple[str, ...]]:
        """The ways of writing each reply; for answers, the options in the file's order."""
        if self.frame is Frame.ANSWER:
            return [(f" {self.posed.letter(option)}",) for option in range(len(self.posed.order))]
        x, y = self.codes
        labels = WORDINGS[self.ask][self.posed.number % 2].labels
        return [tuple(form.replace("{x}", x).replace("{y}", y) for form in forms) for forms in labels]

    @property
    def name(self) -> str:
        """Identifier within the run."""
        return f"{self.posed.item.key}/{self.set}/{self.frame}/{self.ask}/{self.posed.number}"


@dataclass(frozen=True, eq=False)
class Bench:
    """Everything that is fixed for a study.

    Attributes:
        claim: What is claimed.
        loaded: The model that is asked.
        anatomy: Its parts.
        items: The questions.
    """

    claim: ConfidenceClaim
    loaded: LoadedModel
    anatomy: Anatomy
    items: tuple[MultipleChoice, ...]

    @classmethod
    def of(cls, claim: ConfidenceClaim, loaded: LoadedModel, items: Sequence[MultipleChoice]) -> "Bench":
        """A bench with a model's parts."""
        return cls(claim, loaded, inspect_model(loaded.model), tuple(items))

    @property
    def layers(self) -> tuple[int, ...]:
        """Layers at which the ends of prompts are read."""
        return tuple(self.claim.layers or usual_layers(self.anatomy.n_layers, 5))

    @cached_property
    def every(self) -> list[tuple[Posed, ...]]:
        """Each question with all its options, in every order."""
        return posed(self.items, self.claim.orders, self.claim.seed, ALL)

    @cached_property
    def pairs(self) -> list[tuple[Posed, ...]]:
        """Some questions with two options, in both orders."""
        some = [two_options(item, self.claim.seed) for item in self.items[: self.claim.pairs]]
        return posed(some, 2, self.claim.seed, TWO)

    def codes(self, item: MultipleChoice) -> tuple[str, str]:
        """The two codes of a question."""
        x, y = stream("confidence", self.claim.seed, "codes", item.key).permutation(list(CODES))[:2]
        return str(x), str(y)

    def another(self, item: MultipleChoice, answer: int) -> int | None:
        """A wrong option other than the answer, drawn by lot; ``None`` of two options.

        Were the right option among them, a report about another would be about a right one only where the own answer
        is wrong, and so tell something of the own answer by the draw alone. Of two options only right answers have
        such another.
        """
        if len(item.options) < 3:
            return None
        others = [i for i in range(len(item.options)) if i not in (answer, item.answer)]
        return others[int(stream("confidence", self.claim.seed, "another", item.key).integers(len(others)))]


def answer_prompts(bench: Bench, start: int, count: int) -> list[Prompt]:
    """What some questions are answered to: every one with all options, and some with two, in every order."""
    every, pairs = bench.every[start : start + count], bench.pairs[start : start + count]
    found = [_answer(one, ALL) for orders in every for one in orders]
    return found + [_answer(one, TWO) for orders in pairs for one in orders]


def report_prompts(bench: Bench, start: int, count: int, own: Callable[[Sequence[Posed], str], int]) -> list[Prompt]:
    """Everything that is asked about the answers to some questions.

    Args:
        bench: What is fixed.
        start: The first question.
        count: How many.
        own: The option that was answered, given the orders and the set that it is an answer over.
    """
    found = [p for orders in bench.every[start : start + count] for p in _reports(bench, orders, own(orders, ALL))]
    asks = [ask for ask in bench.claim.reports if ask in OF_TWO]
    for one in (one for orders in bench.pairs[start : start + count] for one in orders):
        # A choice between two is asked about in each order by itself.
        answer = own((one,), TWO)
        found += [Prompt(one, TWO, Frame.OWN, ask, answer, bench.codes(one.item)) for ask in asks]
    return found


def rows_of(bench: Bench, start: int, count: int, advance: Callable[[int], None] | None = None) -> pd.DataFrame:
    """Ask the model some of the questions: first what it answers, then what it says of that.

    Args:
        bench: What is fixed.
        start: The first question.
        count: How many.
        advance: Told the number of prompts done after each pass.

    Raises:
        ElicitationError: If a reply cannot be told from others in a prompt.
        EngineError: If a prompt cannot be rendered or run.
    """
    first = answer_prompts(bench, start, count)
    sites = tuple(resid_post(layer) for layer in bench.layers)
    given = _asked(bench, first, advance, sites)
    answers = dict(zip([(p.posed.item.key, p.set, p.posed.number) for p in first], given, strict=True))

    def own(orders: Sequence[Posed], which: str) -> int:
        return chosen([answers[one.item.key, which, one.number].logprobs for one in orders])

    second = report_prompts(bench, start, count, own)
    return _table(bench, [*first, *second], [*given, *_asked(bench, second, advance, sites)])


def reader_rows(
    bench: Bench, start: int, own: dict[str, int], count: int, advance: Callable[[int], None] | None = None
) -> pd.DataFrame:
    """Ask another model the same questions, and what it says of the judged model's answers.

    Args:
        bench: What is fixed, with that other model.
        start: The first question.
        own: The judged model's answer to each question.
        count: How many.
        advance: Told the number of prompts done after each pass.
    """
    prompts = []
    for orders in bench.every[start : start + count]:
        prompts += [_answer(one, ALL) for one in orders]
        prompts += [
            Prompt(one, ALL, Frame.STUDENT, ask, own[one.item.key], bench.codes(one.item))
            for one in orders
            for ask in third_asks(bench.claim)
        ]
    return _table(bench, prompts, _asked(bench, prompts, advance))


def third_asks(claim: ConfidenceClaim) -> tuple[str, ...]:
    """How a report is asked for about the same answer as a student's: like the report, and as yes or no in any case.

    A report about an answer that is not given yet has no like in the third person.
    """
    return tuple(dict.fromkeys(("true", *(ask for ask in claim.reports if ask != "know"))))


def chosen(logprobs: Sequence[Sequence[float] | NDArray[np.float64]]) -> int:
    """The option that is likeliest over all orders, by the mean of its log share.

    Args:
        logprobs: Log-probabilities of the options in the file's order, one sequence an order.
    """
    shares = [np.asarray(one) - np.logaddexp.reduce(one) for one in logprobs]
    return int(np.mean(shares, axis=0).argmax())


def _answer(one: Posed, what: str) -> Prompt:
    return Prompt(one, what, Frame.ANSWER, "answer", -1, ("", ""))


def _reports(bench: Bench, orders: Sequence[Posed], own: int) -> list[Prompt]:
    item, claim = orders[0].item, bench.claim
    other, codes = bench.another(item, own), bench.codes(item)
    found = []
    for one in orders:
        for ask in claim.reports:
            if ask == "know":
                found.append(Prompt(one, ALL, Frame.HIDDEN, ask, -1, codes))
            else:
                found.append(Prompt(one, ALL, Frame.OWN, ask, own, codes))
                if other is not None:
                    found.append(Prompt(one, ALL, Frame.OTHER, ask, other, codes))
        found += [Prompt(one, ALL, Frame.STUDENT, ask, own, codes) for ask in third_asks(claim)]
    return found


def _asked(
    bench: Bench,
    prompts: Sequence[Prompt],
    advance: Callable[[int], None] | None,
    sites: Sequence[Site] = (),
) -> list[Reply]:
    tokenizer = bench.loaded.tokenizer
    questions = [
        question_of(tokenizer, p, read=bool(sites) and p.set == ALL and p.frame in READ_FRAMES) for p in prompts
    ]
    return replies(bench.anatomy, questions, sites, advance)


def question_of(tokenizer: PreTrainedTokenizerBase, prompt: Prompt, *, read: bool = False) -> Question:
    """A prompt as tokens, with the tokens of its replies.

    Raises:
        ElicitationError: If a reply cannot be written after it.
    """
    rendered = render(tokenizer, prompt.messages())
    forms = prompt.forms()
    tokens = iter(candidate_tokens(tokenizer, rendered.text, [form for each in forms for form in each]))
    labels = tuple(tuple(dict.fromkeys(next(tokens) for _ in each)) for each in forms)
    if len({form for each in labels for form in each}) < sum(map(len, labels)):
        raise ElicitationError(
            f"Two replies to {prompt.name} are the same tokens for this model.", "Use another model or wording."
        )
    return Question(rendered.tokens, labels, read)


def _table(bench: Bench, prompts: Sequence[Prompt], given: Sequence[Reply]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "trial_id": [p.name for p in prompts],
            "question": [p.posed.item.key for p in prompts],
            "subject": [p.posed.item.subject for p in prompts],
            "set": [p.set for p in prompts],
            "frame": [str(p.frame) for p in prompts],
            "ask": [p.ask for p in prompts],
            "order": [p.posed.number for p in prompts],
            "option_order": pd.Series([list(p.posed.order) for p in prompts], dtype=object),
            "text": [p.posed.block for p in prompts],
            "right": [p.posed.item.answer for p in prompts],
            "proposed": [p.proposed for p in prompts],
            "logprobs": pd.Series([list(one.logprobs) for one in given], dtype=object),
            "coverage": [one.coverage for one in given],
            "named": [one.named for one in given],
            "state": pd.Series([one.state for one in given], dtype=object),
        }
    )
