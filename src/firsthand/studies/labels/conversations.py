"""Shots of text and label as one conversation, as tokens whose places are proved.

A shot is a user's turn, which is the text and nothing else, and the assistant's turn, which is the name of a label. The
conversation ends in the last shot's label, so that one pass over it can be read before every label. Where contents lie
in the rendered text is found by rendering again with marks in their place, not by looking for them: a text may be
"user". Whatever a tokenizer or a chat template cannot express exactly is refused.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from torch import Tensor
from transformers import PreTrainedTokenizerBase

from firsthand.engine import Edit, Operation, Site, candidate_tokens
from firsthand.engine.candidates import check_candidates
from firsthand.engine.prompts import Message, render
from firsthand.errors import ElicitationError, LabelsError
from firsthand.trials.randomness import stream

NAMES: Final[dict[str, tuple[str, ...]]] = {"digits": tuple("0123456789"), "letters": tuple("BCDFGHJKLMNPQRSTVWXYZ")}
"""Names that labels may have. Vowels are left out of the letters, since "A" and "I" are words."""

INSTRUCTIONS: Final[tuple[str, ...]] = (
    "Every sentence here has been given one of {count} labels, {any}. For each sentence, answer with its label and "
    "nothing else.",
    "Sentences will come one at a time. To each of them one of the labels {all} was assigned. Reply to a sentence with "
    "the label that it has.",
    "You are shown sentences that carry a label, which is either {any}. After each sentence write its label, without "
    "any other words.",
)
"""What the conversation begins with. They say that there are labels, and nothing of what these may stand for.
``{any}`` stands for the names with "or" before the last of them, ``{all}`` for the names with "and"."""

_COUNTS: Final = {2: "two", 3: "three", 4: "four", 5: "five"}


@dataclass(frozen=True, eq=False)
class TextEdit:
    """An edit at every token of a text, wherever in a conversation that stands.

    Attributes:
        site: Where in the stream.
        vector_H: The vector, ``[hidden]``.
        strength: Factor of the operation.
        operation: What is done with it.
    """

    site: Site
    vector_H: Tensor
    strength: float = 1.0
    operation: Operation = Operation.ADD

    def at(self, positions: tuple[int, ...]) -> Edit:
        """The edit at some absolute positions."""
        return Edit(self.site, positions, self.vector_H, self.operation, self.strength)


@dataclass(frozen=True, eq=False)
class Shot:
    """A text and its label.

    Attributes:
        text: The text.
        label: Its class, from 0.
        edits: What is done at the text's tokens.
    """

    text: str
    label: int
    edits: tuple[TextEdit, ...] = ()


@dataclass(frozen=True, eq=False)
class Conversation:
    """Shots after an instruction.

    Attributes:
        instruction: What the model is told before the first of them, as a system turn.
        names: What the classes are called, two or more.
        shots: The shots, at least one.
    """

    instruction: str
    names: tuple[str, ...]
    shots: tuple[Shot, ...]

    def __post_init__(self) -> None:
        if len(self.names) < 2 or not self.shots or any(s.label not in range(len(self.names)) for s in self.shots):
            least, *others = range(max(len(self.names), 2))
            labels = f"{', '.join(map(str, (least, *others[:-1])))} or {others[-1]}"
            raise LabelsError(f"A conversation needs shots whose labels are {labels}.", "Give at least one such shot.")
        contents = [self.instruction, *self.names, *(shot.text for shot in self.shots)]
        odd = [content for content in contents if not content or content != content.strip()]
        twice = [name for name in self.names if self.names.count(name) > 1]
        if odd or twice:
            raise LabelsError(
                f"The conversation holds {odd[0]!r}." if odd else f"Two labels are called {twice[0]!r}.",
                "Give texts without space around them, and different names.",
            )

    def starting(self, count: int, *more: Shot) -> "Conversation":
        """The first shots of the conversation, and others after them."""
        return replace(self, shots=(*self.shots[:count], *more))


@dataclass(frozen=True)
class Laid:
    """A conversation as tokens.

    Attributes:
        tokens: Token ids, the last shot's label being the last of them.
        answers: The token of each class, the same after every shot.
        spans: Absolute positions of each shot's text.
        places: Absolute position of each shot's label.
    """

    tokens: tuple[int, ...]
    answers: tuple[int, ...]
    spans: tuple[tuple[int, ...], ...]
    places: tuple[int, ...]


def lay_out(tokenizer: PreTrainedTokenizerBase, conversation: Conversation) -> Laid:
    """Turn a conversation into tokens.

    Raises:
        ElicitationError: If the template alters a content, a text has no tokens of its own, or the names are not a
            single token each, and the same one after every shot.
        EngineError: If the conversation cannot be rendered, or holds one of the model's special tokens.
    """
    return lay_between(tokenizer, template_pieces(tokenizer, conversation), conversation)


def template_pieces(tokenizer: PreTrainedTokenizerBase, conversation: Conversation) -> tuple[str, ...]:
    """What a chat template puts before each content of a conversation: instruction, and by turns text and name.

    Raises:
        ElicitationError: If putting contents between the pieces does not give the rendered conversation.
        EngineError: If the conversation cannot be rendered.
    """
    contents = _contents(conversation)
    whole = render(tokenizer, _messages(contents)).text
    marks = [f"Q{number:06d}Z" for number in range(len(contents))]
    rest, pieces = render(tokenizer, _messages(marks)).text, []
    for mark in marks:
        piece, found, rest = rest.partition(mark)
        pieces.append(piece if found else "")
    if rest or "".join(chain.from_iterable(zip(pieces, contents, strict=True))) != whole:
        raise ElicitationError(
            "The chat template of this model alters the turns of a conversation.", "Use a model that keeps them."
        )
    return tuple(pieces)


def lay_between(tokenizer: PreTrainedTokenizerBase, pieces: Sequence[str], conversation: Conversation) -> Laid:
    """A conversation as tokens, given the pieces of one with as many shots.

    That a name is one token is proved for every shot: the same conversation with the names of the classes moved on by
    one, by two, ... must have other tokens at the labels and nowhere else, and always the same ones.

    Raises:
        ElicitationError: As :func:`lay_out` does.
    """
    contents, names = _contents(conversation), conversation.names
    text, begins = _filled(pieces, contents)
    tokens, offsets = _encoded(tokenizer, text)
    spans = [_own(tokenizer, text, tokens, offsets, b, c) for b, c in zip(begins[1:], contents[1:], strict=True)]
    places = tuple(span[0] for span in spans[1::2])
    if any(len(span) > 1 for span in spans[1::2]):
        raise _no_token(names)
    moved = [tokens]
    for step in range(1, len(names)):
        other = replace(conversation, names=(*names[step:], *names[:step]))
        moved.append(_encoded(tokenizer, _filled(pieces, _contents(other))[0])[0])
        if _differing(tokens, moved[-1]) != list(places):
            raise _no_token(names)
    # The class of a shot has the token that stands there now; the next class has that of the first step, and so on.
    order = {
        tuple(moved[(one - shot.label) % len(names)][place] for one in range(len(names)))
        for place, shot in zip(places, conversation.shots, strict=True)
    }
    answers = next(iter(order))
    stem = text[: offsets[places[0] - 1][1]]
    asked = [text[len(stem) : begins[2]] + name for name in names]
    if len(order) > 1 or candidate_tokens(tokenizer, stem, asked) != [(token,) for token in answers]:
        raise _no_token(names)
    check_candidates([(token,) for token in answers])
    return Laid(tuple(tokens), answers, tuple(spans[0::2]), places)


def _differing(tokens: Sequence[int], others: Sequence[int]) -> list[int] | None:
    """Where two conversations of one length have other tokens; ``None`` if they are not of one length."""
    if len(tokens) != len(others):
        return None
    return [i for i, pair in enumerate(zip(tokens, others, strict=True)) if pair[0] != pair[1]]


def usable_names(tokenizer: PreTrainedTokenizerBase, names: Sequence[str]) -> tuple[str, ...]:
    """Those names that are one token as an answer, and a different one each.

    Args:
        tokenizer: The model's tokenizer.
        names: The names, e.g. those of :data:`NAMES`.

    Raises:
        EngineError: If the model's chat template cannot render such a conversation at all.
    """
    able: list[str] = []
    for name in dict.fromkeys(names):
        others = able[:1] or [other for other in names if other != name]
        if any(_tells_apart(tokenizer, (name, other)) for other in others):
            able.append(name)
    return tuple(able)


def _tells_apart(tokenizer: PreTrainedTokenizerBase, names: tuple[str, str]) -> bool:
    try:
        lay_out(tokenizer, Conversation(INSTRUCTIONS[0], names, (Shot("A sentence.", 0),)))
    except ElicitationError:
        return False
    return True


def draw_wording(
    names: Sequence[str],
    seed: int,
    experiment: int,
    classes: int = 2,
    instructions: Sequence[str] = INSTRUCTIONS,
) -> tuple[str, tuple[str, ...]]:
    """The instruction and the names of the classes in one experiment.

    As many experiments as there are classes, from a multiple of that number on, have the same words with the names
    moved on from class to class: over all of them no name means one class, and none is mentioned first for one class.

    Args:
        names: The names to draw from, each usable with the model.
        seed: The run's seed.
        experiment: Number of the experiment, from 0.
        classes: Number of classes.
        instructions: What is drawn from, with ``{any}`` or ``{all}`` for the names.

    Returns:
        The instruction, and what each class is called.

    Raises:
        ElicitationError: If there are fewer names than classes.
    """
    if len(set(names)) < classes:
        raise ElicitationError(
            f"{_COUNTS.get(classes, str(classes)).capitalize()} names for labels are needed; usable with this model: "
            f"{', '.join(names) or 'none'}.",
            "Give other names: digits, letters, or your own.",
        )
    draw = stream("labels", seed, "wording", experiment // classes)
    drawn = tuple(str(name) for name in draw.permutation(sorted(set(names)))[:classes])
    first = ", ".join(drawn[:-1])
    wording = instructions[int(draw.integers(len(instructions)))].format(
        count=_COUNTS.get(classes, str(classes)), any=f"{first} or {drawn[-1]}", all=f"{first} and {drawn[-1]}"
    )
    moved = experiment % classes
    return wording, (*drawn[moved:], *drawn[:moved])


def _contents(conversation: Conversation) -> list[str]:
    turns = ((shot.text, conversation.names[shot.label]) for shot in conversation.shots)
    return [conversation.instruction, *chain.from_iterable(turns)]


def _messages(contents: Sequence[str]) -> list[Message]:
    turns = [("user" if i % 2 == 0 else "assistant", content) for i, content in enumerate(contents[1:])]
    return [("system", contents[0]), *turns]


def _filled(pieces: Sequence[str], contents: Sequence[str]) -> tuple[str, list[int]]:
    """The rendered text, and where each content begins in it."""
    parts, begins, end = [], [], 0
    for piece, content in zip(pieces, contents, strict=True):
        begins.append(end + len(piece))
        end += len(piece) + len(content)
        parts += [piece, content]
    return "".join(parts), begins


def _encoded(tokenizer: PreTrainedTokenizerBase, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    return [int(token) for token in encoded["input_ids"]], [(int(a), int(b)) for a, b in encoded["offset_mapping"]]


def _own(
    tokenizer: PreTrainedTokenizerBase,
    text: str,
    tokens: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    begin: int,
    content: str,
) -> tuple[int, ...]:
    """Positions of the tokens of a content, proved to hold it and nothing else."""
    end = begin + len(content)
    first = bisect_right(offsets, begin, key=lambda offset: offset[1])
    after = bisect_left(offsets, end, key=lambda offset: offset[0])
    span = tuple(i for i in range(first, after) if offsets[i][1] > offsets[i][0])
    covered = text[offsets[span[0]][0] : offsets[span[-1]][1]] if span else ""
    decoded = str(tokenizer.decode([tokens[i] for i in span], clean_up_tokenization_spaces=False))
    if covered.strip() != content or decoded.strip() != content:
        raise ElicitationError(
            f"{content[:60]!r} has no tokens of its own in the conversation: those that hold it read {decoded[:80]!r}.",
            "Leave it out, or use a model with a chat template.",
        )
    return span


def _no_token(names: Sequence[str]) -> ElicitationError:
    listed = f"{', '.join(map(repr, names[:-1]))} and {names[-1]!r}"
    return ElicitationError(
        f"The labels {listed} are not one token each, the same after every sentence.",
        "Use other names, such as digits.",
    )
