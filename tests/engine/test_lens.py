"""The logit lens is the model's own final norm and head, whatever they are called."""

from typing import Any

import pytest
import torch
from plain_families import HIDDEN, VOCABULARY, tiny_model

from firsthand.engine import Anatomy, Capture, Row, inspect_model, logit_lens, resid_post, run
from firsthand.engine.lens import ranks
from firsthand.errors import EngineError

TOKENS = tuple(torch.randint(3, VOCABULARY, (12,), generator=torch.Generator().manual_seed(2)).tolist())
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": {},
    "gemma2": {"head_dim": 8, "sliding_window": 5, "query_pre_attn_scalar": 8},
    "granite": {},
    "opt": {"ffn_dim": 48, "word_embed_proj_dim": HIDDEN},
    "gpt2": {"n_embd": HIDDEN, "n_layer": 4, "n_head": 4, "n_positions": 64},
    "bloom": {"n_layer": 4, "n_head": 4},
}


@pytest.mark.parametrize("name", FAMILIES)
def test_what_the_last_block_hands_on_reads_as_the_model_itself(name: str) -> None:
    anatomy = inspect_model(tiny_model(name, FAMILIES[name]))
    places = tuple(range(len(TOKENS)))
    output = run(anatomy, [Row(TOKENS, captures=(Capture("last", resid_post(3), places),), read=places)])
    assert float((logit_lens(anatomy, output.captures[0]["last"]) - output.logprobs_RV).abs().max()) < 2e-5


def test_an_earlier_state_goes_through_norm_and_head_alone(anatomy: Anatomy) -> None:
    model: Any = anatomy.model
    states = torch.randn(300, HIDDEN, generator=torch.Generator().manual_seed(1)) * 4
    with torch.no_grad():
        wanted = torch.log_softmax(model.lm_head(model.model.norm(states)), -1)
    assert float((logit_lens(anatomy, states) - wanted).abs().max()) < 2e-5
    kept = logit_lens(anatomy, states, keep=lambda logprobs: logprobs[:, 7])
    assert torch.allclose(kept, wanted[:, 7], atol=2e-5)


def test_ranks_count_the_tokens_that_are_likelier() -> None:
    logprobs = torch.tensor([[-1.0, -3.0, -2.0, -2.0], [-4.0, -1.0, -2.0, -3.0]])
    assert ranks(logprobs, [0, 1, 2]).tolist() == [[0, 3, 1], [3, 0, 1]]


def test_states_that_are_none_are_refused(anatomy: Anatomy) -> None:
    with pytest.raises(EngineError, match="needed is"):
        logit_lens(anatomy, torch.zeros(2, HIDDEN + 1))
    with pytest.raises(EngineError, match="not finite"):
        logit_lens(anatomy, torch.full((1, HIDDEN), torch.inf))
