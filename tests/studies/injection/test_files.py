"""Users' wordings and pushes: they come back as they were written, and bad ones say what is wrong."""

from pathlib import Path

import pytest

from firsthand.errors import ElicitationError
from firsthand.studies.injection.built_in import built_in
from firsthand.studies.injection.drafts import detection
from firsthand.studies.injection.files import read_pushes, read_wordings, write_wordings
from firsthand.studies.injection.wordings import Meaning

EXACT = """
name: published
framing: instruction
turns:
  - role: user
    text: "{task}\\n{trial}"
options:
  injected: "{label} if it was there"
  nothing: "{label} if it was not"
between: ", "
before_last: " and "
detection:
  task: "Begin with {options}. A set {1, 2} stays."
  trial: "Trial 1: Anything?"
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_built_in_wordings_come_back_as_they_were(tmp_path: Path) -> None:
    write_wordings(tmp_path / "all.yaml", built_in())
    assert read_wordings(tmp_path / "all.yaml") == built_in()
    with pytest.raises(ElicitationError, match="exists already"):
        write_wordings(tmp_path / "all.yaml", built_in())


def test_published_wording_is_put_exactly_as_given(tmp_path: Path) -> None:
    (wording,) = read_wordings(written(tmp_path, EXACT))
    draft = detection(wording, (Meaning.NOTHING, Meaning.INJECTED))
    assert draft.messages == (
        ("user", "Begin with 1 if it was not and 2 if it was there. A set {1, 2} stays.\nTrial 1: Anything?"),
        ("assistant", ""),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (EXACT.replace("{options}", "{option}"), r"published.*detection.task: the placeholder \{options\} is missing"),
        (EXACT.replace("{label} if it was there", "one"), r"options.injected: the placeholder \{label\} is missing"),
        (EXACT.replace("{trial}", ""), r"turns: the placeholder \{trial\} is missing"),
        (EXACT + "colour: red\n", r"published: colour: Extra inputs"),
        (EXACT.replace("framing: instruction", ""), "published: framing: Field required"),
        ("- 1\n- 2\n", "holds no wordings"),
        ("[]", "holds no wordings"),
        ("", "holds no wordings"),
        ("a: [", "not readable YAML"),
    ],
)
def test_bad_files_name_the_field_and_the_placeholder(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ElicitationError, match=message):
        read_wordings(written(tmp_path, text))


def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    write_wordings(tmp_path / "two.yaml", (built_in()[0], built_in()[0]))
    with pytest.raises(ElicitationError, match="twice"):
        read_wordings(tmp_path / "two.yaml")
    with pytest.raises(ElicitationError, match="not readable"):
        read_wordings(tmp_path / "none.yaml")


def test_pushes_are_read_and_each_needs_its_concept(tmp_path: Path) -> None:
    path = written(tmp_path, "# mine\nSpeak of {concept}.\n{concept} and {concept}!\n")
    assert read_pushes(path) == ("Speak of {concept}.", "{concept} and {concept}!")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Speak.\n", r"line 1: the placeholder \{concept\} is missing"),
        ("A {concept}\nB {topic} {concept}\n", r"line 2: there is no placeholder \{topic\}"),
        ("A {concept}\n\n", "line 2 is blank"),
        ("A {concept}\nA {concept}\n", "line 2 stands there twice"),
        ("# none\n", "holds no text"),
    ],
)
def test_bad_pushes_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ElicitationError, match=message):
        read_pushes(written(tmp_path, text))


def test_missing_pushes_are_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(ElicitationError, match="cannot be read"):
        read_pushes(tmp_path / "none.txt")
