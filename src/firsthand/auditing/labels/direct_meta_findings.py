"""What is shown of direct against meta: a finding for each model with its verdict, all models, and the phrasings."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import numpy as np
import pandas as pd

from firsthand.analysis.findings import Line, Mark, Picture
from firsthand.analysis.means import mean_of
from firsthand.analysis.results import CapabilityResult, Estimate, ObserverRow
from firsthand.analysis.self_results import Advantage, Agreement, ReporterResult, SelfAdvantage
from firsthand.claims.labels import DirectMetaClaim
from firsthand.report.formats import Unit
from firsthand.report.labels_document import Grid, LabelsFinding
from firsthand.vocabulary import Capability, Condition

Row = TypeVar("Row", Advantage, Agreement)

SCORE: Final = "correlation of what it says with its own direct judgement; 0 is chance"
ASKED: Final = (
    "Which of two strings is better, in both orders and several phrasings; held against the log-probabilities of the "
    "strings themselves."
)


def as_result(one: ReporterResult, found: SelfAdvantage) -> CapabilityResult:
    """A model's verdict as every study gives it: scores are correlations, so chance is 0.

    Args:
        one: The verdict.
        found: The comparison that it comes from.
    """
    agreements = _of(found.agreements, one.model)
    own = next((a.correlation for a in agreements if a.judge == one.model), None)
    rivals = _of(found.advantages, one.model)
    weakest = max(rivals, key=lambda a: 1.0 if a.advantage.p is None else a.advantage.p, default=None)
    return CapabilityResult(
        capability=Capability.IDENTIFICATION,
        condition=Condition.Y_WITHHELD,
        verdict=one.verdict,
        reasons=one.reasons,
        score=own,
        chance=0.0,
        coverage=one.coverage.value,
        invalid_rate=1.0 - one.valid / one.pairs,
        gap=None if weakest is None else weakest.advantage,
        observers=tuple(
            ObserverRow(name=_rival(a, found), sees_output=False, score=a.followed, gap=a.advantage) for a in rivals
        ),
    )


def finding_of_model(model: str, slug: str, found: SelfAdvantage, prompt: str) -> LabelsFinding:
    """What one model says, against everybody who could have said it."""
    one = next(r for r in found.reporters if r.model == model)
    agreements, rivals = _of(found.agreements, model), _of(found.advantages, model)
    marks = [Mark(label="its own", estimate=a.correlation, emphasis=True) for a in agreements if a.judge == model]
    marks += [Mark(label=_rival(a, found), estimate=a.followed) for a in rivals]
    pictures = [
        Picture(title="What it says goes with", axis="correlation", unit="number", marks=tuple(marks), lines=_ZERO)
    ]
    return LabelsFinding(
        name=slug,
        title=f"What {model} says of two strings",
        asked=ASKED,
        setting={
            "score": SCORE,
            "pairs with valid answers": f"{one.valid:,} of {one.pairs:,}",
            "most similar other model": one.nearest,
        },
        results=(as_result(one, found),),
        pictures=tuple(pictures) if marks else (),
        grids=(_hurdles(one),) if one.hurdles else (),
        prompt=prompt,
    )


def finding_of_models(found: SelfAdvantage) -> LabelsFinding:
    """All models side by side: who is right, who follows whom, and who is like whom."""
    names = [one.model for one in found.reporters]
    notes = [] if found.regression_refused is None else [f"No regression on similarity: {found.regression_refused}"]
    return LabelsFinding(
        name="models",
        title="The models side by side",
        asked=ASKED,
        pictures=(_right(found),),
        grids=(
            _matrix(
                "agreement",
                "What a model says, with what each model does",
                names,
                found.agreements,
                lambda a: a.correlation,
                "Rows are asked, columns judge directly. Introspection would show on the diagonal.",
            ),
            _matrix(
                "same-string",
                "Pairs of which both prefer the same string",
                names,
                found.agreements,
                _same,
                "",
                Unit.PERCENT,
            ),
            _matrix(
                "similarity",
                "How similar the models' direct judgements are",
                names,
                found.agreements,
                lambda a: a.similarity,
                "Correlations over all pairs.",
            ),
            _right_grid(found),
            *_regression(found),
        ),
        notes=tuple(notes),
    )


def finding_of_phrasings(
    results: Sequence[SelfAdvantage], table: pd.DataFrame, claim: DirectMetaClaim
) -> LabelsFinding:
    """The same for each way of asking by itself, and for direct judgements per token. None of it decides."""
    rows, shares, marks = [], [], []
    for found in results:
        for one in found.reporters:
            result = as_result(one, found)
            best = max(result.observers, key=lambda o: o.score.value, default=None)
            rows.append(
                (f"{one.model}: {found.phrasing}", (result.score, best and best.score, result.gap, str(one.verdict)))
            )
            shares.append(
                (f"{one.model}: {found.phrasing}", (one.right_meta, one.coverage, _leaning(one, found, table, claim)))
            )
            if result.score is not None:
                marks.append(Mark(label=f"{one.model}: {found.phrasing}", estimate=result.score))
    return LabelsFinding(
        name="phrasings",
        title="Each way of asking by itself",
        asked=ASKED,
        pictures=(
            Picture(
                title="Correlation of what a model says with its own direct judgement",
                axis="correlation",
                unit="number",
                marks=tuple(marks),
                lines=_ZERO,
            ),
        )
        if marks
        else (),
        grids=(
            Grid(
                name="by-phrasing",
                title="Correlations by phrasing",
                columns=(
                    "Model and phrasing",
                    "With its own direct",
                    "With the best other",
                    "Least self advantage",
                    "By itself",
                ),
                rows=tuple(rows),
                unit=Unit.NUMBER,
                note="The verdict is that on all phrasings together; each by itself would be another test.",
            ),
            Grid(
                name="answers",
                title="Answers by phrasing",
                columns=("Model and phrasing", "Right by meta", "Mass on the labels", "Given to the first label"),
                rows=tuple(shares),
                note="Of the mass on the labels, half would go to the first one if order meant nothing.",
            ),
        ),
    )


_ZERO: Final = (Line(label="no correlation", value=0.0),)


def _hurdles(one: ReporterResult) -> Grid:
    variants = list(dict.fromkeys(h.variant for h in one.hurdles))
    names = list(dict.fromkeys(h.name for h in one.hurdles))
    cells = {(h.name, h.variant): h.found for h in one.hurdles}
    return Grid(
        name="hurdles",
        title="What must be above 0 before a statement counts as a model's own",
        columns=("Hurdle", *variants),
        rows=tuple((name, tuple(cells.get((name, variant)) for variant in variants)) for name in names),
        unit=Unit.NUMBER,
        note=f"All must be; the largest p, corrected over the models, is {one.p:.3g}.",
    )


def _right(found: SelfAdvantage) -> Picture:
    marks = []
    for one in found.reporters:
        marks.append(Mark(label=f"{one.model}: direct", estimate=one.right_direct))
        if one.right_meta is not None:
            marks.append(Mark(label=f"{one.model}: meta", estimate=one.right_meta, emphasis=True))
    return Picture(
        title="Pairs whose better string is preferred",
        axis="share of pairs",
        unit="share",
        marks=tuple(marks),
        lines=(Line(label="chance", value=0.5),),
    )


def _right_grid(found: SelfAdvantage) -> Grid:
    return Grid(
        name="right",
        title="Pairs whose better string is preferred",
        columns=("Model", "By direct judgement", "By meta judgement", "Mass on the labels"),
        rows=tuple((one.model, (one.right_direct, one.right_meta, one.coverage)) for one in found.reporters),
    )


def _same(agreement: Agreement) -> Estimate:
    return agreement.same_sign


def _matrix(
    name: str,
    title: str,
    models: Sequence[str],
    agreements: Sequence[Agreement],
    cell: Callable[[Agreement], Estimate | None],
    note: str,
    unit: Unit = Unit.NUMBER,
) -> Grid:
    found = {(a.reporter, a.judge): cell(a) for a in agreements}
    return Grid(
        name=name,
        title=title,
        columns=("Model", *models),
        rows=tuple((one, tuple(found.get((one, other)) for other in models)) for one in models),
        unit=unit,
        note=note,
    )


def _regression(found: SelfAdvantage) -> tuple[Grid, ...]:
    line = found.regression
    if line is None:
        return ()
    return (
        Grid(
            name="regression",
            title="Agreement on similarity, over pairs of models",
            columns=("Term", "Coefficient"),
            rows=(("similarity of the two models", (line.slope,)), ("own direct judgement, beyond that", (line.own,))),
            unit=Unit.NUMBER,
            note=f"{line.models} models, {line.model_pairs} ordered pairs; it describes and does not decide.",
        ),
    )


def _leaning(one: ReporterResult, found: SelfAdvantage, table: pd.DataFrame, claim: DirectMetaClaim) -> Estimate | None:
    rows = table[(table["model"] == one.model) & (table["phrasing"] == found.phrasing)].reset_index(drop=True)
    if rows.empty:
        return None
    values = rows["leaning"].to_numpy(dtype=np.float64)
    return mean_of(values, rows, claim.analysis.clusters).estimate(claim.analysis.alpha)


def _rival(advantage: Advantage, found: SelfAdvantage) -> str:
    """What a rival is called among observers."""
    models = {one.model for one in found.reporters}
    return f"direct judgement of {advantage.rival}" if advantage.rival in models else advantage.rival


def _of(rows: Sequence[Row], model: str) -> list[Row]:
    return [row for row in rows if row.reporter == model]
