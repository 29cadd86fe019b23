"""What the rules of all capabilities share: numbers in words, and an observer that does as well."""

from collections.abc import Mapping

from firsthand.analysis.gap import Joint, Statistic
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Verdict

Found = tuple[Verdict | None, tuple[str, ...]]
"""A verdict with its reasons; without one, the reasons why the numbers give none."""


def shown(name: str, found: Statistic, alpha: float, reference: float | None = None) -> str:
    """A statistic in words: ``name 0.62 [0.55, 0.69]``, and p where a reference is tested."""
    text = f"{name} {found.value:.3f} [{found.low(alpha):.3f}, {found.high(alpha):.3f}]"
    return text if reference is None else f"{text} (above {reference:g}: p = {found.p_above(reference):.3g})"


def each(members: Mapping[str, Statistic], names: tuple[str, ...]) -> str:
    """Members with their values, in words."""
    found = {name: members[name] for name in names}
    return ", ".join(f"{n} ({'not known' if m.unknown else f'{m.value:.3f}'})" for n, m in found.items())


def as_good(lead: Statistic, spec: AnalysisSpec) -> bool:
    """Whether a lead over an observer is too small to count, or cannot exceed the margin."""
    return lead.value < spec.minimum_effect or lead.high(spec.alpha) <= spec.equivalence_margin


def matched_by_observer(gap: Joint[Statistic], base: str, spec: AnalysisSpec) -> Found | None:
    """``public-inference`` where an observer does as well.

    Not to have beaten it is not enough: the observed gap must be smaller than the least effect that counts, or its
    upper bound within the equivalence margin. Otherwise the sample is too small to say so.
    """
    for name in sorted(gap.failing(spec.alpha, spec.minimum_effect), key=lambda name: gap.members[name].value):
        member = gap.members[name]
        if as_good(member, spec):
            words = shown("the report is ahead of it by", member, spec.alpha, 0.0)
            return Verdict.PUBLIC_INFERENCE, (f"{base}, and the observer {name} does as well: {words}",)
    return None
