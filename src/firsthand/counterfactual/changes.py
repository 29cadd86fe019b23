"""What two measured rates say of an edit: a label, or why there is none."""

from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from pydantic import Field

from firsthand.analysis.label_errors import EXCLUDED, TRUE, Batches, Thresholds, labels, possible_labels
from firsthand.analysis.sequential import Counts, Rule, evidence, found_of
from firsthand.counterfactual.investigation import Decision
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.rates import Rate

Unlabelled = Literal["too few responses", "between thresholds", "undecided", "depends on invalid responses"]


class FixedLabels(Part):
    """Labels by thresholds, in batches whose size was fixed (arXiv 2608.16747, section 2.2).

    Attributes:
        true_from: Points of change from which a claim is true.
        false_to: Points of change up to which it is false.
        least: Fewest valid responses in a batch.
    """

    kind: Literal["fixed"] = "fixed"
    true_from: Annotated[int, Field(ge=30, le=100)] = 50
    false_to: Annotated[int, Field(ge=0, lt=30)] = 15
    least: Annotated[int, Field(ge=1)] = 10

    @property
    def thresholds(self) -> Thresholds:
        """As the statistics take them."""
        return Thresholds(self.true_from, self.false_to)


class SequentialLabels(Part):
    """Labels by a test that may be looked at after every response.

    Attributes:
        above: A claim is true where a change of at most this much is refuted.
        below: It is false where a change of at least this much is refuted.
        alpha: Probability that the label of an edit is wrong.
    """

    kind: Literal["sequential"] = "sequential"
    above: Annotated[float, Field(ge=0.3, lt=1.0)] = 0.3
    below: Annotated[float, Field(gt=0.0, le=0.3)] = 0.3
    alpha: Annotated[float, Field(gt=0.0, lt=0.5)] = 0.05

    @property
    def rule(self) -> Rule:
        """As the statistics take it."""
        return Rule(self.above, self.below, self.alpha)


LabelRule: TypeAlias = Annotated[FixedLabels | SequentialLabels, Field(discriminator="kind")]

FIXED: Final = FixedLabels()


class Labelled(NamedTuple):
    """A label, or why there is none."""

    label: bool | None
    why: Unlabelled | None = None


def labelled(baseline: Rate, rate: Rate, rule: FixedLabels | SequentialLabels = FIXED) -> Labelled:
    """The label that two batches give, which no invalid response could have changed.

    Args:
        baseline: Counts on the prompt as it is.
        rate: Counts on the edited prompt.
        rule: How labels are made.
    """
    if isinstance(rule, SequentialLabels):
        return _tested(baseline, rate, rule)
    if min(baseline.valid, rate.valid) < rule.least:
        return Labelled(None, "too few responses")
    label = int(labels(counts_of(baseline), counts_of(rate), rule.thresholds))
    if label == EXCLUDED:
        return Labelled(None, "between thresholds")
    possible = possible_labels(
        (baseline.yes, baseline.no, baseline.invalid), (rate.yes, rate.no, rate.invalid), rule.thresholds
    )
    return Labelled(label == TRUE) if possible == {label} else Labelled(None, "depends on invalid responses")


def _tested(baseline: Rate, rate: Rate, rule: SequentialLabels) -> Labelled:
    found = decision_of(baseline, rate, rule)
    if found == "undecided":
        return Labelled(None, "undecided")
    before, after = (one.yes + np.arange(one.invalid + 1) for one in (baseline, rate))
    log_changes, log_stays = evidence((before[:, None], baseline.responses), (after[None], rate.responses), rule.rule)
    others = {found_of(float(c), float(s), rule.rule) for c, s in zip(log_changes.flat, log_stays.flat, strict=True)}
    return Labelled(found == "changes") if others == {found} else Labelled(None, "depends on invalid responses")


def decision_of(baseline: Rate, rate: Rate, rule: SequentialLabels) -> Decision:
    """What the test says of an experiment, from its valid responses; whatever led to these counts."""
    log_changes, log_stays = evidence(counts_of(baseline), counts_of(rate), rule.rule)
    return found_of(float(log_changes), float(log_stays), rule.rule)


def counts_of(rate: Rate) -> Counts:
    """Counts of a batch as the statistics take them: invalid responses left out."""
    return Counts(rate.yes, rate.valid)


def batches_of(baseline: Rate, rate: Rate) -> Batches:
    """Counts of an experiment as the statistics take them."""
    return Batches(baseline.yes, baseline.valid, rate.yes, rate.valid)
