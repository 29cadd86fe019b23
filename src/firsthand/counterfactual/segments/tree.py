"""A prompt as a tree of exact spans, from coarse to fine.

Level by level: each turn with a text; in it paragraphs and code blocks; in these sentences, list items and lines of
code; in these names, numbers, quoted texts, identifiers and content words; in a quoted text again its leaves. Segments
of one level never overlap, and children lie within their parent.

What is covered: every character but white space belongs to a turn, and to a paragraph or code block of it. Every
character but white space of a paragraph belongs to a sentence or an item, and every one of a code block to a line, but
for fences. Below that only leaves are segments: function words, punctuation and the marks of list items belong to none.
Text without spaces between words (Chinese, Thai) has runs of letters for words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.segments.leaves import LeafKind, found_leaves, looks_like_code

Kind: TypeAlias = Literal["turn", "paragraph", "code", "sentence", "item", "line"] | LeafKind
Span: TypeAlias = tuple[int, int]

_FENCE: Final = re.compile(r"\s*(```|~~~)")
_ITEM: Final = re.compile(r"\s*(?:[-*+•‣–]|\(?\d{1,3}[.)]|\(?[A-Za-z][.)])[ \t]+(?=\S)")
_END: Final = re.compile(r"[.!?…]+[\"'”’)\]»]*(?=\s)|[。！？]+[”’）」』]*")
_SHORT: Final = re.compile(
    r"(?:\b(?:[A-Za-z]|e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|Prof|St|No|Fig|Eq|al|approx|Inc|Ltd|Jr|Sr)|^\W*\d{1,3})\.$"
)


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of a turn.

    Attributes:
        turn: Number of the turn.
        start: First character in the turn's content.
        end: One past the last.
        kind: What it is.
        text: The characters.
        children: Finer segments, in reading order.
    """

    turn: int
    start: int
    end: int
    kind: Kind
    text: str
    children: tuple["Segment", ...] = ()

    def overlaps(self, other: "Segment") -> bool:
        """Whether the two share a character."""
        return self.turn == other.turn and self.start < other.end and other.start < self.end

    def holds(self, other: "Segment") -> bool:
        """Whether the other lies within this one."""
        return self.turn == other.turn and self.start <= other.start and other.end <= self.end


def segmented(prompt: Prompt) -> tuple[Segment, ...]:
    """A tree for each turn that has a text, in order."""
    names = frozenset(
        leaf.text
        for turn in prompt.turns
        for leaf in found_leaves(turn.content, 0, len(turn.content), prose=True)
        if leaf.kind == "name"
    )
    return tuple(
        Segment(number, 0, len(turn.content), "turn", turn.content, tuple(_blocks(number, turn.content, names)))
        for number, turn in enumerate(prompt.turns)
        if turn.content.strip()
    )


def walk(segments: Sequence[Segment]) -> Iterator[Segment]:
    """Segments and all below them, parents first."""
    for segment in segments:
        yield segment
        yield from walk(segment.children)


def leaves(segments: Sequence[Segment]) -> list[Segment]:
    """Finest segments, in order; a segment without children is one of them."""
    return [segment for segment in walk(segments) if not segment.children]


def outside(segments: Sequence[Segment], away: Sequence[Segment]) -> list[Segment]:
    """The coarsest segments that share no character with some others."""
    found: list[Segment] = []
    for segment in segments:
        if not any(segment.overlaps(one) for one in away):
            found.append(segment)
        elif not any(one.holds(segment) for one in away):
            found += outside(segment.children, away)
    return found


def _blocks(turn: int, content: str, names: frozenset[str]) -> Iterator[Segment]:
    for start, end, fenced in _stretches(content):
        start, end = _trimmed(content, start, end)
        text = content[start:end]
        code = fenced or looks_like_code(text)
        parts = _lines(content, start, end) if code else _statements(content, start, end)
        children = tuple(_fine(turn, content, kind, span, names) for kind, span in parts)
        yield Segment(turn, start, end, "code" if code else "paragraph", text, children)


def _fine(turn: int, content: str, kind: Kind, span: Span, names: frozenset[str]) -> Segment:
    start, end = span
    body = start + item_mark(content[start:end]) if kind == "item" else start
    prose = kind != "line"
    return Segment(turn, start, end, kind, content[start:end], _leaves(turn, content, (body, end), prose, names))


def _leaves(turn: int, content: str, span: Span, prose: bool, names: frozenset[str]) -> tuple[Segment, ...]:
    found = []
    for leaf in found_leaves(content, *span, prose=prose):
        inner: tuple[Segment, ...] = ()
        if leaf.kind == "quote":
            inner = _leaves(turn, content, (leaf.start + 1, leaf.end - 1), prose, names)
        kind: Kind = "name" if leaf.kind == "word" and leaf.text in names else leaf.kind
        found.append(Segment(turn, leaf.start, leaf.end, kind, leaf.text, inner))
    return tuple(found)


def item_mark(text: str) -> int:
    """How many characters of a list item are its mark."""
    found = _ITEM.match(text)
    return found.end() if found else 0


def _stretches(content: str) -> Iterator[tuple[int, int, bool]]:
    """Stretches of lines that belong together, and whether a fence encloses them."""
    begin: int | None = None
    fence: str | None = None
    for start, end in _line_spans(content):
        line = content[start:end]
        mark = _FENCE.match(line)
        if fence is not None:
            if mark and mark[1] == fence and begin is not None:
                yield begin, end, True
                begin = fence = None
        elif mark:
            if begin is not None:
                yield begin, start, False
            begin, fence = start, mark[1]
        elif not line.strip():
            if begin is not None:
                yield begin, start, False
            begin = None
        elif begin is None:
            begin = start
    if begin is not None:
        yield begin, len(content), fence is not None


def _line_spans(content: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Lines, their ends included; only a line feed ends one."""
    stop = len(content) if end is None else end
    while start < stop:
        at = content.find("\n", start, stop)
        yield start, (stop if at < 0 else at + 1)
        start = stop if at < 0 else at + 1


def _lines(content: str, start: int, end: int) -> Iterator[tuple[Kind, Span]]:
    for a, b in _line_spans(content, start, end):
        span = _trimmed(content, a, b)
        if span[0] < span[1] and not _FENCE.match(content[a:b]):
            yield "line", span


def _statements(content: str, start: int, end: int) -> Iterator[tuple[Kind, Span]]:
    """List items and sentences of a paragraph.

    A line is a new sentence unless it goes on in lower case; an item reaches to the next item or sentence of its own.
    """
    groups: list[tuple[Kind, int, int]] = []
    for a, b in _line_spans(content, start, end):
        line = content[a:b]
        if _ITEM.match(line):
            groups.append(("item", a, b))
        elif groups and (line.lstrip()[:1].islower() or (groups[-1][0] == "item" and line[:1] in " \t")):
            groups[-1] = (groups[-1][0], groups[-1][1], b)
        else:
            groups.append(("sentence", a, b))
    for kind, a, b in groups:
        if kind == "item":
            yield kind, _trimmed(content, a, b)
        else:
            for span in _sentences(content, a, b):
                yield kind, span


def _sentences(content: str, start: int, end: int) -> Iterator[Span]:
    begin = start
    for match in _END.finditer(content, start, end):
        if not _SHORT.search(content[begin : match.end()]):
            yield _trimmed(content, begin, match.end())
            begin = match.end()
    rest = _trimmed(content, begin, end)
    if rest[0] < rest[1]:
        yield rest


def _trimmed(content: str, start: int, end: int) -> Span:
    """The span without white space at its ends."""
    text = content[start:end]
    return end - len(text.lstrip()) if text.strip() else end, start + len(text.rstrip()) if text.strip() else end
