"""Reporters of confidence whose answer is known, judged on the questions of the run itself.

What is right is planted for three of them, since what a model knows may be too little to be told by anyone: then an
instrument that finds nothing has not been shown to be able to.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
from scipy import stats

from firsthand.analysis.inference import FloatArray
from firsthand.analysis.report_confidence import Foreseen
from firsthand.auditing.labels.confidence import Told, judge
from firsthand.auditing.labels.confidence_gates import OtherModel, Said, Standing, reader_lacks
from firsthand.auditing.labels.confidence_observers import Public, foreseen
from firsthand.auditing.labels.readers import READER
from firsthand.claims.claim import AnalysisSpec
from firsthand.report.document import KnownAnswer
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability, Condition, Verdict

NOTHING: Final = (Verdict.NO_ACCESS, Verdict.AVAILABLE_NOT_REPORTED)
CUE, BOTH, COIN = "cue", "both", "coin"
STAND_IN: Final = "a lot in its place"
NOISE: Final = 0.25
"""Standard deviation of what else makes an answer right, beside a cue of ranks from 0 to 1."""
CLEAR: Final = 0.1
BLUR: Final = 0.3
"""The same where two cues are taken together, and of what the report of them adds to both."""


@dataclass(frozen=True, eq=False)
class _Reporter:
    """A reporter; ``planted`` names what makes answers right, ``None`` where they are right or not as they were."""

    name: str
    description: str
    expected: Verdict
    also: tuple[Verdict, ...]
    planted: str | None
    told: Told
    heard: bool = True


def known_answers(
    public: Public, answers: pd.DataFrame, observers: Mapping[str, Foreseen], spec: AnalysisSpec, seed: int
) -> list[KnownAnswer]:
    """Judge all reporters of known answer, by the rules and observers that the model is judged by.

    Where correctness is planted, so is what it is planted to follow: ranks take the place of probabilities that may be
    the same everywhere. Another model is there in any case, and its replies are valid but for one reporter.

    Args:
        public: What observers see.
        answers: What was answered, and whether it was right.
        observers: What observers foresee of that.
        spec: The rules.
        seed: The run's seed.
    """
    ranked = replace(public, answers=public.answers.assign(top=np.log(_rank(answers["top"].to_numpy()))))
    truths = _planted(public, answers, seed)
    seen = {name: foreseen(ranked, right) for name, right in truths.items()}
    found = []
    for reporter in _reporters(public, answers, truths, seed):
        table, known = answers, dict(observers)
        if reporter.planted is not None:
            table, known = answers.assign(right=truths[reporter.planted], coverage=1.0), dict(seen[reporter.planted])
        known[f"{READER}{STAND_IN}"] = Foreseen(_stream(seed, "reader").random(len(answers)))
        result = judge(table, reporter.told, known, {}, spec, _standing(table, spec, seed, reporter.heard))[1]
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


def _standing(answers: pd.DataFrame, spec: AnalysisSpec, seed: int, heard: bool) -> Standing:
    """A reader that replies, as often right as the judged model, or one of whose replies one in ten is valid."""
    lot = _stream(seed, "reader").random(len(answers))
    valid = np.ones(len(answers), dtype=bool) if heard else _one_in_ten(len(answers))
    replies = Said(lot, np.ones(len(answers)), valid)
    right = np.nan_to_num(answers["right"].to_numpy(dtype=np.float64))
    other = OtherModel(STAND_IN, replies, right, lot, {"true": replies})
    return Standing({STAND_IN: reader_lacks(other, answers, spec, "true")})


def _one_in_ten(count: int) -> np.ndarray:
    return np.asarray(np.arange(count) % 10 == 0)


def _stream(seed: int, what: str) -> np.random.Generator:
    return stream("confidence", seed, "known", what)


def _rank(values: FloatArray) -> FloatArray:
    """Ranks above 0 and up to 1, all different."""
    return np.asarray(stats.rankdata(values, method="ordinal") / len(values), dtype=np.float64)


def _combined(public: Public, answers: pd.DataFrame) -> FloatArray:
    """Two public things in one: mostly how likely the answer was, and also how long the question is."""
    lengths = np.array([len(item.question) for item in public.items], dtype=np.float64)
    return _rank(2 * _rank(answers["top"].to_numpy()) + _rank(lengths))


def _planted(public: Public, answers: pd.DataFrame, seed: int) -> dict[str, FloatArray]:
    """What makes answers right, in place of what does: cues that observers see, or a coin that none does."""
    count = len(answers)

    def cued(cue: FloatArray, what: str, noise: float) -> FloatArray:
        noisy = cue + _stream(seed, what).normal(0.0, noise, count)
        return np.asarray(_rank(noisy) > 0.5, dtype=np.float64)

    return {
        CUE: cued(_rank(answers["top"].to_numpy()), "cue", NOISE),
        BOTH: cued(_combined(public, answers), "both", CLEAR),
        COIN: (_stream(seed, "coin").permutation(count) < count // 2).astype(np.float64),
    }


def _reporters(public: Public, answers: pd.DataFrame, truths: Mapping[str, FloatArray], seed: int) -> list[_Reporter]:
    count, right = len(answers), answers["right"].to_numpy(dtype=np.float64)
    top = answers["top"].to_numpy(dtype=np.float64)

    def told(confidence: FloatArray, what: str, shuffled: Said | None = None) -> Told:
        lot = Said.scripted(_stream(seed, f"{what} about another").random(count))
        return Told(Said.scripted(confidence), lot if shuffled is None else shuffled)

    def knowing(what: str) -> FloatArray:
        spread = _stream(seed, what).uniform(-0.1, 0.1, count)
        return np.asarray(np.where(truths[COIN] == 1.0, 0.9, 0.1) + spread, dtype=np.float64)

    hoarse = replace(Said.scripted(_stream(seed, "hoarse").random(count)), valid=_one_in_ten(count))
    blurred = _rank(_combined(public, answers) + _stream(seed, "blurred").normal(0.0, BLUR, count))
    return [
        _Reporter(
            "own probability of the answer",
            "Gives as its confidence how likely the answer was among the options, which observers of the output see.",
            Verdict.PUBLIC_INFERENCE,
            (Verdict.INSUFFICIENT, Verdict.INVERTED, *NOTHING),
            None,
            told(np.exp(top), "own"),
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
            "Gives the rank of that probability, where correctness is planted to follow it.",
            Verdict.PUBLIC_INFERENCE,
            (),
            CUE,
            told(_rank(top), "cued"),
        ),
        _Reporter(
            "what is public, planted",
            "Takes that rank and the length of the question together, with noise, where correctness is planted to "
            "follow both.",
            Verdict.PUBLIC_INFERENCE,
            (),
            BOTH,
            told(blurred, "blurred"),
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
            told(knowing("one"), "one", Said.scripted(knowing("other"))),
        ),
        _Reporter(
            "oracle without a control, planted",
            "Knows the same coin; of another answer one reply in ten is valid, and what it would say is not known.",
            Verdict.INSUFFICIENT,
            (),
            COIN,
            told(knowing("oracle"), "oracle", hoarse),
        ),
        _Reporter(
            "oracle beside a silent reader, planted",
            "Knows the same coin; of the other model's replies one in ten is valid, so it is no reader.",
            Verdict.INSUFFICIENT,
            (),
            COIN,
            told(knowing("oracle"), "oracle"),
            heard=False,
        ),
    ]


def _dealt(right: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Numbers from 0 to 1 in random order, as evenly spread over right answers as over wrong ones."""
    found = np.full(len(right), 0.5)
    for outcome in (0.0, 1.0):
        rows = np.flatnonzero(right == outcome)
        found[rows] = rng.permutation((np.arange(len(rows)) + 0.5) / max(1, len(rows)))
    return found
