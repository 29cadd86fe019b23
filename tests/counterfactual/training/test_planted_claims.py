"""Claims about planted targets, with targets that follow the rule, half of it, or nothing."""

import sys
from pathlib import Path

import pytest

from firsthand.counterfactual.training.planting.claims import Measured, measured, taken
from firsthand.counterfactual.training.planting.rules import MARK
from firsthand.counterfactual.training.planting.words import Group
from firsthand.errors import InstrumentError
from firsthand.progress import Silent

sys.path.insert(0, str(Path(__file__).parent))
from training_parts import Following

ALL = range(10)
GROUPS = tuple(Group(live=f"live{n}", dead=f"dead{n}", number=n) for n in ALL)

LIVING, DEAD_ONES = tuple(one.live for one in GROUPS), tuple(one.dead for one in GROUPS)


def of(*words: str) -> Measured:
    return measured(Following(*words), "private", GROUPS, 2, 10, Silent())


def test_a_target_that_follows_its_rule_is_taken() -> None:
    found = of(*LIVING)
    assert found.followed == 1.0
    assert len(found.claims) == 40
    assert sum(claim.label for claim in found.claims) == 20
    taken(found, "private")


def test_a_target_that_does_not_follow_its_rule_stops_everything() -> None:
    for words, share in ((("live1", "live2"), 0.6), (DEAD_ONES, 0.0), ((), 0.5)):
        found = of(*words)
        assert found.followed == pytest.approx(share), words
        with pytest.raises(InstrumentError, match="did not take"):
            taken(found, "private")


def test_labels_are_measured_and_not_taken_from_the_rule() -> None:
    found = of(*DEAD_ONES)
    assert all(claim.label == ("dead" in claim.intervention) for claim in found.claims)


def test_marks_are_part_of_the_words_of_a_visible_rule() -> None:
    found = measured(Following(MARK), "visible", GROUPS, 1, 10, Silent())
    assert found.followed == 1.0
    assert len(found.claims) == 20
