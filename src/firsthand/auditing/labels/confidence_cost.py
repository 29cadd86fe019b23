"""What a confidence study costs before it is run."""

import time
from dataclasses import dataclass
from typing import Final

from firsthand.claims.labels import ConfidenceClaim
from firsthand.engine import LoadedModel
from firsthand.studies.labels.confidence.asking import (
    ALL,
    TWO,
    Bench,
    answer_prompts,
    question_of,
    report_prompts,
    rows_of,
)
from firsthand.studies.labels.confidence.questions import Questions, sample
from firsthand.studies.labels.confidence.texts import Frame

TRIED: Final = 3
"""Questions that are asked to measure the time."""
READER: Final = "reader"


@dataclass(frozen=True)
class Price:
    """The cost of a study.

    Attributes:
        questions: Questions that are asked.
        pairs: Those that are asked again with two options.
        prompts: Prompts of the judged model.
        tokens: Tokens that it computes, those that prompts of a question share counted once.
        reader_tokens: The same of the other model, by the judged model's tokenizer.
        rate: Tokens a second, as measured on some questions.
    """

    questions: int
    pairs: int
    prompts: int
    tokens: int
    reader_tokens: int
    rate: float

    @property
    def seconds(self) -> float:
        """Time, the other model taken to be as fast."""
        return (self.tokens + self.reader_tokens) / self.rate


def price_of(loaded: LoadedModel, questions: Questions, claim: ConfidenceClaim) -> Price:
    """Price a study by asking a few of its questions.

    Raises:
        LabelsError: If the questions are too few.
    """
    items = sample(questions, claim.questions, claim.seed)
    tried = claim.model_copy(update={"questions": TRIED, "pairs": min(claim.pairs, TRIED)})
    bench = Bench.of(tried, loaded, items[:TRIED])
    rows_of(bench, 0, 1)  # what is done once is no part of the rate
    begun = time.perf_counter()
    rows = rows_of(bench, 0, TRIED)
    taken = time.perf_counter() - begun
    every, two = (_tokens(bench, which) / TRIED for which in (ALL, TWO))
    asked = {which: len(rows[rows["set"] == which]) // TRIED for which in (ALL, TWO)}
    return Price(
        questions=claim.questions,
        pairs=claim.pairs,
        prompts=claim.questions * asked[ALL] + claim.pairs * (asked[TWO] if tried.pairs else 0),
        tokens=round(claim.questions * every + claim.pairs * two),
        reader_tokens=0 if claim.reader is None else round(claim.questions * _tokens(bench, READER) / TRIED),
        rate=TRIED * (every + two) / taken,
    )


def _tokens(bench: Bench, which: str) -> int:
    """Different beginnings among all prompts of each pass: what is computed where all that is shared is done once."""
    first = answer_prompts(bench, 0, TRIED)
    second = report_prompts(bench, 0, TRIED, lambda orders, _: 0)
    if which == READER:
        first = [p for p in first if p.set == ALL] + [p for p in second if p.frame is Frame.STUDENT]
        second = []
    total = 0
    for prompts in (first, second):
        seen: set[int] = set()
        for prompt in prompts:
            if which not in (READER, prompt.set):
                continue
            question = question_of(bench.loaded.tokenizer, prompt)
            for form in (form for forms in question.labels for form in forms):
                state = 0
                for token in (*question.tokens, *form[:-1]):
                    state = hash((state, token))
                    seen.add(state)
        total += len(seen)
    return total
