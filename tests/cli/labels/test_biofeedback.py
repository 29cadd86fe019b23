"""The command ``labels biofeedback`` as a user meets it."""

from pathlib import Path

import pytest
import yaml
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


@pytest.fixture
def unlike(tmp_path: Path) -> Path:
    """Labelled texts that share no words, so that each is a group of its own without being told so."""
    path = tmp_path / "unlike.csv"
    texts = "".join(f"{i % 2},one{i} two{i} three{i} four{i}\n" for i in range(70))
    path.write_text(f"label,input\n{texts}")
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
    assert document.data.used == {"to fit the axes": 40, "to draw conversations from": 24}
    assert (out / "report.html").read_text().endswith("</html>")
    assert {"probe-curve-shots.svg", "pc1-curve-layers.png"} <= {path.name for path in (out / "figures").iterdir()}
    assert {"results.csv", "curves.parquet", "trials.parquet"} <= {path.name for path in (out / "data").iterdir()}
    times = {path: path.stat().st_mtime_ns for path in (out / "trace" / "units").iterdir()}
    assert len(times) == 4
    frozen = ("--claim", out / "claim.frozen.json")
    again = firsthand("labels", "biofeedback", "--data", data, "--group", "pair", *frozen, "--out", out)
    assert again.out == done.out, again.err
    assert {path: path.stat().st_mtime_ns for path in (out / "trace" / "units").iterdir()} == times
    other = firsthand(*ask, "--seed", "1")
    assert other.code == 2
    assert "claim changed" in other.err

    _kept_right(firsthand, out, tmp_path)


def _kept_right(firsthand: Command, out: Path, tmp_path: Path) -> None:
    """A finished study is verified, its page is written again, it is not rescored, and damage is noticed."""
    page, json = tmp_path / "page.html", tmp_path / "again.json"
    assert "4 units: files as written." in firsthand("verify", out).out
    done = firsthand("report", out, "--out", page, "--json", json)
    assert done.code == 0, done.err
    assert page.read_text() == (out / "report.html").read_text()
    assert LabelsDocument.model_validate_json(json.read_text()).claim.shots == 8
    assert_refused(firsthand("rescore", out, "--observer", "table"), "label study biofeedback", "part of its claim")
    shard = next((out / "trace" / "reports").glob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-1])
    assert_refused(firsthand("verify", out), "truncated or altered", shard.name)


def test_a_claim_is_written_checked_frozen_priced_and_refused_after_a_change(
    firsthand: Command, tiny_folder: Path, unlike: Path, tmp_path: Path
) -> None:
    claim, new = tmp_path / "claim.yaml", ("--study", "biofeedback", "--model", tiny_folder, "--data", unlike)
    assert firsthand("claim", "new", claim, *new).code == 0
    assert_refused(firsthand("claim", "new", claim, *new), "exists already")
    fields = yaml.safe_load(claim.read_text())
    small = {"layers": [0, 2], "referents": ["probe", "pc1"], "fit": 40, "held_out": 24, "experiments": 2, "shots": 8}
    claim.write_text(yaml.safe_dump({**fields, **small, "judged_from": 4}))
    assert "not frozen yet" in firsthand("claim", "check", claim).out
    assert firsthand("claim", "freeze", claim).code == 0
    assert "unchanged since" in firsthand("claim", "check", claim).out
    ask = ("labels", "biofeedback", "--data", unlike, "--claim", claim, "--dry-run")
    priced = firsthand(*ask).out
    assert "4 conversations of 8 shots" in priced
    assert f"Data SHA-256: {fields['data_sha256']}" in priced
    assert_refused(firsthand(*ask, "--shots", "9"), "--claim holds all settings", "shots")
    assert_refused(firsthand("verify", tmp_path), "holds no finished run", "firsthand labels biofeedback --out")
    claim.write_text(claim.read_text().replace("shots: 8", "shots: 7"))
    assert_refused(firsthand(*ask), "claim.shots was 8, is 7")


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("--study", "biofeedback"), ("made on labelled texts", "--data FILE")),
        (("--study", "register", "--data", "x.csv"), ("no data of yours", "Leave --data out")),
        (("--study", "sleep"), ("no study 'sleep'", "biofeedback")),
    ],
)
def test_a_claim_that_cannot_be_made_is_told_in_words(
    firsthand: Command, tmp_path: Path, extra: tuple[str, ...], words: tuple[str, ...]
) -> None:
    path = tmp_path / "claim.yaml"
    assert_refused(firsthand("claim", "new", path, *extra), *words)
    assert not path.exists()


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
