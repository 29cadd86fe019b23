"""Curves: what stands out is drawn last, one point is a bar, and the axes hold all that is drawn."""

import json
import math
from typing import Any

from firsthand.report.charts import Reference
from firsthand.report.curves import LinePoint, PlotLine, curves
from firsthand.report.formats import Unit
from firsthand.report.svg import LIGHT, render


def line(name: str, *values: float, emphasis: bool = False) -> PlotLine:
    points = tuple(LinePoint(x, value, value - 0.1, value + 0.1) for x, value in enumerate(values))
    return PlotLine(name, points, emphasis)


def drawn(*lines: PlotLine, unit: Unit = Unit.PERCENT, references: tuple[Reference, ...] = ()) -> dict[str, Any]:
    return curves(lines, x_title="Layer", y_title="Right", unit=unit, references=references)


def values(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    found = [layer for layer in spec["vconcat"][0]["layer"] if layer["mark"]["type"] == mark]
    records: list[dict[str, Any]] = found[0]["data"]["values"]
    return records


def domain(spec: dict[str, Any], axis: str) -> list[float]:
    found: list[float] = spec["vconcat"][0]["layer"][0]["encoding"][axis]["scale"]["domain"]
    return found


def test_what_stands_out_is_drawn_over_the_others() -> None:
    spec = drawn(line("report", 0.5, 0.6, emphasis=True), line("other", 0.4, 0.5))
    assert [record["color"] for record in values(spec, "line")] == [LIGHT["other"]] * 2 + [LIGHT["accent"]] * 2


def test_a_line_of_one_point_has_a_bar_for_its_interval() -> None:
    spec = drawn(line("one", 0.5), line("two", 0.5, 0.6))
    assert [record["series"] for record in values(spec, "rule")] == [0]
    assert [record["series"] for record in values(spec, "area")] == [1, 1]


def test_the_axes_hold_every_interval_and_reference() -> None:
    spec = drawn(line("report", 0.5, 0.62), references=(Reference(0.05, "low"),))
    low, high = domain(spec, "y")
    assert low <= 0.05
    assert high >= 0.72
    left, right = domain(spec, "x")
    assert left < 0 < 1 < right


def test_shares_end_at_all_and_small_numbers_are_not_flattened() -> None:
    assert domain(drawn(line("report", 0.88, 0.9)), "y")[1] == 1.0
    low, high = domain(drawn(PlotLine("r", (LinePoint(0, 0.003, 0.001, 0.005),)), unit=Unit.NUMBER), "y")
    assert high - low < 0.02
    low, high = domain(drawn(PlotLine("r", (LinePoint(0, 4000.0, 3500.0, 4600.0),)), unit=Unit.NUMBER), "y")
    assert high >= 4600


def test_unknown_numbers_leave_a_gap_and_the_chart_is_drawn() -> None:
    points = (LinePoint(0, math.nan, math.nan, math.nan), LinePoint(1, 0.5, -math.inf, math.inf))
    spec = drawn(PlotLine("report", points, True), PlotLine("nobody", ()))
    assert "NaN" not in json.dumps(spec)
    assert "Infinity" not in json.dumps(spec)
    assert "<svg" in render(spec, identifier="c", title="t", description="d")


def test_the_legend_names_every_line_and_cuts_long_names() -> None:
    legend = json.dumps(drawn(line("report", 0.5), line("x" * 300, 0.4))["vconcat"][1])
    assert '"report"' in legend
    assert "x" * 60 not in legend
