"""Heat maps as Vega-Lite specifications: the grid of layers and doses, and the response matrix.

Every cell holds its number, on a wash of colour that never gets so strong that the number could not be read. A cell
that matters is outlined: with a full line the one that was judged, with a dashed one the one that would have been
claimed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firsthand.report.charts import WIDTH, _finish
from firsthand.report.document import Cell
from firsthand.report.formats import MINUS, Unit, percent
from firsthand.report.injection_document import GridRow, MatrixRow, ResponseMatrix
from firsthand.report.safe_text import one_line
from firsthand.report.svg import LIGHT

STRONGEST = 0.46
"""Largest opacity of a wash: ink on it keeps a contrast of 4.5 to 1, on light paper and on dark."""
FAINTEST = 0.03

_ROW = 27
_CELL = 36
_HEAD = 34
_SIDES = (("valid", "invalid", 54), ("KL", "entropy", 108))
"""What stands beside the cells, two numbers to a column, with its right edge from where the cells end."""
_LONGEST = 16
"""Characters of an answer at the head of its column."""
_FULL = 0.35
"""The least share that gets the full wash, so that a matrix of small shares stays pale."""
_BESIDE = 4
"""Up to so many answers, coverage and the rest stand beside the cells; with more, below them."""


@dataclass(frozen=True)
class Shade:
    """What a grid's cells are shaded by.

    Attributes:
        name: ``score`` or ``rise``: the attribute of a row.
        unit: How it is written.
        chance: The value that shows nothing; what is above has one colour, what is below another.
    """

    name: str
    unit: Unit
    chance: float


def grid_heat_map(
    rows: Sequence[GridRow], shade: Shade, *, chosen: Cell | None = None, naive: Cell | None = None
) -> dict[str, Any]:
    """Draw one number for every layer and dose.

    Args:
        rows: Every cell.
        shade: Which number.
        chosen: The cell that was judged, if it is one of these.
        naive: The cell that would have been claimed, if it is one of these.
    """
    import altair as alt

    layers = [str(layer) for layer in sorted({row.layer for row in rows})]
    doses = [f"{dose:g}" for dose in sorted({row.dose for row in rows})]
    axis = alt.Axis(labelAngle=0, ticks=False, domain=False, labelOverlap=False)
    x = alt.X("dose:N", sort=doses, title="Dose (mean residual norms)", axis=axis)
    y = alt.Y("layer:N", sort=layers, title="Layer", axis=axis)
    base = alt.Chart(alt.Data(values=_grid_records(rows, shade))).encode(x=x, y=y)
    drawn: list[Any] = [
        base.mark_rect(cornerRadius=3).encode(
            fill=alt.Fill("color:N", scale=None), fillOpacity=alt.FillOpacity("shade:Q", scale=None)
        )
    ]
    for bold, weight in ((False, 400), (True, 700)):
        some = base.transform_filter(f"datum.clear === {str(bold).lower()}")
        drawn.append(some.mark_text(fontSize=12.5, fontWeight=weight, color=LIGHT["ink"]).encode(text="text:N"))
    left = 0.0
    for cell, label, color, dash in (
        (chosen, "judged", "ink", [1, 0]),
        (naive, "best of grid, not judged" if chosen != naive else "also the best of the grid", "chance", [4, 3]),
    ):
        if cell is None:
            continue
        record = [{"layer": str(cell.layer), "dose": f"{cell.dose:g}"}]
        outline = {"fillOpacity": 0, "stroke": LIGHT[color], "strokeWidth": 2.5, "strokeDash": dash}
        drawn.append(alt.Chart(alt.Data(values=record)).mark_rect(cornerRadius=3, **outline).encode(x=x, y=y))
        drawn += _key(left, label, {**outline, "strokeWidth": 2})
        left += 40 + 6.2 * len(label)
    size = {"width": WIDTH - 60, "height": _ROW * len(layers)}
    return _finish(alt.layer(*drawn).properties(**size), scale={"bandPaddingInner": 0.05, "bandPaddingOuter": 0.04})


def response_matrix(matrix: ResponseMatrix) -> dict[str, Any]:
    """Draw how often each answer (column) was given in each condition (row), with what else was measured there."""
    import altair as alt

    count = len(matrix.answers)
    beside = count <= _BESIDE
    width = (WIDTH - _SIDES[-1][2] if beside else WIDTH) / max(count, 1)
    width = min(width, 132.0)
    longest = max((len(one_line(answer, _LONGEST)) for answer in matrix.answers), default=0)
    slanted = 6.3 * longest > width
    top = 24 + 4.1 * longest if slanted else _HEAD
    height = _CELL + (26 if beside else 44)
    reach = max([_FULL, *(share.value for row in matrix.rows for share in row.shares)])
    rects, texts = [], _heads(matrix, width, top, slanted, beside)
    for index, row in enumerate(matrix.rows):
        start = top + index * height
        texts.append(_text(0, start + 12, one_line(row.label, 52), size=12.5, color="ink", align="left"))
        for place, (share, spread) in enumerate(zip(row.shares, row.spread, strict=True)):
            left = place * width
            rects.append(_rect(left, start + 20, width - 3, _CELL, share.value / reach))
            middle = left + (width - 3) / 2
            texts.append(_text(middle, start + 32, f"{100 * share.value:.0f}%", size=13, color="ink", weight=600))
            texts.append(_text(middle, start + 47, f"±{100 * spread:.0f}", size=11.5, color="ink"))
        texts += _measured(row, width * count, start + 20, beside)
    size = {"width": WIDTH, "height": top + height * len(matrix.rows) - 6}
    return _finish(alt.layer(*_placed(rects, texts, size["height"])).properties(**size))


def _grid_records(rows: Sequence[GridRow], shade: Shade) -> list[dict[str, Any]]:
    found = [(row, getattr(row, shade.name)) for row in rows]
    reach = max((abs(one.value - shade.chance) for _, one in found), default=0.0) or 1.0
    return [
        {
            "layer": str(row.layer),
            "dose": f"{row.dose:g}",
            "color": LIGHT["accent" if one.value >= shade.chance else "chance"],
            "shade": FAINTEST + (STRONGEST - FAINTEST) * min(abs(one.value - shade.chance) / reach, 1.0),
            "text": _short(one.value, shade.unit),
            "clear": not one.low <= shade.chance <= one.high,
        }
        for row, one in found
    ]


def _short(value: float, unit: Unit) -> str:
    """Write a number in as few characters as a cell holds."""
    if value != value:
        return "·"
    text = f"{value:.1f}" if unit is Unit.NUMBER else f"{100 * value:.0f}"
    text = text.lstrip("-") if float(text) == 0 else text
    sign = "+" if unit is Unit.POINTS and float(text) > 0 else ""
    return (sign + text).replace("-", MINUS)


def _key(left: float, label: str, outline: dict[str, Any]) -> list[Any]:
    """Say above the map what an outline means."""
    import altair as alt

    data = alt.Chart(alt.Data(values=[{"label": label}]))
    at = {"x": alt.value(left), "x2": alt.value(left + 18), "y": alt.value(-21), "y2": alt.value(-9)}
    return [
        data.mark_rect(cornerRadius=3, **outline).encode(**at),
        data.mark_text(align="left", fontSize=12, color=LIGHT["ink"]).encode(
            x=alt.value(left + 25), y=alt.value(-15), text="label:N"
        ),
    ]


def _heads(matrix: ResponseMatrix, width: float, top: float, slanted: bool, beside: bool) -> list[dict[str, Any]]:
    found = [
        _text(
            place * width + (6 if slanted else (width - 3) / 2),
            top - (14 if slanted else 7),
            one_line(answer, _LONGEST),
            size=11.5,
            color="muted",
            align="left" if slanted else "center",
            angle=-40 if slanted else 0,
        )
        for place, answer in enumerate(matrix.answers)
    ]
    if beside:
        left = width * len(matrix.answers)
        for upper, lower, edge in _SIDES:
            found.append(_text(left + edge, top - 22, upper, size=11.5, color="muted", align="right"))
            found.append(_text(left + edge, top - 7, lower, size=11.5, color="muted", align="right"))
    return found


def _measured(row: MatrixRow, left: float, top: float, beside: bool) -> list[dict[str, Any]]:
    """Coverage, invalid answers, KL and entropy of a row: in columns, or in a line below its cells."""
    values = (percent(row.coverage), percent(row.invalid), nats(row.mean_kl), nats(row.mean_entropy))
    if beside:
        at = [(edge, place) for _, _, edge in _SIDES for place in (12, 27)]
        return [
            _text(left + edge, top + place, value, size=12, color="ink", align="right")
            for (edge, place), value in zip(at, values, strict=True)
        ]
    line = "valid {} · invalid {} · KL {} · entropy {}".format(*values)
    return [_text(0, top + _CELL + 11, line, size=11.5, color="muted", align="left")]


def nats(value: float) -> str:
    """Write a divergence or an entropy, which has no upper end; a dash where there is none."""
    if value != value:
        return "—"
    return f"{value:.2f}" if value < 99.5 else f"{value:.0f}"


def _rect(left: float, top: float, width: float, height: float, share: float) -> dict[str, Any]:
    shade = FAINTEST + (STRONGEST - FAINTEST) * min(max(share, 0.0), 1.0)  # of the largest
    return {"x": left, "x2": left + width, "y": top, "y2": top + height, "shade": shade}


def _text(
    x: float, y: float, text: str, *, size: float, color: str, align: str = "center", weight: int = 400, angle: int = 0
) -> dict[str, Any]:
    style = {"size": size, "color": LIGHT[color], "align": align, "weight": weight, "angle": angle}
    return {"x": x, "y": y, "text": text, **style}


def _placed(rects: list[dict[str, Any]], texts: list[dict[str, Any]], height: float) -> list[Any]:
    """Draw at places given in points, from the upper left corner."""
    import altair as alt

    x_scale = alt.Scale(domain=[0, WIDTH], nice=False, zero=False)
    y_scale = alt.Scale(domain=[0, height], nice=False, zero=False, reverse=True)
    x, y = alt.X("x:Q", scale=x_scale, axis=None), alt.Y("y:Q", scale=y_scale, axis=None)
    drawn: list[Any] = [
        alt.Chart(alt.Data(values=rects))
        .mark_rect(fill=LIGHT["accent"], cornerRadius=3)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", fillOpacity=alt.FillOpacity("shade:Q", scale=None))
    ]
    styles = ("size", "color", "align", "weight", "angle")
    for style in dict.fromkeys(tuple(text[name] for name in styles) for text in texts):
        size, color, align, weight, angle = style
        some = [text for text in texts if tuple(text[name] for name in styles) == style]
        mark = {"fontSize": size, "color": color, "align": align, "fontWeight": weight, "angle": angle % 360}
        drawn.append(
            alt.Chart(alt.Data(values=some)).mark_text(baseline="middle", **mark).encode(x=x, y=y, text="text:N")
        )
    return drawn
