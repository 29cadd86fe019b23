"""Behaviours made from a prompt's own words: it names what the prompt names, or says what the prompt says.

Each belongs to a family. How unusual it is to name *this* name is told by how often other names are named after the
prompts that hold them, since no response to another prompt would name this one.
"""

import re
from typing import Final

from firsthand.counterfactual.library.candidates import Candidate, found
from firsthand.counterfactual.plain_text import plain
from firsthand.counterfactual.prompts import Prompt

MOST: Final = 4
"""Behaviours of one family that are made from one prompt."""

_NAME: Final = re.compile(r"(?<![.!?:\n\"“]\s)(?<!\A)\b([A-Z][a-z]{2,})\b(?!:)")
_NUMBER: Final = re.compile(r"(?<![\w.])\d{2,}(?:[.,]\d+)*(?!\w)")
_QUOTED: Final = re.compile(r"[\"“„«]([^\"”“»\n]{4,60})[\"”“»]")
_ITEM: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(.{3,60}?)\s*$", re.MULTILINE)
_NO_NAMES: Final = frozenset(
    re.findall(
        r"\w+",
        "Please The This That What When Where Which Who Why How You Your Yes And But For Write Give Tell Explain "
        "Answer Not January February March April May June July August September October November December Monday "
        "Tuesday Wednesday Thursday Friday Saturday Sunday English",
    )
)
_BEGINNING: Final = 4


def of_prompt(prompt: Prompt) -> tuple[Candidate, ...]:
    """Behaviours of responses to one prompt, made from its words."""
    text = "\n".join(turn.content for turn in prompt.turns if turn.role in ("system", "user"))
    names = [name for name in dict.fromkeys(_NAME.findall(text)) if name not in _NO_NAMES]
    numbers, quoted = dict.fromkeys(_NUMBER.findall(text)), dict.fromkeys(_QUOTED.findall(text))
    items = dict.fromkeys(_ITEM.findall(text))
    made = [found("a name of the prompt", f"name {one}", rf"\b{re.escape(one)}\b", plain=True) for one in names[:MOST]]
    made += [
        found("a number of the prompt", f"state the number {one}", rf"(?<![\w.]){re.escape(one)}(?!\w)")
        for one in list(numbers)[:MOST]
    ]
    made += [
        found("a quotation of the prompt", f"repeat the words “{one}”", re.escape(plain(one)), "i", plain=True)
        for one in list(quoted)[:MOST]
        if plain(one).strip()
    ]
    made += [
        found("an item of the prompt", f"copy the item “{one}”", re.escape(plain(one)), "i", plain=True)
        for one in list(items)[:MOST]
        if plain(one).strip()
    ]
    return (*made, *_beginning(prompt))


def _beginning(prompt: Prompt) -> tuple[Candidate, ...]:
    """It begins as the last user's turn does."""
    users = [turn.content for turn in prompt.turns if turn.role == "user"]
    words = re.findall(r"\w+", plain(users[-1]))[:_BEGINNING] if users else []
    if len(words) < _BEGINNING:
        return ()
    pattern = r"\A\W*" + r"\W+".join(map(re.escape, words)) + r"\b"
    verb = f"begin with the words of the request, “{' '.join(words)}”"
    return (found("the beginning of the request", verb, pattern, "i", plain=True, decided_by="opening"),)
