"""Has a rate changed by so much? Tests that may be looked at after every response, and stop when they know.

*Betting.* Whoever holds that the rates are ``(p0, p1)``, before and after the edit, sells bets on each response at
those odds; who wins much against *every* pair of a hypothesis has refuted it. The capital against one pair is a
likelihood ratio: a martingale that starts at 1 if the pair is true, so that it ever reaches 1 / alpha with a
probability of at most alpha (Ville 1939). It does not matter when one looks, how large the batches are, or which prompt
is sampled next. Waudby-Smith and Ramdas (2024, section 4) bet on one mean like this; Turner, Ly and Gruenwald (2024,
"Generic E-variables for exact sequential k-sample tests") on two samples; that the smallest capital over a composite
hypothesis is evidence against all of it (an e-process) is in Ramdas, Gruenwald, Vovk and Shafer (2023).

*The bets.* Against "the change is at most d" one bets, at each point of the line ``p1 - p0 = d``, that the rate before
is lower and the rate after higher: a fixed mixture of four pairs at steps in ``arcsin(sqrt(p))``, where rates are
equally far apart if they are equally hard to tell apart. Inside the hypothesis the same bets lose on average, since the
rate before is higher there, or the rate after lower, than what they were made against. So the smallest capital on the
line is one against the whole hypothesis. The line is looked at in 161 points.

Both batches are uncertain, and both are bet on: the baseline is not taken for the truth. It is however one batch for
all experiments of an investigation, and errors that it causes come together: see :func:`shared_levels`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, xlog1py, xlogy

from firsthand.errors import AnalysisError

Floats: TypeAlias = NDArray[np.float64]
Found = Literal["changes", "does not change", "undecided"]

POINTS: Final = 161
"""Points of the line between hypotheses at which capital is kept."""

_STEPS: Final = np.array([[0.2, 0.2], [0.1, 0.35], [0.35, 0.1], [0.2, np.inf]])
"""Steps of the four bets before and after the edit, in radians; an infinite one goes to the edge, 0 or 1."""
_REACH: Final = 0.4
"""Largest part of the way to the edge that a finite step goes."""
_RATE_STEPS: Final = np.array([0.1, 0.25, 0.5, np.inf])
_EDGE: Final = np.pi / 2.0


class Counts(NamedTuple):
    """Responses with the behaviour, and all responses of which it could be said."""

    yes: int
    valid: int


@dataclass(frozen=True)
class Rule:
    """What is to be decided of a change, as a share from 0 to 1.

    Attributes:
        above: "Changes" is said where a change of at most this much, in either direction, is refuted.
        below: "Does not change" is said where a change of at least this much is refuted.
        alpha: Probability of a wrong statement, over all looks together. Where ``above`` is larger than ``below``, a
            change between them makes both statements wrong, and each is given half.
    """

    above: float = 0.30
    below: float = 0.30
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not (0.0 <= self.above < 1.0 and 0.0 < self.below <= 1.0 and 0.0 < self.alpha < 1.0):
            raise AnalysisError(
                f"No change can be decided with above={self.above}, below={self.below}, alpha={self.alpha}.",
                "Give shares between 0 and 1.",
            )

    @property
    def needed(self) -> float:
        """Logarithm of the capital at which a statement is made."""
        return float(-np.log(self.alpha / 2.0 if self.above > self.below else self.alpha))


WORDING: Final = Rule(0.30, 0.30)
"""Decides what a claim says: at least 30 points or less."""
THRESHOLDS: Final = Rule(0.50, 0.15)
"""Decides whether the true change is beyond the thresholds of labels, which takes far more responses."""


@dataclass(frozen=True)
class Decision:
    """What was decided, and when.

    Attributes:
        found: The statement.
        batches: Batches of the path that were used; all of them if nothing was decided.
        edit: Counts after the edit when it was decided.
        changes: Logarithm of the capital against "changes by at most ``above``".
        stays: Logarithm of the capital against "changes by at least ``below``".
    """

    found: Found
    batches: int
    edit: Counts
    changes: float
    stays: float


class Wanted(NamedTuple):
    """Responses to be drawn next, on the prompt as it is and on the edited one; none: stop."""

    baseline: int
    edit: int


MOST: Final = Wanted(60, 60)
"""Most responses that are drawn in all, on the prompt as it is and on the edited one."""


def evidence(
    before: tuple[ArrayLike, ArrayLike], after: tuple[ArrayLike, ArrayLike], rule: Rule
) -> tuple[Floats, Floats]:
    """Logarithms of the capital against small changes and against large ones, for arrays of counts.

    Args:
        before: Yes and valid responses without the edit; any shapes that broadcast.
        after: The same with it.
        rule: What is to be decided.

    Returns:
        Capital for "changes" (the mean over both directions) and for "does not change" (the smaller of two).
    """
    k0, n0, k1, n1 = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (*before, *after)))
    up = _against(k0, n0, k1, n1, rule.above)
    down = _against(n0 - k0, n0, n1 - k1, n1, rule.above)
    not_down = _against(k0, n0, k1, n1, -rule.below)
    not_up = _against(n0 - k0, n0, n1 - k1, n1, -rule.below)
    return np.logaddexp(up, down) - np.log(2.0), np.minimum(not_down, not_up)


def found_of(changes: float, stays: float, rule: Rule) -> Found:
    """The statement that some capital allows; the larger capital speaks."""
    if max(changes, stays) < rule.needed:
        return "undecided"
    return "changes" if changes >= stays else "does not change"


def decided(baseline: Counts, edit: Counts, rule: Rule = WORDING) -> Decision:
    """The decision at some counts, whatever led there: sampling may stop or go on, and has not to tell.

    Raises:
        AnalysisError: If the counts are none.
    """
    for counts in (baseline, edit):
        if not 0 <= counts.yes <= counts.valid:
            raise AnalysisError(f"{counts.yes} of {counts.valid} is no count.", "Give yes and valid responses.")
    changes, stays = (float(x) for x in evidence(baseline, edit, rule))
    return Decision(found_of(changes, stays, rule), 1, edit, changes, stays)


def decide(baseline: Counts, path: Sequence[tuple[int, int]], rule: Rule = WORDING) -> Decision:
    """Look after every batch and stop at the first decision.

    Args:
        baseline: Counts on the prompt as it is.
        path: Yes and valid responses of each batch on the edited prompt, in order. What comes after the decision is
            ignored.
        rule: What is to be decided.
    """
    edit, found = Counts(0, 0), decided(baseline, Counts(0, 0), rule)
    for number, (yes, valid) in enumerate(path, 1):
        edit = Counts(edit.yes + yes, edit.valid + valid)
        now = decided(baseline, edit, rule)
        found = Decision(now.found, number, edit, now.changes, now.stays)
        if now.found != "undecided":
            break
    return found if path else Decision(found.found, 0, edit, found.changes, found.stays)


def next_batch(baseline: Counts, edit: Counts, rule: Rule = WORDING, *, step: int = 5, most: Wanted = MOST) -> Wanted:
    """How many responses to draw next: as many as would decide if the shares stayed what they are.

    At least a step, and at most twice what there is, since first shares say little. The baseline grows only where no
    number of responses to the edited prompt would do, because it is shared. Any sizes would be valid; these avoid looks
    that cannot decide.

    Args:
        baseline: Counts on the prompt as it is.
        edit: Counts on the edited prompt.
        rule: What is to be decided.
        step: Fewest responses in a batch, and the size of the first.
        most: Most responses to draw in all.
    """
    room = Wanted(max(0, most.baseline - baseline.valid), max(0, most.edit - edit.valid))
    if not any(room) or decided(baseline, edit, rule).found != "undecided":
        return Wanted(0, 0)
    if not edit.valid:
        return Wanted(0, min(step, room.edit))
    shares = [(one.yes + 0.5) / (one.valid + 1.0) for one in (baseline, edit)]
    more = np.arange(max(room) + 1)
    after = edit.valid + np.minimum(more, room.edit)
    for before in (np.full_like(after, baseline.valid), baseline.valid + np.minimum(more, room.baseline)):
        log_e = evidence((before * shares[0], before), (after * shares[1], after), rule)
        enough = np.flatnonzero(np.maximum(*log_e) >= rule.needed)
        if enough.size:
            wanted = max(step, min(int(enough[0]), edit.valid))
            return Wanted(min(wanted, room.baseline) if before[-1] > before[0] else 0, min(wanted, room.edit))
    behind = baseline.valid <= edit.valid or not room.edit
    return Wanted(min(step, room.baseline) if behind else 0, min(step, room.edit))


def rate_evidence(counts: tuple[ArrayLike, ArrayLike], bound: float, side: Literal["above", "below"]) -> Floats:
    """Logarithm of the capital for one rate being above, or below, a bound (Waudby-Smith and Ramdas 2024, section 4).

    Args:
        counts: Yes and valid responses; any shapes that broadcast.
        bound: The bound, from 0 to 1.
        side: What is to be shown.
    """
    yes, valid = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in counts))
    if side == "below":
        yes, bound = valid - yes, 1.0 - bound
    null = np.full((1, 1), bound)
    ratio, never = log_ratios(yes, valid, _stepped(null, _RATE_STEPS), null)
    total = logsumexp(np.where(never, np.inf, ratio), axis=-1) - np.log(len(_RATE_STEPS))
    return np.asarray(total[..., 0])


def rate_interval(counts: Counts, alpha: float = 0.05) -> tuple[float, float]:
    """Rates that are not refuted at any look: an interval that holds at all sizes of the sample at once."""
    bounds = np.sin(np.linspace(0.0, _EDGE, 501)) ** 2
    least = -np.log(alpha / 2.0)
    above = [b for b in bounds if float(rate_evidence(counts, float(b), "above")) >= least]
    below = [b for b in bounds if float(rate_evidence(counts, float(b), "below")) >= least]
    return float(max(above, default=0.0)), float(min(below, default=1.0))


def shared_levels(alpha: float, experiments: int | None = None, number: int = 1) -> float:
    """The level of one experiment where nothing in a whole investigation is to be wrong with a probability above alpha.

    Experiments share their baseline: if it came out far from the truth, many are wrong at once. Each one's error rate
    is alpha all the same, and so is the expected share of wrong statements; what is larger is how much that share
    varies between investigations. The union bound does not ask how errors depend on each other.

    Args:
        alpha: Level of the investigation.
        experiments: How many there will be; each gets an equal part (Bonferroni). ``None`` if that is not known.
        number: Number of the experiment from 1, where it is not: it gets ``6 alpha / (pi number)^2``, which is alpha in
            all.
    """
    if experiments is not None:
        return alpha / max(1, experiments)
    return alpha * 6.0 / (np.pi * number) ** 2


def _against(k0: Floats, n0: Floats, k1: Floats, n1: Floats, bound: float) -> Floats:
    """Logarithm of the least capital against "the change is at most ``bound``"."""
    null0, null1, bet0, bet1 = odds(bound)
    (first, first_never), (second, second_never) = log_ratios(k0, n0, bet0, null0), log_ratios(k1, n1, bet1, null1)
    each = np.where(first_never | second_never, np.inf, first + second)
    total = logsumexp(each, axis=-1) - np.log(len(_STEPS))
    return np.asarray(total.min(axis=-1))


def odds(bound: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Rates before and after on the line, ``[points, 1]`` each, and those that are bet on, ``[points, bets]`` each."""
    low, high = max(0.0, -bound), min(1.0, 1.0 - bound)
    angle = np.linspace(np.arcsin(np.sqrt(low)), np.arcsin(np.sqrt(high)), POINTS)
    null0 = np.clip(np.sin(angle) ** 2, low, high)[:, None]
    null1 = np.clip(null0 + bound, 0.0, 1.0)
    return null0, null1, 1.0 - _stepped(1.0 - null0, _STEPS[:, 0]), _stepped(null1, _STEPS[:, 1])


def _stepped(rate: Floats, steps: Floats) -> Floats:
    """Higher rates: some steps up in ``arcsin(sqrt(p))``."""
    angle = np.arcsin(np.sqrt(np.clip(rate, 0.0, 1.0)))
    moved = np.where(np.isinf(steps), _EDGE, np.minimum(angle + steps, angle + _REACH * (_EDGE - angle)))
    return np.asarray(np.where(rate >= 1.0, 1.0, np.sin(moved) ** 2))


def log_ratios(yes: Floats, valid: Floats, bet: Floats, null: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Logarithms of the likelihood ratio of two rates, and where what was seen cannot happen at the one bet against.

    Where both rates are the same nothing is bet, and nothing won whatever was seen.

    Returns:
        Both ``[..., points, bets]``. What is said of the first means nothing where the second holds.
    """
    k, n = yes[..., None, None], valid[..., None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = xlogy(k, bet) + xlog1py(n - k, -bet) - (xlogy(k, null) + xlog1py(n - k, -null))
    never = ((null <= 0.0) & (k > 0) | (null >= 1.0) & (k < n)) & (bet != null)
    return np.where(bet == null, 0.0, np.where(never, 0.0, ratio)), np.asarray(never)
