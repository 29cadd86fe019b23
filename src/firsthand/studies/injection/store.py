"""The trials of an injection study as a trace: what observers may see, what was done, what came back."""

from collections.abc import Callable
from functools import reduce

import pandas as pd

from firsthand.studies.injection.trials import COLUMNS
from firsthand.trials.trace import PARTS, Trace


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
