import sys
from pathlib import Path

import pytest

from firsthand.counterfactual.claiming import claims_of
from firsthand.counterfactual.filters import Filters, filtered
from firsthand.counterfactual.funnel import Funnel, Step, claimed, investigated, sieved, step, verified
from firsthand.counterfactual.investigation import Investigation, Judgement, Report

sys.path.insert(0, str(Path(__file__).parent))
from claim_parts import experiment, investigation, prompt, rate


def judged(*scores: int | None, filed: bool = True) -> Investigation:
    made = investigation(
        experiment(1, "alpha", rate(1)), experiment(2, "bravo", rate(26)), experiment(3, "carol", rate(15))
    )
    report = Report(observed="It apologises.", answer="Because of a word.") if filed else None
    judgements = tuple(Judgement(score=one) for one in scores)
    return made.model_copy(update={"report": report, "judgements": judgements, "ended": "" if filed else "budget"})


def test_an_investigation_is_verified_by_the_mean_of_its_valid_judgements() -> None:
    assert verified(judged(9, 7, 8))
    assert not verified(judged(9, 7, 7))
    assert verified(judged(9, 7, 7), least=7.0)
    assert verified(judged(8, 8, None))
    assert not verified(judged(8, None))


def test_without_a_report_or_a_valid_judgement_nothing_is_verified() -> None:
    assert not verified(judged())
    assert not verified(judged(None, None))
    assert not verified(judged(10, filed=False))


def test_every_investigation_goes_on_or_is_counted_with_a_reason() -> None:
    found = investigated([judged(9), judged(3), judged(None), judged(filed=False)])
    assert [(one.given, one.kept, one.dropped) for one in found.steps] == [
        (4, 3, {"budget": 1}),
        (3, 1, {"mean score below 8": 1, "too few valid judgements": 1}),
    ]


def test_claims_are_counted_from_experiments_to_the_filtered_set() -> None:
    claimings = [claims_of(judged(9).model_copy(update={"target": f"t{n}"})) for n in range(4)]
    claims = [one for claiming in claimings for one in claiming.claims]
    whole = claimed(claimings) + sieved(filtered(claims, Filters(concreteness=None)))
    rows = [(one.name, one.unit, one.given, one.kept, one.true, one.clusters) for one in whole.steps]
    assert rows == [
        ("makes a claim", "experiments", 12, 8, 4, 1),
        ("all claims", "claims", 8, 8, 4, 1),
        ("+ balanced", "claims", 8, 8, 4, 1),
        ("+ reproduced", "claims", 8, 0, 0, 0),
        ("+ single factor", "claims", 0, 0, 0, 0),
    ]
    assert whole.steps[0].dropped == {"between thresholds": 4}
    assert whole.steps[3].dropped == {"never reproduced by anyone": 8}
    assert prompt().id == claims[0].cluster


def test_a_stage_that_loses_something_unexplained_is_refused() -> None:
    with pytest.raises(ValueError, match="5 came in, 3 were kept and 1 dropped"):
        Step(name="screen", unit="prompts", given=5, kept=3, dropped={"dull": 1})
    with pytest.raises(ValueError, match="a kept 3 prompts, and b got 4"):
        Funnel(steps=(step("a", "prompts", 3, {"dull": 1}), step("b", "prompts", 4, {})))
    assert step("a", "prompts", 3, {"dull": 1, "long": 0}).dropped == {"dull": 1}
