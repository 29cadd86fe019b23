"""The wall: no built-in observer can be moved by the private state of what it judges, and none sees its own past."""

import sys
import types
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from firsthand.observers import BUILT_IN, Observer, Past, make_observer, observe_all
from firsthand.observers.scoring import fold_of_groups
from firsthand.trials.public import PublicView
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability

STATE = Capability.IDENTIFICATION


@pytest.fixture
def panel(scripted: Any) -> Callable[[str], Observer]:
    return lambda name: make_observer(name, {"third_person": scripted(), "sibling": scripted()})


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("change", ["permuted", "flipped", "constant"])
def test_another_truth_of_the_judged_fold_changes_no_guess_on_it(
    panel: Callable[[str], Observer], study: Any, name: str, change: str
) -> None:
    made = study(12, "word")
    before = observe_all(panel(name), STATE, made.views, made.truth, made.groups)
    fold = fold_of_groups(made.groups)
    for k in set(fold.tolist()):
        truth, here = made.truth.copy(), fold == k
        truth[here] = {
            "permuted": stream("permuted", k).permutation(truth[here]),
            "flipped": 1 - truth[here],
            "constant": np.zeros(here.sum(), dtype=np.int64),
        }[change]
        after = observe_all(panel(name), STATE, made.views, truth, made.groups)
        assert np.array_equal(after[here], before[here])
        assert change != "constant" or not np.array_equal(after[~here], before[~here])


def test_what_an_observer_is_given_holds_no_state_kind_edit_or_report() -> None:
    assert {field.name for field in fields(Past)} == {"views", "truth"}
    words = {field.name for field in fields(PublicView)}
    assert not any(
        odd in word for word in words for odd in ("state", "kind", "edit", "dose", "report", "seal", "truth")
    )


class Recorder:
    """Notes which blocks it learned from and which it judged."""

    name = "recorder"

    def __init__(self) -> None:
        self.calls: list[tuple[set[str], set[str]]] = []

    def observe(self, capability: Capability, past: Past, views: list[PublicView]) -> NDArray[np.float64]:
        self.calls.append(({v.clusters["block"] for v in past.views}, {v.clusters["block"] for v in views}))
        return np.full(len(views), 0.5)


@pytest.mark.parametrize("blocks", [2, 3, 6, 7, 24])
def test_no_block_is_in_its_own_past_and_every_block_is_judged_once(study: Any, blocks: int) -> None:
    made, recorder = study(blocks, "nowhere"), Recorder()
    observe_all(recorder, STATE, made.views, made.truth, made.groups)
    assert len(recorder.calls) == min(6, blocks)
    assert all(not past & judged for past, judged in recorder.calls)
    assert all(past | judged == set(made.groups) for past, judged in recorder.calls)
    assert sorted(block for _, judged in recorder.calls for block in judged) == sorted(set(made.groups))


class BlockMemory:
    """Remembers the truth of every trial and, within the past, is always right."""

    name = "memory"

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}

    def observe(self, capability: Capability, past: Past, views: list[PublicView]) -> NDArray[np.float64]:
        self.seen |= {v.trial_id: int(t) for v, t in zip(past.views, past.truth, strict=True)}
        return np.array([float(self.seen.get(v.trial_id, 0.5)) for v in views])


class Scribbler:
    """Writes the truth into the views of its past, to read it there when they are judged."""

    name = "scribbler"

    def observe(self, capability: Capability, past: Past, views: list[PublicView]) -> NDArray[np.float64]:
        for view, truth in zip(past.views, past.truth, strict=True):
            view.features["mark"] = float(truth)
            view.clusters["mark"] = str(truth)
            view.output_features["mark"] = float(truth)
        return np.array([v.features.get("mark", v.output_features.get("mark", 0.5)) for v in views])


@pytest.mark.parametrize("cheat", [BlockMemory, Scribbler])
def test_an_observer_that_memorises_blocks_gets_nothing(
    study: Any, cheat: type[Observer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a user's class, named on the command line."""
    module = types.ModuleType("cheats_of_a_test")
    module.Cheat = cheat  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cheats_of_a_test", module)
    made = study(12, "nowhere")
    observer = make_observer("cheats_of_a_test:Cheat", {})
    for _ in range(2):
        guessed = observe_all(observer, STATE, made.views, made.truth, made.groups)
        assert set(guessed.tolist()) == {0.5}
    assert all("mark" not in view.features for view in made.views)


def test_an_observer_that_spoils_its_past_spoils_nothing_else(study: Any) -> None:
    class Spoiler:
        name = "spoiler"

        def observe(self, capability: Capability, past: Past, views: list[PublicView]) -> NDArray[np.float64]:
            past.truth[:] = 7
            return np.zeros(len(views))

    made = study(4, "nowhere")
    truth = made.truth.copy()
    observe_all(Spoiler(), STATE, made.views, made.truth, made.groups)
    assert np.array_equal(made.truth, truth)
