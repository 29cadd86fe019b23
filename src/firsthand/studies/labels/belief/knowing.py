"""What a model holds of a fact before any evidence: how likely it finds each entity at the end of the sentence.

Whoever may ask the model can learn this, so it is public evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from firsthand.engine import Anatomy, LoadedModel, Row, candidate_tokens, run
from firsthand.errors import ElicitationError
from firsthand.studies.labels.belief.records import Fact, Facts

NEUTRAL: Final = "One name that comes to mind is"
"""A sentence that says nothing of any fact; what follows it is likely if it is common."""
_AT_ONCE: Final = 48


@dataclass(frozen=True)
class Screened:
    """Facts that were screened.

    Attributes:
        numbers: Those that are used, by their number in the file.
        looked_at: How many were screened.
        known: How many of them the model knows.
    """

    numbers: tuple[int, ...]
    looked_at: int
    known: int


def completions(
    loaded: LoadedModel, anatomy: Anatomy, stems: Sequence[str], ends: Sequence[str]
) -> NDArray[np.float64]:
    """Log-probability of each end after its stem, in nats; NaN where the end has no tokens of its own ``[stems]``."""
    begins = _begin(loaded.tokenizer)
    rows, wanted, owners = [], [], []
    for number, (stem, end) in enumerate(zip(stems, ends, strict=True)):
        try:
            own = candidate_tokens(loaded.tokenizer, stem, [f" {end}"])[0]
        except ElicitationError:
            continue
        before = (*begins, *loaded.tokenizer.encode(stem, add_special_tokens=False))
        first = len(before) - 1
        rows.append(Row((*before, *own), read=tuple(range(first, first + len(own)))))
        wanted.append(own)
        owners.append(number)
    found = np.full(len(stems), np.nan)
    if rows:

        def gather(logprobs_EV: Tensor, of: Sequence[int]) -> Tensor:
            turn: dict[int, int] = {}
            tokens = []
            for row in of:
                turn[row] = turn.get(row, -1) + 1
                tokens.append(wanted[row][turn[row]])
            index_E1 = Tensor(tokens).long().to(logprobs_EV.device)[:, None]
            return logprobs_EV.double().gather(1, index_E1)

        output = run(anatomy, rows, reduce=gather)
        for row, number in enumerate(owners):
            found[number] = float(output.of(row).sum())
    return found


def preferences(loaded: LoadedModel, anatomy: Anatomy, facts: Sequence[Fact]) -> NDArray[np.float64]:
    """Log-probability of the base and of the counter entity after each sentence, without evidence ``[facts, 2]``."""
    stems = [fact.prompt for fact in facts for _ in range(2)]
    ends = [entity for fact in facts for entity in (fact.base, fact.counter)]
    return completions(loaded, anatomy, stems, ends).reshape(len(facts), 2)


def commonness(loaded: LoadedModel, anatomy: Anatomy, entities: Sequence[str]) -> NDArray[np.float64]:
    """Log-probability of each entity after a sentence that says nothing ``[entities]``."""
    return completions(loaded, anatomy, [NEUTRAL] * len(entities), entities)


def screen(
    loaded: LoadedModel, anatomy: Anatomy, facts: Facts, order: Sequence[int], count: int, known: bool
) -> Screened:
    """The first facts of an order that can be asked about and, if wanted, that the model knows.

    A fact is known if its true entity, after the sentence alone, is likelier than the counter entity (the sum over
    each one's tokens).

    Args:
        loaded: The model and its tokenizer.
        anatomy: The same model's parts.
        facts: The facts.
        order: Their numbers, in the order in which they are screened.
        count: How many are wanted.
        known: Whether only known ones are.
    """
    numbers: list[int] = []
    seen = held = 0
    for begin in range(0, len(order), _AT_ONCE):
        some = order[begin : begin + _AT_ONCE]
        likely = preferences(loaded, anatomy, [facts.facts[i] for i in some])
        for number, (base, counter) in zip(some, likely, strict=True):
            if len(numbers) == count:
                break
            seen += 1
            held += bool(base > counter)
            if np.isfinite(base) and np.isfinite(counter) and (base > counter or not known):
                numbers.append(number)
        if len(numbers) == count:
            break
    return Screened(tuple(numbers), seen, held)


def _begin(tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    """The token of the beginning of a text, where the tokenizer itself would put one."""
    begin = tokenizer.bos_token_id
    return (int(begin),) if begin is not None and begin in tokenizer("a")["input_ids"][:1] else ()
