"""Is it this text, or would any edit of this size do? Every edit that may be called a cause gets a matched control.

A control is measured only where an edit was decided to change the rate, on fresh responses, and is fixed before. The
edit is *specific* if its control was decided not to change the rate, or if the edit changes it in its own direction by
more than its control does, by the same rule (:mod:`~firsthand.counterfactual.deciding`), corrected for the controls of
the investigation. If the control changes the rate as well and no such difference is decided, the behaviour is sensitive
to any edit of this size, and the text that was changed is not named as its cause.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from firsthand.counterfactual.deciding import decided
from firsthand.counterfactual.edits import Edit, edited
from firsthand.counterfactual.investigating.without_model.elsewhere import matched
from firsthand.counterfactual.investigating.without_model.findings import Findings
from firsthand.counterfactual.investigating.without_model.hypotheses import Planned
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigation import Decision, Experiment
from firsthand.counterfactual.rates import Rate

Tested: TypeAlias = tuple[Planned, Experiment]
Specificity: TypeAlias = Literal["specific", "any edit", "undecided", "no text", "no batch"]
"""What a control says; the last two: there was no other text of this size, or no batch was left for it."""


def needing(tests: Sequence[Tested]) -> list[Tested]:
    """Tests that may be called causes, in their order."""
    changing = [(plan, test) for plan, test in tests if test.decision == "changes"]
    causes = {plan.cause for plan, _ in changing if plan.role == "without"}
    return [
        (plan, test)
        for plan, test in changing
        if plan.role in ("without", "together", "rival")
        or (plan.role == "block" and not shows_length(tests))
        or (plan.role in ("part", "place") and plan.cause not in causes)
    ]


def shows_length(tests: Sequence[Tested]) -> bool:
    """Whether less text elsewhere does what deleting the first cause does, and text about nothing in its place not."""
    found: dict[str, Decision] = {plan.role: test.decision for plan, test in tests if plan.cause == 0}
    both = found.get("without") == found.get("length") == "changes"
    return both and found.get("instead") == "does not change"


def with_controls(findings: Findings, tests: Sequence[Tested], most: int) -> tuple[list[Tested], list[Planned]]:
    """The tests with those named that are the control of another, and controls that have yet to be drawn.

    Args:
        findings: What exploring found.
        tests: Confirmed edits with their experiments.
        most: Most controls that may be drawn.

    Returns:
        The tests, and further controls; each says of which experiments it is the control.
    """
    prompt = findings.prompt
    known = {edited(prompt, plan.edit).id: place for place, (plan, _) in enumerate(tests)}
    named: dict[int, list[int]] = {}
    drawn: dict[str, Planned] = {}
    for plan, test in needing(tests):
        made = matched(findings, plan.edit, plan.segments, plan.kind)
        if made is None:
            continue
        edit, done = made
        name = edited(prompt, edit).id
        if name in known:
            named.setdefault(known[name], []).append(test.number)
        elif name in drawn:
            drawn[name] = _control(edit, done, (*drawn[name].of, test.number))
        elif len(drawn) < most:
            drawn[name] = _control(edit, done, (test.number,))
    controlled = [
        (plan, test.model_copy(update={"control_of": tuple(named.get(place, ()))}))
        for place, (plan, test) in enumerate(tests)
    ]
    return controlled, list(drawn.values())


def _control(edit: Edit, done: str, of: tuple[int, ...]) -> Planned:
    return Planned(edit, "any edit of this size", done, "control", of=of)


class Controls:
    """What controls say of the edits that may be called causes.

    Args:
        findings: What exploring found.
        baseline: Counts on the prompt as it is.
        tests: Confirmed edits with their experiments, controls among them.
        settings: Settings of the search.
    """

    def __init__(self, findings: Findings, baseline: Rate, tests: Sequence[Tested], settings: SearchSettings) -> None:
        self._findings, self._baseline, self._settings = findings, baseline, settings
        self._by_number = {number: one for one in tests for number in one[1].control_of}

    def of(self, one: Tested) -> Tested | None:
        """The control of an edit; ``None`` if it has none."""
        return self._by_number.get(one[1].number)

    def is_specific(self, one: Tested) -> bool:
        """Whether a control shows that it is this text."""
        return self.of(one) is not None and self.says(one) == "specific"

    def says(self, one: Tested) -> Specificity:
        """What its control says of an edit that changes the rate."""
        control = self.of(one)
        if control is None:
            made = matched(self._findings, one[0].edit, one[0].segments, one[0].kind)
            return "no text" if made is None else "no batch"
        if control[1].decision == "does not change" or self._does_more(one[1].rate, control[1].rate):
            return "specific"
        return "any edit" if control[1].decision == "changes" else "undecided"

    def _does_more(self, rate: Rate, control: Rate) -> bool:
        """Whether an edit is decided to change the rate by more than its control, in its own direction."""
        before, after, other = self._baseline.share, rate.share, control.share
        if before is None or after is None or other is None or (after - before) * (after - other) <= 0.0:
            return False
        settings, compared = self._settings, len(self._by_number)
        found = decided(control, rate, least=settings.least_change, level=settings.level, edits=compared)
        return found == "changes"
