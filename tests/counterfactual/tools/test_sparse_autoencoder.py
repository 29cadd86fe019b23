"""Features are what each formula says, from the site that the file names, with labels where there are any."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_tools import FEATURES, HIDDEN, LAYER, write_autoencoder

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.sae_files import load_autoencoder, site_of
from firsthand.counterfactual.tools.sparse_autoencoder import SparseAutoencoder
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine import resid_mid, resid_post, resid_pre
from firsthand.errors import CounterfactualError, EngineError

STATES = torch.randn(7, HIDDEN, generator=torch.Generator().manual_seed(9)) * 3


def before(folder: Path, given: torch.Tensor = STATES, less: bool = True) -> torch.Tensor:
    tensors = load_file(folder / "sae_weights.safetensors")
    return (given - (tensors["b_dec"] if less else 0)) @ tensors["W_enc"] + tensors["b_enc"]


def test_standard_keeps_what_is_positive(tmp_path: Path) -> None:
    folder = write_autoencoder(tmp_path)
    assert torch.allclose(load_autoencoder(folder).encode(STATES), before(folder).relu())


def test_without_the_decoders_bias_on_the_input(tmp_path: Path) -> None:
    folder = write_autoencoder(tmp_path, {"apply_b_dec_to_input": False})
    assert torch.allclose(load_autoencoder(folder).encode(STATES), before(folder, less=False).relu())


@pytest.mark.parametrize(
    "settings",
    [
        {"architecture": "topk", "k": 3},
        {"architecture": "standard", "activation_fn_str": "topk", "activation_fn_kwargs": {"k": 3}},
    ],
)
def test_top_k_keeps_the_k_largest_if_they_are_positive(tmp_path: Path, settings: dict[str, object]) -> None:
    folder = write_autoencoder(tmp_path, settings)
    found = load_autoencoder(folder).encode(STATES)
    for row, all_of_it in zip(found, before(folder), strict=True):
        largest = all_of_it.argsort(descending=True)[:3].tolist()
        for feature in range(FEATURES):
            wanted = max(float(all_of_it[feature]), 0.0) if feature in largest else 0.0
            assert float(row[feature]) == pytest.approx(wanted, abs=1e-5)


def test_jump_relu_keeps_what_is_above_its_own_threshold_as_it_is(tmp_path: Path) -> None:
    threshold = torch.linspace(0, 4, FEATURES)
    folder = write_autoencoder(tmp_path, {"architecture": "jumprelu"}, threshold=threshold)
    z = before(folder)
    assert torch.allclose(load_autoencoder(folder).encode(STATES), torch.where(z > threshold, z, 0.0))


def test_batch_top_k_has_one_threshold_afterwards_whatever_it_is_read_with(tmp_path: Path) -> None:
    one = torch.tensor(1.5, dtype=torch.float64)
    folder = write_autoencoder(tmp_path, {"architecture": "batchtopk", "k": 3}, topk_threshold=one)
    z, found = before(folder), load_autoencoder(folder)
    assert torch.allclose(found.encode(STATES), torch.where(z > 1.5, z, 0.0))
    assert torch.allclose(found.encode(STATES[:1]), found.encode(STATES)[:1], atol=1e-5)


def test_features_by_what_they_add_decode_to_the_same(tmp_path: Path) -> None:
    settings = {"architecture": "topk", "k": FEATURES, "rescale_acts_by_decoder_norm": True}
    plain = load_autoencoder(write_autoencoder(tmp_path / "plain", {"architecture": "topk", "k": FEATURES}))
    scaled = load_autoencoder(write_autoencoder(tmp_path / "scaled", settings))
    assert torch.allclose(scaled.encode(STATES), plain.encode(STATES) * plain.W_dec.norm(dim=-1), atol=1e-5)
    made = scaled.decode(scaled.encode(STATES), STATES)
    assert torch.allclose(made, plain.decode(plain.encode(STATES), STATES), atol=1e-4)


@pytest.mark.parametrize("how", ["constant_norm_rescale", "layer_norm"])
def test_normalised_inputs_are_normalised_and_outputs_brought_back(tmp_path: Path, how: str) -> None:
    eye = {"W_enc": torch.eye(HIDDEN), "W_dec": torch.eye(HIDDEN), "b_enc": torch.full((HIDDEN,), 50.0)}
    back = {"b_dec": torch.full((HIDDEN,), 0.0)}
    folder = write_autoencoder(tmp_path, {"normalize_activations": how, "d_sae": HIDDEN}, **eye, **back)
    found = load_autoencoder(folder)
    inner = found.encode(STATES) - 50.0
    if how == "layer_norm":
        assert torch.allclose(inner.mean(-1), torch.zeros(7), atol=1e-4)
        assert torch.allclose(inner.std(-1), torch.ones(7), atol=1e-3)
    else:
        assert torch.allclose(inner.norm(dim=-1), torch.full((7,), HIDDEN**0.5), atol=1e-3)
    assert torch.allclose(found.decode(inner, STATES), STATES, atol=1e-2)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"architecture": "gated"}, "gated"),
        ({"architecture": "jumprelu"}, "without a threshold"),
        ({"architecture": "topk"}, "without k"),
        ({"activation_fn_str": "tanh-relu"}, "tanh-relu"),
        ({"normalize_activations": "expected_average_only_in"}, "expected_average_only_in"),
        ({"reshape_activations": "hook_z"}, "hook_z"),
        ({"finetuning_scaling_factor": True}, "finetuning_scaling_factor"),
        ({"metadata": {"hook_name": "blocks.1.hook_mlp_out"}}, "hook_mlp_out"),
        ({"metadata": {"hook_name": "blocks.1.attn.hook_z"}}, "hook_z"),
        ({"d_sae": 13}, "13"),
    ],
)
def test_what_is_not_done_is_refused_by_name(tmp_path: Path, settings: dict[str, object], named: str) -> None:
    with pytest.raises(CounterfactualError, match=named):
        load_autoencoder(write_autoencoder(tmp_path, settings))


def test_hooks_are_our_sites() -> None:
    assert site_of("blocks.7.hook_resid_pre") == resid_pre(7)
    assert site_of("blocks.7.hook_resid_mid") == resid_mid(7)
    assert site_of("blocks.7.hook_resid_post") == resid_post(7)


def test_gemma_scope_reads_what_its_path_names(tmp_path: Path) -> None:
    tensors = load_file(write_autoencoder(tmp_path / "x") / "sae_weights.safetensors")
    threshold = torch.full((FEATURES,), 0.7)
    arrays = {name: one.numpy() for name, one in {**tensors, "threshold": threshold}.items()}
    folder = tmp_path / "gemma-scope-2b-pt-res" / "layer_3" / "width_16k" / "average_l0_71"
    folder.mkdir(parents=True)
    np.savez(folder / "params.npz", **arrays)
    found = load_autoencoder(folder)
    assert found.site == resid_post(3)
    z = STATES @ tensors["W_enc"] + tensors["b_enc"]
    assert torch.allclose(found.encode(STATES), torch.where(z > 0.7, z, 0.0))
    other = tmp_path / "gemma-scope-2b-pt-mlp" / "layer_3"
    other.mkdir(parents=True)
    np.savez(other / "params.npz", **arrays)
    with pytest.raises(CounterfactualError, match="residual stream"):
        load_autoencoder(other)


def test_gemma_scope_2_reads_what_its_config_names(tmp_path: Path) -> None:
    tensors = load_file(write_autoencoder(tmp_path / "x") / "sae_weights.safetensors")
    named = {"W_enc": "w_enc", "W_dec": "w_dec"}
    save_file(
        {**{named.get(name, name): one for name, one in tensors.items()}, "threshold": torch.zeros(FEATURES)},
        tmp_path / "params.safetensors",
    )
    config = {"architecture": "jump_relu", "hf_hook_point_in": "model.layers.5.output", "width": FEATURES}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert load_autoencoder(tmp_path).site == resid_post(5)
    (tmp_path / "config.json").write_text(json.dumps({**config, "hf_hook_point_in": "model.layers.5.mlp.output"}))
    with pytest.raises(CounterfactualError, match="mlp"):
        load_autoencoder(tmp_path)


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "list"])
def test_the_strongest_features_are_told_with_their_labels(
    tmp_path: Path, subject: Subject, question: Question, kind: str
) -> None:
    folder = write_autoencoder(tmp_path)
    if kind == "csv":
        (folder / "labels.csv").write_text('feature,label\n3,"fruit, green"\n')
    elif kind == "json":
        (folder / "labels.json").write_text('{"3": "fruit, green"}')
    elif kind == "list":
        (folder / "labels.json").write_text('[{"index": "3", "description": "fruit, green"}]')
    else:
        (folder / "labels.jsonl").write_text('{"feature": 3, "label": "fruit, green"}\n')
    tool = SparseAutoencoder(subject, folder, top=4)
    places = (5, 9)
    states = subject.states(question, [resid_post(LAYER)], places)[resid_post(LAYER)]
    for reading, features in zip(tool.read(question, places, ""), before(folder, states).relu(), strict=True):
        values, numbers = features.topk(4)
        wanted = [
            f"{value:.1f} {'fruit, green' if number == 3 else f'feature {number}'}"
            for value, number in zip(values.tolist(), numbers.tolist(), strict=True)
            if value > 0
        ]
        assert reading.text == "; ".join(wanted)
        assert reading.token == subject.transcript(question).texts[reading.position]


def test_labels_weights_and_number_of_features_are_its_identity(tmp_path: Path, subject: Subject) -> None:
    folder = write_autoencoder(tmp_path)
    found = {SparseAutoencoder(subject, folder).identity, SparseAutoencoder(subject, folder, top=3).identity}
    (folder / "labels.csv").write_text("feature,label\n3,fruit\n")
    found.add(SparseAutoencoder(subject, folder).identity)
    write_autoencoder(tmp_path, None, b_enc=torch.zeros(FEATURES))
    found.add(SparseAutoencoder(subject, folder).identity)
    assert len(found) == 4
    assert SparseAutoencoder(subject, folder).identity in found


def test_labels_of_another_autoencoder_and_autoencoders_of_another_model_are_refused(
    tmp_path: Path, subject: Subject
) -> None:
    folder = write_autoencoder(tmp_path / "a")
    (folder / "labels.csv").write_text("feature,label\n99,fruit\n")
    with pytest.raises(CounterfactualError, match="feature 99"):
        SparseAutoencoder(subject, folder)
    (folder / "labels.csv").write_text("a,b\n1,2\n")
    with pytest.raises(CounterfactualError, match="holds no labels"):
        SparseAutoencoder(subject, folder)
    deep = write_autoencoder(tmp_path / "b", {"metadata": {"hook_name": "blocks.9.hook_resid_post"}})
    with pytest.raises(EngineError, match="layer 9"):
        SparseAutoencoder(subject, deep)
    wide = {"W_enc": torch.zeros(8, 4), "W_dec": torch.zeros(4, 8), "b_enc": torch.zeros(4), "b_dec": torch.zeros(8)}
    with pytest.raises(CounterfactualError, match="8 numbers"):
        SparseAutoencoder(subject, write_autoencoder(tmp_path / "c", {"d_in": 8, "d_sae": 4}, **wide))
