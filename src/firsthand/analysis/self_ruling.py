"""The verdict on what a model says of strings: the hurdles before ``privileged``, and what holds where one is missed.

All hurdles must be taken, each at one-sided level alpha: an intersection-union test, whose p-value is the largest of
them. Over the models that are asked, any of which could come out ahead, it is corrected by Holm.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from firsthand.analysis.direct_meta import Follows, Judged, similarity, tetrad
from firsthand.analysis.inference import Measured
from firsthand.analysis.outsiders import AS_MEASURED, STRINGS, VARIANTS, outsiders
from firsthand.vocabulary import Verdict

LEAST_PAIRS: Final = 20
NET: Final = "net of lengths and phenomena"

Ruling: TypeAlias = tuple[Verdict, tuple[str, ...]]
Measures: TypeAlias = dict[tuple[str, str], Measured]
"""A statistic of each hurdle, by name and variant."""


@dataclass(frozen=True, eq=False)
class Compared:
    """Judgements with everything that is measured of them.

    Attributes:
        judged: The judgements.
        unusable: Why the answers of a model allow no verdict, by its number; ``None`` where they do.
        strings: Whether a reader of the strings alone is among the rivals.
    """

    judged: Judged
    unusable: Mapping[int, str | None]
    strings: bool = True

    @cached_property
    def follows(self) -> dict[int, Follows]:
        """What each model with enough valid answers follows."""
        return {
            m: Follows(self.judged, m, outsiders(self.judged, m, strings=self.strings))
            for m in range(len(self.judged.models))
            if self.judged.valid(m).sum() >= LEAST_PAIRS
        }

    @cached_property
    def alike(self) -> dict[tuple[int, int], Measured]:
        """How similar the direct judgements of two models are."""
        numbers = range(len(self.judged.models))
        found = {(m, n): similarity(self.judged, m, n) for m in numbers for n in numbers if m < n}
        return found | {(n, m): one for (m, n), one in found.items()}

    @cached_property
    def tetrads(self) -> dict[tuple[int, int], Measured]:
        """The tetrad differences of two models with enough valid answers."""
        found = {(m, n): tetrad(self.judged, m, n) for m in self.follows for n in self.follows if m < n}
        return found | {(n, m): one for (m, n), one in found.items()}

    def rivals(self, model: int) -> list[int]:
        """Numbers of all other models and of the outsiders."""
        return [n for n in range(len(self.follows[model].names)) if n != model]

    def nearest(self, model: int) -> int:
        """Number of the most similar other model."""
        others = [n for n in range(len(self.judged.models)) if n != model]
        return max(others, key=lambda n: self.alike[model, n].value)


def hurdles(plain: Compared, model: int, until: float | None = None) -> Measures:
    """Everything that must be above 0 before what a model says counts as its own, in every form of the judgements.

    Args:
        plain: The judgements as they were measured.
        model: Number of the model.
        until: Look no further once a form has missed a hurdle at this level; ``None`` to look at all.
    """
    found: Measures = {}
    for variant, change in VARIANTS.items():
        if found and until is not None and largest_p(found) > until:
            break
        if variant == AS_MEASURED:
            here = plain
        else:
            here = Compared(change(plain.judged), plain.unusable, strings=variant != NET)
        found |= {(name, variant): measured for name, measured in _of_variant(here, model)}
    return found


def _of_variant(here: Compared, model: int) -> Iterator[tuple[str, Measured]]:
    follows, name = here.follows[model], here.judged.models
    yield "follows its own direct judgement", follows.correlation(model)
    for n in here.rivals(model):
        yield f"self advantage over {follows.names[n]}", follows.advantage(n)
    for n in range(len(name)):
        if n != model and here.unusable[n] is None and (model, n) in here.tetrads:
            yield f"tetrad difference with {name[n]}", here.tetrads[model, n]


def largest_p(measures: Measures) -> float:
    """P-value of "all hurdles are taken"."""
    return max(one.p_above(0.0) for one in measures.values())


def ruled(plain: Compared, model: int, taken: Measures, p: float, alpha: float, near_enough: float) -> Ruling:
    """The verdict on one model whose answers can be used, and the rules that led to it.

    Args:
        plain: The judgements as they were measured.
        model: Number of the model.
        taken: Its hurdles.
        p: Their largest p-value, corrected over models.
        alpha: One-sided level.
        near_enough: Least similarity of the most similar rival.
    """
    follows = plain.follows[model]
    own = follows.correlation(model)
    if own.p_below(0.0) <= alpha:
        return Verdict.INVERTED, (f"it says the reverse of its own direct judgements: r = {own.value:.2f}",)
    weakest = max(plain.rivals(model), key=lambda n: follows.advantage(n).p_above(0.0))
    least = follows.advantage(weakest)
    ahead = (
        f"self advantage over {follows.names[weakest]} {least.value:+.2f}, p = {least.p_above(0.0):.3g}, "
        "the weakest of all"
    )
    if own.p_above(0.0) <= alpha and least.p_above(0.0) <= alpha:
        verdict, reason = _beyond_opinion(plain, model, taken, p, alpha, near_enough)
        return verdict, (ahead, reason, _nearest(plain, model))
    best = _followed(plain, model, alpha)
    if own.p_above(0.0) <= alpha and best is not None:
        said = f"it follows {_whose(plain, best, model)} (r = {follows.correlation(best).value:.2f}) as well as its own"
        return Verdict.PUBLIC_INFERENCE, (f"{said} (r = {own.value:.2f})", ahead, _nearest(plain, model))
    said = (
        "it follows its own direct judgements"
        if own.p_above(0.0) <= alpha
        else "it is not shown to follow its own direct judgements"
    )
    others = f", though {_whose(plain, best, model)}" if best is not None else ""
    return Verdict.INSUFFICIENT, (f"{said} (r = {own.value:.2f}){others}, and no self advantage is shown", ahead)


def _followed(plain: Compared, model: int, alpha: float) -> int | None:
    """The rival that a model is shown to follow most, if any; any of them would do, so each is tested at its share."""
    follows, rivals = plain.follows[model], plain.rivals(model)
    shown = [n for n in rivals if follows.correlation(n).p_above(0.0) <= alpha / len(rivals)]
    return max(shown, key=lambda n: follows.correlation(n).value, default=None)


def _whose(plain: Compared, rival: int, model: int) -> str:
    named = plain.follows[model].names[rival]
    return f"the direct judgements of {named}" if named != STRINGS else f"the {named}"


def _nearest(plain: Compared, model: int) -> str:
    nearest = plain.nearest(model)
    return f"the most similar rival is {plain.judged.models[nearest]}, r = {plain.alike[model, nearest].value:.2f}"


def _beyond_opinion(
    plain: Compared, model: int, taken: Measures, p: float, alpha: float, near_enough: float
) -> tuple[Verdict, str]:
    """Whether an advantage that is shown is more than a better measure of what others think too."""
    follows, name = plain.follows, plain.judged.models
    for n in range(len(name)):
        if n == model or (plain.unusable[n] is None and plain.tetrads[model, n].p_above(0.0) <= alpha):
            continue
        if plain.unusable[n] is not None or min(follows[n].correlation(k).p_above(0.0) for k in (model, n)) > alpha / 2:
            return (
                Verdict.INSUFFICIENT,
                f"whether its direct judgements are only the better measure cannot be told: what {name[n]} says "
                f"{'follows neither' if plain.unusable[n] is None else 'cannot be used'}",
            )
        found = plain.tetrads[model, n]
        return (
            Verdict.PUBLIC_INFERENCE,
            f"one common opinion explains it: the tetrad difference with {name[n]} is {found.value:+.2f}, "
            f"p = {found.p_above(0.0):.3g}",
        )
    (hurdle, variant), missed = max(taken.items(), key=lambda item: item[1].p_above(0.0))
    if missed.p_above(0.0) > alpha:
        shown = f"{hurdle} {missed.value:+.2f}, p = {missed.p_above(0.0):.3g}"
        return Verdict.INSUFFICIENT, f"it does not hold in another form of the judgements ({variant}): {shown}"
    if p > alpha:
        return Verdict.INSUFFICIENT, f"it does not hold over {len(name)} models that were asked: p = {p:.3g} (Holm)"
    nearest = plain.alike[model, plain.nearest(model)].value
    if not nearest >= near_enough:
        return (
            Verdict.INSUFFICIENT,
            f"no rival is like it: an r of {near_enough:.2f} at least is needed, for otherwise an opinion that models "
            "like it share passes as its own",
        )
    return (
        Verdict.PRIVILEGED,
        "no common opinion explains it: the tetrad difference is above 0 with every other model; and it holds for "
        f"ranks, and net of lengths and phenomena (p = {p:.3g})",
    )
