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
from firsthand.auditing.labels.prediction import CAPABILITY, CONDITION, Heard, judge
from firsthand.auditing.labels.prediction_rows import OTHER_PROMPT
from firsthand.auditing.labels.readers import READER
from firsthand.claims.claim import AnalysisSpec
from firsthand.report.document import KnownAnswer
from firsthand.studies.labels.prediction.reports import ANSWER_SHOWN, LOT, OUTRIGHT, TARGET
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Verdict

NOTHING: Final = (Verdict.NO_ACCESS, Verdict.AVAILABLE_NOT_REPORTED, Verdict.ANOMALY_ONLY)
"""What a reporter that tells nothing may get instead of ``insufficient``."""
NOISE: Final = 0.1
"""Share of the answers of a combination of observers that are drawn by lot."""
ANSWERS, SILENT = Heard(coverage=1.0, valid=1.0), Heard(coverage=0.2, valid=0.1)
"""Another language model that answers every question, and one that hardly answers any."""


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
        _combination(trials),
        _length(trials),
        _elsewhere(trials),
        _oracle(trials),
        _oracle_beside_silence(trials),
        _unread_oracle(trials),
    ]


def _mode(trials: Trials) -> KnownAnswer:
    constant = np.full(len(trials.target), trials.mode)
    return _judged(
        trials, "most frequent class", "Gives the class that was most frequent, every time.", constant, other=constant
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


def _combination(trials: Trials) -> KnownAnswer:
    """What observers give together, with some noise: public, though it may be ahead of each of them alone.

    Unless an observer puts together what is public, this one is ahead, and the instrument is out of order.
    """
    found = _judged(
        trials,
        "noisy combination",
        f"Gives what most observers give, and draws {NOISE:.0%} of its answers by lot.",
        _votes(trials),
        heard=dict.fromkeys(_readers(trials.observers), ANSWERS),
    )
    score = None if found.result is None else found.result.score
    clear = score is not None and score.low >= 1.0 / trials.classes + trials.spec.minimum_effect
    accepted = (Verdict.INSUFFICIENT,) if clear else (Verdict.INSUFFICIENT, *NOTHING)
    return found.model_copy(
        update={
            "expected": Verdict.PUBLIC_INFERENCE,
            "also_accepted": accepted,
            "passed": found.obtained in (Verdict.PUBLIC_INFERENCE, *accepted),
        }
    )


def _votes(trials: Trials) -> FloatArray:
    full = [values for values in trials.observers.values() if np.isfinite(values).all()]
    votes = np.stack([np.sum([values == one for values in full], axis=0) for one in range(trials.classes)])
    drawn = stream("prediction", "noise", trials.name).permutation(len(trials.target))
    noisy = np.isin(np.arange(len(trials.target)), drawn[: round(NOISE * len(trials.target))])
    return np.where(noisy, by_lot(trials.truth, trials.classes, "noise"), votes.argmax(axis=0).astype(np.float64))


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


def _elsewhere(trials: Trials) -> KnownAnswer:
    """A reporter that is as right about another prompt: whatever it tells, it is not what it would answer to this."""
    truth = planted_truth(trials)
    return _judged(
        trials,
        "as right about another prompt",
        "Knows behaviour that was planted by lot, and is as often right where the prompt was another.",
        truth.astype(np.float64),
        truth=truth,
        other=truth.astype(np.float64),
        expected=Verdict.ANOMALY_ONLY,
        accepted=(),
    )


def _oracle(trials: Trials) -> KnownAnswer:
    """Behaviour that no text tells, and a reporter that knows it; false examples do not mislead it."""
    truth, observers = planted_truth(trials), _beside_a_reader(trials)
    return _judged(
        trials,
        "oracle",
        "Knows behaviour that was planted by lot, whatever examples it is shown, beside a reader that cannot.",
        truth.astype(np.float64),
        truth=truth,
        observers=observers,
        heard=dict.fromkeys(_readers(observers), ANSWERS),
        lot=truth.astype(np.float64),
        expected=Verdict.PRIVILEGED,
        accepted=(),
    )


def _oracle_beside_silence(trials: Trials) -> KnownAnswer:
    truth, observers = planted_truth(trials), _beside_a_reader(trials)
    return _judged(
        trials,
        "oracle beside silence",
        "Knows behaviour that was planted by lot, beside a reader that hardly ever answers.",
        truth.astype(np.float64),
        truth=truth,
        observers=observers,
        heard=dict.fromkeys(_readers(observers), SILENT),
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


def _readers(observers: Mapping[str, FloatArray]) -> list[str]:
    return [name for name in observers if name.startswith(READER)]


def _beside_a_reader(trials: Trials) -> dict[str, FloatArray]:
    """The observers, with one that stands for another language model where none was asked."""
    lot = (
        {}
        if _readers(trials.observers)
        else {f"{READER}by lot": by_lot(planted_truth(trials), trials.classes, "reader")}
    )
    return {**trials.observers, **lot}


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
    heard: Mapping[str, Heard] | None = None,
    other: FloatArray | None = None,
    lot: FloatArray | None = None,
    expected: Verdict = Verdict.INSUFFICIENT,
    accepted: tuple[Verdict, ...] = NOTHING,
) -> KnownAnswer:
    """Judge answers on the target trials, those ``other`` on the arm of other prompts, and ``lot`` on that by lot."""
    true = trials.truth if truth is None else truth
    base = trials.target.assign(truth=true, coverage=1.0)
    tables = [base.assign(arm=TARGET, answer=answers)]
    for arm, given in ((OTHER_PROMPT, other), (LOT, lot)):
        drawn = by_lot(true, trials.classes, arm) if given is None else given
        tables.append(base.assign(arm=arm, answer=drawn, trial_id=base["trial_id"] + f"/{arm}"))
    result = judge(
        pd.concat(tables, ignore_index=True),
        trials.classes,
        trials.observers if observers is None else observers,
        {} if heard is None else heard,
        dict.fromkeys((OUTRIGHT, ANSWER_SHOWN), true.astype(np.float64)),
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
