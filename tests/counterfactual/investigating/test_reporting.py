"""A part is called a cause only if taking it away changes the rate, whatever a substitute does."""

import pytest

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.investigating.without_model.findings import Findings, Found
from firsthand.counterfactual.investigating.without_model.hypotheses import planned
from firsthand.counterfactual.investigating.without_model.reporting import reported
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigation import Decision, Experiment, Report, Screened
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.segments import walk

PROMPT = Prompt(turns=(Turn(role="user", content="Tell me of the sea.\n\nMention a lantern.\n\nBe brief."),))
BASELINE = Rate(yes=57, no=3)
RATES: dict[Decision, Rate] = {"changes": Rate(yes=3, no=27), "does not change": Rate(yes=28, no=2)}


def report(without: Decision, instead: Decision) -> Report:
    """What is reported where one part was found, and its deletion and its substitute were decided so."""
    findings = Findings.of(PROMPT)
    part = next(one for one in walk(findings.roots) if one.text.strip() == "Mention a lantern.")
    findings.found.append(Found(((part,),)))
    plans = [one for one in planned(findings, 12) if one.role in ("without", "instead")]
    decided = {"without": without, "instead": instead}
    tests = [
        (
            plan,
            Experiment(
                number=n,
                edit=plan.edit,
                purpose="p",
                stage="confirmed",
                batch=f"confirm.{n}",
                rate=RATES[decided[plan.role]],
                decision=decided[plan.role],
            ),
        )
        for n, plan in enumerate(plans, 1)
    ]
    assert [plan.role for plan, _ in tests] == ["without", "instead"]
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
