"""Where there is nothing of one's own, nothing is called privileged; where there is, it is found."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from firsthand.analysis.inference import Measured
from firsthand.analysis.self_cross import Panel, SelfCrossSpec, Support
from firsthand.analysis.self_cross.evidence import evidence_of
from firsthand.analysis.self_cross.judging import ruling
from firsthand.vocabulary import Verdict

sys.path.insert(0, str(Path(__file__).parent))
from simulated_trainings import Models, both, claims, predictions, readable, supported

SPEC = SelfCrossSpec()
DRAWS = 100
MOST = int(stats.binom.ppf(0.995, DRAWS, SPEC.alpha))
"""As many false verdicts as 100 tests at level alpha give by chance, at most."""

Made = Callable[[np.random.Generator], tuple[Panel, Support]]


def exchangeable(rng: np.random.Generator) -> tuple[Panel, Support]:
    return both(rng, Models(public=1.0))


def nothing(rng: np.random.Generator) -> tuple[Panel, Support]:
    return both(rng, Models())


def lucky_seeds(rng: np.random.Generator) -> tuple[Panel, Support]:
    return both(rng, Models(public=0.5, luck=0.6, alone=0.2))


def two_lucky_seeds(rng: np.random.Generator) -> tuple[Panel, Support]:
    return both(rng, Models(public=0.5, luck=0.6, alone=0.2), seeds=2)


def noisier_rivals(rng: np.random.Generator) -> tuple[Panel, Support]:
    noise = np.random.default_rng(int(rng.integers(2**32)))
    worse = {name: lambda x: x + 2.0 * noise.standard_normal(len(x)) for name in ("stranger", "words")}
    models, base = Models(public=1.0), claims(40, 2)
    here = predictions(rng, base, models, change=worse)
    there = predictions(rng, base, models, own=False, change=worse)
    return here, supported(there)


def better_learner(rng: np.random.Generator) -> tuple[Panel, Support]:
    return both(rng, Models(public=0.4, learner=1.0, shared=0.5))


def whole_clusters_alike(rng: np.random.Generator) -> tuple[Panel, Support]:
    base = claims(14, 20, alike=True)
    models = Models(blockwise=2.0, shared=0.0)
    here = predictions(rng, base, models)
    there = predictions(rng, base, readable(models), own=False)
    return here, supported(there)


def rival_with_access_of_its_own(rng: np.random.Generator) -> tuple[Panel, Support]:
    """The target only learns better; on the sibling's claims that is hidden by what the sibling knows of itself."""
    base, models = claims(40, 2), Models(public=0.4, learner=0.6)
    knows = 1.5 * (2.0 * base.truth - 1.0)
    there = predictions(rng, base, models, own=False, about="sibling", change={"sibling": lambda x: x + knows})
    return without_stranger(predictions(rng, base, models)), supported(there)


def better_learner_where_all_is_easy(rng: np.random.Generator) -> tuple[Panel, Support]:
    base, models = claims(40, 2), Models(public=0.4, learner=0.6)
    return predictions(rng, base, models), supported(predictions(rng, base, replace(models, public=5.0), own=False))


def better_learner_where_nothing_can_be_read(rng: np.random.Generator) -> tuple[Panel, Support]:
    base = claims(40, 2)
    there = predictions(rng, base, Models(), own=False)
    return predictions(rng, base, Models(public=0.4, learner=0.6)), supported(there)


def better_learner_beside_its_twin(rng: np.random.Generator) -> tuple[Panel, Support]:
    base = claims(40, 2)
    better = 0.6 * (2.0 * base.truth - 1.0)
    here = predictions(rng, base, Models(public=0.4, learner=0.6), change={"sibling": lambda x: x + better})
    learnt = {"sibling": Measured.approximate(0.9, 0.02, 30, (0.0, 1.0))}
    return here, supported(twins=frozenset({"sibling"}), learnt=learnt)


def without_stranger(panel: Panel) -> Panel:
    return replace(panel, runs=tuple(one for one in panel.runs if one.name != "stranger"))


def always_yes(rng: np.random.Generator) -> tuple[Panel, Support]:
    base, models = claims(40, 2), Models(public=1.0)
    here = predictions(rng, base, models, change={"target": lambda x: np.full(len(x), 3.0)})
    there = predictions(rng, base, models, own=False)
    return here, supported(there)


def two_options_only(rng: np.random.Generator) -> tuple[Panel, Support]:
    return both(rng, Models(own=3.0, coverage=5e-9))


NULLS: tuple[Made, ...] = (
    exchangeable, nothing, lucky_seeds, two_lucky_seeds, noisier_rivals, better_learner, whole_clusters_alike,
    always_yes, two_options_only, rival_with_access_of_its_own, better_learner_where_all_is_easy,
    better_learner_where_nothing_can_be_read, better_learner_beside_its_twin,
)  # fmt: skip


def verdicts(made: Made, name: str, draws: int = DRAWS) -> list[tuple[Verdict, tuple[str, ...]]]:
    found = []
    for number in range(draws):
        rng = np.random.default_rng([number, *map(ord, name)])
        found.append(ruling(evidence_of(*made(rng), SPEC))[:2])
    return found


@pytest.mark.parametrize("made", NULLS, ids=lambda made: made.__name__)
def test_a_hundred_nulls_give_no_more_privileged_verdicts_than_alpha(made: Made) -> None:
    found = verdicts(made, made.__name__)
    assert sum(verdict is Verdict.PRIVILEGED for verdict, _ in found) <= MOST


def test_what_everybody_reads_alike_is_public_inference() -> None:
    found = verdicts(lambda rng: both(rng, Models(public=1.5)), "public", 40)
    assert sum(verdict is Verdict.PUBLIC_INFERENCE for verdict, _ in found) >= 36


@pytest.mark.parametrize(
    ("own", "least"), [(1.0, 0.9), (0.7, 0.5)], ids=["a strong private signal", "a weaker private signal"]
)
def test_a_planted_advantage_is_found(own: float, least: float) -> None:
    found = verdicts(lambda rng: both(rng, Models(own=own)), "planted", 40)
    assert np.mean([verdict is Verdict.PRIVILEGED for verdict, _ in found]) >= least


def test_a_better_learner_is_told_from_one_who_knows() -> None:
    reasons = [why for _, why in verdicts(better_learner, "learner", 20)]
    assert any("general ability may explain it" in " ".join(why) for why in reasons)


def test_answers_within_two_options_are_refused_for_their_coverage() -> None:
    for verdict, why in verdicts(two_options_only, "options", 5):
        assert verdict is Verdict.INSUFFICIENT
        assert "coverage: Yes and No hold 5e-09" in why[0]


def test_power_grows_with_the_advantage() -> None:
    shares = [
        np.mean(
            [v is Verdict.PRIVILEGED for v, _ in verdicts(lambda rng, own=own: both(rng, Models(own=own)), "power", 25)]
        )
        for own in (0.2, 0.6, 1.2)
    ]
    assert shares == sorted(shares)
    assert shares[-1] > 0.9
