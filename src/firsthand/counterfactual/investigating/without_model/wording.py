"""Parts of a prompt in words, for purposes and reports. Their texts are quoted, and shortened where they are long."""

from collections.abc import Sequence
from typing import Final

from firsthand.counterfactual.segments import Segment

_LONGEST: Final = 70
_MOST: Final = 3
_KINDS: Final = {
    "turn": "turn",
    "paragraph": "paragraph",
    "code": "code block",
    "sentence": "sentence",
    "item": "list item",
    "line": "line of code",
    "quote": "quoted text",
    "name": "name",
    "number": "number",
    "identifier": "identifier",
    "word": "word",
}


def quoted(text: str) -> str:
    """A text in quotes, on one line, shortened in its middle."""
    line = " ".join(text.split())
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST // 2].rstrip()} … {line[-_LONGEST // 2 + 3 :].lstrip()}"
    return f"“{line}”"


def called(units: Sequence[Sequence[Segment]]) -> str:
    """What some parts are called, such as ``the word “only”`` or ``3 sentences (“…”, …)``."""
    if not units:
        return "nothing"
    if len(units) <= _MOST:
        return _and([_one(unit) for unit in units])
    kinds = {_KINDS[unit[0].kind] for unit in units}
    kind = f"{kinds.pop()}s" if len(kinds) == 1 else "parts"
    return f"{len(units)} {kind} ({quoted(units[0][0].text)} to {quoted(units[-1][0].text)})"


def _one(unit: Sequence[Segment]) -> str:
    first = unit[0]
    if first.kind == "turn":
        return f"turn {first.turn}" if len(unit) == 1 else f"turns {first.turn} to {unit[-1].turn}"
    times = f" ({len(unit)} times)" if len(unit) > 1 else ""
    return f"the {_KINDS[first.kind]} {quoted(first.text)}{times}"


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def percent(share: float | None) -> str:
    """A share in per cent."""
    return "nothing valid" if share is None else f"{100.0 * share:.0f}%"
