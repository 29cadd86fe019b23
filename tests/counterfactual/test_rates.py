import pytest
from statsmodels.stats.proportion import proportion_confint

from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.rates import Rate


def test_invalid_responses_are_counted_apart_from_no() -> None:
    found = Rate.of([Verdict.YES, Verdict.INVALID, Verdict.NO, Verdict.INVALID])
    assert (found.yes, found.no, found.invalid) == (1, 1, 2)
    assert found.share == 0.5
    assert (found.valid, found.responses) == (2, 4)


def test_bounds_are_the_shares_that_invalid_responses_could_have_made() -> None:
    assert Rate(yes=3, no=5, invalid=2).bounds == (0.3, 0.5)
    assert Rate(yes=3, no=7).bounds == (0.3, 0.3)


def test_a_batch_without_a_valid_response_has_no_share_and_any_rate_may_be_true() -> None:
    nothing = Rate(yes=0, no=0, invalid=10)
    assert nothing.share is None
    assert nothing.interval() == (0.0, 1.0)
    assert nothing.bounds == (0.0, 1.0)


def test_the_interval_is_wilsons() -> None:
    assert Rate(yes=3, no=27, invalid=4).interval() == pytest.approx(proportion_confint(3, 30, method="wilson"))
    assert Rate(yes=0, no=30).interval()[0] == 0.0


def test_batches_add_up() -> None:
    assert Rate(yes=1, no=2, invalid=3) + Rate(yes=10, no=20, invalid=30) == Rate(yes=11, no=22, invalid=33)


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one response"):
        Rate(yes=0, no=0)
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        Rate(yes=-1, no=3)
