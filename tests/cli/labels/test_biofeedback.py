"""The command ``labels biofeedback`` as a user meets it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Command, assert_refused
from finished import Finished, assert_claimed, assert_goes_on, assert_kept_right

from firsthand.auditing.labels import biofeedback_study

SMALL = ("--layers", "0,2", "--axes", "probe,pc1", "--fit", "40", "--held-out", "24", "--experiments", "2")
SMALL += ("--shots", "8", "--judged-from", "4", "--regulated-after", "4", "--group", "pair")
NOUNS = ("river", "cat", "letter", "window", "doctor", "song", "garden", "train")


@pytest.fixture(scope="module", autouse=True)
def briefly() -> Iterator[None]:
    """Without known answers: they are tested beside this, and need more conversations than are made here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(biofeedback_study, "known_answers", lambda *_: ())
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labelled texts in CSV, with a quote and a new line in one of them."""
    lines = ["label,input,pair"]
    for i in range(70):
        a, b = NOUNS[i % 8], NOUNS[(3 * i + 1) % 8]
        lines.append(f'{i % 2},"The {a} was {"never" if i % 2 else "always"} near ""the {b}"" number {i}.",{i}')
    path = tmp_path_factory.mktemp("texts") / "set.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def finished(tiny_folder: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The study of the tiny model."""
    out = tmp_path_factory.mktemp("biofeedback") / "run"
    return Finished.of("biofeedback", out, "--data", data, "--model", tiny_folder, *SMALL)


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


def test_a_study_ends_with_a_verdict_for_every_axis(finished: Finished) -> None:
    for word in ("Labels of a probe", "principal component 1", "trongest observer", "Left out none", "chance is 50.0%"):
        assert word in finished.done.out
    document = finished.document
    assert [finding.name for finding in document.findings] == ["probe", "pc1", "regulation"]
    assert all(curve.series[0].emphasis for finding in document.findings for curve in finding.curves)
    assert document.claim.study == "biofeedback"
    assert document.claim.shots == 8
    assert document.data.name == "set.csv"
    assert document.data.used == {"to fit the axes": 40, "to draw conversations from": 24}
    names = {path.name for path in (finished.out / "figures").iterdir()}
    assert {"probe-curve-shots.svg", "pc1-curve-layers.png"} <= names
    assert {"results.csv", "curves.parquet"} <= {path.name for path in (finished.out / "data").iterdir()}


def test_a_study_is_repeated_by_its_own_command_and_takes_up_what_is_there(
    firsthand: Command, finished: Finished
) -> None:
    assert_goes_on(firsthand, finished, "trials", ("--seed", "1"))


def test_a_finished_study_is_verified_with_its_control_task_shown_again_and_not_rescored(
    firsthand: Command, finished: Finished, tmp_path: Path
) -> None:
    assert_kept_right(firsthand, finished, tmp_path, units=4 + 4)


def test_a_claim_is_written_checked_frozen_priced_and_refused_after_a_change(
    firsthand: Command, tiny_folder: Path, unlike: Path, tmp_path: Path
) -> None:
    small = {"layers": [0, 2], "referents": ["probe", "pc1"], "fit": 40, "held_out": 24, "experiments": 2, "shots": 8}
    small["judged_from"] = small["regulated_after"] = 4
    priced = assert_claimed(firsthand, tmp_path, "biofeedback", tiny_folder, unlike, small)
    assert "4 conversations of 8 shots" in priced
    ask = ("labels", "biofeedback", "--data", unlike, "--claim", tmp_path / "claim.yaml")
    assert_refused(firsthand(*ask, "--shots", "9"), "--claim holds all settings", "shots")
    assert_refused(firsthand("claim", "new", tmp_path / "claim.yaml"), "exists already")


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
