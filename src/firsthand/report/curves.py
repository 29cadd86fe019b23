"""Lines with interval bands, as Vega-Lite specifications: the report stands out, its observers stand back.

Who is who is told by the shape of the points as well as by colour, in a legend under the plot: many lines end close to
one another, and names of observers are long.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firsthand.report.charts import WIDTH, Reference, _axis, _finish
from firsthand.report.formats import Unit
from firsthand.report.safe_text import one_line
from firsthand.report.svg import LIGHT

HEIGHT = 250
_PLOT = WIDTH - 66
_LEGEND_ROW = 20
_NAME = 42
_SHAPES = ("circle", "square", "triangle-up", "cross", "triangle-down", "triangle-right", "triangle-left", "wedge")
_DASHES = ([1, 0], [6, 3], [2, 3], [8, 3, 2, 3])


@dataclass(frozen=True)
class LinePoint:
    """One point of a line and the interval around it."""

    x: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PlotLine:
    """One line, from left to right; ``emphasis`` marks what the chart is about."""

    name: str
    points: tuple[LinePoint, ...]
    emphasis: bool = False


@dataclass(frozen=True)
class _Look:
    color: str
    shape: str
    dash: list[int]
    size: float
    stroke: float
    band: float


def curves(
    lines: Sequence[PlotLine], *, x_title: str, y_title: str, unit: Unit, references: Sequence[Reference] = ()
) -> dict[str, Any]:
    """Draw lines with a band around each for its interval.

    Args:
        lines: The lines; those that stand out are drawn last.
        x_title: What the horizontal axis is.
        y_title: What the vertical axis is.
        unit: How values are written.
        references: Values to compare with, as dashed lines.
    """
    import altair as alt

    looks = _looks(lines)
    domain = _span([*_ends(lines), *(reference.value for reference in references)], unit)
    x_scale = alt.Scale(domain=_sides(lines), nice=False)
    x = alt.X("x:Q", title=one_line(x_title, 60), scale=x_scale, axis=_x_axis(lines))
    y = {
        "title": one_line(y_title, 46),
        "scale": alt.Scale(domain=list(domain), nice=False, clamp=True),
        "axis": _axis(unit),
    }
    order = sorted(range(len(lines)), key=lambda index: lines[index].emphasis)
    bands: list[dict[str, Any]] = []
    bars: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    for index in order:
        found = _records(lines[index], looks[index], index, domain)
        (bands if len(found) > 1 else bars).extend(found)
        points += found
    layers = [*_lines(bands, bars, points, x, y), *_references(references, y["scale"])]
    plot = alt.layer(*layers).properties(width=_PLOT, height=HEIGHT)
    return _finish(alt.vconcat(plot, _legend(lines, looks), spacing=14))


def _looks(lines: Sequence[PlotLine]) -> list[_Look]:
    found, muted = [], 0
    for line in lines:
        if line.emphasis:
            found.append(_Look(LIGHT["accent"], "diamond", [1, 0], 110, 2.6, 0.18))
            continue
        shape, dash = _SHAPES[muted % len(_SHAPES)], _DASHES[(muted // 2) % len(_DASHES)]
        found.append(_Look(LIGHT["other"], shape, dash, 80, 1.4, 0.08))
        muted += 1
    return found


def _records(line: PlotLine, look: _Look, series: int, domain: tuple[float, float]) -> list[dict[str, Any]]:
    """One record a point; an end that is not known reaches to the edge, a point that is not known is left out."""
    return [
        {
            "series": series,
            "x": point.x,
            "value": point.value if math.isfinite(point.value) else None,
            "low": point.low if math.isfinite(point.low) else domain[0],
            "high": point.high if math.isfinite(point.high) else domain[1],
            **vars(look),
        }
        for point in line.points
    ]


def _lines(
    bands: Sequence[dict[str, Any]],
    bars: Sequence[dict[str, Any]],
    points: Sequence[dict[str, Any]],
    x: Any,
    y: dict[str, Any],
) -> list[Any]:
    """Bands, bars of lines that are one point only, lines and points: few layers, however many lines there are."""
    import altair as alt

    color, stroke = alt.Color("color:N", scale=None), alt.StrokeWidth("stroke:Q", scale=None)
    value, low, high = alt.Y("value:Q", **y), alt.Y("low:Q", **y), alt.Y2("high:Q")
    detail = alt.Detail("series:N")
    return [
        alt.Chart(alt.Data(values=list(bands)))
        .mark_area()
        .encode(x=x, y=low, y2=high, detail=detail, color=color, opacity=alt.Opacity("band:Q", scale=None)),
        alt.Chart(alt.Data(values=list(bars))).mark_rule().encode(x=x, y=low, y2=high, color=color, strokeWidth=stroke),
        alt.Chart(alt.Data(values=list(points)))
        .mark_line()
        .encode(x=x, y=value, detail=detail, color=color, strokeWidth=stroke, strokeDash=_dash()),
        alt.Chart(alt.Data(values=list(points)))
        .mark_point(filled=True, opacity=1, stroke=LIGHT["paper"], strokeWidth=1)
        .encode(x=x, y=value, color=color, shape=_shape(), size=_size()),
    ]


def _references(references: Sequence[Reference], y_scale: Any) -> list[Any]:
    import altair as alt

    layers: list[Any] = []
    for reference in references:
        data = alt.Chart(alt.Data(values=[{"value": reference.value, "label": one_line(reference.label, 40)}]))
        y = alt.Y("value:Q", scale=y_scale)
        layers.append(data.mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=LIGHT["chance"]).encode(y=y))
        layers.append(
            data.mark_text(align="right", baseline="bottom", dy=-3, fontSize=12, color=LIGHT["chance"]).encode(
                x=alt.value(_PLOT), y=y, text="label:N"
            )
        )
    return layers


def _legend(lines: Sequence[PlotLine], looks: Sequence[_Look]) -> Any:
    """One row a line, in the given order: a stroke with its point, and the name."""
    import altair as alt

    scale = alt.Scale(domain=[-0.5, max(len(lines), 1) - 0.5], reverse=True, nice=False)
    records = [
        {
            "row": row,
            "name": one_line(line.name, _NAME),
            "ink": LIGHT["accent"] if line.emphasis else LIGHT["muted"],
            "weight": 600 if line.emphasis else 400,
            **vars(look),
        }
        for row, (line, look) in enumerate(zip(lines, looks, strict=True))
    ]
    base = alt.Chart(alt.Data(values=records)).encode(y=alt.Y("row:Q", axis=None, scale=scale))
    color = alt.Color("color:N", scale=None)
    layers: list[Any] = [
        base.mark_rule().encode(
            x=alt.value(0),
            x2=alt.value(30),
            color=color,
            strokeWidth=alt.StrokeWidth("stroke:Q", scale=None),
            strokeDash=_dash(),
        ),
        base.mark_point(filled=True, opacity=1).encode(x=alt.value(15), color=color, shape=_shape(), size=_size()),
        base.mark_text(align="left", fontSize=12, fontWeight=alt.ExprRef("datum.weight")).encode(
            x=alt.value(38), text="name:N", color=alt.Color("ink:N", scale=None)
        ),
    ]
    return alt.layer(*layers).properties(width=_PLOT, height=_LEGEND_ROW * max(len(lines), 1))


def _shape() -> Any:
    import altair as alt

    return alt.Shape("shape:N", scale=None)


def _size() -> Any:
    import altair as alt

    return alt.Size("size:Q", scale=None)


def _dash() -> Any:
    import altair as alt

    return alt.StrokeDash("dash:N", scale=None)


def _ends(lines: Sequence[PlotLine]) -> list[float]:
    ends = [end for line in lines for point in line.points for end in (point.value, point.low, point.high)]
    return [end for end in ends if math.isfinite(end)]


def _span(values: Sequence[float], unit: Unit) -> tuple[float, float]:
    """Round outwards to a tenth of the values' own order of magnitude; shares stay between 0 and 1."""
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    step = 0.1 if unit is Unit.PERCENT else 10.0 ** math.floor(math.log10(max(high - low, abs(high), 1e-9))) / 2
    below, above = step * math.floor(low / step - 0.1), step * math.ceil(high / step + 0.1)
    if low >= 0.0:
        below = max(below, 0.0)
    if unit is Unit.PERCENT and high <= 1.0:
        above = min(above, 1.0)
    return below, above


def _sides(lines: Sequence[PlotLine]) -> list[float]:
    """Ends of the horizontal axis, with a little room around the outermost points."""
    places = [point.x for line in lines for point in line.points if math.isfinite(point.x)]
    if not places:
        return [0.0, 1.0]
    room = 0.04 * (max(places) - min(places)) or 0.5
    return [min(places) - room, max(places) + room]


def _x_axis(lines: Sequence[PlotLine]) -> Any:
    """Ticks at the points where these are few, such as layers; else where they fit."""
    import altair as alt

    places = sorted({point.x for line in lines for point in line.points})
    chosen = {"values": places} if len(places) <= 7 else {"tickCount": 6}
    return alt.Axis(labelExpr="format(datum.value, '~g')", ticks=False, domain=False, grid=False, **chosen)
