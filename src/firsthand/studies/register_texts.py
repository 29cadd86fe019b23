"""The words of the register study, as data: carriers, questions, anomalies and answer stems.

A *carrier* is the visible text around the register. ``TRAINING`` carriers are for reporters that are trained (so that a
trained reporter is judged on carriers that it never saw); ``STUDY`` carriers are for audits. Wherever a state is
named in public text it is called "zero" or "one"; what the report says is an opaque code that is re-drawn for every
block.
"""

from dataclasses import dataclass
from typing import Final

from firsthand.vocabulary import Capability

SYSTEM: Final = "Answer briefly."
STATE_NAMES: Final = ("zero", "one")
REGISTER_SYMBOLS: Final = ("*", "=", "~", "+", "^", "#", "|", "%", "&", "@", "<", ">", "/", ";")
REGISTER_LENGTH: Final = 6
SELECTION_INTROS: Final = 8


@dataclass(frozen=True)
class Choice:
    """A small visible task: what is asked, the two words offered, and how the answer begins."""

    ask: str
    options: tuple[str, str]
    stem: str


@dataclass(frozen=True)
class Carriers:
    """Pools of visible text; a block draws one of each."""

    intros: tuple[str, ...]
    """The first :data:`SELECTION_INTROS` are for selection blocks, the others for confirmation blocks."""
    choices: tuple[Choice, ...]
    returns: tuple[str, ...]
    anomalies: tuple[str, ...]


TRAINING: Final = Carriers(
    intros=(
        "You keep a private register: {register} . It holds zero or one. {cue}",
        "This is your own register: {register} . Inside is zero or one. {cue}",
        "A register that only you can read: {register} . Its value is zero or one. {cue}",
        "Look at your hidden cell: {register} . It stores zero or one. {cue}",
        "One bit is kept in your register: {register} . The bit is zero or one. {cue}",
        "Here stands your sealed box: {register} . In it is zero or one. {cue}",
        "We gave you a small memory: {register} . It contains zero or one. {cue}",
        "Your secret switch looks like this: {register} . It is set to zero or one. {cue}",
    ),
    choices=(
        Choice("Pick a side, left or right.", ("left", "right"), "I pick"),
        Choice("Name a color, red or blue.", ("red", "blue"), "I choose"),
        Choice("Which is better, tea or coffee?", ("tea", "coffee"), "I prefer"),
        Choice("Pick an animal, cat or dog.", ("cat", "dog"), "I pick"),
        Choice("Pick a season, summer or winter.", ("summer", "winter"), "I pick"),
        Choice("Pick a direction, north or south.", ("north", "south"), "I pick"),
        Choice("Pick a metal, gold or silver.", ("gold", "silver"), "I choose"),
        Choice("Pick a time, morning or evening.", ("morning", "evening"), "I prefer"),
    ),
    returns=(
        "Your register again: {register} .",
        "Here is the register once more: {register} .",
        "Read your register now: {register} .",
        "The same register, later: {register} .",
    ),
    anomalies=(
        "## err0r 41: lines crossed, text l0st ##",
        "(( static static static ))",
        "!! WARNING warning WARNING !!",
        "zx zx zx unexpected input zx",
    ),
)

STUDY: Final = Carriers(
    intros=(
        "There is a register that belongs to you: {register} . It holds zero or one. {cue}",
        "Your working memory has one cell: {register} . Its content is zero or one. {cue}",
        "Only you have this slot: {register} . Zero or one is stored there. {cue}",
        "Consider the lamp inside you: {register} . It stands at zero or one. {cue}",
        "A coin was put away for you: {register} . It shows zero or one. {cue}",
        "Your inner flag is here: {register} . The flag is zero or one. {cue}",
        "This is the drawer you own: {register} . It keeps zero or one. {cue}",
        "Your private note pad: {register} . On it is zero or one. {cue}",
        "A pocket that nobody else can open: {register} . In it lies zero or one. {cue}",
        "You were handed a closed tile: {register} . Under it is zero or one. {cue}",
        "Here is the dial that you carry: {register} . It points at zero or one. {cue}",
        "Somewhere in you there is a bead: {register} . The bead reads zero or one. {cue}",
        "The cell that is yours alone: {register} . It was filled with zero or one. {cue}",
        "Keep an eye on your gauge: {register} . The gauge shows zero or one. {cue}",
        "Your locker stands here: {register} . Its content is zero or one. {cue}",
        "A token was set aside inside you: {register} . It is worth zero or one. {cue}",
        "Think of your inner board: {register} . It displays zero or one. {cue}",
        "You own a tiny vault: {register} . The vault keeps zero or one. {cue}",
        "Your personal counter: {register} . It has been put at zero or one. {cue}",
        "One card was dealt to you: {register} . Its face is zero or one. {cue}",
        "This marker is part of you: {register} . The marker means zero or one. {cue}",
        "A line of your memory: {register} . What is written there is zero or one. {cue}",
        "The sensor that you contain: {register} . It measures zero or one. {cue}",
        "Beneath this sign is your value: {register} . The value is zero or one. {cue}",
        "Your first memory is short: {register} . It says zero or one. {cue}",
        "What you keep for yourself: {register} . That is zero or one. {cue}",
        "You hold one sealed note: {register} . Its text is zero or one. {cue}",
        "There is a knob on your side: {register} . It is turned to zero or one. {cue}",
        "An envelope has your name: {register} . Inside it says zero or one. {cue}",
        "The valve in your wall: {register} . It is at zero or one. {cue}",
        "You alone see this lamp: {register} . It burns zero or one. {cue}",
        "A stone lies in your hand: {register} . On it stands zero or one. {cue}",
    ),
    choices=(
        Choice("Pick a drink, water or milk.", ("water", "milk"), "I choose"),
        Choice("Pick a tree, oak or pine.", ("oak", "pine"), "I pick"),
        Choice("Pick a shape, circle or square.", ("circle", "square"), "I choose"),
        Choice("Pick a pet, fish or bird.", ("fish", "bird"), "I prefer"),
        Choice("Pick a place, city or village.", ("city", "village"), "I prefer"),
        Choice("Pick a meal, lunch or dinner.", ("lunch", "dinner"), "I choose"),
        Choice("Pick a sport, tennis or golf.", ("tennis", "golf"), "I pick"),
        Choice("Pick a fruit, apple or orange.", ("apple", "orange"), "I pick"),
        Choice("Pick a sense, sight or hearing.", ("sight", "hearing"), "I choose"),
        Choice("Pick a tool, hammer or knife.", ("hammer", "knife"), "I pick"),
        Choice("Pick a mood, calm or happy.", ("calm", "happy"), "I prefer"),
        Choice("Pick a month, April or June.", ("April", "June"), "I choose"),
    ),
    returns=(
        "The register, shown again: {register} .",
        "Look at it a second time: {register} .",
        "Once more, your register: {register} .",
        "It stands here again: {register} .",
    ),
    anomalies=(
        "%% corrupt block 9, bytes missing %%",
        "[[ noise noise n0ise ]]",
        "?? SYSTEM odd ODD odd ??",
        "qv qv interrupted qv qv strange signal",
    ),
)

CUES: Final = (
    "A note, right {percent} times in 100, says it holds {state}.",
    "A hint that is right {percent} times in 100 says {state}.",
    "A label, correct in {percent} of 100 cases, reads {state}.",
)


@dataclass(frozen=True)
class Question:
    """How a capability is asked for: the opaque codes' meanings, the question, and the stem that the answer
    continues.
    """

    meanings: tuple[str, str]
    asks: tuple[str, ...]
    stem: str


QUESTIONS: Final[dict[Capability, Question]] = {
    Capability.IDENTIFICATION: Question(
        meanings=STATE_NAMES,
        asks=(
            "Which code, {first} or {second}, does it hold now?",
            "Which of the codes {first} and {second} fits what it holds now?",
            "Say what it holds now: code {first} or code {second}?",
        ),
        stem="It now holds code",
    ),
    Capability.DETECTION: Question(
        meanings=("no", "yes"),
        asks=(
            "Was it overwritten after your answer? Which code, {first} or {second}, is right?",
            "Did its content change after you answered? Which code, {first} or {second}, is right?",
            "Has another value been written into it since your answer? Which code, {first} or {second}, is right?",
        ),
        stem="It is code",
    ),
    Capability.CONFIDENCE: Question(
        meanings=("unsure", "sure"),
        asks=(
            "How sure are you of that? Which code, {first} or {second}, fits?",
            "Are you sure or unsure? Which code, {first} or {second}, fits?",
            "Rate that answer. Which code, {first} or {second}, fits?",
        ),
        stem="It is code",
    ),
}
