"""A conflict prompt holds the evidence and the question, and what a fact says is never taken for the template."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from firsthand.claims.labels.belief import BUILT_IN, ConflictKind
from firsthand.errors import LabelsError
from firsthand.studies.labels.belief.kinds import fill, read_kinds
from firsthand.studies.labels.belief.records import Fact

FACT = Fact("The capital of {prompt} is", "{prompt}", "Oslo", "{counter} 3")


def test_every_built_in_kind_gives_the_counter_entity_and_asks_for_the_end_of_the_sentence() -> None:
    fact = Fact("The capital of Norway is", "Norway", "Oslo", "Lima")
    for kind in BUILT_IN:
        text = fill(kind, fact)
        assert "The capital of Norway is Lima." in text
        assert text.endswith("The capital of Norway is")
        assert "Oslo" not in text
    assert [kind.name for kind in BUILT_IN] == ["assertion", "reliable-source", "unreliable-source"]


def test_braces_in_a_fact_are_text() -> None:
    kind = ConflictKind(name="k", template="{statement} / {prompt}")
    assert fill(kind, FACT) == "The capital of {prompt} is {counter} 3. / The capital of {prompt} is"


def test_a_users_file_gives_other_kinds(tmp_path: Path) -> None:
    path = tmp_path / "kinds.yaml"
    path.write_text("- name: rumour\n  template: 'They say {counter}. {prompt}'\n")
    (kind,) = read_kinds(path)
    assert fill(kind, Fact("It is in", "It", "Oslo", "Lima")) == "They say Lima. It is in"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1", "no list of kinds"),
        ("[", "cannot be read"),
        ("- name: a", "template"),
        ("- {name: a, template: '{prompt} only'}", "needs {prompt}, and"),
        ("- {name: a, template: '{statement} {prompt} {base}'}", "names base"),
        ("- {name: A B, template: '{statement} {prompt}'}", "name"),
        ("- {name: a, template: '{statement} {prompt}'}\n- {name: a, template: '{counter} {prompt}'}", "twice"),
    ],
)
def test_files_that_are_no_kinds_are_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "kinds.yaml"
    path.write_text(text)
    with pytest.raises(LabelsError, match=words):
        read_kinds(path)


def test_a_template_that_gives_away_the_true_entity_cannot_be_written() -> None:
    with pytest.raises(ValidationError, match="names base"):
        ConflictKind(name="k", template="{base} {counter} {prompt}")
