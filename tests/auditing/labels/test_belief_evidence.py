"""What an answer tells without any look at a state: names, shares, length and ending."""

import numpy as np

from firsthand.auditing.labels.belief_evidence import _of_answer, embeddings
from firsthand.engine import LoadedModel
from firsthand.studies.labels.belief.records import Fact

FACT = Fact("The seat of Norway is in", "Norway", "Oslo", "Lima")


def test_an_answer_tells_what_share_of_its_tokens_is_an_entity(tiny: LoadedModel) -> None:
    count = len(tiny.tokenizer.encode(" Lima, of all places.", add_special_tokens=False))
    own = len(tiny.tokenizer.encode(" Lima", add_special_tokens=False))
    told = _of_answer(tiny, FACT, "Lima, of all places.")
    assert told == [0.0, 1.0, 0.0, own / count, 4.0, count, 1.0]
    assert _of_answer(tiny, FACT, "") == [0.0] * 7


def test_layer_0_of_an_answer_that_says_nothing_is_nothing_and_no_error(tiny: LoadedModel) -> None:
    found = embeddings(tiny, ["Lima", ""])
    assert np.isfinite(found).all()
    assert found[0].any()
    assert not found[1].any()
