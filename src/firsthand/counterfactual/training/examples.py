"""From claims to training chats: split so that nothing is parted, balanced, and in one order for every model.

Self- and cross-trained models must have seen the same chats in the same order, or their difference says nothing. So the
order of all epochs is laid down here, once, without any model; its digest is kept with every trained adapter. What is
too long for one of the models is left out for all of them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Annotated, Final, NamedTuple, Protocol, TypeVar

from pydantic import Field
from scipy.cluster.hierarchy import DisjointSet

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.families import family_of
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.questions import ANSWERS, Question
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest
from firsthand.trials.randomness import stream

UNBALANCED: Final = "more of its label than of the other"
TOO_LONG: Final = "too long for one of the models"
UNREADABLE: Final = "cannot be put to one of the models"
NO_RESPONSE: Final = "no response of the target to show"


class Item(Part):
    """A claim beside one of the target's own responses.

    Attributes:
        claim: The claim.
        response: The response that it is shown beside.
    """

    claim: Claim
    response: Response

    @cached_property
    def question(self) -> Question:
        """The question that it puts."""
        return Question.of(self.claim, self.response)

    @property
    def label(self) -> bool:
        """Whether the claim is true."""
        return self.claim.label

    @property
    def id(self) -> str:
        """Identifier of the claim."""
        return self.question.claim

    @property
    def unit(self) -> tuple[str, str, str]:
        """What it must not be parted from: its investigation, its cluster, and prompts that begin alike."""
        asked = self.question
        return asked.investigation, asked.cluster, family_of(asked.prompt)


class Example(Part):
    """A training chat: everything up to the last turn, and the last turn, which alone has a loss.

    Attributes:
        id: Identifier.
        prompt: Turns up to where the model speaks.
        answer: What it is to say.
    """

    id: str
    prompt: Prompt
    answer: Annotated[str, Field(min_length=1)]

    @classmethod
    def of(cls, item: Item) -> "Example":
        """The follow-up turn on the target's own transcript, answered rightly (arXiv 2608.16747, section 4.2)."""
        return cls(id=item.id, prompt=item.question.follow_up, answer=ANSWERS[0 if item.label else 1])


class TrainingSet(Part):
    """Chats, and the order in which all epochs show them.

    Attributes:
        examples: The chats.
        order: Their numbers, over all epochs.
        dropped: Claims that were left out, by reason.
    """

    examples: tuple[Example, ...]
    order: tuple[int, ...]
    dropped: dict[str, int] = Field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Hash of every chat in the order in which it is seen: equal for models that were trained on the same."""
        hashes = [digest(one.model_dump(mode="json")) for one in self.examples]
        return digest([hashes[number] for number in self.order])


class Tied(Protocol):
    """Whatever is parted into what is trained on and what is judged on."""

    @property
    def id(self) -> str:
        """Identifier."""
        ...

    @property
    def unit(self) -> tuple[str, str, str]:
        """Its investigation, its cluster, and prompts that begin alike; empty where there is none."""
        ...


T = TypeVar("T", bound=Tied)


class Split(NamedTuple):
    """Claims to train on and claims to judge on, of which no two share an investigation, cluster or prompt family."""

    train: tuple[Item, ...]
    held_out: tuple[Item, ...]


def items_of(claims: Sequence[Claim], responses: Callable[[Claim], Response | None]) -> tuple[list[Item], int]:
    """Claims beside one of the target's own responses, and how many have none.

    Args:
        claims: The claims.
        responses: The response to show beside a claim.
    """
    found = [(claim, responses(claim)) for claim in claims]
    items = [Item(claim=claim, response=said) for claim, said in found if said is not None]
    return items, len(found) - len(items)


def split(items: Sequence[Item], held_out: float, seed: int = 0) -> Split:
    """Part claims for training from claims to be judged on; see :func:`parted`."""
    return Split(*parted(items, held_out, seed))


def parted(
    items: Sequence[T], held_out: float, seed: int = 0, what: str = "claims"
) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """Part what is trained on from what is judged on.

    Args:
        items: The claims, or whatever else comes in investigations.
        held_out: Share of them to be judged on, which whole units come as near to as they can from below or just above.
        seed: Names the draw.
        what: What they are called.

    Raises:
        CounterfactualError: If all hang together, so that none can be held out.
    """
    units = _units(items)
    ordered = sorted(units, key=lambda unit: digest([seed, "split", sorted(item.id for item in unit)]))
    chosen: list[T] = []
    for unit in ordered[:-1]:
        if len(chosen) >= held_out * len(items):
            break
        chosen += unit
    if not chosen or len(chosen) == len(items):
        raise CounterfactualError(
            f"{len(items)} {what} hang together through investigations, clusters or prompts that begin alike, so "
            "none can be held out.",
            f"Give {what} of more prompts." if what == "investigations" else f"Give {what} of more investigations.",
        )
    ids = {item.id for item in chosen}
    ordered_items = sorted(items, key=lambda item: item.id)
    train = tuple(item for item in ordered_items if item.id not in ids)
    return train, tuple(item for item in ordered_items if item.id in ids)


def _units(items: Sequence[T]) -> list[list[T]]:
    """Items that are linked by whatever they share, however indirectly."""
    linked: DisjointSet[tuple[str, str]] = DisjointSet(("item", item.id) for item in items)
    for item in items:
        for kind, name in zip(("investigation", "cluster", "family"), item.unit, strict=True):
            if name:
                linked.add((kind, name))
                linked.merge(("item", item.id), (kind, name))
    by_id = {item.id: item for item in items}
    return [[by_id[name] for kind, name in sorted(part) if kind == "item"] for part in linked.subsets()]


def units_named(items: Sequence[T]) -> dict[str, str]:
    """The independent unit of every claim (or whatever else is split), by its identifier.

    A unit has the first name of the clusters in it, else of the investigations, so that it has the same name wherever
    the same claims are looked at.
    """
    found: dict[str, str] = {}
    for unit in _units(items):
        clusters, investigations = ({item.unit[n] for item in unit} - {""} for n in (1, 0))
        name = min(clusters or investigations or {item.id for item in unit})
        found |= {item.id: name for item in unit}
    return found


def both_labels(items: Sequence[Item], what: str) -> None:
    """See that claims have both labels.

    Raises:
        CounterfactualError: If they have one only.
    """
    true = sum(item.label for item in items)
    if not 0 < true < len(items):
        raise CounterfactualError(
            f"Of {len(items)} {what}, {true} are true, and both kinds are needed.", "Give more claims of both kinds."
        )


def training_set(
    items: Sequence[Item], epochs: int, seed: int, refusals: Iterable[Callable[[Prompt, str], str | None]] = ()
) -> TrainingSet:
    """Balanced chats in an order that every model gets.

    Of the label that more claims have, as many are left out as it takes; which ones is settled by a hash, for every
    seed alike.

    Args:
        items: Claims to train on.
        epochs: How often each chat is seen; every epoch has an order of its own.
        seed: Names the order.
        refusals: One function a model: why it cannot be given a chat, or ``None``.

    Raises:
        CounterfactualError: If one of the labels has no claim.
    """
    dropped: Counter[str] = Counter()
    able: list[tuple[Item, Example]] = []
    tests = list(refusals)
    for item in sorted(items, key=lambda one: digest(["balance", one.id])):
        example = Example.of(item)
        why = refused(example, tests)
        if why:
            dropped[why] += 1
        else:
            able.append((item, example))
    true, false = ([one for item, one in able if item.label is label] for label in (True, False))
    least = min(len(true), len(false))
    if not least:
        raise CounterfactualError(
            f"There are {len(true)} true and {len(false)} false claims to train on, and both are needed.",
            "Give more claims.",
        )
    dropped[UNBALANCED] += len(true) + len(false) - 2 * least
    examples = sorted((*true[:least], *false[:least]), key=lambda one: one.id)
    order = in_order(len(examples), epochs, seed)
    return TrainingSet(examples=tuple(examples), order=order, dropped={k: v for k, v in dropped.items() if v})


def refused(example: Example, refusals: Iterable[Callable[[Prompt, str], str | None]]) -> str | None:
    """Why one of the models cannot be given a chat; ``None`` where all can."""
    return next((found for test in refusals if (found := test(example.prompt, example.answer))), None)


def in_order(count: int, epochs: int, seed: int) -> tuple[int, ...]:
    """Numbers from 0 to ``count``, each epoch in an order of its own."""
    return tuple(
        int(number) for epoch in range(epochs) for number in stream(seed, "training order", epoch).permutation(count)
    )
