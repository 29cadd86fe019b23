"""The command line as a user meets it: right commands work, wrong input gets a message and never a traceback."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firsthand.auditing.audit import Run
from firsthand.claims.files import default_claim, write_claim

COMMAND = [sys.executable, "-c", "from firsthand.cli.main import run; run()"]


def firsthand(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "COLUMNS": "100", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def assert_clear_error(done: subprocess.CompletedProcess[str], *words: str, code: int = 2) -> None:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert "What to do:" in done.stderr
    for word in words:
        assert word in done.stderr


def test_help_and_version_need_no_heavy_library() -> None:
    script = (
        "import sys, firsthand.cli.main\n"
        "heavy = {'torch', 'transformers', 'pandas', 'numpy', 'scipy', 'sklearn', 'altair', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert firsthand("--help").returncode == 0
    assert firsthand("--version").stdout.startswith("firsthand 0.")


def test_the_triangle_prints_the_seeds_rows_and_writes_json(tmp_path: Path) -> None:
    done = firsthand("triangle", "--blocks", "60", "--json", tmp_path / "t.json")
    assert done.returncode == 0, done.stderr
    for word in ("privileged reporter", "surface mimic", "generic anomaly detector", "always-no reporter", "passed"):
        assert word in done.stdout
    value = json.loads((tmp_path / "t.json").read_text())
    assert value["schema_version"] == 1
    assert len(value["rows"]) == 4


def test_a_claim_is_written_checked_frozen_and_refused_after_a_change(tmp_path: Path, tiny_folder: Path) -> None:
    path = tmp_path / "claim.yaml"
    assert firsthand("claim", "new", path, "--model", tiny_folder).returncode == 0
    assert "not frozen yet" in firsthand("claim", "check", path).stdout
    assert_clear_error(firsthand("audit", "--claim", path, "--out", tmp_path / "run"), "not frozen", "claim freeze")
    frozen = firsthand("claim", "freeze", path)
    assert "SHA-256" in frozen.stdout, frozen.stderr
    assert "unchanged since" in firsthand("claim", "check", path).stdout
    path.write_text(path.read_text().replace("alpha: 0.05", "alpha: 0.1"))
    assert_clear_error(firsthand("claim", "check", path), "analysis.alpha was 0.05, is 0.1")
    assert_clear_error(firsthand("audit", "--claim", path, "--out", tmp_path / "run"), "analysis.alpha was 0.05")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (("clusters:\n  - block\n  - carrier", "clusters: []"), "clusters"),
        (("controls:\n- baseline\n- sham\n- input_control\n- impact_control", "controls: []"), "controls"),
        (("- sham\n", ""), "sham"),
        (("alpha: 0.05", "alpha: 1.5"), "alpha"),
        (("title:", "titel:"), "titel"),
    ],
)
def test_a_wrong_claim_is_refused_by_the_name_of_its_field(tmp_path: Path, change: tuple[str, str], word: str) -> None:
    path = tmp_path / "claim.yaml"
    write_claim(path, default_claim("smollm2"))
    text = path.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change, 1))
    assert_clear_error(firsthand("claim", "check", path), word)


def test_a_claim_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "claim.yaml"
    path.write_text("mine")
    assert_clear_error(firsthand("claim", "new", path), "exists already")
    assert path.read_text() == "mine"


def test_an_unknown_model_is_named_and_a_near_one_suggested(tmp_path: Path) -> None:
    done = firsthand("audit", "--model", "smolm2", "--out", tmp_path / "run")
    assert_clear_error(done, "smolm2", "smollm2")


def test_a_layer_out_of_range_says_which_layers_there_are(tmp_path: Path, tiny_folder: Path) -> None:
    path = tmp_path / "claim.yaml"
    firsthand("claim", "new", path, "--model", tiny_folder)
    path.write_text(path.read_text().replace("layers: null", "layers: [9]"))
    firsthand("claim", "freeze", path)
    assert_clear_error(firsthand("audit", "--claim", path, "--out", tmp_path / "run"), "names 9", "0 to 2")


def test_codes_that_the_model_cannot_tell_apart_or_spell_are_refused(tmp_path: Path, tiny_folder: Path) -> None:
    path = tmp_path / "claim.yaml"
    firsthand("claim", "new", path, "--model", tiny_folder)
    path.write_text(path.read_text().replace("code_letters: EJMOQSUVYZ", "code_letters: EJM"))
    firsthand("claim", "freeze", path)
    assert_clear_error(firsthand("audit", "--claim", path, "--out", tmp_path / "run"), "distinct codes", "code_letters")


@pytest.mark.parametrize("arguments", [("audit", "--blocks", "many"), ("audit", "--colour"), ("nonsense",)])
def test_a_wrong_option_or_command_gets_a_message_and_a_code(arguments: tuple[str, ...]) -> None:
    done = firsthand(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert arguments[min(1, len(arguments) - 1)] in done.stderr


def test_too_few_blocks_are_refused_before_anything_is_loaded(tmp_path: Path, tiny_folder: Path) -> None:
    done = firsthand("audit", "--model", tiny_folder, "--blocks", "8", "--out", tmp_path / "run")
    assert_clear_error(done, "8 confirmation blocks are too few", "--blocks")
    assert not (tmp_path / "run").exists()


def test_options_that_would_change_a_frozen_claim_are_refused(tmp_path: Path) -> None:
    assert_clear_error(
        firsthand("audit", "--claim", tmp_path / "c.yaml", "--blocks", "30"), "would change a frozen claim"
    )


def test_a_finished_run_is_verified_reported_and_a_damaged_one_refused(tiny_run: Run, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run.folder, run)
    assert "28 units" in firsthand("verify", run, "--json", tmp_path / "checked.json").stdout
    checked = json.loads((tmp_path / "checked.json").read_text())
    assert checked["schema_version"] == 1
    assert sum(checked["units"].values()) == 28
    done = firsthand("report", run, "--out", tmp_path / "page.html", "--json", tmp_path / "again.json")
    assert done.returncode == 0
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads((run / "result.json").read_text())
    assert (tmp_path / "page.html").stat().st_size > 10_000
    shard = next((run / "trace" / "public").glob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[:100])
    assert_clear_error(firsthand("verify", run), "truncated or altered", shard.name)
    assert_clear_error(firsthand("report", tmp_path / "nowhere"), "no finished run")


def test_an_audit_that_goes_on_prints_its_profile_and_writes_page_and_json(tiny_run: Run, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run.folder, run)
    done = firsthand("audit", "--claim", run / "claim.frozen.json", "--out", run, "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    assert "insufficient" in done.stdout
    assert (run / "report.html").exists()
    assert json.loads((tmp_path / "r.json").read_text())["instrument_ok"] is True


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path, tiny_folder: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file, not a folder")
    assert_clear_error(firsthand("audit", "--model", tiny_folder, "--out", blocked / "run"), str(blocked))


def test_the_doctor_prints_what_it_found_and_writes_it_as_json(tiny_folder: Path, tmp_path: Path) -> None:
    done = firsthand("doctor", tiny_folder, "--json", tmp_path / "found.json")
    assert done.returncode == 0
    assert "edit norm" in done.stdout
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["schema_version"] == 1
    assert found["sound"] is True
    assert {"name", "finding", "measured", "meaning"} == set(found["checks"][0])
    assert_clear_error(firsthand("doctor", tmp_path / "nowhere"), "nowhere")
