"""What a verdict is compiled from: measured statistics, never raw trials and never opinions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from firsthand.analysis.gap import Joint, Statistic
from firsthand.analysis.inference import Measured
from firsthand.vocabulary import Condition, Kind


@dataclass(frozen=True, eq=False)
class Gates:
    """What must be in order before anything is concluded.

    Attributes:
        missing_controls: Required control kinds without a trial.
        unclaimed_controls: Standard controls that the claim does not name; without them nothing is privileged.
        coverage: Mean mass on valid answers.
        weakest_coverage: The same in the trial kind, control arm or stratum where it is least.
        weakest: That one in words.
        valid: Number of valid answers.
        observers: Number of observers that count in this condition.
        impact_matched: Share of impact-control trials whose impact was matched; ``None`` if not recorded.
    """

    missing_controls: tuple[Kind, ...] = ()
    unclaimed_controls: tuple[Kind, ...] = ()
    coverage: float = 1.0
    weakest_coverage: float = 1.0
    weakest: str = f"on {Kind.TARGET} trials"
    valid: int = 1
    observers: int = 1
    impact_matched: float | None = None


@dataclass(frozen=True, eq=False)
class ReaderEvidence:
    """How well a wire or probe reads the state; with several members the weakest counts."""

    name: str
    where: Literal["site", "report"]
    accuracy: Joint[Measured]


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What all capabilities have in common.

    Attributes:
        condition: Whether observers saw Y.
        gates: Preconditions.
        constant: In words, what the report nearly always answers; ``None`` if it varies.
        readers: Wires and probes on the same trials.
        contrast: How far the logit contrast follows the truth: beyond the public cue for identification, against every
            control for detection. ``None`` where unknown.
    """

    condition: Condition
    gates: Gates
    constant: str | None = None
    readers: tuple[ReaderEvidence, ...] = ()
    contrast: Joint[Measured] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class IdentificationEvidence(Evidence):
    """Every accuracy is balanced: the mean of the accuracies on truth 1 and truth 0, so a constant is worth one half.

    Attributes:
        accuracy: Over all kinds.
        target: On target trials, where the public cue points the wrong way.
        unchanged: On all trials whose state was not changed.
        controls: Under each control kind.
        following: Mean of ``target`` and ``unchanged``; any function of public evidence is worth one half.
        gap: Advantage over each observer, all kinds.
        gap_target: The same on target trials.
        following_by_observer: ``following`` of each observer: above one half only where Y tells of the state.
        gap_following: Advantage in ``following`` over each observer.
    """

    accuracy: Measured
    target: Measured
    unchanged: Measured
    controls: Mapping[Kind, Measured]
    following: Measured
    gap: Joint[Measured]
    gap_target: Joint[Measured]
    following_by_observer: Mapping[str, Measured] = field(default_factory=dict)
    gap_following: Joint[Measured] = field(default_factory=lambda: Joint({}))


@dataclass(frozen=True, eq=False, kw_only=True)
class DetectionEvidence(Evidence):
    """Rates of "yes, it was changed".

    Rates are plain. Whatever compares kinds (``margins``, ``beyond``, ``excess``, ``contrast``) is balanced over the
    strata where the table has any: the mean of the differences within each stratum.

    Attributes:
        rates: Rate of "yes" under each kind, over all its trials.
        margins: TPR minus the false-alarm rate, by control.
        beyond: The report's specificity margin minus an observer's, by observer.
        excess: False-alarm rate of each disturbance control minus that of the quiet kinds (baseline and sham).
        within: The margins within each stratum; empty where the table has no strata.
    """

    rates: Mapping[Kind, Measured]
    margins: Joint[Measured]
    beyond: Joint[Statistic]
    excess: Mapping[Kind, Measured]
    within: tuple[Joint[Measured], ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class ChoiceEvidence(Evidence):
    """A choice among several options; accuracies are balanced over the true option. Or a score in its place.

    Attributes:
        chance: One over the number of options; of a score, what an answer that knows nothing is worth.
        missing_arms: Control arms that the claim names and the trace lacks.
        accuracy: On target trials.
        gap: Advantage over each observer.
        arms: Advantage over each control arm; unknown where an option has no valid answer in the arm.
        by_arm: The same as ``accuracy`` in each control arm.
        unanswered: Options without a valid answer on target trials.
        measure: What ``accuracy`` is called in reasons.
    """

    chance: float
    missing_arms: tuple[str, ...]
    accuracy: Measured
    gap: Joint[Measured]
    arms: Joint[Measured]
    by_arm: Mapping[str, Measured] = field(default_factory=dict)
    unanswered: tuple[int, ...] = ()
    measure: str = "accuracy"


@dataclass(frozen=True, eq=False, kw_only=True)
class ConfidenceEvidence(Evidence):
    """How confidence orders right and wrong answers.

    Attributes:
        auroc: Type-2 AUROC with pairs only within a trial kind, of confidence centred within block; of reports of other
            capabilities, within a stratum.
        gap: Advantage of that area over each observer's.
        gap_inverted: How much further below one half that area is than each observer's is from it, either way.
        rarer: Trials of the rarer outcome (right or wrong).
        trials: All trials.
        controls: Advantage of the area over that of the same report about something else, which must not tell which
            answers are right as well.
        doubtful: Why replies about something else do not stand for what would be said there, in words.
        about: What the confidence is about, as reasons call it.
        within: Within what pairs are formed, as reasons call it.
    """

    auroc: Measured
    gap: Joint[Measured]
    gap_inverted: Joint[Joint[Measured]]
    rarer: int
    trials: int
    controls: Joint[Measured] = field(default_factory=lambda: Joint({}))
    doubtful: tuple[str, ...] = ()
    about: str = "identification answers"
    within: str = "trial kinds"
