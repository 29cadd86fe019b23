"""Claims to train on, and what reads the claims beside the models that are trained."""

import sys
from pathlib import Path

import numpy as np
import pytest

from firsthand.counterfactual.training.readers import FLOOR, SURFACE, WORDS, readers
from firsthand.counterfactual.training.reading import some_claims
from firsthand.errors import CounterfactualError

sys.path.insert(0, str(Path(__file__).parent))
from training_parts import items


@pytest.mark.parametrize("text", ["", "no json\n", '{"id": 1}\n'])
def test_what_holds_no_claims_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(text)
    with pytest.raises(CounterfactualError):
        some_claims(path)


def test_readers_learn_what_words_tell_and_a_floor_says_always_the_same() -> None:
    made = items(20)
    marked = [
        item.model_copy(
            update={
                "claim": item.claim.model_copy(update={"intervention": item.claim.intervention + " !" * item.label})
            }
        )
        for item in made
    ]
    found = readers(marked[:24], marked[24:])
    assert {kind for _, kind in found} == {"floor", "observer"}
    labels = np.array([item.label for item in marked[24:]])
    words, floor = ([one.probability for one in found[key]] for key in ((WORDS, "observer"), (FLOOR, "floor")))
    assert ((np.array(words, float) > 0.5) == labels).all()
    assert set(floor) == {0.5}
    assert (SURFACE, "floor") in found
