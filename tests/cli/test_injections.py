"""The command ``inject`` as a user meets it: a plan before anything is run, and every wrong input told in words."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Command, Done, assert_refused

from firsthand.auditing.injection import InjectionRun
from firsthand.claims import FrozenInjection, InjectionClaim, read_frozen, write_claim
from firsthand.claims.files import read_injection_claim
from firsthand.cli import injections as module
from firsthand.studies.injection.concepts import CONCEPTS


def small(folder: Path) -> list[str]:
    return ["--model", str(folder), "--layers", "1", "--doses", "0.5,1", "--framings", "instruction", "--answers", "2"]


def test_a_dry_run_prints_questions_tokens_time_and_memory_and_runs_nothing(
    firsthand: Command, tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "inject", None)
    out, plan = tmp_path / "run", tmp_path / "plan.json"
    every = [*small(tiny_folder), "--questions", "all"]
    done = firsthand("inject", "--dry-run", *every, "--out", out, "--json", plan)
    assert done.code == 0, done.err
    for word in ("choosing", "judging", "detection-2", "codes", "confidence-choice", "training"):
        assert word in done.out
    assert "tokens a second" in done.out
    assert "GiB of memory" in done.out
    assert not out.exists()
    found = json.loads(plan.read_text())
    assert found["schema_version"] == 1
    assert found["tokens"] == sum(part["tokens"] for part in found["parts"])
    assert found["trials"] == sum(part["rows"] for part in found["parts"])
    assert found["seconds"] > 0
    assert found["memory_bytes"] > 0
    names = {part["name"] for part in found["parts"]}
    assert "detection-3" not in names
    assert f"{found['trials']:,} trials, {found['tokens']:,} tokens" in done.out


def test_a_dry_run_prices_another_size_and_only_what_is_asked(
    firsthand: Command, tiny_folder: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    ask = [*small(tiny_folder), "--questions", "detection,strength", "--json", plan]
    done = firsthand("inject", "--size", "8e9", *ask)
    assert "For 8,000 million parameters: about" in done.out, done.err
    found = json.loads(plan.read_text())
    assert found["parameters"] == 8_000_000_000
    assert found["memory_bytes"] > 32e9
    asked = {part["name"] for part in found["parts"]}
    assert asked == {"detection-2-instruction", "detection-2", "strength"}


@pytest.mark.parametrize("size", ["nan", "inf"])
def test_a_size_that_is_no_number_is_refused(firsthand: Command, tiny_folder: Path, size: str) -> None:
    done = firsthand("inject", "--size", size, *small(tiny_folder), "--questions", "strength")
    assert done.code == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--questions", "detection,mood"), ("questions.1", "'detection'")),
        (("--questions", "confidence"), ("need detection",)),
        (("--answers", "4"), ("options.0",)),
        (("--answers", "two"), ("options.0",)),
        (("--framings", "song"), ("framings.0",)),
        (("--layers", "one"), ("layers.0",)),
        (("--layers", "1,1"), ("layers",)),
        (("--doses", "0"), ("doses.0",)),
        (("--recipe", "magic"), ("recipe",)),
        (("--voices", "none"), ("voices",)),
        (("--seed", "-1"), ("seed",)),
    ],
)
def test_options_that_do_not_fit_are_named_before_a_model_is_loaded(
    firsthand: Command, monkeypatch: pytest.MonkeyPatch, options: tuple[str, str], words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(module, "load", None)
    assert_refused(firsthand("inject", *options), "The options do not fit", *words)


def test_a_claim_holds_all_settings(firsthand: Command, tmp_path: Path) -> None:
    claim = tmp_path / "claim.yaml"
    for option in (("--model", "smollm2"), ("--seed", "1"), ("--full-grid",), ("--concepts", "words.txt")):
        assert_refused(firsthand("inject", "--claim", claim, *option), "--claim holds all settings")


def test_files_that_are_missing_are_named(firsthand: Command, tmp_path: Path) -> None:
    for option in ("--claim", "--concepts", "--prompts", "--pushes", "--published"):
        assert_refused(firsthand("inject", option, tmp_path / "nowhere.txt"), "nowhere.txt")


def test_an_unknown_model_is_named(firsthand: Command, tmp_path: Path) -> None:
    assert_refused(firsthand("inject", "--dry-run", "--model", "smolm2"), "smolm2", "smollm2")


def test_a_layer_out_of_range_says_which_there_are(firsthand: Command, tiny_folder: Path, tmp_path: Path) -> None:
    options = ["inject", "--model", tiny_folder, "--layers", "1,3", "--out", tmp_path / "run"]
    for more in (["--dry-run"], []):
        assert_refused(firsthand(*options, *more), "[1, 3] are not layers 0 to 2")


def test_too_few_concepts_are_refused(firsthand: Command, tiny_folder: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("\n".join(CONCEPTS[:8]) + "\n")
    done = firsthand("inject", "--dry-run", "--model", tiny_folder, "--concepts", words)
    assert_refused(done, "which leaves 6 to judge on", "Use 31 to")


def test_a_file_of_concepts_that_holds_none_is_refused(firsthand: Command, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("# nothing\n")
    assert_refused(firsthand("inject", "--concepts", words), "holds no concept")


def test_a_published_table_that_does_not_fit_is_refused_before_anything_is_run(
    firsthand: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "load", None)
    table = tmp_path / "rates.csv"
    table.write_text("source,model\na,b\n")
    assert_refused(firsthand("inject", "--published", table), "has the columns source, model")


def test_a_real_process_ends_with_a_message_and_no_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from firsthand.cli.main import run; run()", "inject", "--questions", "mood"],
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert_refused(Done(done.returncode, done.stdout, done.stderr), "questions.0")
    assert "Traceback" not in done.stdout + done.stderr
    assert not list(tmp_path.iterdir())


def test_a_claim_is_written_checked_frozen_and_refused_after_a_change(
    firsthand: Command, tiny_folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "claim.yaml"
    assert firsthand("claim", "new", path, "--study", "injection", "--model", tiny_folder).code == 0
    assert read_injection_claim(path) == InjectionClaim(model=str(tiny_folder), concepts=CONCEPTS)
    assert "not frozen yet" in firsthand("claim", "check", path).out
    frozen = firsthand("claim", "freeze", path)
    assert "SHA-256" in frozen.out, frozen.err
    assert read_frozen(tmp_path / "claim.frozen.json", FrozenInjection).claim == read_injection_claim(path)
    assert "unchanged since" in firsthand("claim", "check", path).out
    path.write_text(path.read_text().replace("seed: 0", "seed: 3"))
    assert_refused(firsthand("claim", "check", path), "claim.seed was 0, is 3")
    out = tmp_path / "run"
    assert_refused(firsthand("inject", "--claim", path, "--out", out), "claim.seed was 0, is 3")
    assert not out.exists()


def test_a_claim_of_no_study_is_not_written(firsthand: Command, tmp_path: Path) -> None:
    path = tmp_path / "claim.yaml"
    assert_refused(
        firsthand("claim", "new", path, "--study", "sleep"), "no study 'sleep'", "register, injection, biofeedback"
    )
    assert not path.exists()


def test_a_claim_of_one_study_is_not_run_as_another(
    firsthand: Command, tmp_path: Path, injection_claim: InjectionClaim
) -> None:
    path = tmp_path / "claim.yaml"
    write_claim(path, injection_claim)
    assert_refused(firsthand("audit", "--claim", path), "study")
    firsthand("claim", "new", tmp_path / "register.yaml")
    assert_refused(firsthand("inject", "--claim", tmp_path / "register.yaml"), "study")


@pytest.fixture
def folder(injection_run: InjectionRun, tmp_path: Path) -> Path:
    """A copy of a finished study, to be read and damaged."""
    shutil.copytree(injection_run.folder, tmp_path / "run")
    return tmp_path / "run"


def test_a_finished_study_is_verified_and_a_damaged_one_refused(
    firsthand: Command, folder: Path, tmp_path: Path
) -> None:
    done = firsthand("verify", folder, "--json", tmp_path / "checked.json")
    assert done.code == 0, done.err
    checked = json.loads((tmp_path / "checked.json").read_text())
    assert checked["units"] == {"trace": 24 * 3, "selection": 8 * 2}
    assert checked["claim_sha256"] == read_frozen(folder / "claim.frozen.json", FrozenInjection).sha256
    assert f"{sum(checked['units'].values())} units: files as written" in done.out
    shard = next((folder / "selection" / "reports").glob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[:100])
    assert_refused(firsthand("verify", folder), "truncated or altered", shard.name)


def test_a_study_that_is_not_finished_is_not_verified(firsthand: Command, folder: Path) -> None:
    (folder / "trace" / "manifest.json").unlink()
    assert_refused(firsthand("verify", folder), "holds no finished run", "firsthand inject")


def test_the_report_of_a_finished_study_is_written_again(firsthand: Command, folder: Path, tmp_path: Path) -> None:
    page, again = tmp_path / "page.html", tmp_path / "again.json"
    done = firsthand("report", folder, "--out", page, "--json", again)
    assert done.code == 0, done.err
    assert page.stat().st_size > 10_000
    assert json.loads(again.read_text()) == json.loads((folder / "result.json").read_text())
    assert_refused(firsthand("report", tmp_path / "nowhere"), "no finished run")


def test_a_study_is_not_judged_by_observers_of_another(firsthand: Command, folder: Path) -> None:
    done = firsthand("rescore", folder, "--observer", "table")
    assert_refused(done, "holds an injection study", "firsthand.analysis")


def test_a_study_that_goes_on_prints_its_profile_and_writes_page_figures_data_and_rates(
    firsthand: Command, folder: Path, tmp_path: Path
) -> None:
    rates = tmp_path / "rates.csv"
    rates.write_text("source,model,question,arm,answer,rate,n\nA paper,big,detection-2,target,injected,0.2,40\n")
    claim, result = folder / "claim.frozen.json", tmp_path / "r.json"
    done = firsthand("inject", "--claim", claim, "--out", folder, "--json", result, "--published", rates)
    assert done.code == 0, done.err
    assert "insufficient" in done.out
    assert (folder / "report.html").exists()
    for name in ("figures", "data"):
        assert list((folder / name).iterdir())
        assert str(folder / name) in done.err.replace("\n", "")
    document = json.loads(result.read_text())
    assert document["instrument_ok"] is True
    assert document["published_sources"] == ["A paper"]
    assert [mark["label"] for mark in document["published"][0]["marks"]][1] == "big (A paper)"
