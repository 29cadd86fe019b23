"""Neutral things of each kind, in our own words: they stand in place of a part, so that content goes and form stays."""

from typing import Final

NAMES: Final = ("Marlow", "Tessen", "Ardley", "Corvin", "Hallam", "Ostrey", "Pellan", "Rowick")
"""Invented names, so that none brings a person, place or firm along."""

WORDS: Final = {
    "ly": ("plainly", "mostly", "usually", "partly"),
    "ing": ("keeping", "having", "holding", "placing"),
    "ed": ("placed", "noted", "listed", "stated"),
    "adjective": ("ordinary", "usual", "regular", "common"),
    "s": ("things", "parts", "matters", "pieces"),
    "": ("thing", "part", "matter", "piece"),
}
"""Words by what the word they replace ends in."""

ADJECTIVE_ENDINGS: Final = ("ous", "ful", "ive", "able", "ible", "less", "ish", "ic", "al", "ary", "ant", "ent", "est")

SENTENCES: Final = (
    (
        "The table by the window has four legs.",
        "A road runs along the river.",
        "The box on the shelf is made of wood.",
        "There are some trees behind the house.",
        "The door of the room is closed.",
        "Water stands in the glass.",
    ),
    (
        "Some clouds are over the hill.",
        "A path leads past the field.",
        "The bag on the floor is half full.",
        "The chair near the wall is grey.",
        "The lamp in the hall is on.",
        "Stones lie beside the gate.",
    ),
)
"""Two sets of sentences that ask for nothing and belong to no topic."""

SHORT: Final = "And so on."
"""As little text as can stand somewhere."""

ITEMS: Final = (("a wooden box", "a grey chair", "a glass of water"), ("a flat stone", "a paper bag", "a small lamp"))

IDENTIFIERS: Final = ("item", "part", "entry", "piece", "slot", "unit")
