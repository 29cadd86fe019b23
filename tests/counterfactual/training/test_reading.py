"""What is shown beside a claim, and what reads the claims beside the models that are trained."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from firsthand.counterfactual.responses import Request, Response
from firsthand.counterfactual.rows import row_of
from firsthand.counterfactual.training.readers import FLOOR, SURFACE, WORDS, readers
from firsthand.counterfactual.training.reading import read_told, told
from firsthand.errors import CounterfactualError

sys.path.insert(0, str(Path(__file__).parent))
from training_parts import claim, items


class Sings:
    """A target that says one thing."""

    identity = "sings"

    def __init__(self, text: str = "la") -> None:
        self.text, self.asked = text, 0

    def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
        self.asked += sum(one.samples for one in requests)
        return [[Response(text=self.text)] * one.samples for one in requests]


def test_a_response_comes_with_the_claim_or_is_drawn(tmp_path: Path) -> None:
    one = claim(True)
    path = tmp_path / "claims.jsonl"
    for responses, expected, asked in ([], "la", 1), ([{"text": "tweet", "ended": "stop"}], "tweet", 0):
        path.write_text(json.dumps({**row_of(one), "responses": responses}) + "\n")
        claims, held = read_told(path)
        target = Sings()
        assert [found.id for found in claims] == [one.id]
        assert told(claims, held, target)[one.id].text == expected
        assert target.asked == asked
    assert told([one], {}, Sings("")) == {}  # nothing was said, so there is nothing to show


@pytest.mark.parametrize("text", ["", "no json\n", '{"id": 1}\n'])
def test_what_holds_no_claims_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(text)
    with pytest.raises(CounterfactualError):
        read_told(path)


def test_readers_learn_what_words_tell_and_a_floor_says_always_the_same() -> None:
    made = items(20)
    marked = [
        item.model_copy(
            update={"question": item.question.model_copy(update={"text": item.question.text + " !" * item.label})}
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
