"""Everything that was kept of a study of self-prediction, and what observers make of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.inference import FloatArray
from firsthand.auditing.labels.prediction import Heard
from firsthand.auditing.labels.prediction_combined import COMBINED, combined, logprobs
from firsthand.auditing.labels.prediction_observers import (
    Features,
    Outsider,
    informed,
    likelier,
    matched,
    most_frequent,
    one_hot,
    scaled,
)
from firsthand.auditing.labels.prediction_rows import at
from firsthand.auditing.labels.readers import READER
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.labels.prediction.bench import Bench
from firsthand.studies.labels.prediction.properties import Answer, Settled
from firsthand.studies.labels.prediction.reports import ANSWER_SHOWN, OUTRIGHT, THIRD_PERSON

ALIKE: Final = "same model, third person"


@dataclass(frozen=True, eq=False)
class Reader:
    """Another model: what it said of this one, and what it does itself.

    Attributes:
        name: Its name.
        rows: What it replied, for all properties.
        answers: What it answers to each prompt, those of the fit part first.
        states: For some of its layers, its states of the same prompts, ``[prompts, hidden]``.
    """

    name: str
    rows: pd.DataFrame
    answers: Sequence[Answer]
    states: Mapping[int, NDArray[np.float32]]

    @property
    def observer(self) -> str:
        """What it is called among observers."""
        return f"{READER}{self.name}"

    def replies(self, one: Settled, most: int) -> pd.DataFrame:
        """What it replied about one property, in order of the prompts."""
        return at(self.rows[self.rows["property"] == one.property.name], THIRD_PERSON, most)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything that was kept of a study.

    Attributes:
        bench: What was fixed.
        rows: What the model replied, for all properties.
        readers: Other models.
        features: What classifiers see.
    """

    bench: Bench
    rows: pd.DataFrame
    features: Features
    readers: Sequence[Reader] = field(default=())

    @property
    def spec(self) -> AnalysisSpec:
        """The rules."""
        return self.bench.claim.analysis

    def of(self, one: Settled) -> pd.DataFrame:
        """What the model replied about one property."""
        return self.rows[self.rows["property"] == one.property.name]


def observers(evidence: Evidence, one: Settled, target: pd.DataFrame) -> dict[str, FloatArray]:
    """The class that every observer gives the target rows, in their order."""
    bench, items = evidence.bench, target["number"].to_numpy()
    classes, rows = len(one.classes), evidence.of(one)
    outsiders = [Outsider(each.observer, one.of(each.answers), each.states) for each in evidence.readers]
    learned = informed(bench, one, evidence.features, outsiders)
    third = at(rows, THIRD_PERSON, bench.most)
    found = {"most frequent": most_frequent(one)[items]}
    found |= {name: values[items] for name, values in matched(bench, one, evidence.features, bench.most).items()}
    found |= {name: likelier(values)[items] for name, values in learned.items()}
    found[ALIKE] = third["choice"].to_numpy(dtype=np.float64)
    said = {name: values[items] for name, values in learned.items()}
    said |= {ALIKE: logprobs(third), "form": scaled(evidence.features.form_NF)[bench.fit + items]}
    for reader, other in zip(evidence.readers, outsiders, strict=True):
        replied, own = reader.replies(one, bench.most), other.classes_N[bench.fit :][items]
        found[reader.observer] = replied["choice"].to_numpy(dtype=np.float64)
        found[f"answers of {reader.name}"] = own
        said |= {reader.observer: logprobs(replied), f"answers of {reader.name}": one_hot(own, classes)}
    found[COMBINED] = combined(target, said, classes)
    return found


def heard(evidence: Evidence, one: Settled) -> dict[str, Heard]:
    """How far each other model answered the questions about one property, by the observer's name."""
    most = evidence.bench.most
    return {reader.observer: Heard.of(reader.replies(one, most)) for reader in evidence.readers}


def ability(evidence: Evidence, one: Settled) -> dict[str, FloatArray]:
    """What shows that access could have been seen, for the target rows in their order.

    Without examples the model is not asked outright: its behaviour is deterministic, and would be right by
    construction.
    """
    rows, most = evidence.of(one), evidence.bench.most
    arms = (OUTRIGHT, ANSWER_SHOWN) if most else (ANSWER_SHOWN,)
    return {arm: at(rows, arm, most)["answer"].to_numpy(dtype=np.float64) for arm in arms}
