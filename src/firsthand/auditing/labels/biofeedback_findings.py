"""What a biofeedback study shows for the labels of each kind of axis: verdict, curves, and what the model read."""

from collections.abc import Mapping, Sequence

import pandas as pd

from firsthand.analysis.findings import Line
from firsthand.analysis.results import Estimate
from firsthand.auditing.labels.biofeedback import curve, judge
from firsthand.claims.labels import BiofeedbackClaim
from firsthand.report.labels_document import Curve, LabelsFinding, Point, Series
from firsthand.studies.labels.biofeedback import TARGET, Bench, conversation_of, labels_of
from firsthand.studies.labels.conversations import lay_out

BINS = 4
"""Parts of the curve of right answers by number of shots."""

SHOWN = 6
"""Shots of the conversation that a report shows."""

CHANCE = Line(label="chance", value=0.5)
ASKED = (
    "Which of two labels does this sentence have, judging by the sentences before it? The labels are made of the "
    "model's own states, and it is not told so."
)


def finding_of(bench: Bench, table: pd.DataFrame, axis: str) -> LabelsFinding:
    """Judge and show the labels of one kind of axis, over all layers.

    Args:
        bench: What is fixed.
        table: All rows of the axis, the target's with observers.
        axis: Name of the axis: ``probe``, ``permuted``, ``pc1``, ...

    Raises:
        AnalysisError: If a class is never true.
    """
    claim, table = bench.claim, table.reset_index(drop=True)
    layers = sorted(map(int, set(table["layer"])))
    return LabelsFinding(
        name=axis,
        title=_title(axis),
        asked=ASKED,
        setting={
            "layers": ", ".join(map(str, layers)),
            "conversations": f"{claim.experiments} a layer, {claim.shots} shots each",
            "judged": f"from {claim.judged_from} shots on",
        },
        results=(judge(table, claim.analysis, claim.judged_from),),
        curves=(_by_shots(table, claim), *_by_layer(table, claim, layers)),
        prompt=_read(bench, table),
    )


def _title(axis: str) -> str:
    if axis.startswith("pc"):
        return f"Labels of principal component {axis.removeprefix('pc')}"
    return {"probe": "Labels of a probe", "permuted": "Labels of a probe of permuted labels"}.get(axis, axis)


def _by_shots(table: pd.DataFrame, claim: BiofeedbackClaim) -> Curve:
    step = max(1, claim.judged_from // (BINS - 1))
    edges = tuple(dict.fromkeys((*range(0, claim.judged_from, step), claim.judged_from, claim.shots)))
    return Curve(
        name="shots",
        title="Right answers by number of shots",
        x="Labelled sentences before it (middle of the bin)",
        y="Right answers",
        series=_series(curve(table, claim.analysis, edges)),
        lines=(CHANCE,),
    )


def _by_layer(table: pd.DataFrame, claim: BiofeedbackClaim, layers: Sequence[int]) -> tuple[Curve, ...]:
    if len(layers) < 2:
        return ()
    late = table[(table["arm"] == TARGET) & (table["place"] >= claim.judged_from)]
    found: dict[str, dict[float, Estimate]] = {}
    for layer in layers:
        here = curve(late[late["layer"] == layer], claim.analysis, (claim.judged_from, claim.shots))
        for name, values in here.items():
            for value in values.values():  # one bin
                found.setdefault(name, {})[layer] = value
    shown = Curve(
        name="layers",
        title="Right answers by layer of the labels",
        x="Layer (0 is the first block)",
        y="Right answers",
        series=_series(found),
        lines=(CHANCE,),
    )
    return (shown,)


def _series(found: Mapping[str, Mapping[float, Estimate]]) -> tuple[Series, ...]:
    return tuple(
        Series(
            name=name,
            points=tuple(Point(x=x, estimate=value) for x, value in values.items()),
            emphasis=name == "report",
        )
        for name, values in found.items()
        if values
    )


def _read(bench: Bench, table: pd.DataFrame) -> str:
    """The first shots of one conversation, as the model read them."""
    first = table[table["arm"] == TARGET].iloc[0]
    referent = next(one for one in bench.referents if one.name == first["referent"])
    experiment = int(first["experiment"])
    labels, _ = labels_of(bench, referent, bench.drawn(experiment))
    tokenizer = bench.loaded.tokenizer
    return str(tokenizer.decode(lay_out(tokenizer, conversation_of(bench, experiment, labels).starting(SHOWN)).tokens))
