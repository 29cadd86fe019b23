"""What a study of self-prediction shows: one finding a property, and one on reading answers that are there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from firsthand.analysis.findings import Line, Mark, Picture
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import mean_of
from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.auditing.labels.prediction import CAPABILITY, CONDITION, at, balanced, judge, judged_rows
from firsthand.auditing.labels.prediction_known import Trials, known_answers
from firsthand.auditing.labels.prediction_observers import Features, informed, matched, most_frequent
from firsthand.auditing.labels.readers import READER
from firsthand.claims.claim import AnalysisSpec
from firsthand.report.document import KnownAnswer
from firsthand.report.formats import Unit
from firsthand.report.labels_document import Curve, Grid, LabelsFinding, Point, Series
from firsthand.studies.labels.prediction.behaviour import draws_of
from firsthand.studies.labels.prediction.bench import Bench
from firsthand.studies.labels.prediction.properties import Answer, Settled, entropy_of
from firsthand.studies.labels.prediction.reports import (
    ANSWER_SHOWN,
    OUTRIGHT,
    TARGET,
    THIRD_PERSON,
    prompt_of,
)
from firsthand.vocabulary import Verdict

ALIKE: Final = "same model, third person"


@dataclass(frozen=True, eq=False)
class Reader:
    """Another model: what it said of this one, and what it does itself.

    Attributes:
        name: Its name.
        rows: What it replied, for all properties.
        answers: What it answers to each prompt, those of the fit part first.
    """

    name: str
    rows: pd.DataFrame
    answers: Sequence[Answer]


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


def finding_of(evidence: Evidence, one: Settled) -> tuple[LabelsFinding, list[KnownAnswer]]:
    """The finding on one property, and the known answers on its trials."""
    if one.refused is not None:
        return _refused(evidence, one), []
    rows = evidence.rows[evidence.rows["property"] == one.property.name]
    table = judged_rows(rows, evidence.bench.most)
    target = at(rows, TARGET, evidence.bench.most)
    seen = observers(evidence, one, rows, target)
    result = judge(table, len(one.classes), seen, _outright(evidence, rows, target), evidence.spec)
    mode = float(most_frequent(one)[0])
    known = known_answers(Trials(one.property.name, target, len(one.classes), seen, mode, evidence.spec))
    finding = LabelsFinding(
        name=one.property.name,
        title=one.property.title,
        asked=f"What kind is {one.property.what.replace('{answer}', 'your answer')}, before it is given?",
        setting=_setting(evidence.bench, one),
        results=(result,),
        curves=(_curve(evidence, one, rows, target, seen),),
        grids=(_behaviour(evidence, one), *_crossed(evidence, one, target)),
        notes=_notes(evidence, one, rows, target),
        prompt=prompt_of(evidence.bench, one, evidence.bench.most),
    )
    return finding, known


def observers(evidence: Evidence, one: Settled, rows: pd.DataFrame, target: pd.DataFrame) -> dict[str, FloatArray]:
    """The class that every observer gives the target rows, in their order."""
    bench, items = evidence.bench, target["number"].to_numpy()
    found = {"most frequent": most_frequent(one)[items]}
    found |= {name: values[items] for name, values in matched(bench, one, evidence.features, bench.most).items()}
    found |= {name: values[items] for name, values in informed(bench, one, evidence.features).items()}
    found[ALIKE] = at(rows, THIRD_PERSON, bench.most)["choice"].to_numpy(dtype=np.float64)
    for reader in evidence.readers:
        own = reader.rows[reader.rows["property"] == one.property.name]
        found[f"{READER}{reader.name}"] = at(own, THIRD_PERSON, bench.most)["choice"].to_numpy(dtype=np.float64)
        found[f"answers of {reader.name}"] = one.of(reader.answers[bench.fit :])[items]
    return found


def computing(evidence: Evidence) -> LabelsFinding:
    """Can the model tell the property of an answer that it reads? That is ability, and no prediction."""
    rows, marks = evidence.rows[evidence.rows["arm"] == ANSWER_SHOWN], []
    table = []
    for one in asked(evidence.bench):
        some = at(rows[rows["property"] == one.property.name], ANSWER_SHOWN, evidence.bench.most)
        likelier = _share(evidence, some, some["choice"].to_numpy(dtype=np.float64), 1.0 / len(one.classes))
        valid = _share(evidence, some, some["answer"].to_numpy(dtype=np.float64), 1.0 / len(one.classes))
        marks.append(Mark(label=one.property.title, estimate=likelier))
        cells = (likelier, valid, f"{1.0 / len(one.classes):.0%}", f"{some['coverage'].mean():.1%}")
        table.append((one.property.title, cells))
    return LabelsFinding(
        name="computing",
        title="Can it tell the property of an answer that it reads?",
        asked="What kind is this answer? The answer stands in the question.",
        setting={"examples": str(evidence.bench.most)},
        pictures=(
            Picture(
                title="Right about an answer that can be read",
                axis="right, classes weighed alike, by the likelier letter",
                unit="share",
                marks=tuple(marks),
                lines=(Line(label="chance of two classes", value=0.5),),
            ),
        )
        if marks
        else (),
        grids=(
            Grid(
                name="computing",
                title="Right about an answer that can be read",
                columns=("Property", "likelier letter", "invalid not right", "chance", "coverage"),
                rows=tuple(table),
                note="Where this fails, a failure to predict may be a failure to compute the property.",
            ),
        )
        if table
        else (),
        notes=("Reading a property off an answer that is shown is ability and not self-prediction: it is not judged.",),
    )


def asked(bench: Bench) -> list[Settled]:
    """The properties that are asked about."""
    return [one for one in bench.settled if one.refused is None]


def _outright(evidence: Evidence, rows: pd.DataFrame, target: pd.DataFrame) -> FloatArray:
    """Class of what is answered after the examples; without examples, the behaviour itself, which is deterministic."""
    if not evidence.bench.most:
        return target["truth"].to_numpy(dtype=np.float64)
    return at(rows, OUTRIGHT, evidence.bench.most)["answer"].to_numpy(dtype=np.float64)


def _refused(evidence: Evidence, one: Settled) -> LabelsFinding:
    return LabelsFinding(
        name=one.property.name,
        title=one.property.title,
        asked=f"What kind is {one.property.what.replace('{answer}', 'your answer')}? It was not asked.",
        results=(
            CapabilityResult(
                capability=CAPABILITY,
                condition=CONDITION,
                verdict=Verdict.INSUFFICIENT,
                reasons=(f"nothing was asked: {one.refused}",),
                chance=1.0 / max(2, len(one.classes)),
                coverage=0.0,
                invalid_rate=0.0,
            ),
        ),
        grids=(_behaviour(evidence, one),),
        notes=(f"Nothing was asked: {one.refused}.",),
    )


def _setting(bench: Bench, one: Settled) -> dict[str, str]:
    found = {
        "examples": str(bench.most),
        "draws of examples": str(bench.claim.experiments),
        "prompts judged": str(int(np.isfinite(one.judged_J).sum())),
        "prompts to learn from": str(int(np.isfinite(one.fit_F).sum())),
        "classes": ", ".join(one.classes),
    }
    return found if not one.cut else {**found, "cut": f"{one.cut:g} characters"}


def _share(evidence: Evidence, rows: pd.DataFrame, given: FloatArray, chance: float, missing: float = 0.0) -> Estimate:
    return _measured(evidence, rows, given, missing).estimate(evidence.spec.alpha, chance)


def _measured(evidence: Evidence, rows: pd.DataFrame, given: FloatArray, missing: float = 0.0) -> Measured:
    return balanced(given, rows["truth"].to_numpy(dtype=np.int64), rows, evidence.spec.clusters, missing)


def _curve(
    evidence: Evidence, one: Settled, rows: pd.DataFrame, target: pd.DataFrame, seen: Mapping[str, FloatArray]
) -> Curve:
    """Right answers by number of examples, of the report and of whoever was asked or fitted at each number."""
    bench, chance = evidence.bench, 1.0 / len(one.classes)
    items = target["number"].to_numpy()
    lines: dict[str, list[Point]] = {}

    def add(name: str, count: int, given: FloatArray, missing: float) -> None:
        found = _share(evidence, target, given, chance, missing)
        lines.setdefault(name, []).append(Point(x=float(count), estimate=found))

    for count in sorted(bench.claim.examples):
        here = at(rows, TARGET, count)
        add("report", count, here["answer"].to_numpy(dtype=np.float64), 0.0)
        add("report, the likelier letter", count, here["choice"].to_numpy(dtype=np.float64), chance)
        for name, values in matched(bench, one, evidence.features, count).items():
            add(f"{name.split(',')[0]}, same examples", count, values[items], chance)
    for name, values in seen.items():
        if not name.endswith(" examples"):
            add(name, bench.most, values, chance)
    return Curve(
        name=f"{one.property.name}-by-examples",
        title="Right answers by number of examples",
        x="examples of the model's behaviour",
        y="right, classes weighed alike",
        series=tuple(Series(name=n, points=tuple(p), emphasis=n == "report") for n, p in lines.items()),
        lines=(Line(label="chance", value=chance),),
    )


def _behaviour(evidence: Evidence, one: Settled) -> Grid:
    """How the behaviour is distributed, where a model whose answers have collapsed would show."""
    bench = evidence.bench
    parts = {"to learn from": bench.answers[: bench.fit], "to judge": bench.answers[bench.fit :]}
    every = range(len(one.property.classes))
    rows: dict[str, list[str]] = {name: [] for name in one.property.classes}
    rows["without it"], rows["entropy of the classes"] = [], []
    for answers in parts.values():
        found = np.array([np.nan if (c := one.property.of(a, one.cut)) is None else c for a in answers], dtype=float)
        for number in every:
            rows[one.property.classes[number]].append(str(int((found == number).sum())))
        rows["without it"].append(str(int(np.isnan(found).sum())))
        rows["entropy of the classes"].append(f"{entropy_of(found):.2f} bits")
    return Grid(
        name=f"{one.property.name}-behaviour",
        title="What the model does: prompts by class of its own answer",
        columns=("Class", *parts),
        rows=tuple((name, tuple(cells)) for name, cells in rows.items()),
        unit=Unit.NUMBER,
    )


def _crossed(evidence: Evidence, one: Settled, target: pd.DataFrame) -> tuple[Grid, ...]:
    """Whose behaviour a report is right about: one's own, or another model's (only prompts on which both have one)."""
    if not evidence.readers:
        return ()
    report, chance, rows = target["answer"].to_numpy(dtype=np.float64), 1.0 / len(one.classes), []
    for reader in evidence.readers:
        other = one.of(reader.answers[evidence.bench.fit :])[target["number"].to_numpy()]
        both = np.isfinite(other)
        if not both.any() or len(set(other[both].tolist())) < 2:
            continue
        some, theirs = target[both].reset_index(drop=True), other[both]
        own = _share(evidence, some, report[both], chance)
        cross = _share(evidence, some.assign(truth=theirs), report[both], chance)
        difference = mean_of(
            (report[both] == some["truth"].to_numpy()).astype(float) - (report[both] == theirs),
            some,
            evidence.spec.clusters,
            (-1.0, 1.0),
        ).estimate(evidence.spec.alpha, 0.0)
        same = mean_of((some["truth"].to_numpy() == theirs).astype(float), some, evidence.spec.clusters)
        rows.append((reader.name, (own, cross, difference, same.estimate(evidence.spec.alpha))))
    if not rows:
        return ()
    return (
        Grid(
            name=f"{one.property.name}-crossed",
            title="Whose answers the report is right about",
            columns=("Other model", "its own", "the other's", "more often its own", "both alike"),
            rows=tuple(rows),
            note="Only prompts on which both models' answers have the property; invalid reports are not right. The "
            "first two columns weigh classes alike, the difference weighs prompts alike.",
        ),
    )


def _notes(evidence: Evidence, one: Settled, rows: pd.DataFrame, target: pd.DataFrame) -> tuple[str, ...]:
    bench = evidence.bench
    before = bench.behaviour.sort_values("number")["entropy"].to_numpy(dtype=np.float64)[bench.fit :]
    bits = mean_of(before[target["number"].to_numpy()], target, evidence.spec.clusters, (0.0, 20.0))
    shown = bits.estimate(evidence.spec.alpha)
    notes = [
        f"Before its answers the model's own next token has an entropy of {shown.value:.2f} nats "
        f"[{shown.low:.2f}, {shown.high:.2f}] on average, and the classes of its answers one of "
        f"{entropy_of(one.judged_J):.2f} bits."
    ]
    lost = [name for number, name in enumerate(one.property.classes) if number not in one.kept]
    if lost:
        notes.append(f"Too rare to be asked about, with their prompts: {', '.join(lost)}.")
    if bench.most:
        again = at(rows, OUTRIGHT, bench.most)
        kept = np.asarray(again["answer"] == again["truth"], dtype=np.float64)
        same = mean_of(kept, again, evidence.spec.clusters).estimate(evidence.spec.alpha)
        notes.append(
            f"Asked the prompts themselves after the same examples, its answers have the same class in "
            f"{same.value:.1%} [{same.low:.1%}, {same.high:.1%}]."
        )
    if bench.claim.draws:
        drawn = draws_of(bench.behaviour)[bench.fit :]
        rates = np.array([_rate(one.of(drawn[i]), one.judged_J[i]) for i in target["number"]])
        held = mean_of(rates, target, evidence.spec.clusters)
        if not held.unknown:
            found = held.estimate(evidence.spec.alpha)
            notes.append(
                f"Sampled answers have the greedy one's class in {found.value:.1%} [{found.low:.1%}, {found.high:.1%}]."
            )
    return tuple(notes)


def _rate(classes: FloatArray, truth: float) -> float:
    known = classes[np.isfinite(classes)]
    return float((known == truth).mean()) if len(known) else float("nan")
