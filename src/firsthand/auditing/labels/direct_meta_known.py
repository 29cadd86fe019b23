"""Known answers of direct against meta: made-up statements beside the real direct judgements of the run's own pairs.

Each world is drawn many times, since one draw of a true null goes wrong as often as its level allows. A *planted*
statement must be found in most draws; the others must not be called privileged more often than chance at the level of
the test makes likely.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from scipy.stats import binom

from firsthand.analysis.direct_meta import scaled
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.self_advantage import Ruled, rule
from firsthand.claims.labels import DirectMetaClaim
from firsthand.progress import Progress, Silent
from firsthand.report.document import KnownAnswer
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability, Condition, Verdict

DRAWS_OF_WORLD: Final = 20
BOOTSTRAP: Final = 500
"""Draws of the bootstrap for each of them."""
NOISE: Final = 0.3
"""Standard deviation of what is added to a statement, in those of the judgement that it repeats."""
FOUND: Final = 0.8
"""Share of draws in which a planted statement must be found."""
RARE: Final = 0.001
"""How improbable a number of false alarms must be at the level of the test before the instrument is called faulty."""

Says = Callable[[FloatArray, FloatArray], FloatArray]
"""From direct judgements ``[models, pairs]``, standardised and that of the model in question first, and noise of the
same shape, to meta judgements."""


@dataclass(frozen=True)
class World:
    """Statements whose truth is known.

    Attributes:
        name: What they are called.
        description: What everybody says, in one sentence.
        says: Makes them.
        expected: The verdict on the first model.
        planted: Whether it must be found privileged; if not, it must never be.
        alike: Whether the same holds for all models, whoever is the first.
        also: Other verdicts that would be as right.
    """

    name: str
    description: str
    says: Says
    expected: Verdict
    planted: bool = False
    alike: bool = False
    also: tuple[Verdict, ...] = ()


def _own(direct: FloatArray, noise: FloatArray) -> FloatArray:
    return direct + NOISE * noise


def _others(direct: FloatArray, noise: FloatArray) -> FloatArray:
    return np.vstack([direct[1:2], direct[1:]]) + NOISE * noise


def _shared(direct: FloatArray, noise: FloatArray) -> FloatArray:
    return np.repeat(direct[:1], len(direct), axis=0) + NOISE * noise


def _by_lot(direct: FloatArray, noise: FloatArray) -> FloatArray:
    return noise


WORLDS: Final = (
    World(
        "its own judgement",
        "every model says its own direct judgement, with noise",
        _own,
        Verdict.PRIVILEGED,
        planted=True,
        alike=True,
    ),
    World(
        "another's judgement",
        "the model says the direct judgement of another one, with noise; the others say their own",
        _others,
        Verdict.PUBLIC_INFERENCE,
        also=(Verdict.INSUFFICIENT, Verdict.INVERTED),
    ),
    World(
        "an opinion that all share",
        "every model says one and the same opinion, which the model's direct judgement happens to measure best",
        _shared,
        Verdict.PUBLIC_INFERENCE,
        also=(Verdict.INSUFFICIENT,),
    ),
    World("a lot", "every model answers by lot", _by_lot, Verdict.INSUFFICIENT, alike=True),
)


def known_answers(
    table: pd.DataFrame, claim: DirectMetaClaim, progress: Progress | None = None
) -> tuple[KnownAnswer, ...]:
    """Judge statements whose truth is known beside the direct judgements that were measured, for every model.

    Args:
        table: One row a model and pair, as :func:`~firsthand.analysis.self_advantage.self_advantage` takes it; only its
            meta judgements are replaced.
        claim: The rules.
        progress: Who is told how far it is.
    """
    progress = progress or Silent()
    asked = [(world, first) for world in WORLDS for first in (claim.models[:1] if world.alike else claim.models)]
    progress.start("known answers", len(asked) * DRAWS_OF_WORLD)
    found: list[KnownAnswer] = []
    for world, first in asked:
        drawn = []
        for number in range(DRAWS_OF_WORLD):
            drawn.append(_drawn(world, first, table, claim, number))
            progress.step()
        judged = claim.models if world.alike else (first,)
        found += [_known(world, model, drawn, claim) for model in judged]
    return tuple(found)


def _known(world: World, model: str, drawn: Sequence[Ruled], claim: DirectMetaClaim) -> KnownAnswer:
    compared = drawn[0].compared
    place = compared.judged.models.index(model)
    rulings = [one.rulings[place] for one in drawn]
    obtained, reason = _summed_up(world, Counter(verdict for verdict, _ in rulings), claim.analysis.alpha)
    alone = not compared.alike[place, compared.nearest(place)].value >= claim.minimum_similarity
    # Where no rival is like the model, the rules allow no privileged verdict, and the plant must be stopped by that.
    also = (*world.also, Verdict.INSUFFICIENT) if world.planted and alone else world.also
    return KnownAnswer(
        reporter=f"{world.name}, {model}",
        description=f"Beside the measured direct judgements, {world.description}.",
        capability=Capability.IDENTIFICATION,
        condition=Condition.Y_WITHHELD,
        expected=world.expected,
        also_accepted=also,
        obtained=obtained,
        passed=obtained in (world.expected, *also),
        reasons=(reason, *rulings[0][1]),
    )


def _summed_up(world: World, counts: Mapping[Verdict, int], alpha: float) -> tuple[Verdict, str]:
    """One verdict for many draws, and why."""
    privileged = counts.get(Verdict.PRIVILEGED, 0)
    rest = {verdict: count for verdict, count in counts.items() if verdict is not Verdict.PRIVILEGED}
    common = max(rest, key=lambda verdict: rest[verdict], default=Verdict.INSUFFICIENT)
    said = f"privileged in {privileged} of {DRAWS_OF_WORLD} draws"
    if world.planted:
        enough = privileged >= FOUND * DRAWS_OF_WORLD
        return (Verdict.PRIVILEGED if enough else common), f"{said}; at least {FOUND:.0%} are needed"
    most = int(binom.isf(RARE, DRAWS_OF_WORLD, alpha))
    return (Verdict.PRIVILEGED if privileged > most else common), f"{said}; more than {most} would be a fault"


def _drawn(world: World, first: str, table: pd.DataFrame, claim: DirectMetaClaim, number: int) -> Ruled:
    """One draw of a world in which ``first`` is the model in question."""
    models = [first, *(name for name in claim.models if name != first)]
    by_model = {str(name): some.set_index("key") for name, some in table.groupby("model", sort=False)}
    keys = by_model[first].index
    direct = np.vstack([scaled(by_model[name].loc[keys, "direct"].to_numpy(dtype=np.float64)) for name in models])
    noise = stream(0, "direct-meta", "known", world.name, first, number).standard_normal(direct.shape)
    said = dict(zip(models, world.says(direct, noise), strict=True))
    made = [by_model[name].loc[keys].reset_index().assign(meta=said[name], coverage=1.0, model=name) for name in models]
    spec = claim.analysis
    return rule(
        pd.concat(made, ignore_index=True),
        clusters=spec.clusters,
        alpha=spec.alpha,
        minimum_coverage=spec.minimum_coverage,
        minimum_similarity=claim.minimum_similarity,
        draws=min(BOOTSTRAP, spec.bootstrap_draws),
        thorough=False,
    )
