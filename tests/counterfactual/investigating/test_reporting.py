"""A part is called a cause only if taking it away changes the rate, whatever a substitute does."""

import pytest

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.edits import Edit
from firsthand.counterfactual.investigating.without_model.findings import Findings, Found
from firsthand.counterfactual.investigating.without_model.hypotheses import planned
from firsthand.counterfactual.investigating.without_model.reporting import reported
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigating.without_model.specificity import with_controls
from firsthand.counterfactual.investigation import Decision, Experiment, Report, Screened
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.segments import walk

PROMPT = Prompt(turns=(Turn(role="user", content="Tell me of the sea.\n\nMention a lantern.\n\nBe brief."),))
BASELINE = Rate(yes=57, no=3)
RATES: dict[Decision, Rate] = {
    "changes": Rate(yes=3, no=27),
    "does not change": Rate(yes=28, no=2),
    "undecided": Rate(yes=22, no=8),
}


def report(without: Decision, instead: Decision, control: Rate | None = RATES["does not change"]) -> Report:
    """What is reported where one part was found, and its deletion, its substitute and its control were decided so."""
    findings = Findings.of(PROMPT)
    part = next(one for one in walk(findings.roots) if one.text.strip() == "Mention a lantern.")
    findings.found.append(Found(((part,),)))
    plans = [one for one in planned(findings, 12) if one.role in ("without", "instead")]
    decided = {"without": without, "instead": instead}
    tests = [(plan, measured(n, plan.edit, decided[plan.role])) for n, plan in enumerate(plans, 1)]
    assert [plan.role for plan, _ in tests] == ["without", "instead"]
    tests, controls = with_controls(findings, tests, 2)
    assert len(controls) == (without == "changes")
    if controls and control is not None:
        what = next(name for name, rate in RATES.items() if rate == control)
        tests.append((controls[0], measured(3, controls[0].edit, what, controls[0].of)))
    screened = Screened(
        prompt=PROMPT,
        rating=4,
        behaviour=Pattern(question="Is there light?", pattern="light"),
        summary="It shines.",
        question="Why?",
        own_question="Why?",
        rate=Rate(yes=9, no=1),
    )
    return reported(screened, BASELINE, findings, tests, SearchSettings())


def measured(number: int, edit: Edit, decision: Decision, control_of: tuple[int, ...] = ()) -> Experiment:
    return Experiment(
        number=number,
        edit=edit,
        purpose="p",
        stage="confirmed",
        batch=f"confirm.{number}",
        rate=RATES[decision],
        decision=decision,
        control_of=control_of,
    )


@pytest.mark.parametrize("instead", ["changes", "does not change"])
def test_what_can_be_taken_away_without_effect_is_no_cause(instead: Decision) -> None:
    said = report("does not change", instead)
    assert said.causes == ()
    assert "No cause found." in said.answer
    assert ("A substitute has an effect of its own" in said.answer) == (instead == "changes")


def test_what_it_says_matters_where_a_substitute_does_what_deletion_does() -> None:
    (cause,) = report("changes", "changes").causes
    assert "what is said by" in cause.hypothesis
    (cause,) = report("changes", "does not change").causes
    assert "whatever it says" in cause.hypothesis


def test_a_cause_is_named_with_its_control() -> None:
    (cause,) = report("changes", "changes").causes
    assert cause.specific is True
    assert cause.experiments == (1, 2, 3)
    assert cause.evidence[-1].startswith("control: as much other text deleted (")


def test_where_as_much_other_text_does_the_same_nothing_is_named() -> None:
    said = report("changes", "changes", RATES["changes"])
    assert said.causes == ()
    assert said.answer.startswith("No cause found. Sensitive to any edit of this size: ")
    (refuted,) = said.refuted
    assert refuted.specific is False
    assert refuted.hypothesis == "the paragraph “Mention a lantern.” more than other text of its size"
    assert refuted.experiments == (1, 2, 3)


def test_where_text_about_nothing_does_not_it_is_length() -> None:
    (cause,) = report("changes", "does not change", RATES["changes"]).causes
    assert cause.hypothesis.startswith("less text, wherever it is taken from")
    assert cause.specific is None


def test_a_control_that_does_clearly_less_is_enough() -> None:
    (cause,) = report("changes", "changes", RATES["undecided"]).causes
    assert cause.specific is True


def test_where_a_control_decides_nothing_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RATES, "undecided", Rate(yes=14, no=16))
    said = report("changes", "changes", RATES["undecided"])
    assert said.causes == ()
    assert "Undecided with 30 responses each: " in said.answer
    assert "or any edit of this size (" in said.answer


def test_a_cause_without_a_control_is_not_named() -> None:
    said = report("changes", "changes", None)
    assert said.causes == ()
    assert "Specificity not tested, since no batch was left for a control: " in said.answer
