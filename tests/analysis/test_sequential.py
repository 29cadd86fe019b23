import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.analysis.sequential import (
    THRESHOLDS,
    WORDING,
    Counts,
    Rule,
    Wanted,
    decide,
    decided,
    evidence,
    next_batch,
    odds,
    rate_evidence,
    rate_interval,
    shared_levels,
)
from firsthand.analysis.sequential_chances import capital_table, path_chances
from firsthand.errors import AnalysisError

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
from sequential_plain import against_at_most, simulated_path

PLENTY = 60
RATES = (0.0, 0.03, 0.1, 0.3, 0.5, 0.62, 0.9, 1.0)


def responses(yes: int, valid: int) -> list[int]:
    return [1] * yes + [0] * (valid - yes)


@pytest.mark.parametrize("counts", [(27, 30, 0, 8), (15, 30, 14, 20), (0, 12, 12, 12), (30, 30, 29, 30), (3, 10, 9,
11)]) @pytest.mark.parametrize("rule", [WORDING, THRESHOLDS]) def
test_capital_is_what_betting_on_one_response_after_the_other_leaves(
    counts: tuple[int, int, int, int], rule: Rule
) -> None:
    k0, n0, k1, n1 = counts
    up = against_at_most(responses(k0, n0), responses(k1, n1), rule.above)
    down = against_at_most(responses(n0 - k0, n0), responses(n1 - k1, n1), rule.above)
    not_down = against_at_most(responses(k0, n0), responses(k1, n1), -rule.below)
    not_up = against_at_most(responses(n0 - k0, n0), responses(n1 - k1, n1), -rule.below)
    changes, stays = evidence((k0, n0), (k1, n1), rule)
    assert float(changes) == pytest.approx(math.log((up + down) / 2), abs=1e-9)
    assert float(stays) == pytest.approx(math.log(min(not_down, not_up)), abs=1e-9)


def test_more_points_of_the_line_between_the_hypotheses_would_find_hardly_less_capital() -> None:
    for k0, n0, k1, n1 in ((27, 30, 3, 15), (27, 30, 22, 24), (25, 50, 24, 50), (50, 60, 10, 60)):
        coarse = against_at_most(responses(k0, n0), responses(k1, n1), -0.3)
        fine = against_at_most(responses(k0, n0), responses(k1, n1), -0.3, points=2001)
        assert fine <= coarse <= 1.03 * fine


@pytest.mark.parametrize("bound", [0.3, -0.3, 0.5, -0.15, 0.0])
def test_no_bet_gains_on_average_anywhere_in_its_hypothesis(bound: float) -> None:
    """The mean of a bet's factor is at most 1 where the rate before is no lower and the rate after no higher."""
    null0, null1, bet0, bet1 = odds(bound)

    def mean_factor(true: np.ndarray, bet: np.ndarray, null: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(true > 0, true * bet / null, 0.0) + np.where(true < 1, (1 - true) * (1 - bet) / (1 - null), 0.0)
        return np.where(bet == null, 1.0, parts)

    for share in (0.0, 0.3, 1.0):
        before, after = null0 + share * (1.0 - null0), null1 * (1.0 - share)
        assert (mean_factor(before, bet0, null0) <= 1.0 + 1e-9).all()
        assert (mean_factor(after, bet1, null1) <= 1.0 + 1e-9).all()


def test_every_change_within_the_claim_is_called_a_change_with_at_most_the_stated_chance_at_all_looks_together() ->
None:
    for before in RATES:
        for change in (-0.3, -0.2, 0.0, 0.15, 0.3):
            after = round(before + change, 9)
            if 0.0 <= after <= 1.0:
                assert path_chances(before, after, 30, range(1, PLENTY + 1), WORDING).changes <= WORDING.alpha


def test_every_large_change_is_called_none_with_at_most_the_stated_chance_at_all_looks_together() -> None:
    for before in RATES:
        for change in (-0.9, -0.5, -0.3, 0.3, 0.4, 0.7):
            after = round(before + change, 9)
            if 0.0 <= after <= 1.0:
                for baseline in (10, 60):
                    found = path_chances(before, after, baseline, range(1, PLENTY + 1), WORDING)
                    assert found.stays <= WORDING.alpha


def test_a_change_between_two_thresholds_is_given_any_label_with_at_most_the_stated_chance() -> None:
    rule = Rule(0.40, 0.20, alpha=0.10)
    for before in (0.05, 0.3, 0.5):
        found = path_chances(before, before + 0.3, PLENTY, range(1, PLENTY + 1), rule)
        assert found.changes + found.stays <= rule.alpha


def test_chances_of_a_path_are_those_of_simulated_ones() -> None:
    rng, draws = np.random.default_rng(0), 3000
    tables = {n: capital_table(20, n, WORDING) for n in range(1, 26)}

    def look(before: tuple[int, int], after: tuple[int, int]) -> str:
        changes, stays = (float(one[before[0], after[0]]) for one in tables[after[1]])
        if max(changes, stays) < WORDING.needed:
            return "undecided"
        return "changes" if changes >= stays else "does not change"

    paths = [simulated_path(rng, 0.85, 0.25, 20, 25, look) for _ in range(draws)]
    exact = path_chances(0.85, 0.25, 20, range(1, 26), WORDING)
    share = sum(found == "changes" for found, _ in paths) / draws
    assert share == pytest.approx(exact.changes, abs=4 * math.sqrt(0.25 / draws))
    assert np.mean([n for _, n in paths]) == pytest.approx(exact.edit, abs=4 * 8 / math.sqrt(draws))
    assert exact.changes + exact.stays + exact.undecided == pytest.approx(1.0)


def test_a_table_of_capital_holds_what_single_counts_give() -> None:
    rows = np.arange(13)[:, None], np.arange(8)[None]
    for one, other in zip(
        capital_table(12, 7, THRESHOLDS), evidence((rows[0], 12), (rows[1], 7), THRESHOLDS), strict=True
    ):
        assert np.allclose(one, other)


def test_large_effects_take_far_fewer_responses_than_a_batch_of_thirty() -> None:
    gone = path_chances(0.9, 0.05, 30, range(1, 31), WORDING)
    assert gone.changes > 0.99
    assert gone.edit < 12
    kept = path_chances(0.97, 0.97, 60, range(1, 31), WORDING)
    assert kept.stays > 0.9
    assert kept.edit < 22


def test_looking_at_every_response_is_wrong_far_too_often_without_such_a_test() -> None:
    """What the test is for: thresholds of thirty responses, looked at after each, call nothing a change too often."""
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(300):
        baseline = (rng.random(30) < 0.5).mean()
        shares = np.cumsum(rng.random(30) < 0.5) / np.arange(1, 31)
        wrong += bool((np.abs(shares - baseline) >= 0.3).any())
    assert wrong / 300 > 0.3
    assert path_chances(0.5, 0.5, 30, range(1, 31), WORDING).changes < 0.01


def test_a_path_stops_at_the_first_decision_and_what_comes_later_is_not_looked_at() -> None:
    path = [(0, 5), (0, 5), (5, 5), (5, 5)]
    found = decide(Counts(27, 30), path)
    assert found.found == "changes"
    assert found.batches == 2
    assert found.edit == Counts(0, 10)
    assert found == decide(Counts(27, 30), path[:2])


def test_a_path_that_decides_nothing_is_undecided_after_all_of_it() -> None:
    found = decide(Counts(27, 30), [(3, 5), (2, 5)])
    assert (found.found, found.batches, found.edit) == ("undecided", 2, Counts(5, 10))
    assert decide(Counts(27, 30), []).found == "undecided"
    assert decided(Counts(0, 0), Counts(0, 0)).changes == pytest.approx(0.0)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
@settings(max_examples=30, deadline=None)
def test_exchanging_yes_and_no_or_the_two_prompts_decides_the_same(a: int, b: int, c: int, d: int) -> None:
    first, second = Counts(a, a + b), Counts(c, c + d)
    found = decided(first, second)
    flipped = decided(Counts(b, a + b), Counts(d, c + d))
    assert flipped.changes == pytest.approx(found.changes, abs=1e-6)
    assert flipped.stays == pytest.approx(found.stays, abs=1e-6)


def test_the_size_of_the_baseline_limits_what_can_be_decided() -> None:
    """With few responses before the edit no number after it shows that nothing changed: the baseline has to grow."""
    assert decided(Counts(5, 10), Counts(500, 1000)).found == "undecided"
    assert decided(Counts(60, 120), Counts(500, 1000)).found == "does not change"


def test_batches_grow_with_what_is_known_and_end_with_the_decision() -> None:
    assert next_batch(Counts(27, 30), Counts(0, 0)) == Wanted(0, 5)
    assert next_batch(Counts(27, 30), Counts(0, 8)) == Wanted(0, 0)
    assert next_batch(Counts(27, 60), Counts(30, 60)) == Wanted(0, 0)
    assert next_batch(Counts(27, 30), Counts(1, 5)).edit == 5


def test_the_baseline_grows_where_the_edited_prompt_alone_would_not_do() -> None:
    wanted = next_batch(Counts(15, 30), Counts(10, 20), most=Wanted(100, 100))
    assert wanted.baseline > 0
    assert wanted.edit > 0
    assert next_batch(Counts(27, 30), Counts(9, 10)).baseline == 0


def test_following_the_wanted_batches_ends_within_the_most_that_may_be_drawn() -> None:
    rng = np.random.default_rng(3)
    for before, after in ((0.9, 0.1), (0.5, 0.5), (0.6, 0.35)):
        baseline, edit = Counts(round(30 * before), 30), Counts(0, 0)
        for _ in range(60):
            wanted = next_batch(baseline, edit)
            if not any(wanted):
                break
            baseline = Counts(baseline.yes + int(rng.binomial(wanted.baseline, before)), baseline.valid + wanted.baseline)
            edit = Counts(edit.yes + int(rng.binomial(wanted.edit, after)), edit.valid + wanted.edit)
        assert not any(wanted)
        assert baseline.valid <= 60
        assert edit.valid <= 60


def test_one_rate_is_shown_to_lie_above_a_bound_as_by_bets_on_it() -> None:
    steps = (0.1, 0.25, 0.5, math.inf)

    def higher(rate: float, step: float) -> float:
        angle = math.asin(math.sqrt(rate))
        return 1.0 if math.isinf(step) else math.sin(angle + min(step, 0.4 * (math.pi / 2 - angle))) ** 2

    expected = np.mean([(higher(0.3, s) / 0.3) ** 9 * ((1 - higher(0.3, s)) / 0.7) ** 3 for s in steps])
    assert float(rate_evidence((9, 12), 0.3, "above")) == pytest.approx(math.log(expected))
    assert float(rate_evidence((3, 12), 0.7, "below")) == pytest.approx(math.log(expected))


@pytest.mark.parametrize("rate", [0.02, 0.3, 0.5, 0.9])
def test_the_interval_of_a_rate_holds_at_all_sizes_at_once(rate: float) -> None:
    rng, needed, missed = np.random.default_rng(5), math.log(40), 0
    for _ in range(400):
        yes, valid = np.cumsum(rng.random(80) < rate), np.arange(1, 81)
        sides = [rate_evidence((yes, valid), rate, side) for side in ("above", "below")]
        missed += bool(max(one.max() for one in sides) >= needed)
    assert missed / 400 <= 0.05
    low, high = rate_interval(Counts(round(100 * rate), 100))
    assert low <= rate <= high
    assert high - low < 0.35


def test_levels_of_experiments_that_share_a_baseline_add_up_to_that_of_the_investigation() -> None:
    assert shared_levels(0.05, 10) == pytest.approx(0.005)
    assert sum(shared_levels(0.05, number=k) for k in range(1, 20000)) == pytest.approx(0.05, abs=1e-4)


def test_experiments_that_share_a_baseline_are_wrong_together_and_no_oftener_than_each_alone() -> None:
    """Ten edits of no effect: the expected number of wrong statements is theirs, whatever they share."""
    rng, wrong, rule = np.random.default_rng(7), [], Rule(0.05, 0.05, alpha=0.2)
    needed, table = rule.needed, capital_table(10, 30, rule)[0]
    for _ in range(2000):
        k0 = int(rng.binomial(10, 0.5))
        wrong.append(int((table[k0, rng.binomial(30, 0.5, 10)] >= needed).sum()))
    assert np.mean(wrong) / 10 <= rule.alpha
    alone = np.mean(wrong) / 10
    assert np.var(wrong) > 1.5 * 10 * alone * (1 - alone)


@pytest.mark.parametrize("rule", [(1.2, 0.3, 0.05), (0.3, 0.0, 0.05), (0.3, 0.3, 0.0)])
def test_a_rule_outside_of_its_range_is_refused(rule: tuple[float, float, float]) -> None:
    with pytest.raises(AnalysisError):
        Rule(*rule)


def test_more_yes_than_responses_are_refused() -> None:
    with pytest.raises(AnalysisError, match="no count"):
        decided(Counts(5, 3), Counts(1, 2))
