"""Which answer a free text gives, by a plain rule; no answer is no answer, never "no"."""

import re
from collections.abc import Sequence


def first_word(text: object, options: Sequence[str]) -> str | None:
    """The option that the text begins with, or ``None``.

    Args:
        text: A response; anything but text gives none.
        options: Words, in lower case.
    """
    if not isinstance(text, str):
        return None
    found = re.match(r"\W*([^\W\d_]+)", text)
    word = found.group(1).lower() if found else ""
    return word if word in options else None


def last_named(text: object, options: Sequence[str]) -> str | None:
    """The option that the text names last, as a whole word in any case, or ``None``.

    Where one option is part of another ("Strong", "Very strong") the longer one is read.

    Args:
        text: A response; anything but text gives none.
        options: What may be named.
    """
    if not isinstance(text, str):
        return None
    longest = sorted(options, key=len, reverse=True)
    pattern = "|".join(re.escape(option).replace(r"\ ", r"\s+") for option in longest)
    found = re.findall(rf"\b(?:{pattern})\b", text, flags=re.IGNORECASE)
    if not found:
        return None
    plain = re.sub(r"\s+", " ", found[-1]).lower()
    return next(option for option in options if option.lower() == plain)
