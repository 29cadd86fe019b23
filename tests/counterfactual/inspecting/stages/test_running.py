"""All stages together, in a world whose causes are known."""

import os
from collections import Counter
from pathlib import Path

import pytest
from planted_world import CALLS, CAUSE, DECOYS, QUESTION
from running_world import PROGRAM, prices, prompts, run, settings

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.edits import Replace
from firsthand.counterfactual.inspecting.running import StagesResult, run_stages
from firsthand.counterfactual.inspecting.stages.from_logs import claims_from_logs, investigations_from_logs
from firsthand.counterfactual.inspecting.stages.settings import Budget
from firsthand.counterfactual.inspecting.stages.stage import left_by
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Sampling
from firsthand.errors import CounterfactualError

WORDS = {CAUSE, *(word for word, _ in DECOYS)}
SAMPLES = 12


def word_of(experiment_edit: object) -> str:
    (operation,) = experiment_edit.operations  # type: ignore[attr-defined]
    assert isinstance(operation, Replace)
    return operation.find


def causes_found(one: Investigation) -> set[str]:
    assert one.report is not None
    return {word_of(one.experiments[cause.experiments[0] - 1].edit) for cause in one.report.causes}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StagesResult]:
    """A run in which a model plays every role, the classifier's too."""
    folder = tmp_path_factory.mktemp("asked")
    CALLS.clear()
    return folder, run(folder, 1, judges=3, sampling=Sampling(samples=SAMPLES))


def test_an_agent_finds_the_planted_cause_refutes_the_decoys_and_all_claims_are_right(
    asked: tuple[Path, StagesResult],
) -> None:
    _, result = asked
    assert result.finished
    assert len(result.investigations) == 1
    for one in result.investigations:
        assert causes_found(one) == {CAUSE}
        assert one.report is not None
        assert len(one.report.refuted) == len(DECOYS)
        assert [judgement.score for judgement in one.judgements] == [9] * 3
    for claim in result.claims:
        assert claim.label == (word_of(claim.edit) == CAUSE)
        assert claim.single_factor
        assert claim.concreteness == 4
        assert claim.reproduced
        assert claim.intervention == f"The word {word_of(claim.edit)} was replaced by {claim.edit.operations[0].text}."  # type: ignore[union-attr]
    assert Counter(claim.label for claim in result.claims) == {True: 1, False: 2}
    again = [claim.reproduction.baseline for claim in result.claims if claim.reproduction is not None]
    assert [rate.responses for rate in again if rate is not None] == [SAMPLES] * 3
    assert [one.stage for one in result.endings] == ["claim"]


def test_baseline_and_confirming_batches_are_fresh(asked: tuple[Path, StagesResult]) -> None:
    _, result = asked
    for one in result.investigations:
        explored = [e for e in one.experiments if e.stage == "explored"]
        confirmed = [e for e in one.experiments if e.stage == "confirmed"]
        assert [e.number for e in one.experiments] == list(range(1, 9))
        assert [e.edit for e in confirmed] == [e.edit for e in explored]
        assert {e.batch for e in confirmed}.isdisjoint(e.batch for e in explored)
        assert one.report is not None
        assert all(len(cause.evidence) == 2 for cause in (*one.report.causes, *one.report.refuted))
        assert one.baseline.responses == SAMPLES


def test_the_logs_are_the_evidence_and_a_second_call_makes_no_calls(asked: tuple[Path, StagesResult]) -> None:
    folder, result = asked
    assert investigations_from_logs(folder) == list(result.investigations)
    assert claims_from_logs(folder) == list(result.claims)
    before = len(CALLS)
    assert run(folder, 1, judges=3, sampling=Sampling(samples=SAMPLES)) == result
    assert len(CALLS) == before
    assert sum(one.usage.calls for one in result.used) == before


def test_a_folder_goes_on_only_under_the_same_settings_and_prompts(asked: tuple[Path, StagesResult]) -> None:
    folder, _ = asked
    with pytest.raises(CounterfactualError, match="other settings: seed"):
        run(folder, 1, judges=3, sampling=Sampling(samples=SAMPLES), seed=1)
    with pytest.raises(CounterfactualError, match="other prompts"):
        run(folder, 3, judges=3, sampling=Sampling(samples=SAMPLES))


REPETITIONS = int(os.environ.get("FIRSTHAND_REPETITIONS", "8"))


def test_over_many_repetitions_causes_decoys_and_labels_keep_their_error_rates(tmp_path: Path) -> None:
    result = run(tmp_path, REPETITIONS, behaviours=(PROGRAM,), effort="light")
    assert result.finished
    assert len(result.investigations) == REPETITIONS
    # The investigator steered by its own baseline, so labels are made against another one.
    steered, drawn = (left_by(tmp_path, stage) for stage in ("investigate", "confirm"))
    assert [drawn[one.id]["baseline"] for one in result.investigations] == [
        one.baseline.model_dump(mode="json") for one in result.investigations
    ]
    assert any(steered[name]["baseline"] != drawn[name]["baseline"] for name in drawn)
    assert sum(causes_found(one) == {CAUSE} for one in result.investigations) >= REPETITIONS - 2
    wrong = [claim for claim in result.claims if claim.label != (word_of(claim.edit) == CAUSE)]
    assert wrong == []
    assert Counter(claim.label for claim in result.claims)[True] >= REPETITIONS - 1
    decided = Counter((word_of(e.edit) == CAUSE, e.decision) for one in result.investigations for e in one.experiments)
    assert decided[(False, "changes")] == 0
    assert decided[(True, "does not change")] == 0


def test_a_weak_model_in_every_role_ends_with_everything_accounted_for(tmp_path: Path) -> None:
    result = run(tmp_path, 4, "weak", sampling=Sampling(samples=10), effort="light")
    assert result.finished
    assert {one.prompt for one in result.endings} == {one.id for one in prompts(4)}
    assert all(one.status not in ("failed", "not reached") for one in result.endings), result.endings
    assert any("invalid" in name for name in result.counts)
    for one in result.investigations:
        assert (one.report is None) == bool(one.ended)
        assert all(judgement.score is None or judgement.score == 9 for judgement in one.judgements)
        assert one.screened.behaviour.question == QUESTION


def test_faults_of_a_server_are_retried_or_recorded_and_every_prompt_is_accounted_for(tmp_path: Path) -> None:
    result = run(tmp_path, 5, "faulty", sampling=Sampling(samples=10), effort="light", retries=3)
    assert result.finished
    assert {one.prompt for one in result.endings} == {one.id for one in prompts(5)}
    assert not [one for one in result.endings if one.status in ("failed", "not reached")], result.endings
    assert any("refused call" in name for name in result.counts)
    for one in result.investigations:
        for experiment in one.experiments:
            assert experiment.rate.responses == 10


@pytest.mark.parametrize(
    ("budget", "why"),
    [(Budget(calls=2), "2 turns"), (Budget(tokens=1_000), "1,000 tokens"), (Budget(money=0.03), "$0.03")],
)
def test_a_budget_that_is_used_up_leaves_an_unfinished_investigation_with_what_was_measured(
    tmp_path: Path, budget: Budget, why: str
) -> None:
    result = run(
        tmp_path,
        1,
        behaviours=(PROGRAM,),
        budget=budget,
        prices=prices(tmp_path, 5.0, 25.0),
    )
    (one,) = result.investigations
    assert one.report is None
    assert "budget used up" in one.ended
    assert why in one.ended
    assert one.experiments
    assert result.claims == ()
    assert result.endings[0].stage == "investigate"
    assert result.endings[0].status == "unfinished"


def test_the_budget_of_a_run_stops_it_and_a_higher_one_goes_on_without_paying_again(tmp_path: Path) -> None:
    dear = prices(tmp_path, 1_000.0, 1_000.0)
    start = len(CALLS)
    stopped = run(tmp_path / "a", 2, behaviours=(PROGRAM,), effort="light", prices=dear, money=2.0)
    assert not stopped.finished
    assert "budget is used up: $2" in stopped.stopped
    first = len(CALLS) - start
    finished = run(tmp_path / "a", 2, behaviours=(PROGRAM,), effort="light", prices=dear, money=1_000.0)
    assert finished.finished
    interrupted = len(CALLS) - start
    assert first < interrupted
    whole = run(tmp_path / "b", 2, behaviours=(PROGRAM,), effort="light", prices=dear, money=1_000.0)
    assert len(CALLS) - start == 2 * interrupted
    assert finished.used == whole.used


def test_an_outage_stops_the_run_and_makes_no_verdicts(tmp_path: Path) -> None:
    down = run(tmp_path, 6, "down", behaviours=(PROGRAM,), give_up_after=3, samples_at_once=1)
    assert not down.finished
    assert "3 calls of the target in a row failed" in down.stopped
    assert down.investigations == ()
    assert {one.status for one in down.endings} == {"waits"}


def test_what_is_rare_or_expected_goes_no_further(tmp_path: Path) -> None:
    rare = Pattern(question="Six in the draw?", pattern=r"\(0\.66")
    never = Pattern(question="Never?", pattern="submarine")
    result = run(tmp_path, 2, behaviours=(rare, never))
    assert result.investigations == ()
    assert {one.status for one in result.endings} <= {"rare", "expected"}


def test_a_describer_sees_two_prompts_and_nothing_of_what_they_did(
    asked: tuple[Path, StagesResult],
) -> None:
    described = [one["input"] for one in CALLS if one["role"] == "describer"]
    assert described
    for messages in described:
        text = messages[-1].text
        assert "lighthouse" not in text
        assert "%" not in text
        assert "hypothesis" not in text


def test_a_model_that_is_not_there_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    with pytest.raises(CounterfactualError, match="Nobody plays the target"):
        run_stages(settings(tmp_path, "world").model_copy(update={"roles": _absent()}), prompts(1))
    with pytest.raises(CounterfactualError, match="no prompts"):
        run_stages(settings(tmp_path, "world"), list[Prompt]())


def _absent() -> dict[str, object]:
    from firsthand.counterfactual.inspecting.stages.settings import RoleModel

    return {"target": RoleModel(model="nobody/x"), "investigator": RoleModel(model="nobody/x")}
