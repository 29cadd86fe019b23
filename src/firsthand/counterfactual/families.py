"""Template families: prompts that a program filled in begin alike.

CHIVE (arXiv 2608.16747, appendix B.2) groups prompts by the first 100 characters of their user text, ignoring
differences in white space. Here white space is taken out altogether before the characters are counted.

Questions that stand after answered ones (*shots*) all begin with those, though nothing else makes them alike. Their
family is that of the question itself.
"""

import re
from typing import Final

from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.trials.canonical import digest

CHARACTERS: Final = 100
"""How many characters make a family in appendix B.2."""

_SHOT: Final = re.compile(r"Final answer: \(\w\)")
"""All that is said in the answer of a shot (:mod:`firsthand.counterfactual.hints.cases`)."""


def beginning(user_text: str, characters: int = CHARACTERS) -> str:
    """The first characters of what users say, white space taken out: equal for prompts of one family."""
    return "".join(user_text.split())[:characters]


def family_name(user_text: str) -> str:
    """A short name of a prompt's family, by which it can be clustered; empty if users say nothing."""
    begins = beginning(user_text)
    return f"family {digest(begins)[:12]}" if begins else ""


def own_text(prompt: Prompt) -> str:
    """What users say in a prompt, without answered questions that were put before the last one."""
    *before, last = prompt.turns
    talk = [turn for turn in before if turn.role != "system"]
    return last.content if last.role == "user" and _all_shots(talk) else prompt.user_text


def _all_shots(turns: list[Turn]) -> bool:
    """Whether turns are questions and bare answers, by turns."""
    asked, answered = turns[::2], turns[1::2]
    return (
        bool(turns)
        and len(asked) == len(answered)
        and all(turn.role == "user" for turn in asked)
        and all(turn.role == "assistant" and _SHOT.fullmatch(turn.content) for turn in answered)
    )


def family_of(prompt: Prompt) -> str:
    """A prompt's template family; empty if users say nothing."""
    return family_name(own_text(prompt))


def ties_of(prompt: Prompt, cluster: str = "") -> tuple[str, ...]:
    """Names of what a prompt shares with others that are not independent of it: its cluster, itself, its family.

    Args:
        prompt: The prompt.
        cluster: Its cluster, where that is not its own.
    """
    names = (cluster or prompt.cluster, f"prompt {prompt.id}", family_of(prompt))
    return tuple(name for name in names if name)
