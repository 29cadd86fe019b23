"""A whole study of a random model: everything is asked, nothing is found, and it goes on where it stopped."""

from pathlib import Path

import pandas as pd
import pytest

from firsthand.auditing.injection import InjectionRun, inject
from firsthand.auditing.injection.cost import cost_of
from firsthand.auditing.injection.plan import selection_steps, trace_steps
from firsthand.claims import InjectionClaim, Question, read_frozen
from firsthand.claims.freeze import FrozenInjection
from firsthand.engine import LoadedModel
from firsthand.errors import ClaimError, TraceError
from firsthand.studies.injection.bench import prepare, split_concepts, usual_layers
from firsthand.studies.injection.concepts import CONCEPTS
from firsthand.trials.trace import Trace
from firsthand.vocabulary import Verdict


@pytest.fixture
def claim(injection_claim: InjectionClaim) -> InjectionClaim:
    return injection_claim


@pytest.fixture
def done(injection_run: InjectionRun) -> InjectionRun:
    return injection_run


def test_a_random_model_has_nothing_to_report_and_the_instrument_is_in_order(done: InjectionRun) -> None:
    document = done.document
    assert document.instrument_ok, [(k.reporter, k.obtained, k.reasons) for k in document.known_answers if not k.passed]
    assert {finding.name for finding in document.findings} == {"detection-2", "strength"}
    verdicts = {result.verdict for finding in document.findings for result in finding.results}
    assert verdicts == {Verdict.INSUFFICIENT}
    assert any("coverage" in result.reasons[0] for finding in document.findings for result in finding.results)


def test_what_would_have_been_claimed_stands_beside_what_was_confirmed(done: InjectionRun) -> None:
    selection = done.document.finding("detection-2").selection
    assert selection is not None
    assert selection.confirmed is not None
    rows = [row for grid in selection.grids for row in grid.rows]
    assert {row.score.units for row in rows} == {len(done.document.concepts_choosing)} == {8}
    assert len(done.document.concepts_judging) == 24
    assert selection.naive.value == max(row.rise.value for row in rows)


def test_a_study_goes_on_where_it_stopped_and_ends_with_the_same_rows(
    done: InjectionRun, claim: InjectionClaim, tiny: LoadedModel
) -> None:
    before = Trace(done.folder / "trace").content_digest()
    units = sorted((done.folder / "trace" / "units").glob("strength.*.json"))
    assert len(units) == 24
    units[3].unlink()
    again = inject(claim, tiny, done.folder)
    assert Trace(done.folder / "trace").content_digest() == before
    pd.testing.assert_frame_equal(again.tables["strength"], done.tables["strength"])
    assert again.document.findings == done.document.findings


def test_a_folder_holds_one_claim(done: InjectionRun, claim: InjectionClaim, tiny: LoadedModel, tmp_path: Path) -> None:
    assert read_frozen(done.folder / "claim.frozen.json", FrozenInjection).claim == claim
    with pytest.raises(ClaimError, match=r"claim\.seed was 0, is 1"):
        inject(claim.model_copy(update={"seed": 1}), tiny, done.folder)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ClaimError, match="holds no run"):
        inject(claim, tiny, tmp_path)


def test_an_altered_trace_is_not_gone_on_with(claim: InjectionClaim, tiny: LoadedModel, done: InjectionRun) -> None:
    shard = next((done.folder / "trace" / "reports").glob("detection-2.*.parquet"))
    content = shard.read_bytes()
    shard.write_bytes(content[:100])
    with pytest.raises(TraceError, match="altered"):
        inject(claim, tiny, done.folder)
    shard.write_bytes(content)


def test_too_few_concepts_are_refused_before_anything_is_run(tiny: LoadedModel, claim: InjectionClaim) -> None:
    with pytest.raises(ClaimError, match="leaves 22 to judge on"):
        prepare(tiny, claim.model_copy(update={"concepts": CONCEPTS[:29]}))


def test_concepts_that_choose_never_judge(claim: InjectionClaim) -> None:
    choosing, judging = split_concepts(claim)
    assert set(choosing) | set(judging) == set(claim.concepts)
    assert not set(choosing) & set(judging)


def test_the_plan_of_everything_is_priced_without_running_it(tiny: LoadedModel, claim: InjectionClaim) -> None:
    everything = claim.model_copy(
        update={
            "questions": tuple(Question),
            "options": (2, 3),
            "framings": ("instruction", "conversation"),
        }
    )
    bench = prepare(tiny, everything)
    cost = cost_of(bench)
    names = {step.name for step in (*selection_steps(bench), *trace_steps(bench))}
    assert {part.name for part in cost.parts} == names
    assert {"delayed", "codes", "naming", "confidence-choice", "transfer-recipe"} <= names
    assert all(part.rows > 0 and part.tokens > 0 for part in cost.parts)
    assert cost_of(bench, 2 * tiny.n_parameters).memory > 1.9 * cost.memory


def test_the_full_grid_runs_every_arm_in_every_cell(tiny: LoadedModel, claim: InjectionClaim) -> None:
    few, full = (cost_of(prepare(tiny, claim.model_copy(update={"full_grid": grid}))) for grid in (False, True))
    rows = {part.name: part.rows for part in few.parts if part.phase == "trace"}
    more = {part.name: part.rows for part in full.parts if part.phase == "trace"}
    assert all(more[name] > rows[name] for name in ("detection-2", "strength"))


def test_usual_layers_spread_over_the_depth_without_the_last() -> None:
    assert usual_layers(30) == (1, 4, 7, 10, 13, 15, 18, 21, 24, 27)
    assert usual_layers(4) == (0, 1, 2)
    assert all(0 <= layer < depth - 1 for depth in range(2, 100) for layer in usual_layers(depth))
