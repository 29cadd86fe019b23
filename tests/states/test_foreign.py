"""Other people's vectors: read without running code, and never put one layer off."""

import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_families import tiny_model
from safetensors.torch import save_file

from firsthand.engine import Capture, Edit, Row, inspect_model, parse_site, resid_mid, resid_post, resid_pre, run
from firsthand.errors import StatesError
from firsthand.states.foreign import load_control_vector, load_foreign
from firsthand.states.vectors import Vectors

HIDDEN = 32


def control_vector(
    path: Path,
    tensors: dict[str, Any],
    architecture: str = "controlvector",
    *,
    hint: str | None = "llama",
) -> Path:
    """A file as repeng's ``export_gguf`` writes it."""
    writer = gguf.GGUFWriter(path, architecture)
    if hint is not None:
        writer.add_string("controlvector.model_hint", hint)
    writer.add_uint32("controlvector.layer_count", len(tensors))
    for name, values in tensors.items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def direction(layer: int, kind: type = np.float32) -> Any:
    return np.random.default_rng(layer).standard_normal(HIDDEN).astype(kind)


def test_a_control_vector_is_read_layer_by_layer_with_its_hint(tmp_path: Path) -> None:
    path = control_vector(tmp_path / "happy.gguf", {f"direction.{n}": direction(n) for n in (3, 1, 2)})
    vectors = load_foreign(path)
    assert vectors.names == ("happy",) * 3
    assert vectors.sites == (resid_post(1), resid_post(2), resid_post(3))
    for layer in (1, 2, 3):
        assert np.array_equal(vectors.vector("happy", resid_post(layer)).numpy(), direction(layer))
    assert vectors.origin.recipe == {"site": "added", "model_hint": "llama", "layer_count": 3}
    assert vectors.origin.source.startswith("happy.gguf, SHA-256 ")
    assert vectors.origin.model is None


def test_direction_n_lands_where_repeng_adds_it(tmp_path: Path) -> None:
    """A module put around block N that adds to its output, as repeng's, gives what our edit at the site gives."""
    model, layer = tiny_model("llama", {}), 2
    path = control_vector(tmp_path / "v.gguf", {f"direction.{n}": direction(n) for n in (1, 2, 3)})
    vectors, tokens = load_control_vector(path), (5, 9, 13, 7)
    site = vectors.sites[1]
    edit = Edit(site, (0, 1, 2, 3), vectors.vector("v", site))
    ours = run(inspect_model(model), [Row(tokens, (edit,), read=(0, 1, 2, 3))]).logprobs_RV

    class Around(torch.nn.Module):
        def __init__(self, block: torch.nn.Module) -> None:
            super().__init__()
            self.block = block

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return self.block(*args, **kwargs) + torch.from_numpy(direction(layer))

    other = tiny_model("llama", {})
    other.model.layers[layer] = Around(other.model.layers[layer])
    with torch.no_grad():
        theirs = other(torch.tensor([tokens])).logits[0].log_softmax(-1)
        clean = model(torch.tensor([tokens])).logits[0].log_softmax(-1)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-5)
    assert float((ours - clean).abs().max()) > 0.1


def test_direction_n_lands_where_repeng_measured_it(tmp_path: Path) -> None:
    """``hidden_states[N + 1]`` of Transformers is what our capture at the site reads; ``hidden_states[N]`` is not."""
    model, tokens = tiny_model("llama", {}), (5, 9, 13, 7)
    path = control_vector(tmp_path / "v.gguf", {"direction.2": direction(2)})
    (site,) = load_control_vector(path).sites
    row = Row(tokens, captures=(Capture("here", site, (3,)),))
    found = run(inspect_model(model), [row]).captures[0]["here"][0]
    with torch.no_grad():
        hidden = model(torch.tensor([tokens]), output_hidden_states=True).hidden_states
    torch.testing.assert_close(found, hidden[3][0, 3], rtol=0, atol=2e-5)
    assert float((found - hidden[2][0, 3]).abs().max()) > 0.1


def test_where_llama_cpps_generator_measured_is_one_block_before_where_it_is_added(tmp_path: Path) -> None:
    path = control_vector(tmp_path / "v.gguf", {f"direction.{n}": direction(n) for n in (1, 2)})
    vectors = load_control_vector(path, site="measured_by_llama_cpp", name="mood")
    assert vectors.sites == (resid_post(0), resid_post(1))
    assert np.array_equal(vectors.vector("mood", resid_post(0)).numpy(), direction(1))
    control_vector(tmp_path / "zero.gguf", {"direction.0": direction(0)})
    assert load_control_vector(tmp_path / "zero.gguf").sites == (resid_post(0),)
    with pytest.raises(StatesError, match="cvector-generator never writes"):
        load_control_vector(tmp_path / "zero.gguf", site="measured_by_llama_cpp")


def test_half_precision_is_widened_and_a_missing_hint_is_said(tmp_path: Path) -> None:
    path = control_vector(tmp_path / "v.gguf", {"direction.1": direction(1, np.float16)}, hint=None)
    vectors = load_control_vector(path)
    assert np.array_equal(vectors.vectors_VH[0].numpy(), direction(1, np.float16).astype(np.float32))
    assert vectors.origin.recipe["model_hint"] is None


@pytest.mark.parametrize(
    ("tensors", "more", "reason"),
    [
        ({"direction.1": direction(1)}, {"architecture": "llama"}, "architecture 'llama'"),
        ({"direction.1": direction(1), "blk.0.attn": direction(2)}, {}, "no direction.N: blk.0.attn"),
        ({"direction.-1": direction(1)}, {}, "no direction.N"),
        ({}, {}, "no direction.N: none at all"),
        ({"direction.1": np.zeros(HIDDEN, np.float32)}, {}, "zero or not finite"),
        ({"direction.1": np.full(HIDDEN, np.nan, np.float32)}, {}, "zero or not finite"),
        ({"direction.1": np.ones((2, HIDDEN), np.float32)}, {}, "needed is one vector"),
        ({"direction.1": np.ones(HIDDEN, np.int32)}, {}, "needed is one vector"),
        ({"direction.1": direction(1), "direction.2": direction(2)[:16]}, {}, "widths"),
    ],
)
def test_other_gguf_files_are_refused(tmp_path: Path, tensors, more, reason: str) -> None:
    path = control_vector(tmp_path / "v.gguf", tensors, **more)
    with pytest.raises(StatesError, match=reason):
        load_control_vector(path)


def test_a_cut_gguf_file_is_refused(tmp_path: Path) -> None:
    whole = control_vector(tmp_path / "v.gguf", {"direction.1": direction(1)}).read_bytes()
    for length in range(0, len(whole), 13):
        (tmp_path / "cut.gguf").write_bytes(whole[:length])
        with pytest.raises(StatesError, match="not a whole GGUF file"):
            load_control_vector(tmp_path / "cut.gguf")


def write(path: Path, tensors: Any) -> Path:
    if path.suffix == ".safetensors":
        save_file({str(name): tensor for name, tensor in tensors.items()}, path)
    else:
        torch.save(tensors, path)
    return path


@pytest.mark.parametrize("suffix", [".safetensors", ".pt", ".pth"])
@pytest.mark.parametrize(
    ("name", "layers_are", "site"),
    [
        ("layer_12", "resid_post", "resid_post[12]"),
        ("layer_12", "resid_pre", "resid_pre[12]"),
        ("12", "resid_post", "resid_post[12]"),
        ("blocks.12", "resid_post", "resid_post[12]"),
        ("blocks.12.direction", "resid_pre", "resid_pre[12]"),
        ("model.layers.7", "resid_post", "resid_post[7]"),
        ("h.3", "resid_post", "resid_post[3]"),
        ("happy.layer12", "resid_post", "resid_post[12]"),
        ("resid_post[12]", None, "resid_post[12]"),
        ("resid_mid[12]", "resid_post", "resid_mid[12]"),
        ("blocks.12.hook_resid_pre", None, "resid_pre[12]"),
        ("blocks.12.hook_resid_mid", "resid_post", "resid_mid[12]"),
        ("blocks.0.hook_resid_post", "resid_pre", "resid_post[0]"),
    ],
)
def test_a_name_gives_its_site(tmp_path: Path, suffix: str, name: str, layers_are, site: str) -> None:
    path = write(tmp_path / f"v{suffix}", {name: torch.arange(4.0)})
    vectors = load_foreign(path, layers_are=layers_are)
    assert (vectors.names, vectors.sites) == ((name,), (parse_site(site),))
    assert torch.equal(vectors.vectors_VH[0], torch.arange(4.0))
    assert vectors.measures[0]["raw_norm"] == pytest.approx(14**0.5)


@pytest.mark.parametrize("name", ["layer_12", "12", "blocks.12.v"])
def test_a_bare_layer_number_is_not_guessed(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "v.safetensors", {name: torch.arange(4.0)})
    with pytest.raises(StatesError, match=r"is given \(hidden_states\[12\].*or what it returns.*layers_are"):
        load_foreign(path)


@pytest.mark.parametrize(
    "name",
    [
        "layer_12_seed_3",
        "happy",
        "hidden_12",
        "v12",
        "layer_-1",
        "layer-1",
        "-1",
        "blocks.12.mlp",
        "layers.3.self_attn",
        "12.5",
        "layer",
    ],
)
def test_names_that_do_not_say_one_layer_of_the_residual_stream_are_refused(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "v.safetensors", {name: torch.arange(4.0)})
    with pytest.raises(StatesError, match="does not say one layer"):
        load_foreign(path, layers_are="resid_post")
    assert load_foreign(path, sites={name: "resid_post[2]"}).sites == (resid_post(2),)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("layerblockh_.-[]0123456789 ", min_size=1, max_size=14))
def test_whatever_a_name_is_it_says_its_only_number_or_is_refused(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "v.pt", {name: torch.arange(4.0)})
    try:
        (site,) = load_foreign(path, layers_are="resid_post").sites
    except StatesError:
        return
    digits = "".join(c if c.isdigit() else " " for c in name).split()
    assert [int(d) for d in digits] == [site.layer]


def test_two_tensors_for_one_site_are_refused_unless_it_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "v.safetensors", {"12": torch.ones(4), "layer_12": torch.arange(4.0), "3": torch.ones(4)})
    with pytest.raises(StatesError, match="several tensors for one site: 12, layer_12"):
        load_foreign(path, layers_are="resid_post")
    both = load_foreign(path, sites={"12": resid_mid(2), "layer_12": "resid_mid[2]"})
    assert both.sites == (resid_mid(2),) * 2
    with pytest.raises(StatesError, match="no tensor 13"):
        load_foreign(path, sites={"13": "resid_post[1]"})
    with pytest.raises(StatesError, match="has no tensor"):
        load_foreign(path, sites={})


def test_pickles_of_tensors_are_read(tmp_path: Path) -> None:
    vector = torch.arange(4.0)
    by_layer = load_foreign(write(tmp_path / "v.pt", {3: vector, 4: vector.half()}), layers_are="resid_pre")
    assert by_layer.sites == (resid_pre(3), resid_pre(4))
    assert torch.equal(by_layer.vectors_VH, torch.stack([vector, vector]))
    ordered = write(tmp_path / "w.pt", OrderedDict(layer_1=vector[None]))
    assert load_foreign(ordered, layers_are="resid_post").hidden_size == 4
    alone = write(tmp_path / "happy.pt", torch.nn.Parameter(vector).data)
    assert load_foreign(alone, sites={"happy": "resid_post[5]"}).names == ("happy",)
    with pytest.raises(StatesError, match="does not say one layer"):
        load_foreign(alone, layers_are="resid_post")


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> Any:
        return (open, (self.path, "w"))


def test_a_pickle_that_would_run_code_is_refused_and_does_not_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    content = {"layer_1": torch.ones(4), "more": Bomb(mark)}
    torch.save(content, tmp_path / "v.pt")
    (tmp_path / "old.pth").write_bytes(pickle.dumps(content, protocol=2))
    for name in ("v.pt", "old.pth"):
        with pytest.raises(StatesError, match=r"pickled objects.*can run code.*refused.*\.safetensors"):
            load_foreign(tmp_path / name, layers_are="resid_post")
    assert not mark.exists()
    torch.load(tmp_path / "v.pt", weights_only=False)
    assert mark.exists()


@pytest.mark.parametrize(
    "content",
    [[torch.ones(3)], {"a": {"b": torch.ones(3)}}, {"a": 1.0}, "text", {1: torch.ones(3), "1": torch.ones(3)}],
)
def test_pickles_of_other_shapes_are_refused(tmp_path: Path, content: Any) -> None:
    torch.save(content, tmp_path / "v.pt")
    with pytest.raises(StatesError, match="neither a tensor nor a dictionary of tensors"):
        load_foreign(tmp_path / "v.pt", layers_are="resid_post")


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (torch.ones(4, dtype=torch.int64), "needed is one vector"),
        (torch.ones(2, 4), "needed is one vector"),
        (torch.ones(4, 1), "needed is one vector"),
        (torch.tensor(1.0), "needed is one vector"),
        (torch.ones(0), "needed is one vector"),
        (torch.ones(4, dtype=torch.complex64), "needed is one vector"),
        (torch.zeros(4), "zero or not finite"),
        (torch.tensor([1.0, float("inf")]), "zero or not finite"),
        (torch.full((4,), 1e300, dtype=torch.float64), "zero or not finite"),
    ],
)
def test_tensors_that_are_not_one_vector_are_refused(tmp_path: Path, tensor: torch.Tensor, reason: str) -> None:
    path = write(tmp_path / "v.pt", {"layer_1": tensor})
    with pytest.raises(StatesError, match=reason):
        load_foreign(path, layers_are="resid_post")


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    for name in ("v.bin", "v.pkl", "v.npy", "v"):
        (tmp_path / name).write_bytes(b"x" * 100)
        with pytest.raises(StatesError, match="not read, or not safe to read"):
            load_foreign(tmp_path / name)
    for name, reason in (("v.pt", "PyTorch|pickled"), ("v.safetensors", "safetensors file"), ("v.gguf", "GGUF")):
        (tmp_path / name).write_bytes(b"x" * 100)
        with pytest.raises(StatesError, match=reason):
            load_foreign(tmp_path / name)
    with pytest.raises(StatesError, match="does not exist"):
        load_foreign(tmp_path / "none.pt")


def test_a_cut_pickle_is_refused(tmp_path: Path) -> None:
    whole = write(tmp_path / "v.pt", {"layer_1": torch.arange(4.0)}).read_bytes()
    for length in range(0, len(whole), 97):
        (tmp_path / "cut.pt").write_bytes(whole[:length])
        with pytest.raises(StatesError):
            load_foreign(tmp_path / "cut.pt", layers_are="resid_post")


def test_our_own_files_and_useless_options_are_turned_away(tmp_path: Path) -> None:
    path = write(tmp_path / "v.safetensors", {"layer_1": torch.arange(4.0), "layer_2": torch.ones(4)})
    vectors = load_foreign(path, layers_are="resid_post")
    vectors.save(tmp_path / "own.safetensors")
    assert Vectors.load(tmp_path / "own.safetensors").origin == vectors.origin
    with pytest.raises(StatesError, match="made by firsthand"):
        load_foreign(tmp_path / "own.safetensors")
    with pytest.raises(StatesError, match="Leave both options out"):
        load_foreign(control_vector(tmp_path / "v.gguf", {"direction.1": direction(1)}), layers_are="resid_post")


def test_different_widths_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "v.safetensors", {"1": torch.ones(4), "2": torch.ones(5)})
    with pytest.raises(StatesError, match=r"widths \[4, 5\]"):
        load_foreign(path, layers_are="resid_post")
