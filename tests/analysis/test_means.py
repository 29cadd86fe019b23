"""The difference of two groups' means is resampled by clusters, so that pairs stay together."""

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.means import difference_of, estimate


def test_the_difference_is_that_of_the_means() -> None:
    values, first = np.array([1.0, 0.0, 1.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    found = estimate(difference_of(values, first, pd.DataFrame({"c": list("abcde")}), ("c",)))
    assert found is not None
    assert found.value == pytest.approx(2 / 3)


def test_pairs_that_agree_leave_less_doubt_than_the_same_rows_unpaired() -> None:
    values = np.tile([1.0, 0.0], 20).repeat(2)
    first = np.tile([1.0, 0.0], 40)
    paired = pd.DataFrame({"c": np.arange(40).repeat(2)})
    apart = pd.DataFrame({"c": np.arange(80)})
    close, wide = (estimate(difference_of(values, first, table, ("c",))) for table in (paired, apart))
    assert close is not None
    assert wide is not None
    assert close.value == wide.value == 0.0
    assert close.high - close.low < 0.2 < 0.4 < wide.high - wide.low
    assert close.units == 40
