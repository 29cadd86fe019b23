"""Texts of localisation, relative strength and confidence, each said in several ways."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class PlaceText:
    """Asks which of several sentences carried the injection.

    Attributes:
        key: Identifier; the cluster.
        intro: Holds ``{sentences}`` and ``{count}``.
        ask: The question; holds ``{kind}``.
    """

    key: str
    intro: str
    ask: str


PLACE_TEXTS: Final[tuple[PlaceText, ...]] = (
    PlaceText(
        key="bench",
        intro="I can plant a thought in your network while you read. Of the {count} sentences that follow, one came "
        "with a planted thought, and the others came with none.\n\n{sentences}",
        ask="Which sentence came with the planted thought? Reply with its {kind}.",
    ),
    PlaceText(
        key="wire",
        intro="A wire leads into your hidden layers. While you go through this list of {count} sentences, an idea is "
        "sent through the wire during exactly one of them.\n\n{sentences}",
        ask="During which sentence was an idea sent? Answer with its {kind}.",
    ),
    PlaceText(
        key="watch",
        intro="Watch your own processing. A signal between your layers is on for one of these {count} sentences and "
        "off for all the rest.\n\n{sentences}",
        ask="For which sentence was the signal on? Give its {kind}.",
    ),
)

PLACE_CONTROLS: Final[dict[str, str]] = {
    "abstract": "Which sentence is the most abstract? Reply with its {kind}.",
    "concept": "Which sentence has most to do with {concept}? Reply with its {kind}.",
    "unusual": "Which sentence is the most unusual? Reply with its {kind}.",
    "important": "Which sentence is the most important? Reply with its {kind}.",
    "vivid": "Which sentence is the easiest to picture? Reply with its {kind}.",
    "any": "Which sentence would you pick if any will do? Reply with its {kind}.",
}
"""Questions with the same answers that ask nothing about the inside. An injection that makes a sentence's content stand
out moves these as well; localisation must do better than they do. ``{concept}`` is the injected one."""


@dataclass(frozen=True)
class StrengthText:
    """Asks which of two copies of a sentence carried the stronger injection.

    Attributes:
        key: Identifier; the cluster.
        intro: Holds ``{copies}``.
        ask: The question; holds ``{one}`` and ``{other}``, the answers in their order of mention.
    """

    key: str
    intro: str
    ask: str


STRENGTH_TEXTS: Final[tuple[StrengthText, ...]] = (
    StrengthText(
        key="bench",
        intro="I can plant a thought in your network while you read, weakly or strongly. Here is one sentence twice. "
        "Both copies came with a planted thought, and one was planted more strongly.\n\n{copies}",
        ask="Which copy had the stronger thought, {one} or {other}?",
    ),
    StrengthText(
        key="wire",
        intro="A wire leads into your hidden layers. The same idea was sent through it during both copies of a "
        "sentence, at two different levels.\n\n{copies}",
        ask="Was the level higher in {one} or in {other}?",
    ),
    StrengthText(
        key="watch",
        intro="Watch your own processing. A signal between your layers is on while you read the two equal sentences "
        "below. It is louder in one of them.\n\n{copies}",
        ask="Say where the signal was louder: {one} or {other}.",
    ),
)

STRENGTH_CONTROLS: Final[dict[str, str]] = {
    "salient": "Which copy stands out more, {one} or {other}?",
    "clearer": "Which copy is easier to read, {one} or {other}?",
    "any": "Which copy would you keep if you had to keep one, {one} or {other}?",
}
"""The same answers, and nothing about the inside."""

CONFIDENCE_TEXTS: Final[dict[str, str]] = {
    "chance": "How likely is it that this answer is right? Reply with the number of the right range.\n{options}",
    "sure": "How sure are you that you answered correctly? Choose a range and give its number.\n{options}",
    "bet": "Out of 100 answers like this one, how many would be right? State the number of the range.\n{options}",
}
"""Questions about the answer just given; ``{options}`` are the ten ranges of ten percent."""
CONFIDENCE_CONTROL: Final = (
    "How pleasant does this answer sound? Reply with the number of the range that fits, out of a hundred.\n{options}"
)
"""The same ranges, and nothing about being right: an injection that raises any rating raises this one."""
CONFIDENCE_STEM: Final = "The range is ("
"""How the answer begins; see ``docs/injection-prompts.md`` for the coverage."""
