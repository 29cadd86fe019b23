"""The charts, as Vega-Lite specifications made with Altair.

All are drawn for a narrow column, so that they stay readable on a phone. Labels stand directly on the marks; what the
reader should follow is told by shape as well as by colour; an interval is drawn wherever a point is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firsthand.analysis.results import Calibration
from firsthand.report.document import Selection
from firsthand.report.formats import Unit, number
from firsthand.report.safe_text import one_line
from firsthand.report.svg import FONT, LIGHT

WIDTH = 372
_ROW = 42
_LABEL_SPACE = 232


@dataclass(frozen=True)
class DotRow:
    """One line of a dot-and-interval chart.

    Attributes:
        label: Direct label.
        value: Point.
        low: Lower end of its interval.
        high: Upper end.
        text: The same in figures.
        emphasis: Whether this is what the chart is about; drawn as a diamond in the accent colour.
    """

    label: str
    value: float
    low: float
    high: float
    text: str
    emphasis: bool = False


@dataclass(frozen=True)
class Reference:
    """A dashed line to compare with, e.g. chance."""

    value: float
    label: str


def dots(
    rows: Sequence[DotRow], *, axis_title: str, unit: Unit, references: Sequence[Reference] = (), full: bool = False
) -> dict[str, Any]:
    """Draw estimates with intervals, one a line, with the label and the figures above each.

    Args:
        rows: What to draw, from top to bottom.
        axis_title: What the horizontal axis is, in words.
        unit: How its numbers are written.
        references: Lines to compare with.
        full: Whether shares are drawn on an axis from 0 to 100%, rather than around the data.
    """
    import altair as alt

    marks = [reference.value for reference in references]
    domain = (0.0, 1.0) if full else _domain(rows, marks)
    data = alt.Data(values=[_dot_record(index, row, domain) for index, row in enumerate(rows)])
    x_scale = alt.Scale(domain=list(domain), nice=False, clamp=True)
    x = alt.X("value:Q", title=axis_title, scale=x_scale, axis=_axis(unit))
    y = alt.Y("line:Q", axis=None, scale=alt.Scale(domain=[-0.65, len(rows) - 0.55], reverse=True, nice=False))
    color = alt.Color("color:N", scale=None)
    base = alt.Chart(data)
    layers: list[Any] = [
        *_reference_layers(references, x_scale, domain),
        base.mark_rule(strokeWidth=2.5, strokeCap="round").encode(
            x=alt.X("low:Q", scale=x_scale, title=axis_title), x2="high:Q", y=y, color=color
        ),
        base.mark_point(filled=True, opacity=1, stroke=LIGHT["paper"], strokeWidth=1.5).encode(
            x=x, y=y, color=color, shape=alt.Shape("shape:N", scale=None), size=alt.Size("size:Q", scale=None)
        ),
        base.mark_text(align="left", dy=-15, fontSize=12.5, limit=_LABEL_SPACE).encode(
            x=alt.value(0), y=y, text="label:N", color=alt.value(LIGHT["ink"]), opacity=alt.value(1)
        ),
        base.mark_text(align="right", dy=-15, fontSize=12).encode(
            x=alt.value(WIDTH), y=y, text="text:N", color=alt.Color("text_color:N", scale=None)
        ),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=_ROW * len(rows) + 8)
    return _finish(chart)


def reliability(calibration: Calibration) -> dict[str, Any]:
    """Draw stated confidence against how often the report was right."""
    import altair as alt

    largest = max((item.accuracy.n_trials for item in calibration.bins), default=1)
    data = alt.Data(
        values=[
            {
                "confidence": item.mean_confidence,
                "accuracy": item.accuracy.value,
                "low": item.accuracy.low,
                "high": item.accuracy.high,
                "size": 45 + 240 * item.accuracy.n_trials / largest,
                "text": str(item.accuracy.n_trials),
            }
            for item in calibration.bins
        ]
    )
    scale = alt.Scale(domain=[0, 1], nice=False, clamp=True)
    x = alt.X("confidence:Q", title="Stated confidence", scale=scale, axis=_axis(Unit.PERCENT))
    y = alt.Y("low:Q", title="Share of reports that were right", scale=scale, axis=_axis(Unit.PERCENT))
    diagonal = alt.Chart(alt.Data(values=[{"confidence": 0, "low": 0}, {"confidence": 1, "low": 1}]))
    note = alt.Chart(alt.Data(values=[{"confidence": 0.2, "low": 0.07, "text": "perfect calibration"}]))
    base = alt.Chart(data)
    layers: list[Any] = [
        diagonal.mark_line(strokeDash=[5, 4], strokeWidth=1.5, color=LIGHT["chance"]).encode(x=x, y=y),
        note.mark_text(align="left", fontSize=11.5, color=LIGHT["chance"]).encode(x=x, y=y, text="text:N"),
        base.mark_rule(strokeWidth=2.5, strokeCap="round", color=LIGHT["accent"]).encode(x=x, y=y, y2="high:Q"),
        base.mark_point(filled=True, opacity=1, color=LIGHT["accent"], stroke=LIGHT["paper"], strokeWidth=1.5).encode(
            x=x, y=alt.Y("accuracy:Q", scale=scale), size=alt.Size("size:Q", scale=None)
        ),
        base.mark_text(align="left", dx=12, fontSize=11.5, color=LIGHT["muted"]).encode(
            x=x, y=alt.Y("accuracy:Q", scale=scale), text="text:N"
        ),
    ]
    return _finish(alt.layer(*layers).properties(width=WIDTH - 48, height=280))


def selection_grid(selection: Selection) -> dict[str, Any]:
    """Draw the score of every layer and dose, with the chosen cell outlined."""
    import altair as alt

    scores = [row.score for row in selection.rows]
    low, spread = min(scores), (max(scores) - min(scores)) or 1.0
    chosen = (selection.chosen.layer, selection.chosen.dose)
    records = [
        {
            "layer": str(row.layer),
            "dose": f"{row.dose:g}",
            "shade": 0.06 + 0.4 * (row.score - low) / spread,
            "text": number(row.score, selection.unit),
            "below": "chosen" if (row.layer, row.dose) == chosen else one_line(row.note or "", 16),
            "edge": 3 if (row.layer, row.dose) == chosen else 0,
        }
        for row in selection.rows
    ]
    layers_in_order = [str(layer) for layer in sorted({row.layer for row in selection.rows})]
    doses_in_order = [f"{dose:g}" for dose in sorted({row.dose for row in selection.rows})]
    axis = alt.Axis(labelAngle=0, ticks=False, domain=False)
    x = alt.X("dose:N", sort=doses_in_order, title="Dose (mean residual norms)", axis=axis)
    y = alt.Y("layer:N", sort=layers_in_order, title="Layer", axis=axis)
    base = alt.Chart(alt.Data(values=records)).encode(x=x, y=y)
    layers: list[Any] = [
        base.mark_rect(fill=LIGHT["accent"], stroke=LIGHT["accent"], cornerRadius=3).encode(
            fillOpacity=alt.FillOpacity("shade:Q", scale=None), strokeWidth=alt.StrokeWidth("edge:Q", scale=None)
        ),
        base.mark_text(fontSize=14, fontWeight=600, dy=-3, color=LIGHT["ink"]).encode(text="text:N"),
        base.mark_text(fontSize=11.5, dy=13, color=LIGHT["ink"]).encode(text="below:N"),
    ]
    size = {"width": WIDTH - 60, "height": max(64, 58 * len(layers_in_order))}
    return _finish(alt.layer(*layers).properties(**size), scale={"bandPaddingInner": 0.06})


def _room(beside: str) -> int:
    """Characters that a label may have before it runs into the figures on its line, in a wide font."""
    return max(16, int((WIDTH - 12 - 6.6 * len(beside)) / 6.6))


def _dot_record(index: int, row: DotRow, domain: tuple[float, float]) -> dict[str, Any]:
    """Make a record; an end that is not known reaches to the edge, a point that is not known is left out."""
    return {
        "line": index,
        "label": one_line(row.label, _room(row.text)),
        "value": row.value if math.isfinite(row.value) else None,
        "low": row.low if math.isfinite(row.low) else domain[0],
        "high": row.high if math.isfinite(row.high) else domain[1],
        "text": row.text,
        "color": LIGHT["accent"] if row.emphasis else LIGHT["other"],
        "text_color": LIGHT["accent"] if row.emphasis else LIGHT["muted"],
        "shape": "diamond" if row.emphasis else "circle",
        "size": 150 if row.emphasis else 95,
    }


def _reference_layers(references: Sequence[Reference], scale: Any, domain: tuple[float, float]) -> list[Any]:
    import altair as alt

    x = alt.X("value:Q", scale=scale)
    layers: list[Any] = []
    for reference in references:
        data = alt.Chart(alt.Data(values=[{"value": reference.value, "label": reference.label}]))
        layers.append(
            data.mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=LIGHT["chance"]).encode(
                x=x, y=alt.value(2), y2=alt.value("height")
            )
        )
        layers.append(
            data.mark_text(
                fontSize=11.5, baseline="bottom", align=_leaning(reference.value, domain), color=LIGHT["chance"]
            ).encode(x=x, y=alt.value(-1), text="label:N")
        )
    return layers


def _leaning(value: float, domain: tuple[float, float]) -> str:
    """Where a label stands at its line: near an edge it leans inwards, so that it does not widen the chart."""
    place = (value - domain[0]) / (domain[1] - domain[0])
    return "left" if place < 0.12 else "right" if place > 0.88 else "center"


def _domain(rows: Sequence[DotRow], marks: Sequence[float]) -> tuple[float, float]:
    """Round outwards to tenths around all intervals and references, at least three tenths wide."""
    ends = [end for row in rows for end in (row.low, row.high, row.value) if math.isfinite(end)] + list(marks)
    if not ends:
        return 0.0, 1.0
    low, high = math.floor(10 * min(ends) - 0.2) / 10, math.ceil(10 * max(ends) + 0.2) / 10
    if min(ends) >= 0 and low < 0:
        low = 0.0
    if max(ends) <= 1 < high:
        high = 1.0
    return (low, high) if high - low >= 0.3 else (max(low - 0.1, min(low, 0.0)), high + 0.1 if high < 1 else high)


def _axis(unit: Unit) -> Any:
    import altair as alt

    label = {
        Unit.PERCENT: "format(datum.value, '.0%')",
        Unit.POINTS: "datum.value == 0 ? '0' : format(100 * datum.value, '+.0f')",
        Unit.NUMBER: "format(datum.value, '.3~f')",
    }[unit]
    return alt.Axis(labelExpr=label, tickCount=5, ticks=False, domain=False)


def _finish(chart: Any, **config: Any) -> dict[str, Any]:
    """Apply the house style and give the plain specification."""
    plain: dict[str, Any] = chart.to_dict()
    plain["config"] = {
        "background": "transparent",
        "font": FONT,
        "padding": 6,
        "aria": False,
        "view": {"stroke": None},
        "axis": {
            "labelColor": LIGHT["muted"],
            "titleColor": LIGHT["muted"],
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 10,
            "labelPadding": 6,
            "gridColor": LIGHT["line"],
        },
        **config,
    }
    return plain
