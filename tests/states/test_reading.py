"""States are read from a model that nobody else is editing, and equal those of one plain pass a text."""

import pytest
import torch
from plain_run import PlainRead, plain_run, plain_twin
from plain_tokenizers import byte_level
from torch.nn.modules import module as torch_module

from firsthand.engine import inspect_model, resid_mid, resid_post, resid_pre
from firsthand.errors import StatesError
from firsthand.states.placing import place
from firsthand.states.reading import read_states

SITES = (resid_pre(0), resid_pre(2), resid_mid(1), resid_post(3))
FAMILIES = {
    "llama": ("model.layers", "self_attn", {}),
    "gpt2": ("transformer.h", "attn", {"n_embd": 32, "n_layer": 4, "n_head": 4, "n_positions": 256}),
    "bloom": ("transformer.h", "", {"n_layer": 4, "n_head": 4}),
}
TEXTS = ["code", "the register holds code", "z", "hello there, be brief"]


@pytest.mark.parametrize("pool", ["span", "last"])
@pytest.mark.parametrize("family", FAMILIES)
def test_states_and_norms_are_those_of_one_plain_pass_for_each_text(wrap, family: str, pool: str) -> None:
    """Families that return tensors, that put absolute positions in, and that return tuples and are run whole."""
    path, middle, more = FAMILIES[family]
    loaded, anatomy = wrap(byte_level(), family, **more)
    sites = [site for site in SITES if middle or site.stream != "resid_mid"]
    readings = read_states(loaded, anatomy, TEXTS, sites, pool=pool)
    twin = plain_twin(loaded.model, path, middle)
    for row, text in enumerate(TEXTS):
        placed = place(loaded.tokenizer, (("user", "{word}"),), text, pool)
        reads = [PlainRead(s.layer, placed.positions, s.stream.removeprefix("resid_")) for s in sites]
        for site, found_TH in zip(sites, plain_run(twin, placed.tokens, (), reads)[1], strict=True):
            total, norms = torch.zeros(32, dtype=torch.float64), 0.0
            for residual_H in found_TH:
                total += residual_H.double()
                norms += float(residual_H.double().norm())
            torch.testing.assert_close(readings.states[site][row], total / len(found_TH), rtol=0, atol=2e-5)
            assert float(readings.norms[site][row]) == pytest.approx(norms / len(found_TH), abs=2e-5)
        assert readings.tokens[row] == len(placed.positions)


def hooked_block(loaded, anatomy):
    return [anatomy.blocks[1].register_forward_hook(lambda *_: None)]


def hooked_input(loaded, anatomy):
    return [anatomy.blocks[0].register_forward_pre_hook(lambda *_: None)]


def hooked_part(loaded, anatomy):
    return [loaded.model.get_input_embeddings().register_forward_hook(lambda *_: None)]


def hooked_globally(loaded, anatomy):
    return [torch_module.register_module_forward_hook(lambda *_: None)]


@pytest.mark.parametrize("hook", [hooked_block, hooked_input, hooked_part, hooked_globally])
def test_nothing_is_read_while_somebody_elses_hook_is_active(wrap, hook) -> None:
    loaded, anatomy = wrap(byte_level())
    handles = hook(loaded, anatomy)
    try:
        with pytest.raises(StatesError, match=r"The model has a hook .*edited model"):
            read_states(loaded, anatomy, TEXTS, SITES)
    finally:
        for handle in handles:
            handle.remove()
    read_states(loaded, anatomy, TEXTS, SITES)


def test_a_block_with_another_forward_is_refused_unless_accelerate_put_it_there(wrap) -> None:
    loaded, anatomy = wrap(byte_level())
    block = anatomy.blocks[2]
    block.forward = type(block).forward.__get__(block)
    with pytest.raises(StatesError, match="another forward in block 2"):
        read_states(loaded, anatomy, TEXTS, SITES)
    block._hf_hook = object()
    read_states(loaded, anatomy, TEXTS, SITES)


def test_the_hooks_by_which_transformers_returns_hidden_states_are_let_pass(wrap) -> None:
    """They are put in at the first use, for good."""
    loaded, anatomy = wrap(byte_level())
    before = read_states(loaded, anatomy, TEXTS, SITES)
    loaded.model(torch.tensor([[1, 2, 3]]), output_hidden_states=True)
    assert any(block._forward_hooks for block in anatomy.blocks)
    after = read_states(loaded, anatomy, TEXTS, SITES)
    assert all(torch.equal(before.states[site], after.states[site]) for site in SITES)


def test_no_hook_is_left_behind(wrap) -> None:
    loaded, anatomy = wrap(byte_level())
    read_states(loaded, anatomy, TEXTS, SITES)
    with pytest.raises(StatesError, match="spaces"):
        read_states(loaded, anatomy, [*TEXTS, " "], SITES)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in loaded.model.modules())


def test_another_models_anatomy_and_empty_requests_are_refused(wrap, tiny_llama) -> None:
    loaded, anatomy = tiny_llama
    other = wrap(byte_level())[0]
    with pytest.raises(StatesError, match="not that of tiny llama"):
        read_states(loaded, inspect_model(other.model), TEXTS, SITES)
    for texts, sites in (([], SITES), (TEXTS, ()), (TEXTS, (resid_pre(1), resid_pre(1)))):
        with pytest.raises(StatesError, match="at least one"):
            read_states(loaded, anatomy, texts, sites)
