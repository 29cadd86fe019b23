"""The figure of an investigation: rates as dots with intervals, the baseline first, then every experiment."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.rates import Rate
from firsthand.report.charts import WIDTH, _axis, _finish, _room
from firsthand.report.drawings import Drawing
from firsthand.report.formats import Unit
from firsthand.report.investigations_document import InvestigationsDocument
from firsthand.report.investigations_views import (
    change_view,
    edit_line,
    most_informative,
    rate_view,
    size_of_change,
)
from firsthand.report.investigations_words import STAGES
from firsthand.report.safe_text import one_line
from firsthand.report.svg import LIGHT

FIGURES: Final = 60
"""So many figures are drawn at most, unless they are asked for by name: each takes about a second."""

_ROW = 42


@dataclass(frozen=True)
class _Line:
    label: str
    kind: str
    rate: Rate
    emphasis: bool


def figures_of(document: InvestigationsDocument, only: Collection[str] | None = None) -> tuple[Drawing, ...]:
    """Draw investigations.

    Args:
        document: The document.
        only: Identifiers of those to draw. ``None``: the :data:`FIGURES` with the largest changes.
    """
    chosen = set(drawn_by_default(document) if only is None else only)
    return tuple(
        investigation_drawing(one, document.thresholds.level) for one in document.investigations if one.id in chosen
    )


def drawn_by_default(document: InvestigationsDocument) -> tuple[str, ...]:
    """Identifiers of the investigations with the largest changes, at most :data:`FIGURES`."""
    return tuple(one.id for one in sorted(document.investigations, key=size_of_change, reverse=True)[:FIGURES])


def investigation_drawing(investigation: Investigation, level: float) -> Drawing:
    """Draw the baseline and every experiment of an investigation.

    Args:
        investigation: The investigation.
        level: Coverage of the intervals.
    """
    best = most_informative(investigation)
    lines = [_Line("baseline: the prompt as it is", "baseline", investigation.baseline, emphasis=False)]
    for one in investigation.experiments:
        label = f"{one.number} · {edit_line(one.edit, 60)}"
        lines.append(_Line(label, one.stage, one.rate, best is not None and one.number == best.number))
    question = investigation.screened.question
    return Drawing(
        name=f"investigation-{investigation.id}",
        title=one_line(question, 150),
        caption=(
            f"Lines are {100 * level:g}% intervals. A square is the baseline, a ring an edit that was still being "
            "looked for, a diamond one that had been fixed before. Thin lines show where the share could be if all "
            "invalid responses counted one way."
        ),
        spec=_spec(lines, level),
        header=("Prompt", "Stage", "Has the behaviour", "Interval", "Change", "Invalid"),
        rows=tuple(_row(line, investigation.baseline, level) for line in lines),
        described=f"{question} "
        + "; ".join(f"{line.label}: {rate_view(line.rate, level).share}" for line in lines)
        + ".",
        tall=len(lines) > 14,
    )


def _row(line: _Line, baseline: Rate, level: float) -> tuple[str, ...]:
    seen = rate_view(line.rate, level)
    change = None if line.kind == "baseline" else change_view(baseline, line.rate, level)
    stage = "baseline" if line.kind == "baseline" else STAGES[line.kind]  # type: ignore[index]
    told = f"{seen.share} ({seen.counted})"
    return line.label, stage, told, seen.interval, "" if change is None else change.text, str(line.rate.invalid)


def _spec(lines: list[_Line], level: float) -> dict[str, Any]:
    import altair as alt

    data = alt.Data(values=[_record(index, line, level) for index, line in enumerate(lines)])
    scale = alt.Scale(domain=[0, 1], nice=False, clamp=True)
    title = "Responses with the behaviour, of those that could be judged"
    x = alt.X("value:Q", title=title, scale=scale, axis=_axis(Unit.PERCENT))
    y = alt.Y("line:Q", axis=None, scale=alt.Scale(domain=[-0.65, len(lines) - 0.55], reverse=True, nice=False))
    color = alt.Color("color:N", scale=None)
    base = alt.Chart(data)
    layers: list[Any] = []
    before = lines[0].rate.share
    if before is not None:
        rule = alt.Chart(alt.Data(values=[{"value": before}]))
        dashed = rule.mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=LIGHT["chance"])
        layers.append(dashed.encode(x=alt.X("value:Q", scale=scale), y=alt.value(2), y2=alt.value("height")))
    left = alt.X("low:Q", scale=scale, title=title)
    layers += [
        base.mark_rule(strokeWidth=1).encode(x=alt.X("worst:Q", scale=scale), x2="best:Q", y=y, color=color),
        base.mark_rule(strokeWidth=2.5, strokeCap="round").encode(x=left, x2="high:Q", y=y, color=color),
        base.mark_point(opacity=1, strokeWidth=2).encode(
            x=x,
            y=y,
            fill=alt.Fill("fill:N", scale=None),
            stroke=alt.Stroke("color:N", scale=None),
            shape=alt.Shape("shape:N", scale=None),
            size=alt.value(95),
        ),
    ]
    for halo in (True, False):
        # In a file no style sheet sets words off from the lines behind them, so each is drawn on a halo of its own.
        look = {"dy": -15, "stroke": LIGHT["paper"], "strokeWidth": 4} if halo else {"dy": -15}
        label, text = ({"fontSize": 12.5, "align": "left", **look}, {"fontSize": 12, "align": "right", **look})
        layers.append(
            base.mark_text(**label).encode(x=alt.value(0), y=y, text="label:N", color=alt.value(LIGHT["ink"]))
        )
        layers.append(
            base.mark_text(**text).encode(
                x=alt.value(WIDTH), y=y, text="text:N", color=alt.Color("text_color:N", scale=None)
            )
        )
    return _finish(alt.layer(*layers).properties(width=WIDTH, height=_ROW * len(lines) + 8))


def _record(index: int, line: _Line, level: float) -> dict[str, Any]:
    low, high = line.rate.interval(level)
    worst, best = line.rate.bounds
    share = line.rate.share
    invalid = f", {line.rate.invalid} invalid" if line.rate.invalid else ""
    text = "none valid" if share is None else f"{100 * share:.0f}%, {line.rate.yes} of {line.rate.valid}"
    color = LIGHT["accent"] if line.emphasis else LIGHT["ink"] if line.kind == "baseline" else LIGHT["other"]
    text += invalid
    return {
        "line": index,
        "label": one_line(line.label, _room(text)),
        "value": share,
        "low": None if share is None else low,
        "high": None if share is None else high,
        "worst": worst,
        "best": best,
        "text": text,
        "color": color,
        "fill": LIGHT["paper"] if line.kind == "explored" else color,
        "text_color": LIGHT["accent"] if line.emphasis else LIGHT["muted"],
        "shape": {"baseline": "square", "explored": "circle", "confirmed": "diamond"}[line.kind],
    }
