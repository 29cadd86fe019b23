"""From a document to what the template prints: grouped, worded, and with no arithmetic left to do."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from firsthand.analysis.results import CapabilityResult, Estimate, ObserverRow, Profile
from firsthand.report import figures
from firsthand.report.document import AuditDocument, KnownAnswer, TrialSample
from firsthand.report.formats import level_text, percent
from firsthand.report.words import CONDITIONS, CONDITIONS_SHORT, Metric, Wording, metric, question, wording
from firsthand.vocabulary import Capability, Condition, Verdict

MAX_TRIAL_CHARACTERS = 500_000
MAX_PROMPT_CHARACTERS = 20_000


@dataclass(frozen=True)
class Side:
    """One condition of a capability, or both where they came out equal.

    Attributes:
        label: Which condition, in words.
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
    grouped: dict[Capability, list[CapabilityResult]] = {}
    for result in profile.results:
        grouped.setdefault(result.capability, []).append(result)
    return tuple(
        CapabilityView(capability, question(capability), _groups(results), _sides(results))
        for capability, results in grouped.items()
    )


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


def _groups(results: Sequence[CapabilityResult]) -> tuple[VerdictGroup, ...]:
    by_verdict: dict[Verdict, list[CapabilityResult]] = {}
    for result in results:
        by_verdict.setdefault(result.verdict, []).append(result)
    return tuple(
        VerdictGroup(
            verdict,
            wording(verdict, members[0].capability),
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


def _sides(results: Sequence[CapabilityResult]) -> tuple[Side, ...]:
    first = results[0]
    if len(results) > 1 and all(_bare(result) == _bare(first) for result in results):
        return (_side(first, "Both conditions, with equal numbers", "both conditions"),)
    return tuple(_side(result, CONDITIONS[result.condition], CONDITIONS_SHORT[result.condition]) for result in results)


def _bare(result: CapabilityResult) -> dict[str, object]:
    return result.model_dump(exclude={"condition"})


def _side(result: CapabilityResult, label: str, short: str) -> Side:
    drawn = (figures.observers_figure(result), figures.kinds_figure(result), figures.reliability_figure(result))
    return Side(
        label=label,
        short=short,
        result=result,
        metric=metric(result.capability, result.chance),
        strongest=strongest_observer(result),
        gap=smallest_gap(result),
        figures=tuple(figure for figure in drawn if figure is not None),
        level=level_text(estimates_of(result)),
        anchor=f"{result.capability.value}-{result.condition.value.replace('_', '-')}",
    )
