"""The report in words, from confirmed experiments alone.

A set of parts is called a cause only if the edit that takes it away was decided to change the rate. The second way of
taking it away says whether what the parts say matters, or only that something stands there; as much other text deleted
says whether it is length. That everything deleted changes the rate is said, and is no cause.
"""

from collections.abc import Sequence
from typing import TypeAlias

from firsthand.counterfactual.deciding import change_interval
from firsthand.counterfactual.investigating.without_model.findings import Findings
from firsthand.counterfactual.investigating.without_model.hypotheses import Planned, Role
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigating.without_model.wording import called, percent
from firsthand.counterfactual.investigation import Cause, Decision, Experiment, Report, Screened
from firsthand.counterfactual.rates import Rate

Tested: TypeAlias = tuple[Planned, Experiment]

NOT_TRIED = (
    "Not tried: additions, rewordings that keep the meaning, other formats, and parts that only matter together other "
    "than those that the search met."
)


def reported(
    screened: Screened, baseline: Rate, findings: Findings, tests: Sequence[Tested], settings: SearchSettings
) -> Report:
    """The report on what was confirmed.

    Args:
        screened: What the investigation began with.
        baseline: Counts on the prompt as it is.
        findings: What exploring found.
        tests: Confirmed edits with their experiments.
        settings: Settings of the search.
    """
    writer = _Writer(baseline, findings, tests, settings)
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

    def __init__(self, baseline: Rate, findings: Findings, tests: Sequence[Tested], settings: SearchSettings) -> None:
        self._baseline, self._findings, self._tests, self._settings = baseline, findings, tests, settings
        self.causes: list[Cause] = []
        self.refuted: list[Cause] = []
        self.undecided: list[str] = []
        self._said: list[str] = []
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
                case "length" if not self._shows_length(one):
                    self._sort(one)

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
        if number == 0 and self._is_length():
            mine += [one for one in self._tests if self._shows_length(one)]
        hypothesis = self._hypothesis(number, mine)
        self.causes.append(self._cause(hypothesis, mine))
        self._said.append(f"Cause: {hypothesis} {self._line(mine[0], capital=True)}.")
        for one in mine:
            if one[1].decision == "does not change" and one[0].role in ("instead", "place"):
                self.refuted.append(self._cause(one[0].hypothesis, [one]))

    def _hypothesis(self, number: int, mine: Sequence[Tested]) -> str:
        what = called(self._findings.found[number].units)
        by_role: dict[Role, list[Decision]] = {}
        for plan, test in mine:
            by_role.setdefault(plan.role, []).append(test.decision)
        if by_role.get("length"):
            said = (
                "the length of the prompt, since other text deleted changes the rate too, and text about nothing not."
            )
        elif by_role.get("instead") == ["does not change"]:
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
            if one[0].role == "length":
                hypothesis = "length, or something in other parts that were deleted"
            self.causes.append(self._cause(hypothesis, [one]))
            self._said.append(f"Cause: {hypothesis}. {self._line(one, capital=True)}.")
        elif one[1].decision == "does not change":
            self.refuted.append(self._cause(hypothesis, [one]))
        else:
            self.undecided.append(hypothesis)

    def _is_length(self) -> bool:
        """Whether less text does the same elsewhere, and as much text about nothing in its place does not."""
        wanted = {"without": "changes", "length": "changes", "instead": "does not change"}
        return all(self._decision(role, 0) == decision for role, decision in wanted.items())

    def _shows_length(self, one: Tested) -> bool:
        """Whether an edit leaves less text and changes the rate, where length is the cause."""
        return one[0].role in ("length", "block") and one[1].decision == "changes" and self._is_length()

    def _decision(self, role: str, number: int) -> Decision | None:
        return next((test.decision for plan, test in self._tests if (plan.role, plan.cause) == (role, number)), None)

    def _cause(self, hypothesis: str, tests: Sequence[Tested]) -> Cause:
        return Cause(
            hypothesis=hypothesis,
            evidence=tuple(self._line(one) for one in tests),
            experiments=tuple(test.number for _, test in tests),
        )

    def _line(self, one: Tested, *, capital: bool = False) -> str:
        plan, test = one
        done = plan.done[0].upper() + plan.done[1:] if capital else plan.done
        edits = len(self._tests)
        low, high = change_interval(self._baseline, test.rate, 1.0 - self._settings.level / edits)
        invalid = f", {test.rate.invalid} invalid" if test.rate.invalid else ""
        return (
            f"{done}: {percent(self._baseline.share)} -> {percent(test.rate.share)} "
            f"(n = {self._baseline.valid} and {test.rate.valid}{invalid}; change {100 * low:+.0f} to {100 * high:+.0f} "
            f"points at a level corrected for {edits} edits; {test.decision})"
        )
