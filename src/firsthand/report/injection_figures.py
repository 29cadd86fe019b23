"""Every chart of an injection study, as data: the page draws them inline, the export writes them as files."""

from collections.abc import Iterator, Sequence

from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.report import charts
from firsthand.report.document import Cell
from firsthand.report.drawings import Drawing, dot_drawing, picture_drawing
from firsthand.report.formats import Unit, estimate_text, level_text, number, percent, units_text
from firsthand.report.heatmaps import Shade, grid_heat_map, nats, response_matrix
from firsthand.report.injection_document import (
    FindingResult,
    Grid,
    GridRow,
    InjectionDocument,
    MatrixRow,
    ResponseMatrix,
    Selection,
)
from firsthand.report.injection_words import KIND_ORDER, KINDS, kinds_axis, metric
from firsthand.report.words import CONDITIONS_SHORT, kinds_title
from firsthand.vocabulary import Capability, Kind


def figures_of(document: InjectionDocument) -> tuple[Drawing, ...]:
    """Give every chart, in the order of the page; none of an instrument that is out of order."""
    return tuple(_all(document)) if document.instrument_ok else ()


def _all(document: InjectionDocument) -> Iterator[Drawing]:
    for finding in document.findings:
        yield from selection_drawings(finding)
        yield from matrix_drawings(finding)
        yield from judged_drawings(finding)
        yield from picture_drawings(finding)
    yield from transfer_drawings(document)
    yield from published_drawings(document)


def result_sides(results: Sequence[CapabilityResult]) -> tuple[CapabilityResult, ...]:
    """Give the results to be drawn: one of each capability where its conditions have equal numbers, else all."""
    kept: list[CapabilityResult] = []
    for result in results:
        bare = result.model_dump(exclude={"condition"})
        if not any(bare == other.model_dump(exclude={"condition"}) for other in kept):
            kept.append(result)
    return tuple(kept)


def judged_drawings(finding: FindingResult) -> tuple[Drawing, ...]:
    """Draw the report beside observers and control arms, the rates by kind, and calibration; nothing twice."""
    sides = result_sides(finding.results)
    several = len({result.capability for result in sides}) > 1
    kept: dict[tuple[str, tuple[tuple[str, ...], ...]], Drawing] = {}
    for result in sides:
        stem = "-".join((finding.name, result.capability.value, result.condition.value.replace("_", "-")))
        about = f" · {result.capability.value}" if several else ""
        twice = sum(other.capability is result.capability for other in sides) > 1
        seen = f" · {CONDITIONS_SHORT[result.condition]}" if twice else ""
        drawn = (_kinds(stem, result, about), _against(stem, result, about + seen), _reliability(stem, result))
        for drawing in drawn:
            if drawing is not None:
                kept.setdefault((drawing.title, drawing.rows), drawing)
    return tuple(kept.values())


def selection_drawings(finding: FindingResult) -> tuple[Drawing, ...]:
    """Draw the grids, by what cells were chosen by and by what would have been claimed, and the two figures."""
    selection = finding.selection
    if selection is None:
        return ()
    stem = finding.name
    drawn = []
    for index, grid in enumerate(selection.grids):
        if not grid.rows:
            continue
        chosen = selection.chosen if grid.setting == selection.chosen_setting else None
        naive = selection.naive_cell if grid.setting == selection.naive_setting else None
        score = Shade("score", grid.score_unit, grid.score_chance)
        rise = Shade("rise", grid.rise_unit, grid.rise_chance)
        drawn.append(_grid(f"{stem}-grid-{index + 1}-score", grid, score, grid.score_name, chosen, naive))
        drawn.append(_grid(f"{stem}-grid-{index + 1}-rise", grid, rise, grid.rise_name, chosen, naive))
    drawn.append(_naive(stem, selection))
    return tuple(drawn)


def matrix_drawings(finding: FindingResult) -> tuple[Drawing, ...]:
    """Draw the response matrices."""
    named = enumerate(finding.matrices, start=1)
    return tuple(_matrix(f"{finding.name}-matrix-{index}", matrix) for index, matrix in named if matrix.rows)


def picture_drawings(finding: FindingResult) -> tuple[Drawing, ...]:
    """Draw the finding's pictures."""
    named = enumerate(finding.pictures, start=1)
    drawn = [picture_drawing(picture, f"{finding.name}-picture-{index}") for index, picture in named]
    return tuple(drawing for drawing in drawn if drawing is not None)


def transfer_drawings(document: InjectionDocument) -> tuple[Drawing, ...]:
    """Draw what carries over, for the report and for the probe."""
    rows: list[tuple[str, Estimate, bool]] = []
    labels: list[str] = []
    for row in document.transfer:
        rows.append((f"{row.new}: report", row.report, True))
        labels.append(row.new)
        if row.probe is not None:
            rows.append((f"{row.new}: probe", row.probe, False))
            labels.append("· probe")
    if not rows:
        return ()
    note = (
        "Diamonds: share of prompts on which the injection moves the answer towards “injected”. Circles: balanced "
        "accuracy of a probe. Both are one half by chance."
    )
    references = [charts.Reference(0.5, "chance")]
    title, axis = "What carries over to what was new", "Share (report), balanced accuracy (probe)"
    drawing = dot_drawing(
        "transfer", title, axis, rows, Unit.PERCENT, references=references, what="New", note=note, labels=labels
    )
    return (drawing,)


def published_drawings(document: InjectionDocument) -> tuple[Drawing, ...]:
    """Draw published rates beside this run's."""
    drawn = [picture_drawing(picture, f"published-{i}") for i, picture in enumerate(document.published, start=1)]
    return tuple(drawing for drawing in drawn if drawing is not None)


def _against(stem: str, result: CapabilityResult, about: str) -> Drawing | None:
    if result.score is None:
        return None
    measure = metric(result.capability, result.chance)
    rows = [("The report", result.score, True)]
    rows += [(f"Observer: {row.name}", row.score, False) for row in result.observers]
    rows += [(f"Control: {row.name}", row.score, False) for row in result.arms]
    title = "The report against observers and control arms" if result.arms else "The report against each observer"
    return dot_drawing(
        f"{stem}-against",
        title + about,
        measure.name[:1].upper() + measure.name[1:],
        rows,
        measure.unit,
        references=[charts.Reference(result.chance, f"chance, {number(result.chance, measure.unit)}")],
        what="Who",
        note=f"Score: {measure.name} ({measure.explained}).",
    )


def _kinds(stem: str, result: CapabilityResult, about: str) -> Drawing | None:
    if not result.kinds:
        return None
    found = sorted(result.kinds, key=lambda row: KIND_ORDER.index(row.kind))
    title, note = kinds_title(result.capability)
    if result.capability is Capability.DETECTION:
        title, note = "Injected trials against each control", "A report that knows says yes on the target alone."
    rows = [(KINDS[row.kind], row.rate, row.kind is Kind.TARGET) for row in found]
    axis = kinds_axis(result.capability)
    return dot_drawing(
        f"{stem}-kinds", title + about, axis, rows, Unit.PERCENT, full=True, what="Trial kind", note=note
    )


def _reliability(stem: str, result: CapabilityResult) -> Drawing | None:
    calibration = result.calibration
    if calibration is None or not calibration.bins:
        return None
    caption = (
        "Dots below the dashed line are overconfident, above it underconfident; the number beside each is its trials. "
        f"Lines are {level_text([item.accuracy for item in calibration.bins])} intervals."
    )
    rows = tuple(
        (
            f"{percent(item.low)} to {percent(item.high)}",
            percent(item.mean_confidence),
            estimate_text(item.accuracy, Unit.PERCENT),
            units_text(item.accuracy),
        )
        for item in calibration.bins
    )
    return Drawing(
        f"{stem}-reliability",
        "Stated confidence against being right",
        caption,
        charts.reliability(calibration),
        ("Confidence bin", "Mean confidence", "Right", "Rests on"),
        rows,
    )


def _grid(name: str, grid: Grid, shade: Shade, what: str, chosen: Cell | None, naive: Cell | None) -> Drawing:
    rows = sorted(grid.rows, key=lambda row: (row.layer, row.dose))
    level = level_text([getattr(row, shade.name) for row in rows])
    unit = {Unit.PERCENT: "per cent", Unit.POINTS: "percentage points", Unit.NUMBER: "plain numbers"}[shade.unit]
    caption = (
        f"In {unit}, on the concepts that choose; bold where the {level} interval leaves out "
        f"{number(shade.chance, shade.unit)}. Layer 0 is the first block."
    )
    scored = shade.name == "score"
    rest = ("Valid", "KL", "Entropy") if scored else ("“Yes”, unrelated question",)
    header = ("Layer · dose", what[:1].upper() + what[1:], *rest, "Rests on")
    table = tuple(
        (
            f"{row.layer} · {row.dose:g}",
            *(_scored(row, grid) if scored else _risen(row, grid)),
            units_text(row.score if scored else row.rise),
        )
        for row in rows
    )
    title = f"{what[:1].upper()}{what[1:]} · {grid.setting}"
    spec = grid_heat_map(rows, shade, chosen=chosen, naive=naive)
    return Drawing(name, title, caption, spec, header, table, halo=False)


def _scored(row: GridRow, grid: Grid) -> tuple[str, ...]:
    measured = (percent(row.coverage), nats(row.mean_kl), nats(row.mean_entropy))
    return (estimate_text(row.score, grid.score_unit), *measured)


def _risen(row: GridRow, grid: Grid) -> tuple[str, ...]:
    unrelated = "—" if row.unrelated is None else estimate_text(row.unrelated, Unit.POINTS)
    return estimate_text(row.rise, grid.rise_unit), unrelated


def _naive(stem: str, selection: Selection) -> Drawing:
    unit = selection.grids[0].rise_unit if selection.grids else Unit.POINTS
    chance = selection.grids[0].rise_chance if selection.grids else 0.0
    rows = [("Best of the grid, as found", selection.naive, False)]
    if selection.found is not None:
        rows.append(("Chosen cell, as found", selection.found, False))
    if selection.confirmed is not None:
        rows.append(("Chosen cell, on other concepts", selection.confirmed, True))
    return dot_drawing(
        f"{stem}-naive",
        "What would have been claimed, and what was confirmed",
        selection.grids[0].rise_name if selection.grids else "Rise",
        rows,
        unit,
        references=[charts.Reference(chance, number(chance, unit))],
    )


def _matrix(name: str, matrix: ResponseMatrix) -> Drawing:
    caption = (
        "Shares of all trials of a condition, ± standard deviation over concepts. Valid: mean probability mass on the "
        f"answers. KL: how far the answer moved from the clean one, in nats, as is entropy. {matrix.note}"
    )
    header = ("Condition", *matrix.answers, "Invalid", "Valid", "KL", "Entropy", "Rests on")
    described = "; ".join(
        f"{row.label}: " + ", ".join(f"{a} {percent(s.value)}" for a, s in zip(matrix.answers, row.shares, strict=True))
        for row in matrix.rows
    )
    rows = tuple(_matrix_row(row) for row in matrix.rows)
    return Drawing(
        name,
        matrix.title,
        caption.strip(),
        response_matrix(matrix),
        header,
        rows,
        f"{matrix.title}. {described}.",
        False,
    )


def _matrix_row(row: MatrixRow) -> tuple[str, ...]:
    shares = (
        f"{estimate_text(share, Unit.PERCENT)} ± {100 * spread:.1f}"
        for share, spread in zip(row.shares, row.spread, strict=True)
    )
    label = row.label if row.kind is None else f"{row.label} ({row.kind.value.replace('_', ' ')})"
    rests = units_text(row.shares[0]) if row.shares else "—"
    rest = (percent(row.invalid), percent(row.coverage), nats(row.mean_kl), nats(row.mean_entropy), rests)
    return (label, *shares, *rest)
