"""The command ``labels biofeedback`` as a user meets it."""

from pathlib import Path

import pytest
from commands import Command, assert_refused

from firsthand.report.labels_document import LabelsDocument

SMALL = ("--layers", "0,2", "--axes", "probe,pc1", "--fit", "40", "--held-out", "24", "--experiments", "2")
SMALL += ("--shots", "8", "--judged-from", "4", "--group", "pair")
NOUNS = ("river", "cat", "letter", "window", "doctor", "song", "garden", "train")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Labelled texts in CSV, with a quote and a new line in one of them."""
    lines = ["label,input,pair"]
    for i in range(70):
        a, b = NOUNS[i % 8], NOUNS[(3 * i + 1) % 8]
        lines.append(f'{i % 2},"The {a} was {"never" if i % 2 else "always"} near ""the {b}"" number {i}.",{i}')
    path = tmp_path / "set.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_dry_run_tells_the_cost_and_leaves_nothing(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    done = firsthand("labels", "biofeedback", "--data", data, "--model", tiny_folder, "--out", out, *SMALL, "--dry-run")
    assert done.code == 0, done.err
    assert "4 conversations of 8 shots" in done.out
    assert "12 passes" in done.out
    assert "tokens a second" in done.out
    assert not out.exists()


def test_a_study_ends_with_a_verdict_for_every_axis_and_a_second_run_takes_up_what_is_there(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path
) -> None:
    out, told = tmp_path / "run", tmp_path / "told.json"
    ask = ("labels", "biofeedback", "--data", data, "--model", tiny_folder, "--out", out, *SMALL, "--json", told)
    done = firsthand(*ask)
    assert done.code == 0, done.err
    for word in ("Labels of a probe", "principal component 1", "trongest observer", "Left out none", "chance is 50.0%"):
        assert word in done.out
    document = LabelsDocument.model_validate_json(told.read_text())
    assert [finding.name for finding in document.findings] == ["probe", "pc1"]
    assert all(curve.series[0].emphasis for finding in document.findings for curve in finding.curves)
    assert document.claim.shots == 8
    assert document.data.name == "set.csv"
    assert document.data.used == {"axes were fitted on": 40, "conversations were drawn from": 24}
    times = {path: path.stat().st_mtime_ns for path in (out / "trace" / "units").iterdir()}
    assert len(times) == 4
    again = firsthand(*ask)
    assert again.out == done.out
    assert {path: path.stat().st_mtime_ns for path in (out / "trace" / "units").iterdir()} == times
    other = firsthand(*ask, "--seed", "1")
    assert other.code == 2
    assert "claim changed" in other.err


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("--text", "body"), ("body", "label", "input")),
        (("--axes", "mood"), ("referents",)),
        (("--fit", "400"), ("400",)),
        (("--shots", "30"), ("shots", "24")),
        (("--group", "label"), ("share half of their words", "column of groups")),
    ],
)
def test_wrong_input_is_told_in_words(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path, extra: tuple[str, ...], words: tuple[str, ...]
) -> None:
    ask = ("labels", "biofeedback", "--data", data, "--model", tiny_folder, "--out", tmp_path / "run", *SMALL, *extra)
    done = firsthand(*ask)
    assert_refused(done, *words)
