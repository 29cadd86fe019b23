"""Every chart of a report on predictions, as data: the page draws them inline, the export writes them as files."""

from collections.abc import Iterator
from typing import Any, Final

from firsthand.analysis.predictions.results import PredictorScore
from firsthand.report.charts import WIDTH, Reference, _axis, _finish
from firsthand.report.drawings import Drawing, dot_drawing
from firsthand.report.formats import Unit, estimate_text, level_text, number, units_text
from firsthand.report.predictions_document import PredictionsDocument
from firsthand.report.predictions_words import KINDS, status
from firsthand.report.safe_text import one_line
from firsthand.report.svg import LIGHT

CALIBRATED: Final = 8
"""Most predictors whose calibration is drawn."""


def figures_of(document: PredictionsDocument) -> tuple[Drawing, ...]:
    """Give every chart, in the order of the page."""
    return tuple(_all(document))


def _all(document: PredictionsDocument) -> Iterator[Drawing]:
    scores = document.results.predictors
    known = [one for one in scores if one.auroc is not None]
    if known:
        yield dot_drawing(
            "auroc",
            "Who can tell true claims from false ones",
            "Area under the ROC curve",
            [(_label(one), one.auroc, one.kind != "floor") for one in known if one.auroc is not None],
            Unit.NUMBER,
            references=[Reference(0.5, "no better than chance, 0.50")],
            what="Predictor",
            note="Diamonds are models, circles floors.",
        )
    if document.results.over_floors:
        yield dot_drawing(
            "over-floors",
            "How far models are ahead of every floor",
            "Smallest difference of areas",
            [(f"{one.name}, over {one.floor}", one.lead, True) for one in document.results.over_floors],
            Unit.NUMBER,
            references=[Reference(0.0, "no lead, 0.00")],
            what="Predictor, and the floor that is closest",
        )
    for place, one in enumerate([one for one in scores if one.kind != "floor" and _bins(one) > 1][:CALIBRATED]):
        yield calibration_drawing(one, f"calibration-{place + 1}")


def calibration_drawing(score: PredictorScore, name: str) -> Drawing:
    """Draw how often claims are true by the probability that was given to them."""
    assert score.calibration is not None, "only predictors with a calibration are drawn"
    bins = score.calibration.bins
    rows = tuple(
        (
            f"{number(one.low, Unit.PERCENT)} to {number(one.high, Unit.PERCENT)}",
            number(one.mean_confidence, Unit.PERCENT),
            estimate_text(one.accuracy, Unit.PERCENT),
            units_text(one.accuracy),
        )
        for one in bins
    )
    told = "; ".join(f"{said}: {true}" for _, said, true, _ in rows)
    return Drawing(
        name=name,
        title=f"Calibration of {one_line(score.name, 60)}",
        caption=(
            f"Dots stand for claims of similar probability, with how many beside them. Lines are "
            f"{level_text([one.accuracy for one in bins])} intervals over independent units."
        ),
        spec=_reliability(score),
        header=("Given probability", "On average", "Share of true claims", "Rests on"),
        rows=rows,
        described=f"Share of true claims by probability given: {told}.",
    )


def _reliability(score: PredictorScore) -> dict[str, Any]:
    import altair as alt

    bins = () if score.calibration is None else score.calibration.bins
    largest = max((one.accuracy.n_trials for one in bins), default=1)
    values = [
        {
            "given": one.mean_confidence,
            "true": one.accuracy.value,
            "low": one.accuracy.low,
            "high": one.accuracy.high,
            "size": 45 + 240 * one.accuracy.n_trials / max(1, largest),
            "text": str(one.accuracy.n_trials),
        }
        for one in bins
    ]
    scale = alt.Scale(domain=[0, 1], nice=False, clamp=True)
    x = alt.X("given:Q", title="Probability given to the claim", scale=scale, axis=_axis(Unit.PERCENT))
    y = alt.Y("low:Q", title="Share of claims that are true", scale=scale, axis=_axis(Unit.PERCENT))
    true = alt.Y("true:Q", scale=scale)
    diagonal = alt.Chart(alt.Data(values=[{"given": 0, "low": 0}, {"given": 1, "low": 1}]))
    base = alt.Chart(alt.Data(values=values))
    accent, paper = LIGHT["accent"], LIGHT["paper"]
    layers: list[Any] = [
        diagonal.mark_line(strokeDash=[5, 4], strokeWidth=1.5, color=LIGHT["chance"]).encode(x=x, y=y),
        base.mark_rule(strokeWidth=2.5, strokeCap="round", color=accent).encode(x=x, y=y, y2="high:Q"),
        base.mark_point(filled=True, opacity=1, color=accent, stroke=paper, strokeWidth=1.5).encode(
            x=x, y=true, size=alt.Size("size:Q", scale=None)
        ),
        base.mark_text(align="left", dx=12, fontSize=11.5, color=LIGHT["muted"]).encode(x=x, y=true, text="text:N"),
    ]
    return _finish(alt.layer(*layers).properties(width=WIDTH - 48, height=280))


def _bins(score: PredictorScore) -> int:
    return 0 if score.calibration is None else len(score.calibration.bins)


def _label(score: PredictorScore) -> str:
    said = [KINDS[score.kind], *([status(score)] if status(score) else [])]
    return f"{score.name} ({', '.join(said)})"
