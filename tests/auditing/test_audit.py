"""A whole audit: verdicts, refusals, and going on after an interruption."""

import shutil
from pathlib import Path

import pytest

from firsthand.auditing.audit import Run, audit, freeze
from firsthand.claims import Claim, StateSpec
from firsthand.engine import hooks
from firsthand.engine.loading import LoadedModel
from firsthand.errors import ClaimError, InstrumentError
from firsthand.trials.trace import Trace
from firsthand.vocabulary import Capability, Condition, Verdict


def test_every_reporter_of_known_answer_gets_its_verdict(tiny_run: Run) -> None:
    known = tiny_run.document.known_answers
    assert {k.reporter for k in known} == {"wire", "mimic", "smoke alarm", "denier", "constant"}
    assert [k for k in known if not k.passed] == []


def test_a_random_model_is_called_privileged_for_nothing(tiny_run: Run) -> None:
    assert tiny_run.profile is not None
    assert Verdict.PRIVILEGED not in {r.verdict for r in tiny_run.profile.results}


def test_each_capability_is_judged_under_each_condition(tiny_run: Run, tiny_claim: Claim) -> None:
    assert tiny_run.profile is not None
    judged = {(r.capability, r.condition) for r in tiny_run.profile.results}
    assert judged == {(c, condition) for c in tiny_claim.capabilities for condition in tiny_claim.conditions}


def test_observers_that_saw_the_output_count_only_where_it_is_shown(tiny_run: Run) -> None:
    assert tiny_run.profile is not None
    for result in [r for r in tiny_run.profile.results if r.capability is Capability.IDENTIFICATION]:
        saw = {row.name for row in result.observers if row.sees_output}
        assert bool(saw) == (result.condition is Condition.Y_SHOWN)


def test_a_model_whose_answers_are_hardly_ever_valid_is_insufficient_and_not_without_access(tiny_run: Run) -> None:
    assert tiny_run.profile is not None
    assert {r.verdict for r in tiny_run.profile.results} == {Verdict.INSUFFICIENT}
    assert all("coverage" in r.reasons[0] or "valid" in r.reasons[0] for r in tiny_run.profile.results)


def test_the_wire_shows_that_the_state_landed(tiny_run: Run) -> None:
    assert tiny_run.profile is not None
    result = next(r for r in tiny_run.profile.results if r.capability is Capability.IDENTIFICATION)
    wire = next(r for r in result.readers if r.where == "site")
    assert wire.accuracy.value == 1.0


def test_a_second_run_takes_up_the_first_and_ends_with_the_same_verdicts(
    tiny_run: Run, tiny: LoadedModel, tiny_claim: Claim, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(tiny_run.folder, folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}
    again = audit(tiny_claim, tiny, folder)
    assert again.profile == tiny_run.profile
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")} == before


def test_a_lost_observation_is_made_again_from_remembered_answers(
    tiny_run: Run, tiny: LoadedModel, tiny_claim: Claim, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(tiny_run.folder, folder)
    for path in (folder / "observations").glob("*third_person*.parquet"):
        path.unlink()
    size = (folder / "observations" / "third_person.answers.jsonl").stat().st_size
    assert audit(tiny_claim, tiny, folder).profile == tiny_run.profile
    assert (folder / "observations" / "third_person.answers.jsonl").stat().st_size == size


def test_a_claim_changed_after_freezing_is_refused_and_the_change_is_named(
    tiny_run: Run, tiny: LoadedModel, tiny_claim: Claim
) -> None:
    changed = tiny_claim.model_copy(update={"state": StateSpec(layers=(0, 1), doses=(3.0,))})
    with pytest.raises(ClaimError, match=r"state\.doses was \[0\.5\], is \[3\.0\]"):
        audit(changed, tiny, tiny_run.folder)


def test_a_claim_frozen_for_other_weights_is_refused(tiny: LoadedModel, tiny_claim: Claim, tmp_path: Path) -> None:
    frozen = freeze(tiny_claim, tiny)
    bindings = frozen.bindings.model_copy(update={"weights_sha256": "0" * 64})
    with pytest.raises(ClaimError, match="weights_sha256"):
        audit(frozen.of(tiny_claim, bindings), tiny, tmp_path / "run")


def test_a_folder_with_other_things_in_it_is_refused(tiny: LoadedModel, tiny_claim: Claim, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ClaimError, match="not empty"):
        audit(tiny_claim, tiny, tmp_path)


def test_selection_trials_never_enter_the_judgement(tiny_run: Run) -> None:
    assert set(Trace(tiny_run.folder / "trace").read("sealed")["subset"]) == {"confirmation"}
    assert set(Trace(tiny_run.folder / "selection").read("sealed")["subset"]) == {"selection"}


def test_the_report_is_one_page(tiny_run: Run, tmp_path: Path) -> None:
    page = tiny_run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert tiny_run.document.claim_hash in page


def test_a_model_on_which_edits_go_wrong_is_not_audited(
    tiny: LoadedModel, tiny_claim: Claim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(hooks._OPERATIONS, "replace", lambda old, vector, strength: old * 1.01)
    with pytest.raises(InstrumentError, match="sham edit"):
        audit(tiny_claim, tiny, tmp_path / "run")
    assert not (tmp_path / "run" / "selection").exists()
