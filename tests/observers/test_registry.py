"""Observers by name: those that ship, and a user's own class."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firsthand.errors import ObserverError
from firsthand.observers import BUILT_IN, Observer, make_observer, observe_all
from firsthand.vocabulary import Capability

SOURCE = """
import numpy as np

class Mine:
    name = "mine"
    def observe(self, capability, past, views):
        return np.array([0.9 if v.features["cue"] else 0.1 for v in views])

class NoName:
    def observe(self, capability, past, views):
        return np.zeros(len(views))

class NoMethod:
    name = "no method"

class NeedsArgument(Mine):
    def __init__(self, argument):
        pass

class Broken(Mine):
    def __init__(self):
        raise RuntimeError("no licence found")

number = 3
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules in a folder that Python searches, as a user has them."""
    (tmp_path / "observers_of_a_test.py").write_text(SOURCE)
    (tmp_path / "broken_observers_of_a_test.py").write_text("def oops(:")
    (tmp_path / "raising_observers_of_a_test.py").write_text("raise ValueError('at import')")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize("name", BUILT_IN)
def test_those_that_ship_are_made_by_name(name: str, scripted: Any) -> None:
    observer = make_observer(name, {"third_person": scripted(), "sibling": scripted()})
    assert isinstance(observer, Observer)
    assert observer.name == name


@pytest.mark.parametrize("name", ["third_person", "sibling"])
def test_a_missing_model_is_named(name: str) -> None:
    with pytest.raises(ObserverError, match=f"'{name}' needs a model"):
        make_observer(name, {})


def test_a_users_class_is_loaded_and_asked(study: Any) -> None:
    observer = make_observer("observers_of_a_test:Mine", {})
    assert isinstance(observer, Observer)
    assert observer.name == "mine"
    made = study(6, "number")
    guessed = observe_all(observer, Capability.IDENTIFICATION, made.views, made.truth, made.groups)
    assert np.array_equal(guessed, [0.9 if v.features["cue"] else 0.1 for v in made.views])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tabel", "no observer 'tabel'.*table, text_classifier, third_person, sibling.*package.module:Class"),
        ("", "no observer ''"),
        ("observers_of_a_test:Missing", "could not be loaded: AttributeError.*Missing"),
        ("no_such_module_of_a_test:Mine", "could not be loaded: ModuleNotFoundError.*importable from here"),
        (":Mine", "could not be loaded"),
        ("observers_of_a_test:", "could not be loaded"),
        (".relative:Mine", "could not be loaded"),
        ("observers_of_a_test:NeedsArgument", "could not be loaded: TypeError.*takes no arguments"),
        ("observers_of_a_test:Broken", "could not be loaded: RuntimeError: no licence found"),
        ("broken_observers_of_a_test:Mine", "could not be loaded: SyntaxError"),
        ("raising_observers_of_a_test:Mine", "could not be loaded: ValueError: at import"),
        ("observers_of_a_test:number", "could not be loaded: TypeError"),
        ("observers_of_a_test:NoName", "is no observer: it needs a `name`"),
        ("observers_of_a_test:NoMethod", "is no observer: it needs a `name`"),
    ],
)
def test_what_cannot_be_an_observer_is_refused_with_the_reason(name: str, words: str) -> None:
    with pytest.raises(ObserverError, match=words):
        make_observer(name, {})
