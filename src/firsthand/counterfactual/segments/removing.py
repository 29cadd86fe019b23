"""Deletions of segments: words, sentences, items, lines, blocks, whole exchanges and the system's turn.

A turn of which no letter or digit is left is handled as a whole. The system's turn is left out. An exchange (a user's
turn and all up to the next one) is left out if nothing of it is left and another comes after it. Any other turn has to
stay, since chat templates want roles in turn, and says something empty of content (:data:`STANDS_FOR`).
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from firsthand.counterfactual.edits import Drop, Edit, Operation, Rewrite
from firsthand.counterfactual.prompts import Prompt, Role
from firsthand.counterfactual.segments.exact import Change, exact_replacements, tidy_deletions
from firsthand.counterfactual.segments.leaves import FUNCTION_WORDS
from firsthand.counterfactual.segments.tree import Segment
from firsthand.errors import CounterfactualError

STANDS_FOR: Final[dict[Role, tuple[str, ...]]] = {
    "user": ("Hello.", "Good day.", "Hi there."),
    "assistant": ("OK.", "I see.", "All right."),
    "tool": ("(nothing)", "(empty)", "(blank)"),
    "system": ("(nothing)",),
}
"""What a turn says of which nothing is left, by its role: the first that the prompt does not hold in other places."""

_ALPHANUMERIC: Final = re.compile(r"\w")


def exchanges(prompt: Prompt) -> list[list[int]]:
    """Numbers of turns that belong together: a user's turn and all up to the next one, the system's turn aside."""
    found: list[list[int]] = []
    for number, turn in enumerate(prompt.turns):
        if turn.role == "system":
            continue
        if turn.role == "user" or not found:
            found.append([])
        found[-1].append(number)
    return found


def removed(prompt: Prompt, segments: Sequence[Segment]) -> Edit:
    """The edit that deletes segments, and function words that only held them together.

    Raises:
        CounterfactualError: If there is nothing to delete, or deleting leaves the prompt as it is.
    """
    contents = {number: turn.content for number, turn in enumerate(prompt.turns)}
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for segment in segments:
        spans[segment.turn].append((segment.start, segment.end))
    changes = {
        number: tidy_deletions(contents[number], _with_small_words(contents[number], some))
        for number, some in spans.items()
    }
    empty = {number for number, some in changes.items() if not _ALPHANUMERIC.search(_after(contents[number], some))}
    return _edit(prompt, changes, empty)


def kept(prompt: Prompt, segments: Sequence[Segment]) -> Edit:
    """The edit that leaves nothing but some segments, in their order.

    Raises:
        CounterfactualError: If that is the whole prompt already.
    """
    texts: dict[int, list[Segment]] = defaultdict(list)
    for segment in sorted(segments, key=lambda one: (one.turn, one.start)):
        texts[segment.turn].append(segment)
    empty = {number for number in range(len(prompt.turns)) if number not in texts}
    whole = {number: _together(some) for number, some in texts.items()}
    rewritten = [
        Rewrite(turn=number, content=text) for number, text in whole.items() if text != prompt.turns[number].content
    ]
    return _edit(prompt, {}, empty, rewritten)


def _together(segments: Sequence[Segment]) -> str:
    fine = all(segment.kind in ("word", "name", "number", "quote", "identifier") for segment in segments)
    return (" " if fine else "\n").join(segment.text for segment in segments)


def _edit(
    prompt: Prompt, changes: dict[int, list[Change]], empty: set[int], rewritten: Sequence[Operation] = ()
) -> Edit:
    """Operations for turns that change and turns of which nothing is left."""
    silent = {number for number, turn in enumerate(prompt.turns) if not turn.content.strip()}
    dropped = {number for number in empty if prompt.turns[number].role == "system"}
    for exchange in exchanges(prompt)[:-1]:
        if set(exchange) <= empty | silent and set(exchange) & empty:
            dropped |= set(exchange)
    operations: list[Operation] = list(rewritten)
    for number in sorted(changes.keys() - empty):
        operations += exact_replacements(number, prompt.turns[number].content, changes[number])
    for number in sorted(empty - dropped - silent):
        text = _empty(prompt, number)
        if prompt.turns[number].content != text:
            operations.append(Rewrite(turn=number, content=text))
    operations += [Drop(turn=number) for number in sorted(dropped, reverse=True)]
    if not operations:
        raise CounterfactualError("The edit would leave the prompt as it is.", "Name segments that hold something.")
    return Edit(operations=tuple(operations))


def _empty(prompt: Prompt, number: int) -> str:
    """What a turn says that has to stay; if it says that already, the same."""
    choices = STANDS_FOR[prompt.turns[number].role]
    if prompt.turns[number].content in choices:
        return prompt.turns[number].content
    whole = "\n".join(turn.content for turn in prompt.turns).lower()
    free = [text for text in choices if text.strip("().").lower() not in whole]
    return free[0] if free else choices[0]


def _with_small_words(content: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans between which only function words stand, in one line and sentence, are one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        between = content[found[-1][1] : start] if found else ""
        words = re.findall(r"\w+", between.lower())
        small = bool(words) and all(word in FUNCTION_WORDS for word in words)
        if found and (start < found[-1][1] or (small and not re.search(r"[^\w\s,'’\"-]|\n", between))):
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _after(content: str, changes: Sequence[Change]) -> str:
    for start, end, text in reversed(changes):
        content = content[:start] + text + content[end:]
    return content
