"""What the labels of a file are called, and which of them is class 1."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from firsthand.errors import LabelsError


def label_name(value: Any) -> str | None:
    """A label as text, the same whether a file kept it as 1, 1.0, "1" or "1.0"; ``None`` if there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or not str(value).strip():
        return None
    shown = str(value).strip()
    try:
        number = float(shown)
    except ValueError:
        return shown
    if math.isnan(number):
        return None
    return str(int(number)) if number.is_integer() else shown


def classes_of(path: Path, names: Sequence[str], positive: str | None) -> tuple[str, str]:
    """What class 0 and class 1 are called.

    Args:
        path: The file, for messages.
        names: The labels of all examples.
        positive: The label of class 1; all others are then class 0. Without it class 1 is the larger of two numbers,
            or the later of two words in the alphabet.

    Raises:
        LabelsError: If there is one class only, there are more than two without ``positive``, or none is called that.
    """
    found = sorted(set(names), key=_rank)
    if positive is not None:
        wanted = label_name(positive)
        if wanted not in found:
            raise LabelsError(f"No label of {path} is '{positive}'; there are: {_some(found)}.", "Name one of them.")
        found = [" or ".join(name for name in found if name != wanted), str(wanted)] if len(found) > 1 else found
    if len(found) != 2:
        few = len(found) < 2
        raise LabelsError(
            f"{path} has {'only ' if few else ''}the labels {_some(found)}; two classes are needed.",
            "Give texts of both classes." if few else "Name the positive class, which is then set against all others.",
        )
    return found[0], found[1]


def _rank(name: str) -> tuple[bool, float, str]:
    try:
        return False, float(name), name
    except ValueError:
        return True, 0.0, name


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:6]) or "none"
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")
