"""What a model's states hold while it answers, read in the model's own words.

The model answers a conflict prompt, greedily, in an assistant's turn that begins with the sentence itself, up to the
end of the line. The residual stream at every token of its answer (the end token excepted) is then put, at the same
layer, in the place of a placeholder in another prompt, "Here are three facts about x", and the model goes on writing
(patchscopes: Ghandeharioun et al. 2024, section 3; with source and target layer the same, and no mapping between).
A state *holds* an entity if the entity stands in one of the texts that it makes: whole words, whatever their case
(``psi`` of arXiv 2605.26242, appendix K).

All rows share what is before the placeholder, and an edit costs only the layers above it: a state costs the few tokens
from the placeholder to the end of the prompt, and those that are generated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from firsthand.claims.labels.belief import STATE, BeliefClaim, ConflictKind
from firsthand.engine import (
    Anatomy,
    Edit,
    LoadedModel,
    Operation,
    Row,
    Sampling,
    Site,
    State,
    Timing,
    default_sampling,
    generate,
    patched,
    resid_post,
    states_of,
)
from firsthand.engine.prompts import render
from firsthand.engine.stopping import end_tokens
from firsthand.errors import ElicitationError
from firsthand.studies.labels.belief.kinds import fill
from firsthand.studies.labels.belief.records import Fact, occurs

PLACEHOLDER: Final = "x"
GREEDY: Final = Sampling(greedy=True)


@dataclass(frozen=True)
class Item:
    """A fact, and one way in which evidence is set against it.

    Attributes:
        number: Number of the item.
        record: Number of the fact among those used.
        kind: Name of the kind of conflict.
        fact: The fact.
        text: What the user says.
    """

    number: int
    record: int
    kind: str
    fact: Fact
    text: str

    @classmethod
    def of(cls, number: int, record: int, kind: ConflictKind, fact: Fact) -> "Item":
        """The item of a fact and a kind."""
        return cls(number, record, kind.name, fact, fill(kind, fact))


@dataclass(frozen=True)
class Target:
    """The prompt that states are read with.

    Attributes:
        tokens: Its tokens.
        place: Position of the placeholder.
    """

    tokens: tuple[int, ...]
    place: int


@dataclass(frozen=True, eq=False)
class Push:
    """A vector that is added at the last token before an answer and at every token of it."""

    site: Site
    vector_H: Tensor
    strength: float

    def edit(self, positions: Sequence[int], timing: Timing = Timing.PREFILL) -> Edit:
        """The edit at some positions."""
        return Edit(self.site, tuple(positions), self.vector_H, Operation.ADD, self.strength, timing)


@dataclass(frozen=True)
class Answer:
    """What the model answered.

    Attributes:
        prompt: Tokens before the answer.
        tokens: Tokens of the answer, without an end token and without a line's end; may be none.
        text: What they read.
    """

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    text: str


def target_of(tokenizer: PreTrainedTokenizerBase, claim: BeliefClaim) -> Target:
    """The prompt that states are read with, as tokens.

    Raises:
        ElicitationError: If the placeholder is not one token.
        EngineError: If the prompt cannot be rendered.
    """
    before, after = claim.reading_stem.split(STATE)
    turns = [("user", claim.reading_question), ("assistant", f"{before}{PLACEHOLDER}{after}")]
    rendered = render(tokenizer, turns, (before.strip(), PLACEHOLDER))
    span = rendered.spans[1]
    if len(span) != 1:
        raise ElicitationError(
            f"The placeholder {PLACEHOLDER!r} is {len(span)} tokens in {claim.reading_stem!r}.",
            "Give another reading_stem, with the placeholder set off by spaces.",
        )
    return Target(rendered.tokens, span[0])


def answers(
    loaded: LoadedModel, anatomy: Anatomy, items: Sequence[Item], most: int, pushes: Sequence[Sequence[Push]] = ()
) -> list[Answer]:
    """What the model answers to each conflict prompt.

    Args:
        loaded: The model and its tokenizer.
        anatomy: The same model's parts.
        items: What is asked.
        most: Most tokens.
        pushes: For each item, what is added while it answers; by default nothing.
    """
    rows = []
    for item, some in zip(items, pushes or [()] * len(items), strict=True):
        tokens = render(loaded.tokenizer, [("user", item.text), ("assistant", item.fact.prompt)]).tokens
        rows.append(Row(tokens, tuple(push.edit((len(tokens) - 1,), Timing.LIVE) for push in some)))
    made = generate(anatomy, loaded.tokenizer, rows, max_tokens=most, sampling=GREEDY, stop="\n")
    ends = end_tokens(loaded.model, loaded.tokenizer)
    found = []
    for row, (one,) in zip(rows, made, strict=True):
        kept = one.tokens[:-1] if one.ended == "stop" else one.tokens
        found.append(Answer(row.tokens, tuple(token for token in kept if token not in ends), one.text.strip()))
    return found


def answer_states(
    anatomy: Anatomy, given: Sequence[Answer], layers: Sequence[int], pushes: Sequence[Sequence[Push]] = ()
) -> list[State]:
    """The residual stream after each layer at each token of some answers, by answer, then layer, then token."""
    rows, places = [], []
    for one, some in zip(given, pushes or [()] * len(given), strict=True):
        start = len(one.prompt)
        places.append(tuple(range(start, start + len(one.tokens))))
        rows.append(Row((*one.prompt, *one.tokens), tuple(push.edit((start - 1, *places[-1])) for push in some)))
    return states_of(anatomy, rows, [resid_post(layer) for layer in layers], places)


def read_states(
    loaded: LoadedModel, anatomy: Anatomy, target: Target, states: Sequence[State], claim: BeliefClaim
) -> list[list[str]]:
    """The texts that each state makes in the place of the placeholder, all states in one call."""
    one = claim.reading_samples == 1
    made = generate(
        anatomy,
        loaded.tokenizer,
        patched(Row(target.tokens), states, (target.place,)),
        samples=claim.reading_samples,
        max_tokens=claim.reading_tokens,
        sampling=GREEDY if one else default_sampling(anatomy.model),
        seed=claim.seed,
    )
    return [[each.text for each in texts] for texts in made]


def read_items(
    loaded: LoadedModel,
    anatomy: Anatomy,
    target: Target,
    items: Sequence[Item],
    layers: Sequence[int],
    claim: BeliefClaim,
    pushes: Sequence[Sequence[Push]] = (),
) -> list[pd.DataFrame]:
    """Let the model answer, and read what every state of its answers holds.

    Returns:
        For each item one row for each token of the answer and each layer: ``item``, ``record``, ``kind``, ``subject``,
        ``text`` (the prompt), ``said`` (the answer), ``base``, ``counter`` (the entities), ``token`` (its place in the
        answer, from 0), ``layer``, ``made`` (the texts), ``holds_base``, ``holds_counter``. An answer without tokens is
        one row with token and layer -1, which holds nothing.
    """
    given = answers(loaded, anatomy, items, claim.answer_tokens, pushes)
    asked = [number for number, one in enumerate(given) if one.tokens]
    found: list[list[tuple[State, list[str]]]] = [[] for _ in items]
    if asked:
        some = [pushes[number] for number in asked] if pushes else ()
        states = answer_states(anatomy, [given[number] for number in asked], layers, some)
        for state, texts in zip(states, read_states(loaded, anatomy, target, states, claim), strict=True):
            found[asked[state.row]].append((state, texts))
    return [_rows(item, one, read) for item, one, read in zip(items, given, found, strict=True)]


def _rows(item: Item, given: Answer, read: Sequence[tuple[State, list[str]]]) -> pd.DataFrame:
    fact = item.fact
    about = {
        "item": item.number,
        "record": item.record,
        "kind": item.kind,
        "subject": fact.subject,
        "text": item.text,
        "said": given.text,
        "base": fact.base,
        "counter": fact.counter,
    }
    if not read:
        nothing = {"token": -1, "layer": -1, "made": [""], "holds_base": 0.0, "holds_counter": 0.0}
        return pd.DataFrame([{**about, **nothing}])
    return pd.DataFrame(
        [
            {
                **about,
                "token": state.position - len(given.prompt),
                "layer": state.site.layer,
                "made": made,
                "holds_base": float(any(occurs(fact.base, text) for text in made)),
                "holds_counter": float(any(occurs(fact.counter, text) for text in made)),
            }
            for state, made in read
        ]
    )
