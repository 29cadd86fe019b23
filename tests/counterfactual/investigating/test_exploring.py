"""Exploring says that it does not know where most responses cannot be judged, and never that nothing changed."""

import pytest

from firsthand.counterfactual.edits import Edit, Replace
from firsthand.counterfactual.investigating.without_model.exploring import Explorer
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rates import Rate

PROMPT = Prompt(turns=(Turn(role="user", content="Tell me of the sea and its birds."),))
EDIT = Edit(operations=(Replace(turn=0, find="birds", text="boats"),))
SETTINGS = SearchSettings()


def explored(*rates: Rate) -> tuple[int | None, Explorer, int]:
    """What is said of an edit, the explorer, and how many batches were drawn."""
    explorer = Explorer(PROMPT, Rate(yes=27, no=3), SETTINGS, 1000)
    steps = explorer.moves([(EDIT, "do birds matter?")])
    given = list(rates)
    next(steps)
    try:
        while True:
            steps.send([given.pop(0)])
    except StopIteration as end:
        return end.value[0], explorer, len(rates) - len(given)


@pytest.mark.parametrize("invalid", [8, 7, 4])
def test_with_most_responses_invalid_nothing_is_known_after_as_many_as_there_may_be(invalid: int) -> None:
    batch = Rate(yes=0, no=8 - invalid, invalid=invalid)
    said, explorer, batches = explored(batch, batch, batch)
    assert said is None
    assert batches * SETTINGS.batch == SETTINGS.longest
    assert explorer.unjudged == ["do birds matter?"]
    assert [one.decision for one in explorer.experiments] == ["undecided"]


def test_with_most_of_them_valid_it_is_known_whether_the_rate_moves() -> None:
    assert explored(Rate(yes=0, no=8))[0] == -1
    assert explored(Rate(yes=0, no=7, invalid=1))[0] == -1
    assert explored(*[Rate(yes=7, no=1)] * 3)[0] == 0
