"""Heat maps: every cell has its number, marked cells are outlined, and ink can be read on every wash."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import firsthand.report
from firsthand.report import svg
from firsthand.report.document import Cell
from firsthand.report.formats import Unit
from firsthand.report.heatmaps import STRONGEST, Shade, grid_heat_map, response_matrix
from firsthand.report.injection_document import InjectionDocument

RISE = Shade("rise", Unit.POINTS, 0.0)


def drawn(spec: dict[str, Any]) -> str:
    return str(svg.render(spec, identifier="x", title="t", description="d", halo=False))


def texts(page: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", page)


def themes() -> Iterator[dict[str, str]]:
    """Colours by name, on light paper, in the dark and in print."""
    style = (Path(firsthand.report.__file__).parent / "templates" / "style.css").read_text("utf-8")
    for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL):
        found = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+);", block))
        if "paper" in found:
            yield found


def channels(color: str) -> list[float]:
    digits = color[1:] if len(color) == 7 else "".join(2 * c for c in color[1:])
    return [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]


def luminance(color: list[float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_ink_keeps_its_contrast_on_the_strongest_wash_in_every_theme() -> None:
    found = list(themes())
    assert len(found) == 3
    for theme in found:
        for wash in ("accent", "chance"):
            pairs = zip(channels(theme[wash]), channels(theme["paper"]), strict=True)
            fill = luminance([STRONGEST * over + (1 - STRONGEST) * under for over, under in pairs])
            light, dark = sorted((fill, luminance(channels(theme["ink"]))), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (theme["paper"], wash)


def test_sixty_cells_all_hold_their_number(injection: InjectionDocument) -> None:
    selection = injection.findings[0].selection
    assert selection is not None
    page = drawn(grid_heat_map(selection.grids[0].rows, RISE, chosen=selection.chosen))
    shown = texts(page)
    assert len([text for text in shown if re.fullmatch(r"[+−]?\d+", text)]) >= 60 + 10
    assert "judged" in shown
    assert page.count('stroke-width="2.5"') == 1


def test_the_best_of_the_grid_is_dashed_and_the_judged_cell_is_not(injection: InjectionDocument) -> None:
    selection = injection.findings[0].selection
    assert selection is not None
    rows = selection.grids[0].rows
    page = drawn(grid_heat_map(rows, RISE, chosen=selection.chosen, naive=Cell(layer=3, dose=0.5)))
    assert {"judged", "best of grid, not judged"} <= set(texts(page))
    assert len(re.findall(r'stroke-dasharray="4,3"', page)) == 2
    same = texts(drawn(grid_heat_map(rows, RISE, chosen=selection.chosen, naive=selection.chosen)))
    assert "also the best of the grid" in same


def test_a_number_is_bold_where_its_interval_leaves_out_what_chance_gives(injected: SimpleNamespace) -> None:
    row = injected.document().findings[0].selection.grids[0].rows[0]
    clear = row.model_copy(update={"layer": 1, "rise": injected.rate(0.31, 0.1)})
    doubtful = row.model_copy(update={"layer": 2, "rise": injected.rate(0.12, 0.2)})
    page = drawn(grid_heat_map([clear, doubtful], RISE))
    assert re.search(r'<text[^>]*font-weight="700"[^>]*>\+31</text>', page)
    assert not re.search(r'<text[^>]*font-weight="700"[^>]*>\+12</text>', page)


def test_a_value_that_is_not_known_is_a_dot(injected: SimpleNamespace) -> None:
    row = injected.document().findings[0].selection.grids[0].rows[0]
    unknown = row.model_copy(update={"rise": injected.rate(float("nan"))})
    assert "·" in texts(drawn(grid_heat_map([unknown, row.model_copy(update={"layer": 4})], RISE)))


@pytest.mark.parametrize("name", ["detection-2", "detection-3", "localisation", "choice"])
def test_a_matrix_shows_share_and_spread_of_every_answer(injection: InjectionDocument, name: str) -> None:
    matrix = injection.finding(name).matrices[0]
    shown = " ".join(texts(drawn(response_matrix(matrix))))
    for row in matrix.rows:
        assert row.label.replace("'", "&#39;") in shown or row.label in shown
    for answer in matrix.answers:
        assert answer in shown
    cells = len(matrix.rows) * len(matrix.answers)
    assert len(re.findall(r"±\d+", shown)) == cells
    for word in ("valid", "invalid", "KL", "entropy"):
        assert word in shown


@pytest.mark.parametrize("name", ["detection-2", "detection-3", "localisation", "choice"])
def test_nothing_of_a_matrix_leaves_its_column(injection: InjectionDocument, name: str) -> None:
    page = drawn(response_matrix(injection.finding(name).matrices[0]))
    box = re.search(r'viewBox="0 0 ([\d.]+)', page)
    assert box is not None
    assert float(box.group(1)) <= 390
