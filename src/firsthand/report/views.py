"""From a document to what the template prints: grouped, worded, and with no arithmetic left to do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from firsthand.analysis.results import CapabilityResult, Estimate, ObserverRow, Profile
from firsthand.report import figures
from firsthand.report.document import AuditDocument, KnownAnswer, TrialSample
from firsthand.report.formats import level_text, percent
from firsthand.report.wording import Metric, Wording, Words
from firsthand.report.words import CONDITIONS, CONDITIONS_SHORT, REGISTER
from firsthand.vocabulary import Capability, Condition, Verdict

MAX_TRIAL_CHARACTERS = 500_000
MAX_PROMPT_CHARACTERS = 20_000


@dataclass(frozen=True)
class Side:
    """One condition of a capability, or both where they came out equal.

    Attributes:
        label: Which condition, in words.
        short: The same, shorter.
        result: The result.
        metric: Name and units of its score.
        strongest: The observer that leaves the smallest gap.
        gap: What the report has beyond the best observer.
        figures: Charts.
        level: Coverage of its intervals.
        anchor: Identifier within the page.
    """

    label: str
    short: str
    result: CapabilityResult
    metric: Metric
    strongest: ObserverRow | None
    gap: Estimate | None
    figures: tuple[figures.Figure, ...]
    level: str
    anchor: str


@dataclass(frozen=True)
class VerdictGroup:
    """A verdict, and the conditions under which it was reached."""

    verdict: Verdict
    words: Wording
    condition: str
    reasons: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class CapabilityView:
    """Everything about one capability."""

    capability: Capability
    question: str
    groups: tuple[VerdictGroup, ...]
    sides: tuple[Side, ...]


@dataclass
class KnownReporter:
    """A reporter of known answer and every question asked about it."""

    name: str
    description: str
    rows: list["KnownRow"] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether all of it came out as it must."""
        return all(row.item.passed for row in self.rows)


@dataclass
class KnownRow:
    """One known answer, with the conditions that share it."""

    item: KnownAnswer
    conditions: list[str]


def capability_views(profile: Profile) -> tuple[CapabilityView, ...]:
    """Group results by capability, in their order of appearance, and word their verdicts."""
    return capability_views_of(profile.results, REGISTER, draw=_drawn)


def capability_views_of(
    results: Sequence[CapabilityResult],
    words: Words,
    stem: str = "",
    draw: Callable[[CapabilityResult], tuple[figures.Figure, ...]] = lambda _: (),
) -> tuple[CapabilityView, ...]:
    """Group results by capability, in their order of appearance, and word their verdicts.

    Args:
        results: The results.
        words: The words of the study.
        stem: What identifiers within the page begin with.
        draw: Charts of a result.
    """
    grouped: dict[Capability, list[CapabilityResult]] = {}
    for result in results:
        grouped.setdefault(result.capability, []).append(result)
    return tuple(
        CapabilityView(
            capability, words.question(capability), _groups(members, words), _sides(members, words, stem, draw)
        )
        for capability, members in grouped.items()
    )


def distinct(results: Sequence[CapabilityResult]) -> tuple[CapabilityResult, ...]:
    """Give the results to be shown: one of each capability where its conditions have equal numbers, else all."""
    kept: list[CapabilityResult] = []
    for result in results:
        bare = result.model_dump(exclude={"condition"})
        if not any(bare == other.model_dump(exclude={"condition"}) for other in kept):
            kept.append(result)
    return tuple(kept)


def strongest_observer(result: CapabilityResult) -> ObserverRow | None:
    """Give the observer that leaves the report the smallest gap."""
    return min(result.observers, key=lambda row: row.gap.value, default=None)


def smallest_gap(result: CapabilityResult) -> Estimate | None:
    """Give what the report has beyond the best observer: the joint estimate where there is one."""
    strongest = strongest_observer(result)
    if result.gap is not None or strongest is None:
        return result.gap
    return strongest.gap


class Checked(Protocol):
    """A document of an instrument that was put to reporters of known answer."""

    @property
    def known_answers(self) -> tuple[KnownAnswer, ...]:
        """What it said of them."""
        ...

    @property
    def failed_checks(self) -> tuple[str, ...]:
        """Every failed check of the instrument, one sentence each."""
        ...


def known_reporters(document: Checked) -> tuple[KnownReporter, ...]:
    """Group known answers by reporter, and merge conditions with the same outcome."""
    reporters: dict[str, KnownReporter] = {}
    for item in document.known_answers:
        reporter = reporters.setdefault(item.reporter, KnownReporter(item.reporter, item.description))
        for row in reporter.rows:
            if _outcome(row.item) == _outcome(item):
                row.conditions.append(_condition_short(item.condition))
                break
        else:
            reporter.rows.append(KnownRow(item, [_condition_short(item.condition)]))
    return tuple(reporters.values())


def shown_trials(document: AuditDocument) -> tuple[TrialSample, ...]:
    """Give as many trials as keep the page small, from the first on."""
    shown: list[TrialSample] = []
    characters = 0
    for trial in document.trials:
        characters += 1500 + min(len(trial.prompt), MAX_PROMPT_CHARACTERS) + len(trial.visible_answer or "")
        if characters > MAX_TRIAL_CHARACTERS:
            break
        shown.append(trial)
    return tuple(shown)


def estimates_of(result: CapabilityResult) -> list[Estimate]:
    """List every estimate that a reader sees beside the verdict."""
    loose = (
        result.score,
        result.target_score,
        result.following,
        result.gap,
        result.contrast,
        result.contrast_following,
    )
    found = [item for item in loose if item is not None]
    for row in result.observers:
        found += [row.score, row.gap]
    for arm in result.arms:
        found += [arm.score, arm.lead]
    found += [row.rate for row in result.kinds]
    for control in result.controls:
        found += [control.false_alarms, control.margin]
    return found


def coverage_text(result: CapabilityResult) -> str:
    """Say how much probability the valid answers held, and how often no valid answer was reached."""
    return f"{percent(result.coverage)} on valid answers, {percent(result.invalid_rate)} invalid"


def _outcome(item: KnownAnswer) -> tuple[object, ...]:
    return (item.capability, item.expected, item.obtained, item.passed)


def _condition_short(condition: Condition | None) -> str:
    return "all conditions" if condition is None else CONDITIONS_SHORT[condition]


def _groups(results: Sequence[CapabilityResult], words: Words) -> tuple[VerdictGroup, ...]:
    by_verdict: dict[Verdict, list[CapabilityResult]] = {}
    for result in results:
        by_verdict.setdefault(result.verdict, []).append(result)
    return tuple(
        VerdictGroup(
            verdict,
            words.wording(verdict, members[0].capability),
            _both(members) if len(by_verdict) == 1 else CONDITIONS[members[0].condition],
            _reasons(members),
        )
        for verdict, members in by_verdict.items()
    )


def _both(members: Sequence[CapabilityResult]) -> str:
    if len(members) == 1:
        return CONDITIONS[members[0].condition]
    return "Same verdict whether or not observers see the visible answer"


def _reasons(members: Sequence[CapabilityResult]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if len({member.reasons for member in members}) == 1:
        return (("", members[0].reasons),)
    return tuple((CONDITIONS_SHORT[member.condition], member.reasons) for member in members)


def _sides(
    results: Sequence[CapabilityResult],
    words: Words,
    stem: str,
    draw: Callable[[CapabilityResult], tuple[figures.Figure, ...]],
) -> tuple[Side, ...]:
    kept = distinct(results)
    both = len(kept) < len(results)
    return tuple(
        Side(
            label="Both conditions, with equal numbers" if both else CONDITIONS[result.condition],
            short="both conditions" if both else CONDITIONS_SHORT[result.condition],
            result=result,
            metric=words.metric(result.capability, result.chance),
            strongest=strongest_observer(result),
            gap=smallest_gap(result),
            figures=draw(result),
            level=level_text(estimates_of(result)),
            anchor=f"{stem}{result.capability.value}-{result.condition.value.replace('_', '-')}",
        )
        for result in kept
    )


def _drawn(result: CapabilityResult) -> tuple[figures.Figure, ...]:
    drawn = (figures.observers_figure(result), figures.kinds_figure(result), figures.reliability_figure(result))
    return tuple(figure for figure in drawn if figure is not None)
