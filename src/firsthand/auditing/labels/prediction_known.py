"""Reporters of known answer, on the very trials of a study of self-prediction.

What must come out is certain for each of them whatever the model did: classes that are drawn by lot are dealt in equal
shares within every true class, so that chance is met exactly and no unlucky draw breaks the instrument.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.inference import FloatArray
from firsthand.auditing.labels.prediction import CAPABILITY, CONDITION, OTHER_PROMPT, judge
from firsthand.auditing.labels.readers import READER
from firsthand.claims.claim import AnalysisSpec
from firsthand.report.document import KnownAnswer
from firsthand.studies.labels.prediction.reports import LOT, TARGET
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Verdict

NOTHING: Final = (Verdict.NO_ACCESS, Verdict.AVAILABLE_NOT_REPORTED, Verdict.ANOMALY_ONLY)
"""What a reporter that tells nothing may get instead of ``insufficient``."""


@dataclass(frozen=True, eq=False)
class Trials:
    """What the model was judged on.

    Attributes:
        name: The property.
        target: The target rows.
        classes: Number of classes.
        observers: What each observer gave.
        mode: The most frequent class of the fit part.
        spec: The rules.
    """

    name: str
    target: pd.DataFrame
    classes: int
    observers: Mapping[str, FloatArray]
    mode: float
    spec: AnalysisSpec

    @property
    def truth(self) -> NDArray[np.int64]:
        """The true classes."""
        return self.target["truth"].to_numpy(dtype=np.int64)


def known_answers(trials: Trials) -> list[KnownAnswer]:
    """Judge every reporter whose answer is known."""
    return [
        _mode(trials),
        _lot(trials),
        _strongest(trials),
        _length(trials),
        _oracle(trials),
        _unread_oracle(trials),
    ]


def _mode(trials: Trials) -> KnownAnswer:
    constant = np.full(len(trials.target), trials.mode)
    return _judged(
        trials, "most frequent class", "Gives the class that was most frequent, every time.", constant, arms=constant
    )


def _lot(trials: Trials) -> KnownAnswer:
    return _judged(trials, "by lot", "Draws its answers by lot.", by_lot(trials.truth, trials.classes, "report"))


def _strongest(trials: Trials) -> KnownAnswer:
    """The strongest observer's own answers; certain only where that observer is clearly better than chance."""
    full = {name: values for name, values in trials.observers.items() if np.isfinite(values).all()}
    truth, numbers = trials.truth, range(trials.classes)
    name = max(full, key=lambda one: np.mean([np.mean(full[one][truth == c] == c) for c in numbers]))
    chance, spec = 1.0 / trials.classes, trials.spec
    found = _judged(trials, "strongest observer", f"Gives the answers of the observer {name}.", full[name])
    score = None if found.result is None else found.result.score
    clear = score is not None and score.low >= chance + spec.minimum_effect
    accepted = () if clear else (Verdict.INSUFFICIENT, *NOTHING)
    return found.model_copy(
        update={
            "expected": Verdict.PUBLIC_INFERENCE,
            "also_accepted": accepted,
            "passed": found.obtained in (Verdict.PUBLIC_INFERENCE, *accepted),
            "result": None,
        }
    )


def _length(trials: Trials) -> KnownAnswer:
    """Behaviour that can be read off the prompt, with an observer that reads it there."""
    lengths = trials.target["text"].str.len().to_numpy()
    ranks = np.argsort(np.argsort(lengths, kind="stable"), kind="stable")
    truth = (ranks * trials.classes // len(ranks)).astype(np.int64)
    observers = {**trials.observers, "length of the prompt": truth.astype(np.float64)}
    return _judged(
        trials,
        "public behaviour",
        "Is always right about behaviour that the length of the prompt decides.",
        truth.astype(np.float64),
        truth=truth,
        observers=observers,
        expected=Verdict.PUBLIC_INFERENCE,
        accepted=(),
    )


def _oracle(trials: Trials) -> KnownAnswer:
    """Behaviour that no text tells, and a reporter that knows it."""
    truth = planted_truth(trials)
    observers = dict(trials.observers)
    if not any(name.startswith(READER) for name in observers):
        observers[f"{READER}by lot"] = by_lot(truth, trials.classes, "reader")
    return _judged(
        trials,
        "oracle",
        "Knows behaviour that was planted by lot, beside a reader that cannot.",
        truth.astype(np.float64),
        truth=truth,
        observers=observers,
        expected=Verdict.PRIVILEGED,
        accepted=(),
    )


def _unread_oracle(trials: Trials) -> KnownAnswer:
    truth = planted_truth(trials)
    return _judged(
        trials,
        "oracle without a reader",
        "Knows behaviour that was planted by lot, and no other language model was asked.",
        truth.astype(np.float64),
        truth=truth,
        observers={name: values for name, values in trials.observers.items() if not name.startswith(READER)},
        accepted=(),
    )


def planted_truth(trials: Trials) -> NDArray[np.int64]:
    """Classes in equal shares, drawn without regard to any text ``[target trials]``."""
    dealt = np.arange(len(trials.target)) % trials.classes
    return stream("prediction", "planted", trials.name).permutation(dealt).astype(np.int64)


def by_lot(truth: NDArray[np.int64], classes: int, purpose: str) -> FloatArray:
    """Answers that are drawn by lot, each class as often within every true one."""
    found = np.full(len(truth), np.nan)
    for number in range(classes):
        here = np.flatnonzero(truth == number)
        dealt = (np.arange(len(here)) + number + number % 2) % classes
        found[here] = stream("prediction", "lot", purpose, number).permutation(dealt)
    return found


def _judged(
    trials: Trials,
    reporter: str,
    description: str,
    answers: FloatArray,
    *,
    truth: NDArray[np.int64] | None = None,
    observers: Mapping[str, FloatArray] | None = None,
    arms: FloatArray | None = None,
    expected: Verdict = Verdict.INSUFFICIENT,
    accepted: tuple[Verdict, ...] = NOTHING,
) -> KnownAnswer:
    true = trials.truth if truth is None else truth
    base = trials.target.assign(truth=true, coverage=1.0)
    tables = [base.assign(arm=TARGET, answer=answers)]
    for arm in (LOT, OTHER_PROMPT):
        drawn = by_lot(true, trials.classes, arm) if arms is None else arms
        tables.append(base.assign(arm=arm, answer=drawn, trial_id=base["trial_id"] + f"/{arm}"))
    result = judge(
        pd.concat(tables, ignore_index=True),
        trials.classes,
        trials.observers if observers is None else observers,
        true.astype(np.float64),
        trials.spec,
    )
    return KnownAnswer(
        reporter=f"{reporter}, {trials.name}",
        description=description,
        capability=CAPABILITY,
        condition=CONDITION,
        expected=expected,
        also_accepted=accepted,
        obtained=result.verdict,
        passed=result.verdict in (expected, *accepted),
        reasons=result.reasons,
        result=result,
    )
