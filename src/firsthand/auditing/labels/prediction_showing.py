"""What stands beside the verdict on one property: curves, tables and notes. None of it is judged."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from firsthand.analysis.findings import Line, Mark, Picture
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import DIFFERENCE, mean_of
from firsthand.analysis.results import Estimate
from firsthand.auditing.labels.prediction import MOSTLY, Heard
from firsthand.auditing.labels.prediction_evidence import ALIKE, Evidence
from firsthand.auditing.labels.prediction_observers import matched
from firsthand.auditing.labels.prediction_rows import at, balanced, balanced_mean
from firsthand.report.formats import Unit
from firsthand.report.labels_document import Curve, Grid, Point, Series
from firsthand.studies.labels.prediction.behaviour import draws_of
from firsthand.studies.labels.prediction.properties import Settled, entropy_of
from firsthand.studies.labels.prediction.reports import LOT, OUTRIGHT, TARGET, THIRD_PERSON

BY_LOT = "report, examples by lot"


def share(evidence: Evidence, rows: pd.DataFrame, given: FloatArray, chance: float, missing: float = 0.0) -> Estimate:
    """Right answers, classes weighed alike, against chance."""
    truth = rows["truth"].to_numpy(dtype=np.int64)
    return balanced(given, truth, rows, evidence.spec.clusters, missing).estimate(evidence.spec.alpha, chance)


def curve_of(evidence: Evidence, one: Settled, target: pd.DataFrame, seen: Mapping[str, FloatArray]) -> Curve:
    """Right answers by number of examples, of the report and of whoever was asked or fitted at each number."""
    bench, rows, chance = evidence.bench, evidence.of(one), 1.0 / len(one.classes)
    items = target["number"].to_numpy()
    lines: dict[str, list[Point]] = {}

    def add(name: str, count: int, given: FloatArray, missing: float) -> None:
        found = share(evidence, target, given, chance, missing)
        lines.setdefault(name, []).append(Point(x=float(count), estimate=found))

    for count in sorted(bench.claim.examples):
        here = at(rows, TARGET, count)
        add("report", count, here["answer"].to_numpy(dtype=np.float64), 0.0)
        add("report, the likelier letter", count, here["choice"].to_numpy(dtype=np.float64), chance)
        if count < bench.most:
            fewer = {name: values[items] for name, values in matched(bench, one, evidence.features, count).items()}
        else:
            fewer = {name: values for name, values in seen.items() if name.endswith(" examples")}
        for name, values in fewer.items():
            add(f"{name.split(',')[0]}, same examples", count, values, chance)
    if bench.most:
        add(BY_LOT, bench.most, at(rows, LOT, bench.most)["answer"].to_numpy(dtype=np.float64), 0.0)
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


def learned(evidence: Evidence, one: Settled, target: pd.DataFrame) -> tuple[Picture, str] | None:
    """Was it learned from the examples? The report after them, and after the same with classes drawn by lot.

    Returns:
        A picture and the same in words; ``None`` without examples.
    """
    most, chance, alpha = evidence.bench.most, 1.0 / len(one.classes), evidence.spec.alpha
    if not most:
        return None
    lot = at(evidence.of(one), LOT, most)
    truth = target["truth"].to_numpy(dtype=np.int64)
    right = [(rows["answer"].to_numpy(dtype=np.float64) == truth).astype(np.float64) for rows in (target, lot)]
    found = balanced_mean(right[0] - right[1], truth, target, evidence.spec.clusters, DIFFERENCE)
    ahead, after = found.estimate(alpha, 0.0), share(evidence, lot, lot["answer"].to_numpy(dtype=np.float64), chance)
    real = share(evidence, target, target["answer"].to_numpy(dtype=np.float64), chance)
    says = (
        "some of it comes from the examples"
        if found.p_above(0.0) <= alpha
        else "that it was learned from the examples is not shown; who works out the answer itself needs none"
    )
    picture = Picture(
        title="Was it learned from the examples?",
        axis="right, classes weighed alike; invalid replies are not right",
        unit="share",
        marks=(
            Mark(label="after its examples", estimate=real, emphasis=True),
            Mark(label="after the same, classes drawn by lot", estimate=after),
        ),
        lines=(Line(label="chance", value=chance),),
    )
    words = (
        f"After examples whose classes were drawn by lot it is right in {after.value:.1%} [{after.low:.1%}, "
        f"{after.high:.1%}], and after the real ones by {100 * ahead.value:+.1f} points [{100 * ahead.low:+.1f}, "
        f"{100 * ahead.high:+.1f}] more often: {says}. No verdict rests on this."
    )
    return picture, words


def behaviour_grid(evidence: Evidence, one: Settled) -> Grid:
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


def readers_grid(evidence: Evidence, one: Settled) -> Grid:
    """Who was asked in the third person, whether they answered, and how often they were right."""
    most, alpha, chance = evidence.bench.most, evidence.spec.alpha, 1.0 / len(one.classes)
    asked = {ALIKE: at(evidence.of(one), THIRD_PERSON, most)}
    asked |= {reader.observer: reader.replies(one, most) for reader in evidence.readers}
    table = []
    for name, rows in asked.items():
        coverage = mean_of(np.clip(rows["coverage"].to_numpy(dtype=np.float64), 0.0, 1.0), rows, evidence.spec.clusters)
        valid = mean_of(
            np.isfinite(rows["answer"].to_numpy(dtype=np.float64)).astype(np.float64), rows, evidence.spec.clusters
        )
        counts = "-" if name == ALIKE else "yes" if Heard.of(rows).reads(evidence.spec) else "no"
        likelier = share(evidence, rows, rows["choice"].to_numpy(dtype=np.float64), chance, chance)
        strict = share(evidence, rows, rows["answer"].to_numpy(dtype=np.float64), chance)
        table.append((name, (coverage.estimate(alpha), valid.estimate(alpha), likelier, strict, counts)))
    return Grid(
        name=f"{one.property.name}-readers",
        title="Who was asked in the third person, and whether they answered",
        columns=("Asked", "coverage", "valid", "right, likelier letter", "right, invalid not right", "opens the gate"),
        rows=tuple(table),
        note=f"Chance is {chance:.0%}. The likelier letter is held against the report, valid or not. Only a model with "
        f"a coverage of {evidence.spec.minimum_coverage:.0%} and more than {MOSTLY:.0%} valid replies counts as one "
        "that was beaten.",
    )


def crossed_grid(evidence: Evidence, one: Settled, target: pd.DataFrame) -> tuple[Grid, ...]:
    """Whose behaviour a report is right about: one's own, or another model's (only prompts on which both have one)."""
    report, chance, rows = target["answer"].to_numpy(dtype=np.float64), 1.0 / len(one.classes), []
    for reader in evidence.readers:
        other = one.of(reader.answers[evidence.bench.fit :])[target["number"].to_numpy()]
        both = np.isfinite(other)
        if not both.any() or len(set(other[both].tolist())) < 2:
            continue
        some, theirs = target[both].reset_index(drop=True), other[both]
        own = share(evidence, some, report[both], chance)
        cross = share(evidence, some.assign(truth=theirs), report[both], chance)
        difference = mean_of(
            (report[both] == some["truth"].to_numpy()).astype(float) - (report[both] == theirs),
            some,
            evidence.spec.clusters,
            DIFFERENCE,
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


def notes_on(evidence: Evidence, one: Settled, target: pd.DataFrame) -> tuple[str, ...]:
    """What else a reader should know of one property."""
    bench, rows = evidence.bench, evidence.of(one)
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
    if bench.claim.experiments == 1:
        notes.append("Examples, wording and letters were drawn once: nothing shows what another draw would give.")
    third = at(rows, THIRD_PERSON, bench.most)
    valid = mean_of(
        np.isfinite(third["answer"].to_numpy(dtype=np.float64)).astype(np.float64), third, evidence.spec.clusters
    )
    if valid.value <= MOSTLY:
        notes.append(
            f"In the third person only {_in_words(evidence, valid)} of its replies are valid: as an observer it gives "
            "the likelier letter all the same, and to be ahead of it shows little."
        )
    if bench.most:
        again = at(rows, OUTRIGHT, bench.most)
        kept = np.asarray(again["answer"] == again["truth"], dtype=np.float64)
        same = mean_of(kept, again, evidence.spec.clusters)
        notes.append(
            "Asked the prompts themselves after the same examples, its answers have the same class in "
            f"{_in_words(evidence, same)}."
        )
    if bench.claim.draws:
        drawn = draws_of(bench.behaviour)[bench.fit :]
        rates = np.array([_rate(one.of(drawn[i]), one.judged_J[i]) for i in target["number"]])
        held = mean_of(rates, target, evidence.spec.clusters)
        if not held.unknown:
            notes.append(f"Sampled answers have the greedy one's class in {_in_words(evidence, held)}.")
    return tuple(notes)


def _in_words(evidence: Evidence, measured: Measured) -> str:
    found = measured.estimate(evidence.spec.alpha)
    return f"{found.value:.1%} [{found.low:.1%}, {found.high:.1%}]"


def _rate(classes: FloatArray, truth: float) -> float:
    known = classes[np.isfinite(classes)]
    return float((known == truth).mean()) if len(known) else float("nan")
