"""``firsthand import`` as a user meets it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from firsthand.cli.main import run; run()"]
HEADER = (
    "concept,vec_type,layer,coeff,coherence_judge,affirmative_response_judge,"
    "affirmative_response_followed_by_correct_identification_judge,response\n"
)
DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[3] / "shared" / "data"))


def firsthand(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"c{c},avg,{layer},4.0,True,True,{c == 0},text {c} {layer}" for c in range(4) for layer in (9, 12)]
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "output_anthropic_reproduce.csv").write_text(HEADER + "\n".join(rows) + "\n")
    return tmp_path / "published"


def test_an_import_prints_its_profile_and_writes_everything(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = firsthand("import", "hahami", folder, "--out", out, "--json", tmp_path / "p.json")
    assert done.returncode == 0, done.stderr
    assert "that is what would have been claimed" in " ".join(done.stdout.split())
    assert "insufficient" in done.stdout
    assert (tmp_path / "p.json").read_text() == (out / "profile.json").read_text()
    assert json.loads((tmp_path / "p.json").read_text())["schema_version"] == 1
    assert {path.name for path in out.iterdir()} == {"trace", "profile.json", "findings.csv", "report.html"}


def test_the_list_and_the_folder_by_default(folder: Path, tmp_path: Path) -> None:
    listed = firsthand("import", "--list")
    assert listed.returncode == 0
    assert {"hahami", "codebook_icl", "cot-hints"} <= set(listed.stdout.split())
    assert firsthand("import", "hahami", folder, cwd=tmp_path).returncode == 0
    assert (tmp_path / "runs" / "hahami" / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("import",), ("kind is missing", "codebook_icl, cot-hints, hahami")),
        (("import", "hahami"), ("folder is missing", "KIND FOLDER")),
        (("import", "other", "."), ("no importer 'other'", "codebook_icl, cot-hints, hahami")),
        (("import", "hahami", "nowhere"), ("nowhere does not exist",)),
        (("import", "hahami", "."), ("none of this study's files",)),
        (("import", "no.such:Thing", "."), ("could not be loaded",)),
    ],
)
def test_wrong_input_gets_a_message_and_no_traceback(
    tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = firsthand(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "What to do:" in done.stderr
    for word in words:
        assert word in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_wrong_folder_of_published_data_is_refused(tmp_path: Path) -> None:
    if not (DATA / "injection_results").is_dir():
        pytest.skip(f"published data is not in {DATA}; set FIRSTHAND_DATA to run against it")
    done = firsthand("import", "hahami", DATA / "injection_results" / "codebook_icl", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "none of this study's files" in done.stderr
