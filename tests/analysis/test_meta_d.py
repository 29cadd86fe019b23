"""meta-d' agrees with published fits, gives d' back for an ideal observer, and none of it for a lot."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from firsthand.analysis.meta_d import _loss, counts_of, fit_meta_d, measured_meta_d, rated
from firsthand.errors import AnalysisError

PUBLISHED = np.array([[52, 32, 35, 37, 26, 12, 4, 2], [2, 5, 15, 22, 33, 38, 40, 45]], dtype=np.float64)
"""Example of the documentation and the tests of metadpy (Legrand), a port of Maniscalco and Lau's fit_meta_d_MLE:
https://embodied-computation-group.github.io/metadpy, "Fitting single subject data using MLE". Its output, with padding:
dprime 1.534994, meta_d 1.63376, m_ratio 1.064343, m_diff 0.098766."""


def ideal(d: float, criterion: float, noise: float, trials: int, seed: int) -> tuple[np.ndarray, ...]:
    """Choices by a criterion on evidence, and confidence by the distance to it in evidence with more noise added."""
    rng = np.random.default_rng(seed)
    stimulus = rng.integers(0, 2, trials)
    evidence = rng.normal((stimulus - 0.5) * d, 1.0)
    response = (evidence > criterion).astype(np.int64)
    seen = evidence + rng.normal(0.0, noise, trials)
    sure = (seen - criterion) * np.where(response == 1, 1, -1)
    return stimulus, response, sure


def _between(low: float, high: float) -> float:
    """Mass of the normal distribution, taken in the tail that it lies in."""
    return float(stats.norm.sf(low) - stats.norm.sf(high) if low > 0 else stats.norm.cdf(high) - stats.norm.cdf(low))


def test_the_published_example_is_reproduced_to_its_last_digit() -> None:
    fit = fit_meta_d(PUBLISHED)
    assert fit.d_prime == pytest.approx(1.534994, abs=1e-6)
    assert fit.meta_d == pytest.approx(1.63376, abs=1e-5)
    assert fit.ratio == pytest.approx(1.064343, abs=1e-5)
    assert fit.meta_d - fit.d_prime == pytest.approx(0.098766, abs=1e-5)


def test_d_prime_is_that_of_the_closed_form() -> None:
    counts = PUBLISHED + 1 / 8
    z = stats.norm.ppf(counts[:, 4:].sum(1) / counts.sum(1))
    assert fit_meta_d(PUBLISHED).d_prime == pytest.approx(z[1] - z[0])


@pytest.mark.parametrize(("d", "criterion"), [(1.0, 0.0), (1.5, 0.3), (2.0, -0.4)])
def test_confidence_that_uses_all_of_the_evidence_has_a_meta_d_of_d(d: float, criterion: float) -> None:
    stimulus, response, sure = ideal(d, criterion, 0.0, 40_000, 1)
    fit = fit_meta_d(counts_of(stimulus, response, rated(sure, np.zeros(len(sure), dtype=np.int64))))
    assert fit.d_prime == pytest.approx(d, abs=0.05)
    assert fit.criterion == pytest.approx(criterion, abs=0.03)
    assert fit.meta_d == pytest.approx(d, abs=0.12)


def test_confidence_that_saw_less_has_less_and_one_drawn_by_lot_has_none() -> None:
    stimulus, response, noisy = ideal(1.5, 0.0, 1.0, 40_000, 2)
    strata = np.zeros(len(noisy), dtype=np.int64)
    fits = [
        fit_meta_d(counts_of(stimulus, response, rated(sure, strata)))
        for sure in (noisy, np.random.default_rng(3).random(len(noisy)))
    ]
    assert 0.4 < fits[0].meta_d < 1.3
    assert fits[1].meta_d == pytest.approx(0.0, abs=0.1)


def test_confidence_that_is_surer_where_it_is_wrong_has_a_negative_one() -> None:
    stimulus, response, sure = ideal(1.5, 0.0, 0.0, 5_000, 4)
    assert fit_meta_d(counts_of(stimulus, response, rated(-sure, np.zeros(len(sure), dtype=np.int64)))).meta_d < -0.3


def test_counts_go_from_a_sure_first_response_to_a_sure_second_one() -> None:
    stimulus, response, rating = (np.array(x) for x in ([0, 0, 1, 1], [0, 1, 1, 0], [3, 0, 3, 1]))
    assert counts_of(stimulus, response, rating).tolist() == [[1, 0, 0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 1]]


def test_ratings_are_of_equal_number_within_a_stratum_and_equal_where_confidence_is() -> None:
    low, high = np.arange(8) / 100, 0.9 + np.arange(8) / 100
    found = rated(np.r_[low, high], np.repeat([0, 1], 8))
    assert found.tolist() == [0, 0, 1, 1, 2, 2, 3, 3] * 2
    assert len(set(rated(np.full(9, 0.4), np.zeros(9, dtype=np.int64)).tolist())) == 1


def test_an_interval_over_questions_holds_the_truth_and_a_choice_at_chance_has_no_quotient() -> None:
    tables = []
    for d in (1.5, 0.0):
        stimulus, response, sure = ideal(d, 0.0, 0.0, 160, 6)
        rating = rated(sure, np.zeros(160, dtype=np.int64))
        each = np.stack([counts_of(stimulus[i : i + 1], response[i : i + 1], rating[i : i + 1]) for i in range(160)])
        table = pd.DataFrame({"question": np.repeat(np.arange(80), 2)})
        tables.append(measured_meta_d(each, table, ["question"], 0.05))
    able, guessing = tables
    assert able.meta_d is not None
    assert able.meta_d.low(0.05) < 1.5 < able.meta_d.high(0.05)
    assert able.meta_d.widest(0.05).units == 80
    assert able.ratio is not None
    assert (guessing.meta_d, guessing.difference, guessing.ratio) == (None, None, None)
    assert not guessing.d_prime.unknown


def test_a_likelihood_far_out_is_exact_and_a_fit_at_its_bound_says_so() -> None:
    far = np.array([[400.0, 1, 0, 0, 0, 0, 0, 3], [3, 0, 0, 0, 0, 0, 1, 400]])
    steps = np.full(6, np.log(2.0))
    found = _loss(np.r_[5.0, steps], far, 0.0)
    edges = [-np.inf, -6, -4, -2, 0, 2, 4, 6, np.inf]
    exact = 0.0
    for row, mean in zip(far, (-2.5, 2.5), strict=True):
        mass = np.array([_between(low - mean, high - mean) for low, high in pairwise(edges)])
        for half in (slice(0, 4), slice(4, 8)):
            exact -= float((row[half] * np.log(mass[half] / mass[half].sum())).sum())
    assert found == pytest.approx(exact, rel=1e-9)
    beyond = fit_meta_d(np.array([[50.0, 5, 0, 0, 12, 0, 0, 0], [0, 0, 0, 12, 0, 0, 5, 50]]), padding=False)
    assert beyond.at_bound
    assert not fit_meta_d(PUBLISHED).at_bound


@pytest.mark.parametrize(
    "counts", [np.zeros((2, 8)), np.ones((2, 7)), np.ones((3, 8)), -np.ones((2, 8)), np.ones((2, 2))]
)
def test_counts_that_allow_no_fit_are_refused(counts: np.ndarray) -> None:
    with pytest.raises(AnalysisError):
        fit_meta_d(counts, padding=False)
