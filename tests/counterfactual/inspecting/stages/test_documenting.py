"""A run of the stages ends in one document, whose account adds up wherever the run stopped."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from running_world import PROGRAM, prices, prompts, settings

from firsthand.counterfactual.finishing import finish
from firsthand.counterfactual.inspecting.documenting import concluded_of, document_of
from firsthand.counterfactual.inspecting.running import run_stages
from firsthand.counterfactual.inspecting.stages.settings import StagesSettings
from firsthand.counterfactual.inspecting.stages.stage import STAGES, StageName
from firsthand.counterfactual.investigation import Judgement
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.errors import CounterfactualError
from firsthand.report.investigations_document import InvestigationsDocument
from firsthand.report.investigations_files import read_json

GIVEN = [*prompts(1), *prompts(1)]


def made_of(chosen: StagesSettings, given: list[Prompt], until: StageName = "claim") -> InvestigationsDocument:
    result = run_stages(chosen, given, until=until)
    return document_of(result, concluded_of(result, chosen), chosen, given)


def test_a_finished_run_is_written_and_read_back_and_every_prompt_is_in_one_place(tmp_path: Path) -> None:
    chosen = settings(tmp_path / "run", behaviours=(PROGRAM,), effort="light")
    result = run_stages(chosen, GIVEN)
    concluded = concluded_of(result, chosen)
    document = document_of(result, concluded, chosen, GIVEN, ("again",))
    assert document.account.places == {("each once", "given more than once"): 1, ("", "kept"): 1}
    assert document.claims == result.claims
    left = finish(document, concluded, tmp_path / "run")
    assert read_json(left.result) == document
    assert "planted/world" in left.report.read_text()
    assert (left.claims / "README.md").exists()


def test_a_run_ended_when_its_last_stage_did_and_not_when_it_is_written(tmp_path: Path) -> None:
    chosen = settings(tmp_path / "run", behaviours=(PROGRAM,), effort="light")
    before = datetime.now(UTC)
    made = made_of(chosen, GIVEN)
    after = datetime.now(UTC)
    assert made_of(chosen, GIVEN).finished == made.finished
    assert before - timedelta(seconds=1) <= made.started <= made.finished <= after


def test_labels_are_counted_over_accepted_reports_and_what_nobody_described_is_in_the_funnel(tmp_path: Path) -> None:
    chosen = settings(tmp_path / "run", behaviours=(PROGRAM,), effort="light")
    result = run_stages(chosen, prompts(2))
    whole = concluded_of(result, chosen)
    steps = {one.name: one for one in whole.funnel.steps}
    assert steps["makes a claim"].kept == steps["described"].kept == len(result.claims)
    (kept, *lost) = result.claims
    less = result.model_copy(update={"claims": (kept,), "undescribed": {"no valid description": len(lost) - 1}})
    described = {one.name: one for one in concluded_of(less, chosen).funnel.steps}["described"]
    assert described.dropped == {"no valid description": len(lost) - 1, "not reached": 1}
    refused = [
        one.model_copy(update={"judgements": (Judgement(score=2),)} if number else {})
        for number, one in enumerate(result.investigations)
    ]
    own = tuple(one for one in result.claims if one.investigation == refused[0].id)
    half = concluded_of(result.model_copy(update={"investigations": tuple(refused), "claims": own}), chosen)
    assert half.errors["unfiltered"].clusters == whole.errors["unfiltered"].clusters - 1 == 1
    nobody = tuple(one.model_copy(update={"judgements": ()}) for one in refused)
    assert concluded_of(result.model_copy(update={"investigations": nobody, "claims": ()}), chosen).errors == {}


@pytest.mark.parametrize("until", STAGES)
def test_the_account_adds_up_after_every_stage(tmp_path: Path, until: StageName) -> None:
    document = made_of(settings(tmp_path / "run", behaviours=(PROGRAM,), effort="light"), GIVEN, until)
    assert sum(document.account.places.values()) == document.account.began == 2
    assert document.account.kept == len(document.investigations) == int(STAGES.index(until) >= 3)


def test_a_run_that_was_stopped_by_its_budget_says_why(tmp_path: Path) -> None:
    dear = prices(tmp_path, 1_000.0, 1_000.0)
    chosen = settings(tmp_path / "run", behaviours=(PROGRAM,), effort="light", prices=dear, money=2.0)
    document = made_of(chosen, prompts(2))
    assert "budget" in document.stopped
    assert sum(document.account.places.values()) == 2


def test_a_line_separator_in_a_prompt_ends_no_line(tmp_path: Path) -> None:
    odd = [Prompt(turns=(Turn(role="user", content=f"{prompts(1)[0].user_text}\u2028\x85More."),))]
    document = made_of(settings(tmp_path / "run", behaviours=(PROGRAM,), effort="light"), odd, "classify")
    assert sum(document.account.places.values()) == 1


def test_prepared_prompts_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl").write_text("{}")
    with pytest.raises(CounterfactualError, match="another folder"):
        run_stages(settings(tmp_path, behaviours=(PROGRAM,)), prompts(1))
