"""Every chart of an injection study, as data: the page draws them inline, the export writes them as files."""

from collections.abc import Iterator

from firsthand.analysis.results import Estimate
from firsthand.report import charts
from firsthand.report.document import Cell
from firsthand.report.drawings import Drawing, dot_drawing
from firsthand.report.finding_views import judged_drawings, picture_drawings
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
from firsthand.report.injection_words import INJECTION


def figures_of(document: InjectionDocument) -> tuple[Drawing, ...]:
    """Give every chart, in the order of the page; none of an instrument that is out of order."""
    return tuple(_all(document)) if document.instrument_ok else ()


def _all(document: InjectionDocument) -> Iterator[Drawing]:
    for finding in document.findings:
        yield from selection_drawings(finding)
        yield from matrix_drawings(finding)
        yield from judged_drawings(finding, INJECTION)
        yield from picture_drawings(finding.pictures, f"{finding.name}-picture")
    yield from transfer_drawings(document)
    yield from picture_drawings(document.published, "published")


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
