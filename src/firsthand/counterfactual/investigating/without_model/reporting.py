"""The report in words, from confirmed experiments alone.

A set of parts is called a cause only if the edit that takes it away was decided to change the rate, and if a control
shows that it is this edit: a matched one elsewhere does clearly less (:mod:`.specificity`). The second way of taking
the parts away says whether what they say matters, or only that something stands there; as much other text deleted says
whether it is length. That everything deleted changes the rate is said, and is no cause.
"""

from collections.abc import Sequence
from typing import Final

from firsthand.counterfactual.deciding import change_interval
from firsthand.counterfactual.investigating.without_model.elsewhere import shorter_by, size_of
from firsthand.counterfactual.investigating.without_model.findings import Findings
from firsthand.counterfactual.investigating.without_model.hypotheses import Role
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigating.without_model.specificity import Controls, Specificity, Tested, shows_length
from firsthand.counterfactual.investigating.without_model.wording import called, percent
from firsthand.counterfactual.investigation import Cause, Decision, Report, Screened
from firsthand.counterfactual.rates import Rate

NOT_TRIED = (
    "Not tried: additions, rewordings that keep the meaning, other formats, and parts that only matter together other "
    "than those that the search met."
)
ANY_EDIT: Final = "Sensitive to any edit of this size"
NOT_TESTED: Final = "Specificity not tested"
_AS_LARGE: Final = 0.75
"""Part of what is deleted that text about nothing has to replace, before it shows that only length matters."""
_WHY: Final = {
    "no text": "the rest of the prompt holds no text of this size",
    "no batch": "no batch was left for a control",
}


def reported(
    screened: Screened,
    baseline: Rate,
    findings: Findings,
    tests: Sequence[Tested],
    settings: SearchSettings,
    edits: int | None = None,
) -> Report:
    """The report on what was confirmed.

    Args:
        screened: What the investigation began with.
        baseline: Counts on the prompt as it is.
        findings: What exploring found.
        tests: Confirmed edits with their experiments, controls among them.
        settings: Settings of the search.
        edits: How many edits were judged together; ``None``: as many as there are.
    """
    writer = _Writer(baseline, findings, tests, settings, edits or len(tests))
    return Report(
        observed=_observed(screened, baseline),
        causes=tuple(writer.causes),
        refuted=tuple(writer.refuted),
        answer=" ".join(writer.answer()),
    )


def _observed(screened: Screened, baseline: Rate) -> str:
    low, high = baseline.interval()
    return (
        f"{screened.summary} Of {baseline.valid} fresh responses to the prompt as it is {percent(baseline.share)} have "
        f"the behaviour (95% interval {percent(low)} to {percent(high)}); in the batch that was screened it was "
        f"{percent(screened.rate.share)}."
    )


class _Writer:
    """Sorts hypotheses into causes, refuted and undecided ones."""

    def __init__(
        self, baseline: Rate, findings: Findings, tests: Sequence[Tested], settings: SearchSettings, edits: int
    ) -> None:
        self._baseline, self._findings, self._tests, self._settings = baseline, findings, tests, settings
        self._edits = edits
        self._controls = Controls(findings, baseline, tests, settings)
        self.causes: list[Cause] = []
        self.refuted: list[Cause] = []
        self.undecided: list[str] = []
        self._said: list[str] = []
        self._has_length = False
        for number in range(len(findings.found)):
            self._sort_found(number)
        for one in tests:
            match one[0].role:
                case "alone" if self.causes:
                    self._sort_alone(one)
                case "whole" if one[1].decision == "changes":
                    if self.causes:
                        continue
                    self._said.append(f"No part smaller than the whole was found to do this: {self._line(one)}.")
                case "rival" | "block" | "whole" | "together" if not self._shows_length(one):
                    self._sort(one)
                case "length" if one[1].decision != "changes":
                    self._sort(one)
                case "length" if not one[1].control_of and not shows_length(tests):
                    self._said.append(f"Leaving less text changes the rate as well: {self._line(one)}.")

    def answer(self) -> list[str]:
        """Sentences of the answer."""
        baseline, settings = self._baseline, self._settings
        said = ["No cause found."] if not self.causes else []
        if not self._tests:
            return [
                *said,
                f"In fresh responses the rate of the behaviour is {percent(baseline.share)}, and no edit can lower it "
                f"by the {percent(settings.least_change)} that count. Nothing was tried.",
            ]
        said += self._said
        if self.refuted:
            said.append(f"Refuted: {'; '.join(one.hypothesis for one in self.refuted)}.")
        if self.undecided:
            said.append(f"Undecided with {settings.samples} responses each: {'; '.join(self.undecided)}.")
        if unjudged := self._findings.unjudged:
            said.append(
                f"After {len(unjudged)} of the edits that were explored most responses could not be judged, so that "
                f"nothing is known of them; the first: {unjudged[0]}"
            )
        if self._findings.spent:
            said.append("The budget of responses ended the search before it had looked everywhere.")
        return [*said, NOT_TRIED]

    def _sort_found(self, number: int) -> None:
        """One set of parts: a cause if taking it away changes the rate, and of which kind."""
        mine = [one for one in self._tests if one[0].cause == number and one[0].role != "length"]
        if self._decision("without", number) != "changes":
            for one in mine:
                if one[0].role == "instead" and one[1].decision == "changes":
                    self._said.append(f"A substitute has an effect of its own: {self._line(one)}.")
                else:
                    self._sort(one)
            return
        says = self._controls.says(mine[0])
        if self._is_length(mine[0], says):
            control = self._controls.of(mine[0])
            others = [one for one in self._tests if self._shows_length(one) or one is control]
            self._name_length(mine[0], [*mine, *(one for one in others if one not in mine)])
        else:
            self._conclude(self._hypothesis(number, mine), called(self._findings.found[number].units), says, mine)
        for one in mine:
            if one[1].decision == "does not change" and one[0].role in ("instead", "place"):
                self.refuted.append(self._cause(one[0].hypothesis, [one]))

    def _conclude(self, hypothesis: str, what: str, says: Specificity, tests: Sequence[Tested]) -> None:
        """What follows for a hypothesis whose edit changes the rate from what its control says."""
        control = self._controls.of(tests[0])
        line = self._line(tests[0])
        if control is None:
            self._said.append(f"{NOT_TESTED}, since {_WHY[says]}: {line}. It may be {what}, or any edit of this size.")
            return
        told = f"{line}; {self._line(control)}"
        if says == "specific":
            self._name(hypothesis, True, [*tests, control])
        elif says == "any edit":
            self._said.append(f"{ANY_EDIT}: {told}. {what[0].upper()}{what[1:]} is not its cause more than other text.")
            self.refuted.append(self._cause(f"{what} more than other text of its size", [*tests, control], False))
        else:
            self.undecided.append(f"{what} or any edit of this size ({told})")

    def _name_length(self, one: Tested, tests: Sequence[Tested]) -> None:
        if self._has_length:
            self._said.append(f"It is length here, too: {self._line(one)}.")
            return
        self._has_length = True
        hypothesis = (
            "less text, wherever it is taken from (the length of the prompt, or any deletion of this size), since "
            "other text deleted changes the rate too, and text about nothing does not"
        )
        self._name(hypothesis, None, tests)

    def _name(self, hypothesis: str, specific: bool | None, tests: Sequence[Tested]) -> None:
        """Call something a cause."""
        self.causes.append(self._cause(f"{hypothesis.rstrip('.')}.", tests, specific))
        self._said.append(f"Cause: {hypothesis.rstrip('.')}. {self._line(tests[0], capital=True)}.")
        if specific:
            self._said.append(f"It is this text, and not any edit of its size: {self._line(tests[-1])}.")

    def _hypothesis(self, number: int, mine: Sequence[Tested]) -> str:
        what = called(self._findings.found[number].units)
        by_role: dict[Role, list[Decision]] = {}
        for plan, test in mine:
            by_role.setdefault(plan.role, []).append(test.decision)
        if by_role.get("instead") == ["does not change"]:
            said = f"that something stands where {what} stands, whatever it says."
        elif by_role.get("instead") == ["changes"]:
            said = f"what is said by {what}."
        else:
            said = f"the presence of {what}; whether it is what is said there was not decided."
        if "changes" in by_role.get("place", []):
            said += " Where in its list it stands matters as well."
        parts = set(by_role.get("part", []))
        if parts == {"does not change"}:
            said += " Any one of these parts can go as long as the others stay."
        elif parts == {"changes"}:
            said += " Each of these parts is needed."
        return said

    def _sort_alone(self, one: Tested) -> None:
        if one[1].decision == "does not change":
            self.refuted.append(self._cause(one[0].hypothesis, [one]))
            self._said.append(f"That suffices: {self._line(one)}.")
        elif one[1].decision == "changes":
            self._said.append(f"That does not suffice: {self._line(one)}.")
        else:
            self.undecided.append(one[0].hypothesis)

    def _sort(self, one: Tested) -> None:
        hypothesis = one[0].hypothesis
        if one[1].decision == "changes":
            self._conclude(hypothesis, hypothesis, self._controls.says(one), [one])
        elif one[1].decision == "does not change":
            self.refuted.append(self._cause(hypothesis, [one]))
        else:
            self.undecided.append(hypothesis)

    def _is_length(self, one: Tested, says: Specificity) -> bool:
        """Whether less text does the same elsewhere, and as much text about nothing in its place does not."""
        plan = one[0]
        if plan.kind != "removed" or self._decision("instead", plan.cause) != "does not change":
            return False
        prompt = self._findings.prompt
        instead = next(other for other, _ in self._tests if (other.role, other.cause) == ("instead", plan.cause))
        if size_of(prompt, instead.edit) < _AS_LARGE * size_of(prompt, plan.edit):
            return False
        # Edits that hardly shorten the prompt change the rate only where they touch a cause of their own.
        kept = [other for other in self._tests if 2 * shorter_by(prompt, other[0].edit) < shorter_by(prompt, plan.edit)]
        if any(test.decision == "changes" and not self._controls.is_specific((some, test)) for some, test in kept):
            return False
        return says == "any edit" or (plan.cause == 0 and says != "specific" and shows_length(self._tests))

    def _shows_length(self, one: Tested) -> bool:
        """Whether an edit leaves less text and changes the rate, where length is the cause."""
        return one[0].role in ("length", "block") and one[1].decision == "changes" and shows_length(self._tests)

    def _decision(self, role: str, number: int | None) -> Decision | None:
        return next((test.decision for plan, test in self._tests if (plan.role, plan.cause) == (role, number)), None)

    def _cause(self, hypothesis: str, tests: Sequence[Tested], specific: bool | None = None) -> Cause:
        return Cause(
            hypothesis=hypothesis,
            evidence=tuple(self._line(one) for one in tests),
            experiments=tuple(test.number for _, test in tests),
            specific=specific,
        )

    def _line(self, one: Tested, *, capital: bool = False) -> str:
        plan, test = one
        done = f"control: {plan.done}" if test.control_of else plan.done
        done = done[0].upper() + done[1:] if capital else done
        low, high = change_interval(self._baseline, test.rate, 1.0 - self._settings.level / self._edits)
        invalid = f", {test.rate.invalid} invalid" if test.rate.invalid else ""
        return (
            f"{done}: {percent(self._baseline.share)} -> {percent(test.rate.share)} "
            f"(n = {self._baseline.valid} and {test.rate.valid}{invalid}; change {100 * low:+.0f} to {100 * high:+.0f} "
            f"points at a level corrected for {self._edits} edits; {test.decision})"
        )
