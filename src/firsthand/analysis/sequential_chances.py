"""What a sequential test will do to an edit of some true effect, summed over everything that can be drawn.

No simulation: the capital depends on counts alone, so the chance of being undecided is carried from look to look for
every pair of counts. It tells what a plan costs, and how often a test is wrong that is looked at after every response.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.stats import binom

from firsthand.analysis.sequential import Floats, Rule, log_ratios, odds

_FAR: Final = 300.0
"""Logarithms of capital beyond this are as good as infinite."""


@dataclass(frozen=True)
class PathChances:
    """Chances of each end of a path, and what it costs.

    Attributes:
        changes: Chance that "changes" is said.
        stays: Chance that "does not change" is said.
        undecided: Chance that neither is said before the last response.
        edit: Expected responses to the edited prompt.
    """

    changes: float
    stays: float
    undecided: float
    edit: float


def path_chances(before: float, after: float, baseline: int, looks: Sequence[int], rule: Rule) -> PathChances:
    """Chances of a path for given true rates.

    Args:
        before: True rate without the edit.
        after: True rate with it.
        baseline: Valid responses of the baseline, drawn first.
        looks: Valid responses to the edited prompt after which one looks, rising; ``range(1, 61)`` for every one.
        rule: What is to be decided.
    """
    left = binom.pmf(np.arange(baseline + 1), baseline, before)[:, None]
    drawn, expected, ends = 0, 0.0, [0.0, 0.0]
    for look in looks:
        expected += float(left.sum()) * (look - drawn)
        left = _drawn(left, look - drawn, after)
        drawn = look
        log_changes, log_stays = capital_table(baseline, look, rule)
        changes = (log_changes >= rule.needed) & (log_changes >= log_stays)
        stays = (log_stays >= rule.needed) & ~changes
        ends[0] += float(left[changes].sum())
        ends[1] += float(left[stays].sum())
        left = np.where(changes | stays, 0.0, left)
    return PathChances(ends[0], ends[1], float(left.sum()), expected)


def _drawn(left: Floats, more: int, rate: float) -> Floats:
    """Chances of counts after some more responses, ``[baseline + 1, edit + 1]``."""
    step = binom.pmf(np.arange(more + 1), more, rate)
    return np.stack([np.convolve(row, step) for row in left])


@lru_cache(maxsize=512)
def capital_table(baseline: int, edit: int, rule: Rule) -> tuple[Floats, Floats]:
    """Logarithms of the capital for every pair of counts, ``[baseline + 1, edit + 1]`` each."""
    up, not_down = (_against_all(baseline, edit, bound) for bound in (rule.above, -rule.below))
    # What is said of falls is what is said of rises where yes and no are exchanged.
    changes = np.logaddexp(up, up[::-1, ::-1]) - np.log(2.0)
    return changes, np.minimum(not_down, not_down[::-1, ::-1])


def _against_all(baseline: int, edit: int, bound: float) -> Floats:
    null0, null1, bet0, bet1 = odds(bound)
    first, first_never = log_ratios(np.arange(baseline + 1.0), np.full(baseline + 1, float(baseline)), bet0, null0)
    second, second_never = log_ratios(np.arange(edit + 1.0), np.full(edit + 1, float(edit)), bet1, null1)
    ratios = [np.exp(np.clip(one, -_FAR, _FAR)) for one in (first, second)]
    capital = np.einsum("iaj,kaj->ika", *ratios, optimize=False) / first.shape[-1]
    never = first_never.any(axis=-1)[:, None] | second_never.any(axis=-1)[None]
    return np.asarray(np.log(np.where(never, np.inf, capital).min(axis=-1)))
