"""The trials of an injection study as a trace: what observers may see, what was done, what came back."""

from collections.abc import Callable
from functools import reduce
from typing import Final

import pandas as pd

from firsthand.trials.trace import PARTS, Trace

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "public": ("task", "wording", "voice", "framing", "order", "text"),
    "sealed": ("arm", "kind", "concept", "layer", "dose", "impact_kl", "impact_matched"),
    "reports": ("answer", "probability", "coverage", "contrast", "entropy", "surface"),
    "readings": ("site", "residual"),
}
"""Columns of each part, beside ``trial_id``."""


def kept(trace: Trace, unit: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """A unit's trials, from the trace if it is finished there, else made and written.

    Args:
        trace: The trace.
        unit: Name of the unit.
        make: Makes the trials.

    Raises:
        TraceError: If a finished unit was altered or removed, or cannot be written.
    """
    if not trace.unit_done(unit):
        table = make()
        parts = {part: table[["trial_id", *(c for c in COLUMNS[part] if c in table)]] for part in PARTS}
        trace.write_unit(unit, parts, sorted(set(table["text"])))
    frames = [trace.read_units(part, [unit]) for part in PARTS]
    return reduce(lambda left, right: left.merge(right, on="trial_id", validate="one_to_one"), frames)
