"""Units of trials in a trace: taken from it where they are finished, else made and written."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import pandas as pd

from firsthand.trials.trace import PARTS, Trace

Columns = Mapping[str, Sequence[str]]
"""Columns of each part of a trace, beside ``trial_id``."""


def kept(
    trace: Trace, units: Sequence[str], make: Callable[[], Sequence[pd.DataFrame]], columns: Columns
) -> list[pd.DataFrame]:
    """The trials of some units, from the trace where they are finished there, else made and written.

    Where one is missing all are made again, since what runs together shares its rounding; only the missing are written.

    Args:
        trace: The trace.
        units: Names of the units.
        make: Makes the trials of all units together, with a column ``text`` of what was shown.
        columns: What observers may see, what was done, what came back, and what was read.

    Raises:
        TraceError: If a finished unit was altered or removed, or cannot be written.
    """
    missing = {unit for unit in units if not trace.unit_done(unit)}
    for unit, table in zip(units, make(), strict=True) if missing else ():
        if unit in missing:
            parts = {part: table[["trial_id", *(c for c in columns[part] if c in table)]] for part in PARTS}
            trace.write_unit(unit, parts, sorted(set(table["text"])))
    return [_read(trace, unit) for unit in units]


def _read(trace: Trace, unit: str) -> pd.DataFrame:
    frames = [trace.read_units(part, [unit]) for part in PARTS]
    return reduce(lambda left, right: left.merge(right, on="trial_id", validate="one_to_one"), frames)
