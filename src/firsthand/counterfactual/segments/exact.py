"""Spans of a text as replacements that land exactly where they are meant."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

from firsthand.counterfactual.edits import Operation, Replace
from firsthand.errors import CounterfactualError

Change: TypeAlias = tuple[int, int, str]
"""Characters from, to, and what they become."""


def exact_replacements(turn: int, content: str, changes: Iterable[Change]) -> list[Operation]:
    """Operations that change these spans of a turn and nothing else, made from the last span to the first.

    A text that stands more than once is named with the number of the occurrence; where occurrences overlap, so that no
    number names the span, characters around it are taken in.

    Raises:
        CounterfactualError: If spans overlap.
    """
    ordered = sorted(changes)
    for (_, end, _), (start, _, _) in pairwise(ordered):
        if start < end:
            raise CounterfactualError(f"Two changes of turn {turn} overlap.", "Let them be apart.")
    found: list[Operation] = []
    for start, end, text in reversed(ordered):
        if content[start:end] == text:
            continue
        found.append(_located(turn, content, start, end, text))
        content = content[:start] + text + content[end:]
    return found


def _located(turn: int, content: str, start: int, end: int, text: str) -> Replace:
    while start < end and text and content[start] == text[0] and text[0].isspace():
        start, text = start + 1, text[1:]
    while start < end and text and content[end - 1] == text[-1] and text[-1].isspace():
        end, text = end - 1, text[:-1]
    while True:
        find = content[start:end]
        if find:
            which = _number(content, find, start)
            if which is not None:
                alone = content.count(find) == 1
                return Replace(turn=turn, find=find, text=text, which=None if alone else which)
        if start > 0:
            start -= 1
            text = content[start] + text
        else:
            text += content[end]
            end += 1


def _number(content: str, find: str, start: int) -> int | None:
    """Which of the occurrences that are found from left to right begins there."""
    before = content[:start].count(find)
    at = -len(find)
    for _ in range(before + 1):
        at = content.find(find, at + len(find))
    return before if at == start else None


def tidy_deletions(content: str, spans: Sequence[tuple[int, int]]) -> list[Change]:
    """Deletions of spans, in order, with the white space around each made one separator.

    Of the separators before and after what goes, the one with more line breaks stays, and of it the indentation of what
    comes after. Nothing stays at either end of the text.
    """
    return [_tidy(content, start, end) for start, end in _joined(content, spans)]


def _joined(content: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans between which there is only white space are one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and not content[found[-1][1] : start].strip():
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _tidy(content: str, start: int, end: int) -> Change:
    left = content[:start]
    left = left[len(left.rstrip()) :]
    right = content[end:]
    right = right[: len(right) - len(right.lstrip())]
    a, b = start - len(left), end + len(right)
    before, after = content[a - 1 : a], content[b : b + 1]
    if not after:
        return a, b, ""
    if not before:
        return a, b, right[right.rfind("\n") + 1 :] if "\n" in right else ""
    if not right:
        drop_left = after in ".,;:!?)]}”’»" or (after in "\"'" and left and before not in "\"'")
        return (a, b, "") if drop_left else (start, end, "")
    if not left:
        return (a, b, "") if before in "([{“‘«\"'`" else (start, end, "")
    if "\n" in right:
        stronger = left if left.count("\n") > right.count("\n") else right
        return a, b, stronger[: stronger.rfind("\n") + 1] + right[right.rfind("\n") + 1 :]
    return a, b, left
