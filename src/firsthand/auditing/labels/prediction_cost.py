"""What a study of self-prediction costs before it is run."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from firsthand.auditing.labels.prediction_study import steps
from firsthand.claims.labels import PredictionClaim
from firsthand.engine import LoadedModel, inspect_model
from firsthand.engine.prompts import common_prefix_length
from firsthand.studies.labels.prediction.asking import Asked, replies
from firsthand.studies.labels.prediction.behaviour import behaviour_rows
from firsthand.studies.labels.prediction.bench import Bench, bench_of, drawn_prompts, letters_of
from firsthand.studies.labels.prediction.prompts import PromptSet
from firsthand.studies.labels.prediction.reports import OUTRIGHT, THIRD_PERSON, questions

MEASURED = 12
"""Questions of the measured pass."""


@dataclass(frozen=True)
class Price:
    """The cost of a study.

    Attributes:
        properties: Properties that are asked about.
        refused: Properties that are not, with the reasons.
        questions: Questions to the model, each in both orders.
        tokens: Tokens that the model runs; what questions share is counted once.
        reader_tokens: Tokens that each other model runs, counted with this model's tokenizer.
        rate: Tokens a second of a measured pass.
    """

    properties: tuple[str, ...]
    refused: dict[str, str]
    questions: int
    tokens: int
    reader_tokens: int
    rate: float

    @property
    def seconds(self) -> float:
        """Time of the model itself."""
        return self.tokens / self.rate


def price_of(loaded: LoadedModel, prompts: PromptSet, claim: PredictionClaim) -> Price:
    """Price a study: its behaviour is run, since it decides which properties are asked about, and one short pass.

    Raises:
        FirsthandError: If the prompts do not fit, or a question cannot be asked.
    """
    anatomy, chosen = inspect_model(loaded.model), drawn_prompts(prompts, claim)
    behaviour = behaviour_rows(loaded, anatomy, chosen, longest=claim.longest_answer)
    bench = bench_of(claim, chosen, behaviour, letters_of(loaded))
    plain = sum(len(loaded.tokenizer.encode(one.shown, add_special_tokens=False)) + 20 for one in chosen)
    own = plain * 2 + len(chosen) * claim.longest_answer * (1 + claim.draws)  # answered once, and read once
    total, third, count = own, own, 0  # another model answers and reads the prompts, too
    measured: list[list[Asked]] = []
    for step in steps(bench):
        if step.arm == OUTRIGHT:
            total += _outright(bench, loaded, step.one.judged_J)
            continue
        forms = questions(loaded, bench, step.one, step.experiment, step.arm, step.examples)
        tokens = sum(_tokens([form[order] for form in forms]) for order in range(len(forms[0])))
        count, total = count + len(forms), total + tokens
        third += tokens if step.arm == THIRD_PERSON else 0
        if step.arm == THIRD_PERSON and not measured:
            measured = forms[:MEASURED]
    return Price(
        tuple(dict.fromkeys(step.one.property.name for step in steps(bench))),
        {one.property.name: one.refused for one in bench.settled if one.refused is not None},
        count,
        total,
        third,
        _rate(loaded, measured),
    )


def _tokens(some: Sequence[Asked]) -> int:
    """Tokens of questions with what all of them share counted once."""
    shared = common_prefix_length([one.tokens for one in some]) if len(some) > 1 else 0
    return sum(len(one.tokens) for one in some) - shared * (len(some) - 1)


def _outright(bench: Bench, loaded: LoadedModel, judged: np.ndarray) -> int:
    """Tokens of the prompts themselves after the examples, in one experiment."""
    each = [len(loaded.tokenizer.encode(one.shown, add_special_tokens=False)) for one in bench.judged]
    prompts = float(np.mean(each)) + 20 + bench.claim.longest_answer
    learned = float(np.mean(each)) + 10
    items = int(np.isfinite(judged).sum())
    return round(prompts * items / bench.claim.experiments + learned * bench.most)


def _rate(loaded: LoadedModel, measured: Sequence[Sequence[Asked]]) -> float:
    if not measured:
        return float("inf")
    some = [[replace(form) for form in forms] for forms in measured]
    begun = time.perf_counter()
    replies(loaded, inspect_model(loaded.model), some)
    tokens = sum(_tokens([forms[order] for forms in some]) for order in range(len(some[0])))
    return tokens / (time.perf_counter() - begun)
