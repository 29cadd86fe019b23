"""A planted label lies in the activations at its text's tokens, and nowhere in the text."""

import math

import numpy as np
import pytest

from firsthand.engine import Anatomy, LoadedModel, resid_post
from firsthand.errors import LabelsError
from firsthand.studies.labels.conversations import Conversation, Shot
from firsthand.studies.labels.incontext import teacher_forced
from firsthand.studies.labels.planting import planted

TEXTS = ("I gave the dog a bath.", "user", "I gave it away.", "It rained", "We ate it all.")


def test_a_planted_sign_is_drawn_without_the_text_and_added_at_its_tokens_alone(
    tiny: LoadedModel, anatomy: Anatomy
) -> None:
    found = planted(anatomy, len(TEXTS), 1, strength=0.5, norm=8.0, seed=3)
    assert float(found.direction_H.norm()) == pytest.approx(1)
    conversation = Conversation(
        "Give the label.",
        ("3", "7"),
        tuple(Shot(t, label, (e,)) for t, label, e in zip(TEXTS, found.labels, found.edits, strict=True)),
    )
    clean = Conversation("Give the label.", ("3", "7"), tuple(Shot(s.text, s.label) for s in conversation.shots))
    site = resid_post(1)
    added, without = (teacher_forced(tiny, anatomy, c, sites=[site]).states[site] for c in (conversation, clean))
    first = (added - without)[0] @ found.direction_H.numpy()
    assert first == pytest.approx(4.0 * (1 if found.labels[0] else -1), abs=1e-4)
    signs = np.sign((added - without) @ found.direction_H.numpy())
    assert [int(sign > 0) for sign in signs] == list(found.labels)


def test_planted_signs_are_even_and_independent_of_one_another_and_follow_the_seed(anatomy: Anatomy) -> None:
    found = planted(anatomy, 2000, 1, strength=1.0, norm=1.0, seed=0)
    labels = np.array(found.labels)
    assert abs(labels.mean() - 0.5) < 0.04
    assert abs(np.corrcoef(labels[1:], labels[:-1])[0, 1]) < 0.07
    assert planted(anatomy, 50, 1, strength=1.0, norm=1.0, seed=0).labels == found.labels[:50]
    other = planted(anatomy, 50, 1, strength=1.0, norm=1.0, seed=1)
    assert other.labels != found.labels[:50]
    assert abs(float(other.direction_H @ found.direction_H)) < 0.9
    assert {edit.strength for edit in found.edits} == {-1.0, 1.0}


@pytest.mark.parametrize(
    ("count", "layer", "strength", "norm"),
    [(0, 1, 1.0, 1.0), (3, 3, 1.0, 1.0), (3, -1, 1.0, 1.0), (3, 1, 0.0, 1.0), (3, 1, 1.0, math.nan), (3, 1, 1.0, 0.0)],
)
def test_what_could_not_be_felt_is_not_planted(
    anatomy: Anatomy, count: int, layer: int, strength: float, norm: float
) -> None:
    with pytest.raises(LabelsError, match="Nothing can be planted"):
        planted(anatomy, count, layer, strength=strength, norm=norm, seed=0)
