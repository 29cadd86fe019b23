"""The states of texts are those of one plain pass for each, and no batch changes them."""

import numpy as np
import pytest
import torch
from plain_run import PlainRead, plain_run, plain_twin

from firsthand.engine import Anatomy, LoadedModel, resid_post, resid_pre
from firsthand.errors import EngineError, StatesError
from firsthand.states.placing import place
from firsthand.states.reading import USER_TURN
from firsthand.studies.labels import reading as module
from firsthand.studies.labels.reading import states_of

TEXTS = ["user", "I gave the dog a bath.", 'He said "no",\nand left.', "I", "A longer sentence with a few words more."]


def test_a_state_is_the_mean_over_the_texts_own_tokens_in_a_plain_pass(
    tiny: LoadedModel, anatomy: Anatomy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 2)
    told: list[int] = []
    found = states_of(tiny, anatomy, TEXTS, (0, 3), told.append)
    twin = plain_twin(tiny.model, "model.layers", "self_attn")
    norms: dict[int, list[float]] = {0: [], 3: []}
    for i, text in enumerate(TEXTS):
        placed = place(tiny.tokenizer, USER_TURN, text, "span")
        assert tiny.tokenizer.decode([placed.tokens[p] for p in placed.positions]) == text
        reads = [PlainRead(0, placed.positions, "pre"), PlainRead(0, placed.positions), PlainRead(3, placed.positions)]
        embedded, first, last = plain_run(twin, placed.tokens, (), reads)[1]
        np.testing.assert_allclose(found.embedding_NH[i], embedded.mean(0), atol=2e-5)
        np.testing.assert_allclose(found.layers[0][i], first.mean(0), atol=2e-5)
        np.testing.assert_allclose(found.layers[3][i], last.mean(0), atol=2e-5)
        assert found.tokens[i] == len(placed.positions)
        for layer, states in ((0, first), (3, last)):
            norms[layer].append(float(states.norm(dim=-1).mean()))
    assert told == [2, 2, 1]
    assert found.embedding_NH.dtype == found.layers[0].dtype == np.float32
    assert found.norms == {layer: pytest.approx(float(np.mean(of)), abs=2e-5) for layer, of in norms.items()}


def test_the_embedding_says_which_words_and_not_in_which_order(tiny: LoadedModel, anatomy: Anatomy) -> None:
    one, other = states_of(tiny, anatomy, ["so big so old", "so old so big"], (2,)).embedding_NH
    np.testing.assert_allclose(one, other, atol=1e-6)
    first, second = states_of(tiny, anatomy, ["so big so old", "so old so big"], (2,)).layers[2]
    assert np.abs(first - second).max() > 1e-3


def test_it_is_the_projects_own_reading(tiny: LoadedModel, anatomy: Anatomy) -> None:
    from firsthand.states.reading import read_states

    readings = read_states(tiny, anatomy, TEXTS, [resid_pre(0), resid_post(1)])
    found = states_of(tiny, anatomy, TEXTS, (1,))
    torch.testing.assert_close(torch.from_numpy(found.layers[1]), readings.states[resid_post(1)].float())


def test_what_cannot_be_read_is_refused(tiny: LoadedModel, anatomy: Anatomy) -> None:
    with pytest.raises(StatesError, match="at least one"):
        states_of(tiny, anatomy, [], (1,))
    with pytest.raises(StatesError, match="each once"):
        states_of(tiny, anatomy, TEXTS, (1, 1))
    with pytest.raises(EngineError, match="no layer 4"):
        states_of(tiny, anatomy, TEXTS, (4,))
    with pytest.raises(StatesError, match="spaces"):
        states_of(tiny, anatomy, ["a", " b"], (1,))
