import math

import numpy as np
import pytest

from firsthand.analysis.sequential import Counts
from firsthand.analysis.sequential_rates import rate_evidence, rate_interval


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
