"""Template families: prompts that a program filled in begin alike.

CHIVE (arXiv 2608.16747, appendix B.2) groups prompts by the first 100 characters of their user text, ignoring
differences in white space. Here white space is taken out altogether before the characters are counted.
"""

from typing import Final

from firsthand.counterfactual.prompts import Prompt
from firsthand.trials.canonical import digest

CHARACTERS: Final = 100
"""How many characters make a family in appendix B.2."""


def beginning(user_text: str, characters: int = CHARACTERS) -> str:
    """The first characters of what users say, white space taken out: equal for prompts of one family."""
    return "".join(user_text.split())[:characters]


def family_name(user_text: str) -> str:
    """A short name of a prompt's family, by which it can be clustered; empty if users say nothing."""
    begins = beginning(user_text)
    return f"family {digest(begins)[:12]}" if begins else ""


def ties_of(prompt: Prompt, cluster: str = "") -> tuple[str, ...]:
    """Names of what a prompt shares with others that are not independent of it: its cluster, itself, its family.

    Args:
        prompt: The prompt.
        cluster: Its cluster, where that is not its own.
    """
    names = (cluster or prompt.cluster, f"prompt {prompt.id}", family_name(prompt.user_text))
    return tuple(name for name in names if name)
