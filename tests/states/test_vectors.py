"""Vectors and their files: what is read is what was written, for the model that it was made with, or nothing."""

import json
from dataclasses import replace

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from firsthand.engine import Edit, Row, resid_post, resid_pre, run
from firsthand.errors import StatesError
from firsthand.states.concepts import Recipe, concept_vectors
from firsthand.states.tensor_files import MANIFEST
from firsthand.states.vectors import ModelIdentity, Origin, Vectors
from firsthand.version import __version__

ORIGIN = Origin(kind="probe", source="made in a test", recipe={"a": [1, None]}, model=None)


def some(count: int = 3, width: int = 5, **changes) -> Vectors:
    torch.manual_seed(count)
    parts = {
        "names": tuple(f"v{i}" for i in range(count)),
        "sites": tuple(resid_post(i % 2) for i in range(count)),
        "vectors_VH": torch.randn(count, width),
        "measures": tuple({"raw_norm": i + 0.5} for i in range(count)),
        "origin": ORIGIN,
        **changes,
    }
    return Vectors(**parts)


def same(a: Vectors, b: Vectors) -> bool:
    pairs = [(a.vectors_VH, b.vectors_VH), (a.offsets_V, b.offsets_V), (a.means_VH, b.means_VH)]
    tensors = all((x is None) == (y is None) and (x is None or torch.equal(x, y)) for x, y in pairs)
    return tensors and (a.names, a.sites, a.measures, a.origin) == (b.names, b.sites, b.measures, b.origin)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5, unique=True),
    width=st.integers(1, 9),
    offsets=st.booleans(),
    means=st.booleans(),
    measure=st.floats(allow_nan=False, allow_infinity=False),
)
def test_everything_survives_a_file(tmp_path, names, width, offsets, means, measure) -> None:
    count = len(names)
    vectors = some(
        count,
        width,
        names=tuple(names),
        measures=({"x": measure},) * count,
        offsets_V=torch.randn(count, dtype=torch.float64) if offsets else None,
        means_VH=torch.randn(count, width) if means else None,
    )
    vectors.save(tmp_path / "v.safetensors")
    assert same(Vectors.load(tmp_path / "v.safetensors"), vectors)


def test_concept_vectors_survive_a_file_and_say_how_they_were_made(tmp_path, tiny_llama) -> None:
    loaded, anatomy = tiny_llama
    recipe = Recipe((resid_pre(1), resid_post(2)), scale="residual")
    vectors = concept_vectors(loaded, anatomy, ["code", "Q", "zz"], recipe)
    vectors.save(tmp_path / "deep" / "concepts.safetensors")
    read = Vectors.load(tmp_path / "deep" / "concepts.safetensors", loaded)
    assert same(read, vectors)
    assert Recipe(**read.origin.recipe) == recipe
    assert read.origin.model == ModelIdentity.of(loaded)
    assert (read.origin.kind, read.origin.package_version) == ("concepts", __version__)
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["concepts.safetensors"]
    edit = Edit(resid_post(2), (1,), read.vector("Q", resid_post(2)))
    run(anatomy, [Row((3, 4, 5), (edit,))])


def test_the_manifest_is_plain_json_in_the_file(tmp_path) -> None:
    some().save(tmp_path / "v.safetensors")
    with safe_open(tmp_path / "v.safetensors", "pt") as file:
        manifest = json.loads(file.metadata()[MANIFEST])
    assert manifest["entries"][1] == {"name": "v1", "site": "resid_post[1]", "measures": {"raw_norm": 1.5}}
    assert manifest["origin"]["source"] == "made in a test"


def test_equal_vectors_give_equal_bytes(tmp_path) -> None:
    for name in ("a", "b"):
        some().save(tmp_path / f"{name}.safetensors")
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def test_vectors_of_one_site_and_scores() -> None:
    vectors = some(4, offsets_V=torch.arange(4, dtype=torch.float64), means_VH=torch.ones(4, 5))
    chosen = vectors.at(resid_post(1))
    assert chosen.names == ("v1", "v3")
    states_NH = torch.randn(6, 5)
    for n in range(6):
        for v, index in enumerate((1, 3)):
            wanted = sum(float(a) * float(b) for a, b in zip(states_NH[n], vectors.vectors_VH[index], strict=True))
            assert float(chosen.scores(states_NH)[n, v]) == pytest.approx(wanted + index)
    with pytest.raises(StatesError, match=r"no vectors at resid_pre\[0\]"):
        vectors.at(resid_pre(0))
    with pytest.raises(StatesError, match=r"no vector 'v1' at resid_post\[0\]"):
        vectors.vector("v1", resid_post(0))


@pytest.mark.parametrize(
    "changes",
    [
        {"names": ("a", "a", "a"), "sites": (resid_post(0),) * 3},
        {"sites": (resid_post(0),)},
        {"measures": ()},
        {"measures": ({"x": float("nan")}, {}, {})},
        {"names": (), "sites": (), "measures": (), "vectors_VH": torch.zeros(0, 5)},
        {"vectors_VH": torch.randn(3, 5, dtype=torch.float64)},
        {"vectors_VH": torch.randn(5)},
        {"vectors_VH": torch.tensor([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])},
        {"vectors_VH": torch.tensor([[1.0, 0.0], [0.0, float("nan")], [1.0, 1.0]])},
        {"vectors_VH": torch.tensor([[1.0, 0.0], [0.0, float("inf")], [1.0, 1.0]])},
        {"offsets_V": torch.zeros(3)},
        {"offsets_V": torch.full((3,), float("nan"), dtype=torch.float64)},
        {"means_VH": torch.zeros(1, 5)},
    ],
)
def test_parts_that_do_not_belong_together_are_refused(changes) -> None:
    with pytest.raises(StatesError):
        some(**changes)


def test_one_name_may_stand_at_several_sites() -> None:
    vectors = some(names=("a", "a", "b"), sites=(resid_post(0), resid_post(1), resid_post(1)))
    assert torch.equal(vectors.vector("a", resid_post(1)), vectors.vectors_VH[1])


def test_another_models_vectors_are_refused(tmp_path, wrap, tiny_llama) -> None:
    loaded, anatomy = tiny_llama
    path = tmp_path / "v.safetensors"
    concept_vectors(loaded, anatomy, ["code", "Q"], Recipe((resid_post(3),))).save(path)
    tuned = replace(loaded, weights_sha256="d" * 64, name="tuned")
    with pytest.raises(StatesError, match=r"made with tiny llama .*not with tuned.*other_weights=True"):
        Vectors.load(path, tuned)
    assert Vectors.load(path, tuned, other_weights=True).names == ("code", "Q")
    assert Vectors.load(path, replace(loaded, dtype="bfloat16")).names == ("code", "Q")
    for other in (replace(loaded, hidden_size=64), replace(loaded, n_layers=3)):
        for allowed in (False, True):
            with pytest.raises(StatesError, match="have width 32 and reach"):
                Vectors.load(path, other, other_weights=allowed)


def test_vectors_of_unknown_weights_need_a_word(tiny_llama) -> None:
    vectors = some(2, 32)
    with pytest.raises(StatesError, match="unknown weights"):
        vectors.require(tiny_llama[0])
    vectors.require(tiny_llama[0], other_weights=True)


def test_a_damaged_file_is_refused_wherever_it_is_damaged(tmp_path) -> None:
    path, other = tmp_path / "v.safetensors", tmp_path / "w.safetensors"
    vectors = some(2, 3, offsets_V=torch.ones(2, dtype=torch.float64))
    vectors.save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        other.write_bytes(whole[:length])
        with pytest.raises(StatesError):
            Vectors.load(other)
    header = 8 + int.from_bytes(whole[:8], "little")
    for index in range(header, len(whole)):
        other.write_bytes(whole[:index] + bytes([whole[index] ^ 1]) + whole[index + 1 :])
        with pytest.raises(StatesError):
            Vectors.load(other)


def rewritten(path, change) -> None:
    with safe_open(path, "pt") as file:
        manifest = json.loads(file.metadata()[MANIFEST])
    tensors = load_file(path)
    change(manifest, tensors)
    save_file(tensors, path, metadata={MANIFEST: json.dumps(manifest)})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda m, t: m.update(format="firsthand-vectors/2"), "manifest of .* is not valid"),
        (lambda m, t: m.update(more=1), "manifest of .* is not valid"),
        (lambda m, t: m["entries"][0].update(site="layer 3"), "manifest of .* is not valid"),
        (lambda m, t: m["entries"].pop(), "do not belong together"),
        (lambda m, t: m["entries"][0].update(name="v2"), "two vectors called v2"),
        (lambda m, t: t["vectors"].mul_(2), "not those that its manifest"),
        (lambda m, t: t.update(extra=torch.ones(1)), "not those that its manifest"),
        (lambda m, t: t.pop("vectors") is None or t.update(other=torch.ones(1)), "not those that its manifest"),
    ],
)
def test_an_altered_file_is_refused(tmp_path, change, reason: str) -> None:
    path = tmp_path / "v.safetensors"
    some(sites=(resid_post(0),) * 3).save(path)
    rewritten(path, change)
    with pytest.raises(StatesError, match=reason):
        Vectors.load(path)


def test_files_of_other_kinds_are_refused(tmp_path) -> None:
    with pytest.raises(StatesError, match="does not exist"):
        Vectors.load(tmp_path / "none.safetensors")
    save_file({"layer_1": torch.ones(3)}, tmp_path / "foreign.safetensors")
    with pytest.raises(StatesError, match=r"no manifest.*load_foreign"):
        Vectors.load(tmp_path / "foreign.safetensors")
    (tmp_path / "text.safetensors").write_text("hello")
    with pytest.raises(StatesError, match="not a whole safetensors file"):
        Vectors.load(tmp_path / "text.safetensors")


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path) -> None:
    with pytest.raises(StatesError, match=r"does not end in \.safetensors"):
        some().save(tmp_path / "v.pt")
    (tmp_path / "file").write_text("")
    with pytest.raises(StatesError, match="could not be written"):
        some().save(tmp_path / "file" / "v.safetensors")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_recipe_that_is_not_json_cannot_be_stored(tmp_path) -> None:
    origin = Origin(kind="probe", source="x", recipe={"a": object()}, model=None)
    with pytest.raises(StatesError, match="plain JSON"):
        some(origin=origin).save(tmp_path / "v.safetensors")
    assert not list(tmp_path.iterdir())
