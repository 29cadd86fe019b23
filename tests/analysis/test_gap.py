import pytest

from firsthand.analysis.gap import AnyOf, Joint
from firsthand.analysis.inference import Measured

STRONG, WEAK = Measured.approximate(0.4, 0.05, 24), Measured.approximate(0.05, 0.05, 24)


def test_the_weakest_advantage_decides() -> None:
    joint = Joint({"weak observer": STRONG, "strong observer": WEAK})
    assert joint.weakest == "strong observer"
    assert joint.value == 0.05
    assert joint.p_above(0.0) == WEAK.p_above(0.0)
    assert joint.low(0.05) == WEAK.low(0.05)


def test_the_lower_bound_needs_no_correction_and_the_upper_bound_gets_one() -> None:
    joint = Joint({"a": WEAK, "b": WEAK})
    assert joint.low(0.05) == WEAK.low(0.05)
    assert joint.high(0.05) == pytest.approx(WEAK.high(0.025))


def test_without_observers_nothing_is_beaten() -> None:
    assert Joint({}).p_above(0.0) == 1.0
    assert Joint({}).estimate(0.05) is None


def test_failing_names_those_not_beaten_or_beaten_by_too_little() -> None:
    joint = Joint({"beaten": STRONG, "not": WEAK, "hardly": Measured.approximate(0.03, 0.001, 24)})
    assert joint.failing(0.05) == ("not",)
    assert joint.failing(0.05, 0.05) == ("not", "hardly")


def test_one_member_is_enough_for_any_of_and_the_search_for_it_is_paid_for() -> None:
    any_of = AnyOf({"strong": STRONG, "weak": WEAK})
    assert any_of.value == STRONG.value
    assert any_of.p_above(0.0) == pytest.approx(2 * STRONG.p_above(0.0))
    assert any_of.low(0.05) == STRONG.low(0.025)


def test_without_members_any_of_shows_nothing() -> None:
    assert AnyOf({}).p_above(0.0) == 1.0
    assert AnyOf({}).estimate(0.05) is None
    assert AnyOf({}).unknown
