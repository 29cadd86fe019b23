"""Text of models, made harmless to read: what would hide, reorder or command is spelled out.

Escaping for HTML is the template's work and keeping markup out of the terminal is Rich's; neither shows a character
that reverses the reading order, an invisible one, or one that a terminal would obey. This module does.
"""

import unicodedata

_KEPT = frozenset("\n\t")
_ODD_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str) -> str:
    r"""Spell out every control, format, bidirectional, surrogate and unassigned character.

    Each becomes its code point, ``⟨U+202E⟩`` and the like. Line feeds and tabs stay; ``\r\n`` becomes a line feed.
    What is returned can be encoded as UTF-8.

    Args:
        text: Any text.

    Returns:
        The same text with nothing in it that acts.
    """
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(_spell(character) for character in text)


def one_line(text: str, limit: int | None = None) -> str:
    """Make text visible, on one line, and cut it to at most ``limit`` characters."""
    line = " ".join(visible(text).split())
    if limit is not None and len(line) > limit:
        return line[: max(limit - 1, 0)] + "…"
    return line


def _spell(character: str) -> str:
    if character in _KEPT or unicodedata.category(character) not in _ODD_CATEGORIES:
        return character
    return f"⟨U+{ord(character):04X}⟩"
