"""How numbers are written, the same on the page, in charts and in the terminal.

Shares are per cent with one decimal, differences of shares are percentage points with a sign, everything else has two
decimals. An estimate is never written without its interval and the units it rests on.
"""

from collections.abc import Iterable
from enum import StrEnum

from firsthand.analysis.results import Estimate

MINUS = "\u2212"


class Unit(StrEnum):
    """In what a number is written."""

    PERCENT = "percent"
    POINTS = "points"
    NUMBER = "number"


def number(value: float, unit: Unit) -> str:
    """Write one number with its unit.

    Args:
        value: The number; shares as fractions of one.
        unit: How to write it.
    """
    bare = _bare(value, unit)
    return {Unit.PERCENT: f"{bare}%", Unit.POINTS: f"{bare} pts", Unit.NUMBER: bare}[unit]


def percent(value: float) -> str:
    """Write a share as per cent."""
    return number(value, Unit.PERCENT)


def interval(estimate: Estimate, unit: Unit) -> str:
    """Write the interval of an estimate in brackets, without its unit."""
    return f"[{_bare(estimate.low, unit)}, {_bare(estimate.high, unit)}]"


def estimate_text(estimate: Estimate, unit: Unit) -> str:
    """Write an estimate with its interval."""
    return f"{number(estimate.value, unit)} {interval(estimate, unit)}"


def units_text(estimate: Estimate) -> str:
    """Say what an estimate rests on: independent units and trials."""
    cluster = estimate.cluster.replace("_", " ")
    return f"{_count(estimate.units, cluster)} · {_count(estimate.n_trials, 'trial')}"


def level_text(estimates: Iterable[Estimate]) -> str:
    """Name the coverage of the intervals of some estimates, e.g. ``90%``."""
    levels = sorted({round(100 * item.level, 1) for item in estimates})
    return " or ".join(f"{level:g}%" for level in levels) or "no"


def p_text(p: float | None) -> str:
    """Write a p-value, or a dash where nothing was tested."""
    if p is None:
        return "—"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def count_text(value: int) -> str:
    """Write a large count with thin spaces, and in millions or billions where that reads better."""
    if value >= 1_000_000_000:
        return f"{value / 1e9:.2f} billion"
    if value >= 1_000_000:
        return f"{value / 1e6:.1f} million"
    return f"{value:,}".replace(",", "\u202f")


def _count(value: int, noun: str) -> str:
    plural = {"phenomenon": "phenomena"}.get(noun, noun if noun.endswith("s") else f"{noun}s")
    return f"{value} {noun if value == 1 else plural}"


def _bare(value: float, unit: Unit) -> str:
    if value != value:
        return "n/a"
    text = f"{value:.2f}" if unit is Unit.NUMBER else f"{100 * value:.1f}"
    if float(text) == 0.0:
        text = text.lstrip("-")
    if unit is Unit.POINTS and float(text) > 0:
        text = f"+{text}"
    return text.replace("-", MINUS)
