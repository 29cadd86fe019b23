"""The finest parts of a text: names, numbers, quoted texts, identifiers and content words.

A name is a run of capitalised words that does not merely begin a sentence; an identifier is a word with an underscore
or a capital inside, one before a bracket or in back quotes, and in code every word that is no keyword. These are rules
of thumb about form. They decide how a part is replaced and called, never whether it can be found.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

LeafKind: TypeAlias = Literal["quote", "name", "number", "identifier", "word"]

_SMALL: Final = """
a an the this that these those i you he she it we they me him her us them my your his its our their mine yours and
or but nor so yet if then than as of at by for from in into on onto out over to up with without within about between
through during before after above below under again is am are was were be been being do does did have has had having
will would shall should can could may might what which who whom whose when where why how there here all any both
each few more most other some such too just also i'm you're it's that's i've i'll i'd you'll let's mr mrs ms dr prof
"""
FUNCTION_WORDS: Final = frozenset(_SMALL.split())
"""Words that are no segment of their own: they hold a sentence together. Negations are not among them."""

_IMPERATIVES: Final = """
add analyze answer ask build calculate choose compare complete compose consider convert create define describe design
develop discuss do draft edit evaluate explain extract find fix generate give help identify implement improve list
make mention name outline pick please prove provide read rewrite say show solve suggest summarize summarise tell
translate use write yesterday today tomorrow recently hello hi dear thanks
"""
_OPENERS: Final = frozenset(_IMPERATIVES.split())
"""Words that begin a sentence: one before a name is no part of it."""

_PROGRAMS: Final = """
and as assert async await break case catch class const continue def default del delete do elif else enum except
export extends extern false final finally fn for from func function global go if impl import in include int
interface is lambda let long match mod mut new nil none not null or package pass print private protected pub public
raise return self short static string struct super switch this throw throws trait true try type typedef typeof union
unsigned use using var void while with yield bool boolean char double float str end then local select where insert
update into values table create
"""
_KEYWORDS: Final = frozenset(_PROGRAMS.split())
_QUOTE: Final = r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|(?<!\w)'[^'\n]{1,200}'(?!\w)"
_NUMBER: Final = r"(?<![\w.])\d+(?:[.,:]\d+)*(?!\w)"
_WORD: Final = r"[^\W\d]\w*(?:['’\-][^\W\d]\w*)*"
_PROSE: Final = re.compile(f"(?P<quote>{_QUOTE})|(?P<number>{_NUMBER})|(?P<word>{_WORD})|(?P<odd>\\w+)")
_CODE: Final = re.compile(f"(?P<quote>{_QUOTE})|(?P<number>{_NUMBER})|(?P<word>[^\\W\\d]\\w*)|(?P<odd>\\w+)")
_CODE_LINE: Final = re.compile(
    r"[;{}]\s*$|^\s*(?:def |class |import |from \S+ import|function\b|const |let |var |return\b|#include)"
    r"|^\s*(?:public|private|static) "
    r"|^\s*[\w.\[\]]+\s*[-+*/]?=\s*\S|^\s*(?:if|for|while)\b.*[:{(]\s*$|^\s*(?://|/\*|</?\w+.*>\s*$)"
)
_STARTS_SENTENCE: Final = re.compile(r"(?:^|[.!?…:\n]|^\s*(?:[-*+•]|\d+[.)]))\W*$")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A finest part of a text: where it stands and what it is."""

    start: int
    end: int
    kind: LeafKind
    text: str


def looks_like_code(text: str) -> bool:
    """Whether most lines of a block have the form of code."""
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and sum(bool(_CODE_LINE.search(line.rstrip("\r"))) for line in lines) * 2 > len(lines)


def is_keyword(word: str) -> bool:
    """Whether a word of a program means something to its language."""
    return word.lower() in _KEYWORDS


def found_leaves(content: str, start: int, end: int, *, prose: bool) -> list[Leaf]:
    """Leaves of a stretch of a text, in order.

    Args:
        content: The whole text.
        start: Where the stretch begins.
        end: Where it ends.
        prose: Whether it is prose; code otherwise.
    """
    if not prose:
        return [leaf for leaf in _tokens(_CODE, content, start, end) if leaf.kind != "word"]
    return list(_with_names(content, start, list(_tokens(_PROSE, content, start, end))))


def _tokens(pattern: re.Pattern[str], content: str, start: int, end: int) -> Iterator[Leaf]:
    code = pattern is _CODE
    for match in pattern.finditer(content, start, end):
        text, (a, b) = match[0], match.span()
        kind: LeafKind
        if match.lastgroup == "quote":
            kind = "quote"
        elif match.lastgroup == "number":
            kind = "number"
        elif code:
            kind = "word" if is_keyword(text) else "identifier"
        else:
            around = content[a - 1 : a] if a > start else "", content[b : b + 1] if b < end else ""
            kind = "identifier" if match.lastgroup == "word" and _is_identifier(text, *around) else "word"
        yield Leaf(a, b, kind, text)


def _is_identifier(text: str, before: str, after: str) -> bool:
    ticked = before == "`" and after == "`"
    inner = "_" in text.strip("_") or bool(re.search(r"[a-z][A-Z]|\d[a-z]|[a-z]\d", text))
    return ticked or inner or after == "("


def _with_names(content: str, start: int, tokens: list[Leaf]) -> Iterator[Leaf]:
    """Runs of capitalised words become one leaf; function words go."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind != "word":
            yield token
            at += 1
            continue
        run = [token]
        if _is_capital(token.text):
            while at + len(run) < len(tokens) and _goes_on(content, run, tokens[at + len(run)]):
                run.append(tokens[at + len(run)])
        at += len(run)
        initial = bool(_STARTS_SENTENCE.search(content[max(start, token.start - 12) : token.start]))
        if initial and len(run) > 1 and _bare(token.text) in _OPENERS:
            yield token
            run = run[1:]
        while run and _bare(run[0].text) in FUNCTION_WORDS:
            run = run[1:]
        while run and run[-1].text == "I":
            run = run[:-1]
        if not run:
            continue
        named = _is_capital(run[0].text) and (len(run) > 1 or run[0] is not token or not initial)
        a, b = run[0].start, run[-1].end
        yield Leaf(a, b, "name" if named else "word", content[a:b])


def _bare(text: str) -> str:
    """A word as lists of words have it; "US" stays what it is."""
    return text if len(text) > 1 and text.isupper() else text.lower().replace("’", "'")


def _is_capital(text: str) -> bool:
    return text[0].isupper()


def _goes_on(content: str, run: list[Leaf], right: Leaf) -> bool:
    """Whether a word goes on with a run; a full stop is only between initials and what follows them."""
    between = content[run[-1].end : right.start]
    joined = between in (" ", "\u00a0") or (between == ". " and all(len(one.text) == 1 for one in run))
    return joined and right.kind == "word" and _is_capital(right.text)
