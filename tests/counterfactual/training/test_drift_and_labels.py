import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from firsthand.analysis.self_cross import SelfCrossSpec
from firsthand.counterfactual.behaviours import Asked
from firsthand.counterfactual.responses import Request, Response
from firsthand.counterfactual.training.drift import divergences, mean_drift, transcript
from firsthand.counterfactual.training.relabelling import relabel
from firsthand.counterfactual.training.trainer import divergence
from firsthand.engine import LoadedModel

sys.path.insert(0, str(Path(__file__).parent))
from training_parts import claim, items


def test_the_divergence_is_exact_over_the_whole_vocabulary() -> None:
    generator = np.random.default_rng(0)
    ours, theirs = (generator.dirichlet(np.ones(7), size=3) for _ in range(2))
    expected = (ours * np.log(ours / theirs)).sum(1)
    found = divergence(torch.tensor(np.log(ours)), torch.tensor(np.log(theirs)) + 5.0)
    assert np.allclose(found.numpy(), expected, atol=1e-5)


def test_a_model_has_not_moved_from_itself(words_model: LoadedModel) -> None:
    chats = [transcript(words_model, item.question) for item in items(3)]
    assert np.allclose(divergences(words_model, words_model, chats), 0.0, atol=1e-6)


def test_the_mean_says_how_many_independent_chats_it_rests_on() -> None:
    found = mean_drift(np.array([0.1, 0.3, 0.1, 0.3]), ["a", "a", "b", "c"]).estimate(0.05)
    assert found.value == pytest.approx(0.2)
    assert (found.units, found.cluster) == (3, "chat")
    assert found.low < 0.2 < found.high


class Says:
    """A target that names a plover in some prompts."""

    identity = "says"

    def __init__(self, *prompts: str) -> None:
        self.prompts = prompts

    def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
        return [
            [Response(text="plover" if one.prompt.id in self.prompts else "heron")] * one.samples for one in requests
        ]


@pytest.mark.parametrize(("label", "became"), [(True, "same"), (False, "other")])
def test_labels_are_measured_anew_and_turned_ones_counted(label: bool, became: str) -> None:
    one = claim(label)
    found = relabel([one], Says(one.prompt.id), 10)
    assert [one.became for one in found.claims] == [became]
    assert found.changed == float(became == "other")


@pytest.mark.parametrize("clusters", [10, 40])
def test_the_share_of_turned_labels_has_an_interval_over_independent_units(clusters: int) -> None:
    some = [claim(True).model_copy(update={"investigation": f"i{n}"}) for n in range(clusters)]
    units = {one.id: f"u{n // 2}" for n, one in enumerate(some)}
    found = relabel(some, Says(some[0].prompt.id), 10)
    share = found.measured(units)
    assert share is not None
    assert (share.value, share.parts[0].units) == (0.0, clusters // 2)
    assert (share.high(0.05) > SelfCrossSpec().changed) == (clusters == 10)  # five units that agree show little


class Silenced(Says):
    """A target that gives no valid response."""

    def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
        return [[Response(text="down", ended="error")] * one.samples for one in requests]


def test_a_label_for_which_nothing_valid_was_drawn_was_not_judged_anew() -> None:
    one = claim(True)
    assert relabel([one], Says(one.prompt.id), 10).anew == 1
    assert relabel([one], Silenced(), 10).anew == 0
    assert relabel([one], Silenced(), 10).measured({one.id: "u"}) is None


def test_what_only_a_model_could_judge_is_not_counted_as_unchanged() -> None:
    one = claim(True).model_copy(update={"behaviour": Asked(question="Is it kind?")})
    found = relabel([one], Says(), 10)
    assert [one.became for one in found.claims] == ["not judged"]
    assert found.changed is None
