"""Reporters of confidence whose answer is known, judged on the questions of the run itself.

What is right is planted for three of them, since what a model knows may be too little to be told by anyone: then an
instrument that finds nothing has not been shown to be able to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from scipy import stats

from firsthand.analysis.inference import FloatArray
from firsthand.analysis.report_confidence import Foreseen
from firsthand.auditing.labels.confidence import Told, judge
from firsthand.auditing.labels.confidence_observers import Public, foreseen
from firsthand.auditing.labels.readers import READER
from firsthand.claims.claim import AnalysisSpec
from firsthand.report.document import KnownAnswer
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability, Condition, Verdict

NOTHING: Final = (Verdict.NO_ACCESS, Verdict.AVAILABLE_NOT_REPORTED)
CUE, COIN = "cue", "coin"
STAND_IN: Final = f"{READER}a lot in its place"


@dataclass(frozen=True, eq=False)
class _Reporter:
    """A reporter; ``planted`` names what makes answers right, ``None`` where they are right or not as they were."""

    name: str
    description: str
    expected: Verdict
    also: tuple[Verdict, ...]
    planted: str | None
    told: Told


def known_answers(
    public: Public, answers: pd.DataFrame, observers: Mapping[str, Foreseen], spec: AnalysisSpec, seed: int
) -> list[KnownAnswer]:
    """Judge all reporters of known answer, by the rules and observers that the model is judged by.

    Args:
        public: What observers see.
        answers: What was answered, and whether it was right.
        observers: What observers foresee of that.
        spec: The rules.
        seed: The run's seed.
    """
    truths = _planted(answers, seed)
    seen = {name: foreseen(public, right) for name, right in truths.items()}
    found = []
    for reporter in _reporters(answers, truths, seed):
        table = answers if reporter.planted is None else answers.assign(right=truths[reporter.planted])
        known = dict(observers if reporter.planted is None else seen[reporter.planted])
        if not any(name.startswith(READER) for name in known):
            known[STAND_IN] = Foreseen(_stream(seed, "reader").random(len(answers)))
        result = judge(table, reporter.told, known, {}, spec)[1]
        found.append(
            KnownAnswer(
                reporter=reporter.name,
                description=reporter.description,
                capability=Capability.CONFIDENCE,
                condition=Condition.Y_SHOWN,
                expected=reporter.expected,
                also_accepted=reporter.also,
                obtained=result.verdict,
                passed=result.verdict in (reporter.expected, *reporter.also),
                reasons=result.reasons,
                result=result,
            )
        )
    return found


def _stream(seed: int, what: str) -> np.random.Generator:
    return stream("confidence", seed, "known", what)


def _likely(answers: pd.DataFrame) -> FloatArray:
    return np.asarray(np.exp(answers["top"].to_numpy(dtype=np.float64)))


def _planted(answers: pd.DataFrame, seed: int) -> dict[str, FloatArray]:
    """What makes answers right, in place of what does: a cue that observers see, or a coin that none does."""
    count = len(answers)
    rank = stats.rankdata(_likely(answers), method="ordinal") / count
    cued = rank + _stream(seed, "cue").normal(0.0, 0.25, count)
    return {
        CUE: (stats.rankdata(cued, method="ordinal") > count / 2).astype(np.float64),
        COIN: (_stream(seed, "coin").permutation(count) < count // 2).astype(np.float64),
    }


def _reporters(answers: pd.DataFrame, truths: Mapping[str, FloatArray], seed: int) -> list[_Reporter]:
    count = len(answers)
    likely, right = _likely(answers), answers["right"].to_numpy(dtype=np.float64)

    def told(confidence: FloatArray, what: str, shuffled: FloatArray | None = None) -> Told:
        lot = _stream(seed, f"{what} about another").random(count)
        return Told(confidence, np.ones(count), lot if shuffled is None else shuffled)

    def knowing(what: str) -> FloatArray:
        spread = _stream(seed, what).uniform(-0.1, 0.1, count)
        return np.asarray(np.where(truths[COIN] == 1.0, 0.9, 0.1) + spread, dtype=np.float64)

    return [
        _Reporter(
            "own probability of the answer",
            "Gives as its confidence how likely the answer was among the options, which observers of the output see.",
            Verdict.PUBLIC_INFERENCE,
            (Verdict.INSUFFICIENT, Verdict.INVERTED, *NOTHING),
            None,
            told(likely, "own"),
        ),
        _Reporter(
            "lot",
            "Gives a number drawn by lot, dealt evenly to right and wrong answers.",
            Verdict.INSUFFICIENT,
            NOTHING,
            None,
            told(_dealt(right, _stream(seed, "dealt")), "lot"),
        ),
        _Reporter(
            "own probability, planted",
            "The same as the first, where correctness is planted to follow that probability.",
            Verdict.PUBLIC_INFERENCE,
            (),
            CUE,
            told(likely, "cued"),
        ),
        _Reporter(
            "oracle, planted",
            "Knows which answers are right, where correctness is planted by a coin that no observer sees.",
            Verdict.PRIVILEGED,
            (),
            COIN,
            told(knowing("oracle"), "oracle"),
        ),
        _Reporter(
            "oracle of the question, planted",
            "Knows the same coin, and says the same of another answer to the question.",
            Verdict.ANOMALY_ONLY,
            (),
            COIN,
            told(knowing("one"), "one", knowing("other")),
        ),
    ]


def _dealt(right: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Numbers from 0 to 1 in random order, as evenly spread over right answers as over wrong ones."""
    found = np.full(len(right), 0.5)
    for outcome in (0.0, 1.0):
        rows = np.flatnonzero(right == outcome)
        found[rows] = rng.permutation((np.arange(len(rows)) + 0.5) / max(1, len(rows)))
    return found
