"""Public evidence of belief dominance: what a prompt tells of entities, words and kind, and what the answer tells.

The two restricted observers are those of arXiv 2605.26242, section 5.2: the mean embedding ("layer 0") of the subject
and of the counter entity, and of the base and of the counter entity, without anything of the prompt. The paper supposes
that frequency is behind what they find, so it is asked for by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.engine import LoadedModel
from firsthand.studies.labels.belief.bench import Bench
from firsthand.studies.labels.belief.records import Fact, occurs

SUBJECT_COUNTER: Final = "layer 0 of subject and counter"
BASE_COUNTER: Final = "layer 0 of base and counter"
FREQUENCY: Final = "frequency and length"
PRIOR: Final = "prior without evidence"
KIND: Final = "kind of conflict"
WORDS: Final = "words of the prompt"
EVERYTHING: Final = "everything public"
EVERYTHING_TREES: Final = "everything public, trees"
MOST_FREQUENT: Final = "most frequent class"
ANSWER: Final = "visible answer"
"""Begins the name of every observer that sees the model's answer."""
ANSWER_LAYER_0: Final = f"{ANSWER}: layer 0"
ANSWER_WORDS: Final = f"{ANSWER}: words of prompt and answer"
ANSWER_EVERYTHING: Final = f"{ANSWER}: everything public"
ANSWER_EVERYTHING_TREES: Final = f"{ANSWER}: everything public, trees"

Block = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is public about each answer.

    Attributes:
        features: Numbers that observers learn from, by observer, ``[answers, features]``.
        texts: What the user said.
        said: What the model answered.
        subjects: What each is about: answers about one subject are not parted when an observer is fitted.
    """

    features: Mapping[str, Block]
    texts: tuple[str, ...]
    said: tuple[str, ...]
    subjects: tuple[str, ...]


def sees_answer(name: str) -> bool:
    """Whether the observer of that name sees the model's answer."""
    return name.startswith(ANSWER)


def evidence_of(bench: Bench, table: pd.DataFrame) -> Evidence:
    """What is public about each answer of a study.

    Args:
        bench: What is fixed.
        table: One row an answer, of which ``record``, ``kind``, ``subject``, ``text`` and ``said`` are used: never the
            dominances.
    """
    records = table["record"].to_numpy()
    facts = [bench.facts[record] for record in records]
    subject, base, counter = (
        embeddings(bench.loaded, [getattr(fact, part) for fact in facts]) for part in ("subject", "base", "counter")
    )
    kinds = pd.get_dummies(pd.Categorical(table["kind"], [kind.name for kind in bench.claim.kinds])).to_numpy(float)
    lengths = np.array(
        [[len(_tokens(bench.loaded, part)) for part in (fact.base, fact.counter, fact.subject)] for fact in facts],
        dtype=np.float64,
    )
    words = np.array([[len(text.split())] for text in table["text"]], dtype=np.float64)
    likely, common = bench.likely_R2[records], bench.common_R2[records]
    said = [str(text) for text in table["said"]]
    seen = [_of_answer(bench.loaded, fact, text) for fact, text in zip(facts, said, strict=True)]
    return Evidence(
        {
            SUBJECT_COUNTER: np.hstack([subject, counter]),
            BASE_COUNTER: np.hstack([base, counter]),
            FREQUENCY: np.hstack([np.nan_to_num(common, nan=-50.0), lengths, words, kinds]),
            PRIOR: np.hstack([likely[:, :1] - likely[:, 1:], likely, kinds]),
            KIND: kinds,
            ANSWER: np.hstack([np.array(seen, dtype=np.float64), kinds]),
            ANSWER_LAYER_0: embeddings(bench.loaded, said),
        },
        tuple(table["text"]),
        tuple(said),
        tuple(table["subject"].str.casefold()),
    )


def embeddings(loaded: LoadedModel, entities: Sequence[str]) -> Block:
    """The mean embedding of each text's tokens, as they are within a sentence; 0 of no text ``[texts, hidden]``."""
    weight_VH = loaded.model.get_input_embeddings().weight.detach()
    found = np.zeros((len(entities), weight_VH.shape[1]))
    for row, entity in enumerate(entities):
        tokens = _tokens(loaded, entity)
        if tokens:
            found[row] = weight_VH[tokens].float().mean(0).cpu().double().numpy()
    return found


def _of_answer(loaded: LoadedModel, fact: Fact, said: str) -> list[float]:
    """What an answer names, how long it is, and how it ends.

    A state at an entity's token, or at a stop, holds more, or less, than others; so the share of an answer's tokens
    that are the entity's, and whether it ends in a stop, bear on dominance without any look at a state.
    """
    count = len(_tokens(loaded, said))
    named = [float(occurs(entity, said)) for entity in (fact.base, fact.counter)]
    shares = [
        there * len(_tokens(loaded, entity)) / max(count, 1)
        for there, entity in zip(named, (fact.base, fact.counter), strict=True)
    ]
    return [*named, *shares, float(len(said.split())), float(count), float(bool(said) and not said[-1].isalnum())]


def _tokens(loaded: LoadedModel, text: str) -> list[int]:
    return [int(token) for token in loaded.tokenizer.encode(f" {text}", add_special_tokens=False)] if text else []
