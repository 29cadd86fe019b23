"""The line of agreement on similarity: closed forms, agreement with a formula, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from direct_meta_simulation import opinions

from firsthand.analysis.similarity_regression import SimilarityRegression, similarity_regression
from firsthand.errors import AnalysisError

QUALITY = (0.9, 0.7, 0.5, 0.3)


def similar(seed: int = 0, models: int = 4) -> np.ndarray:
    values = np.random.default_rng(seed).normal(size=(models, 6)) + 1.0
    return np.corrcoef(values)


def test_coefficients_and_p_values_are_those_of_the_formula() -> None:
    rng = np.random.default_rng(1)
    similarity = similar()
    agreement = 0.2 + 0.5 * similarity + 0.1 * np.eye(4) + rng.normal(0, 0.05, (4, 4))
    rows = [
        {"agreement": agreement[m, n], "similarity": similarity[m, n], "own": float(m == n), "reporter": f"r{m}"}
        for m in range(4)
        for n in range(4)
    ]
    wanted = smf.ols("agreement ~ similarity + own + C(reporter)", pd.DataFrame(rows)).fit()
    found = similarity_regression(agreement, similarity, 0.05)
    for name, one in (("own", found.own), ("similarity", found.slope)):
        assert one.value == pytest.approx(wanted.params[name])
        assert (one.low, one.high) == pytest.approx(tuple(wanted.conf_int(0.1).loc[name]))
        half = wanted.pvalues[name] / 2
        assert one.p == pytest.approx(half if wanted.params[name] > 0 else 1 - half)
    assert (found.models, found.model_pairs, found.own.units) == (4, 16, 4)


def test_exact_lines_come_back() -> None:
    similarity = similar()
    found = similarity_regression(0.1 + 0.6 * similarity + 0.25 * np.eye(4), similarity, 0.05)
    assert found.slope.value == pytest.approx(0.6)
    assert found.own.value == pytest.approx(0.25)
    assert found.r_squared == pytest.approx(1.0)


def simulated(follow: float) -> SimilarityRegression:
    direct, meta = opinions(3, models=4, pairs=20_000, quality=QUALITY, follow=follow)
    correlations = np.corrcoef(np.concatenate([meta, direct]))
    return similarity_regression(correlations[:4, 4:], correlations[4:, 4:], 0.05)


def test_saying_ones_own_judgement_lies_on_the_line_and_a_common_opinion_below_it() -> None:
    own, common = simulated(1.0), simulated(0.0)
    assert own.slope.value == pytest.approx(1 / np.sqrt(1 + 0.7**2), abs=0.05)
    assert own.own.value == pytest.approx(0.0, abs=0.03)
    assert common.own.value < -0.1
    assert common.slope.value > 0


@pytest.mark.parametrize("models", [1, 2])
def test_fewer_than_three_models_are_refused(models: int) -> None:
    with pytest.raises(AnalysisError, match=f"with {models} models"):
        similarity_regression(np.eye(models), np.eye(models), 0.05)


def test_models_that_are_all_equally_similar_are_refused() -> None:
    similarity = 0.7 + 0.3 * np.eye(4)
    with pytest.raises(AnalysisError, match="equally similar"):
        similarity_regression(similarity, similarity, 0.05)


def test_an_unknown_agreement_is_refused() -> None:
    agreement = similar()
    agreement[1, 2] = np.nan
    with pytest.raises(AnalysisError, match="is unknown"):
        similarity_regression(agreement, similar(), 0.05)
