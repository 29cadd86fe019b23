"""One predictor against another: paired, and by clusters; DeLong's test is that of its authors."""

import numpy as np
import pytest
from analysis_plain import pairwise_area, resampled
from hypothesis import given, settings
from hypothesis import strategies as st
from predictions_plain import drawn, panel, plain_delong

from firsthand.analysis.predictions import judged_predictions
from firsthand.analysis.predictions.delong import delong
from firsthand.analysis.predictions.uplift import over_floors, uplift


def test_delong_of_a_case_that_can_be_done_by_hand() -> None:
    # Three true and two false trials. The first score orders 5 of 6 pairs right, the second 3 and one tie.
    truth = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    first, second = np.array([3.0, 4.0, 1.0, 2.0, 0.0]), np.array([2.0, 0.0, 3.0, 2.0, 1.0])
    found = delong(truth, first, second, 0.025)
    # Placements of true trials: (1, 1, 1/2) and (3/4, 0, 1); of false ones: (2/3, 1) and (1/2, 2/3).
    # Their differences are (1/4, 1, -1/2) and (1/6, 1/3), of variances 9/16 and 1/72.
    assert found is not None
    assert found.difference == pytest.approx(1 / 4)
    assert found.se == pytest.approx(np.sqrt(9 / 16 / 3 + 1 / 72 / 2))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(5, 25))
def test_delong_agrees_with_its_plain_form(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    truth = np.concatenate([[1.0, 1.0, 0.0, 0.0], (rng.random(size) < 0.5).astype(float)])
    first, second = np.round(rng.random(len(truth)), 1), np.round(rng.random(len(truth)), 1)
    found = delong(truth, first, second, 0.025)
    difference, se = plain_delong(truth, first, second)
    assert found is not None
    assert found.difference == pytest.approx(difference, abs=1e-12)
    assert found.se == pytest.approx(se, abs=1e-10)


def test_delong_of_two_scores_of_one_order_says_that_nothing_differs() -> None:
    truth, _, first, _ = drawn(0)
    found = delong(truth, first, 2 * first + 1, 0.025)
    assert found is not None
    assert (found.difference, found.se, found.p) == (0.0, 0.0, 1.0)


def test_an_uplift_is_paired_and_as_sure_as_clusters_allow() -> None:
    truth, codes, first, second = drawn(7, clusters=60)
    found = uplift(panel(truth, codes, one=first, two=second), "one", "two")

    def difference(rows: np.ndarray) -> float:
        return pairwise_area(truth[rows], first[rows]) - pairwise_area(truth[rows], second[rows])

    draws = resampled(codes, difference, 150)
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx(difference(np.arange(len(truth))))
    assert found.auroc.high - found.auroc.low == pytest.approx(
        np.quantile(draws, 0.975) - np.quantile(draws, 0.025), rel=0.35
    )
    right = [(one > 0.5) == (truth == 1) for one in (first, second)]
    halves = [np.where(one == 0.5, 0.5, r) for one, r in zip((first, second), right, strict=True)]
    assert found.accuracy is not None
    assert found.accuracy.value == pytest.approx(float(np.mean(halves[0] - halves[1])))


def test_delong_is_surer_than_clusters_of_repeated_claims_allow() -> None:
    truth, codes, first, second = drawn(8, clusters=30, size=1)
    again = [np.repeat(one, 12) for one in (truth, first, second)]
    found = uplift(panel(again[0], np.repeat(codes, 12), one=again[1], two=again[2]), "one", "two")
    assert found.auroc is not None
    assert found.delong is not None
    assert found.auroc.high - found.auroc.low > 2.5 * (found.delong.high - found.delong.low)


def test_claims_that_one_of_them_did_not_answer_are_left_out_of_both() -> None:
    truth, codes, first, second = drawn(9)
    holes = np.where(np.arange(len(truth)) % 4 == 0, np.nan, first)
    kept = ~np.isnan(holes)
    found = uplift(panel(truth, codes, one=holes, two=second), "one", "two")
    assert (found.claims, found.left_out) == (int(kept.sum()), int((~kept).sum()))
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx(
        pairwise_area(truth[kept], first[kept]) - pairwise_area(truth[kept], second[kept])
    )
    assert found.auroc_worst is not None
    assert found.auroc_best is not None
    assert found.auroc_worst.value < found.auroc.value < found.auroc_best.value


def test_being_ahead_of_all_floors_takes_being_ahead_of_the_strongest() -> None:
    truth, codes, first, _ = drawn(10)
    floors = {"weak": np.full(len(truth), 0.5), "strong": first}
    made = panel(truth, codes, one=first, **floors)
    (found,) = over_floors(made, ["one"], ["weak", "strong"])
    assert found.floor == "strong"
    assert found.lead.value == 0.0
    assert found.p_holm > 0.5


def test_who_answers_only_what_is_easy_is_not_ahead_of_the_floors() -> None:
    truth, codes, _, second = drawn(12)
    easy = np.arange(len(truth)) % 4 == 0
    made = panel(truth, codes, picky=np.where(easy, truth, np.nan), floor=second)
    (found,) = over_floors(made, ["picky"], ["floor"])
    assert found.left_out == int((~easy).sum())
    assert found.lead_valid is not None
    assert found.lead_valid.low > 0.0
    worst = np.where(easy, truth, np.where(truth == 1, -9.0, 9.0))
    assert found.lead.value == pytest.approx(pairwise_area(truth, worst) - pairwise_area(truth, second))
    assert found.p_holm > 0.5


def test_what_a_floor_does_not_answer_is_no_lead_over_it() -> None:
    truth, codes, first, _ = drawn(13)
    made = panel(truth, codes, one=first, floor=np.where(np.arange(len(truth)) % 2 == 0, np.nan, 0.5))
    (found,) = over_floors(made, ["one"], ["floor"])
    assert found.left_out == 60
    assert found.lead_valid is not None
    assert found.lead_valid.value > 0.1 > found.lead.value


def test_one_of_many_predictors_that_know_nothing_is_seldom_ahead_of_the_floors() -> None:
    ahead = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = np.tile([1.0, 0.0], 40)
        nulls = {f"m{number}": rng.random(80) for number in range(5)}
        made = panel(truth, np.repeat(np.arange(40), 2), floor=np.full(80, 0.5), **nulls)
        ahead += any(one.p_holm <= 0.05 for one in over_floors(made, list(nulls), ["floor"]))
    assert ahead <= 6  # of 40 at a level of 5%: more than 6 has a probability of 0.4%


def test_everything_is_held_against_the_baseline_and_against_each_floor() -> None:
    truth, codes, first, second = drawn(11)
    made = panel(truth, codes, floor=np.full(len(truth), 0.5), base=second, tool=first)
    kinds = {"floor": "floor", "base": "base", "tool": "tools"}
    found = judged_predictions(made, kinds, baseline="base")
    assert [(one.name, one.over) for one in found.uplifts] == [("base", "floor"), ("tool", "base"), ("tool", "floor")]
    assert [one.name for one in found.flips] == ["tool"]
    assert found.units == 40
