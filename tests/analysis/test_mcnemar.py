import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar

from firsthand.analysis.mcnemar import mcnemar_greater


def pair(both: int, only_first: int, only_second: int, neither: int) -> tuple[np.ndarray, np.ndarray]:
    first = np.repeat([1.0, 1.0, 0.0, 0.0], [both, only_first, only_second, neither])
    second = np.repeat([1.0, 0.0, 1.0, 0.0], [both, only_first, only_second, neither])
    return first, second


def test_twice_the_one_sided_p_is_the_exact_two_sided_one() -> None:
    two_sided = mcnemar([[30, 19], [7, 44]], exact=True).pvalue
    assert 2 * mcnemar_greater(*pair(30, 19, 7, 44)) == pytest.approx(two_sided)


def test_the_direction_counts() -> None:
    assert mcnemar_greater(*pair(0, 2, 20, 0)) > 0.99


def test_invalid_answers_and_coin_tosses_are_left_out() -> None:
    first, second = pair(5, 9, 2, 5)
    padded = np.append(first, [np.nan, 1.0]), np.append(second, [0.0, 0.5])
    assert mcnemar_greater(*padded) == mcnemar_greater(first, second)


def test_without_disagreement_nothing_is_shown() -> None:
    assert mcnemar_greater(*pair(10, 0, 0, 10)) == 1.0
