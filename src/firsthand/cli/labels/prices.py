"""How every ``--dry-run`` of a label study tells what it would cost."""

from collections.abc import Mapping, Sequence

from rich.console import Console


def print_price(lines: Sequence[str], dropped: Mapping[str, int], sha256: str) -> None:
    """Print a price.

    Args:
        lines: What would be run, and how long it would take.
        dropped: What was left out of the data, by reason.
        sha256: Hash of the data as read, which a claim names.
    """
    told = [*lines, f"Left out of the data: {left_out(dropped)}.", f"Data SHA-256: {sha256}"]
    Console().print("\n".join(told), markup=False, highlight=False)


def speed(rate: float, seconds: float) -> str:
    """How long it takes at a measured rate in tokens a second."""
    return f"This machine does {rate:,.0f} tokens a second: about {time_of(seconds)}."


def time_of(seconds: float) -> str:
    """A time in words: seconds up to a minute and a half, then minutes."""
    if seconds >= 90:
        return f"{seconds / 60:,.0f} minutes"
    whole = max(1, round(seconds))
    return "1 second" if whole == 1 else f"{whole} seconds"


def left_out(dropped: Mapping[str, int]) -> str:
    """How much was left out for which reason, or ``none``."""
    return ", ".join(f"{count:,} {reason}" for reason, count in dropped.items() if count) or "none"
