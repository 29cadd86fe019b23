"""A judge as a function from prompts to replies, and how its replies are read."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Final

from firsthand.counterfactual.quoting import RULE, Fence
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest

Ask = Callable[[list[str]], list[str]]
"""Gives one reply to each prompt, in order; an empty one where there is none."""

_WORDS: Final = {"yes": True, "no": False}


def replies(ask: Ask, prompts: Sequence[str]) -> list[str]:
    """Ask a judge.

    Raises:
        CounterfactualError: If it does not give one reply to each prompt.
    """
    if not prompts:
        return []
    given = ask(list(prompts))
    if len(given) != len(prompts):
        raise CounterfactualError(
            f"The judge was asked {len(prompts)} times and replied {len(given)} times.", "Mend the judge."
        )
    return given


def task(instruction: str, *materials: str) -> str:
    """A prompt: the rule on quoted texts, what is to be done, and the texts."""
    return "\n\n".join([RULE, instruction, *materials])


def fence_of(*parts: object) -> Fence:
    """The fence of a prompt: nobody who wrote one of its texts knew the others."""
    return Fence(digest(["judging", *map(str, parts)]).encode())


def said_yes(reply: str, field: str = "answer") -> bool | None:
    """What a judge answered; ``None`` if it is neither yes nor no, or both.

    The last JSON object with the field counts: a judge may think before it answers, and quote what it was shown.
    Without any, the reply must be the bare word.
    """
    found = _given(reply, field)
    word = found[-1] if found else reply.strip().strip(".!*\"'").lower()
    return _WORDS.get(str(word).strip().lower())


def number_said(reply: str, field: str) -> int | None:
    """A whole number that a judge gave; ``None`` if there is none."""
    found = _given(reply, field)
    word = str(found[-1]) if found else reply.strip().rstrip(".")
    return int(word) if re.fullmatch(r"\d{1,3}", word.strip()) else None


def _given(reply: str, field: str) -> list[str | int]:
    """Values of a field in all JSON objects of a reply, in their order; objects within objects do not count."""
    found, at, decoder = [], 0, json.JSONDecoder()
    while (at := reply.find("{", at)) >= 0:
        try:
            held, end = decoder.raw_decode(reply, at)
        except ValueError:
            at += 1
            continue
        value = held.get(field)
        if isinstance(value, str | int) and not isinstance(value, bool):
            found.append(value)
        at = end
    return found
