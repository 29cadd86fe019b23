"""Principal components: checked against an eigendecomposition, with signs that do not depend on luck."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from firsthand.engine import resid_post
from firsthand.errors import StatesError
from firsthand.states.components import principal_components
from firsthand.states.reading import read_states
from firsthand.states.vectors import Vectors


def cloud(seed: int, n: int = 40, hidden: int = 12, shift: float = 5.0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((n, hidden)) * np.geomspace(10.0, 0.1, hidden) @ rng.standard_normal((hidden, hidden))
        + shift
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 5))
def test_components_are_the_eigenvectors_of_the_covariance_with_the_largest_loading_positive(seed: int, n: int) -> None:
    states = cloud(seed)
    found = principal_components(states, n)
    values, vectors = np.linalg.eigh(np.cov(states.T))
    for k in range(n):
        wanted = vectors[:, -1 - k]
        wanted = wanted if wanted[np.argmax(np.abs(wanted))] > 0 else -wanted
        np.testing.assert_allclose(found.directions_KH[k], wanted, atol=1e-5)
        assert found.explained_variance_K[k] == pytest.approx(values[-1 - k], rel=1e-8)
        assert found.explained_variance_ratio_K[k] == pytest.approx(values[-1 - k] / values.sum(), rel=1e-8)
    np.testing.assert_allclose(found.mean_H, states.mean(0), rtol=1e-5, atol=1e-5)


def test_the_sign_does_not_turn_with_the_order_of_the_states_or_with_their_sign() -> None:
    states = cloud(3)
    first = principal_components(states, 3).directions_KH
    np.testing.assert_allclose(principal_components(states[::-1], 3).directions_KH, first, atol=1e-5)
    np.testing.assert_allclose(principal_components(-states, 3).directions_KH, first, atol=1e-5)
    assert (np.take_along_axis(first, np.abs(first).argmax(1)[:, None], 1) > 0).all()


def test_scores_of_other_states_are_counted_from_the_mean_that_was_fitted() -> None:
    found, other = principal_components(cloud(1), 2), cloud(2, n=7, shift=-3.0)
    for n in range(7):
        for k in range(2):
            wanted = sum((other[n, i] - float(found.mean_H[i])) * float(found.directions_KH[k, i]) for i in range(12))
            assert found.scores(other)[n, k] == pytest.approx(wanted, rel=1e-9)
    assert abs(found.scores(cloud(1)).mean(0)).max() < 1e-5
    np.testing.assert_allclose(found.scores(cloud(1)).var(0, ddof=1), found.explained_variance_K, rtol=1e-5)


def test_components_survive_a_file_with_their_scores(tmp_path, tiny_llama) -> None:
    loaded, _ = tiny_llama
    found, other = principal_components(cloud(1, hidden=32), 2), cloud(2, n=7, hidden=32)
    vectors = found.as_vectors(resid_post(1), loaded, "a cloud", recipe={"texts": "none"})
    vectors.save(tmp_path / "pc.safetensors")
    read = Vectors.load(tmp_path / "pc.safetensors", loaded)
    np.testing.assert_allclose(read.scores(torch.from_numpy(other)).numpy(), found.scores(other), rtol=1e-9, atol=1e-9)
    assert (read.names, read.origin.kind, read.origin.recipe) == (
        ("pc1", "pc2"),
        "components",
        {"n_states": 40, "texts": "none"},
    )
    assert torch.equal(read.means_VH[1], torch.from_numpy(found.mean_H))
    assert [m["explained_variance_ratio"] for m in read.measures] == found.explained_variance_ratio_K.tolist()
    assert found.as_vectors(resid_post(1), None, "x", ["a", "b"]).names == ("a", "b")


def test_texts_of_a_model_are_scored_on_components_of_other_texts(tiny_llama) -> None:
    loaded, anatomy = tiny_llama
    site = resid_post(2)
    texts = ["hello there", "the register holds code", "so be brief", "zz", "code Q K J X"]
    states_NH = read_states(loaded, anatomy, texts, [site]).states[site]
    found = principal_components(states_NH, 2)
    assert found.scores(read_states(loaded, anatomy, ["hello there"], [site]).states[site]).shape == (1, 2)
    alone = found.scores(read_states(loaded, anatomy, texts[:1], [site]).states[site])
    np.testing.assert_allclose(alone[0], found.scores(states_NH)[0], atol=1e-4)


@pytest.mark.parametrize("n", [0, -1, 5, 13])
def test_more_components_than_there_can_be_are_refused(n: int) -> None:
    with pytest.raises(StatesError, match="at most 4 components"):
        principal_components(cloud(0, n=5), n)


def test_directions_without_variance_are_refused() -> None:
    flat = np.outer(np.arange(10.0), np.ones(6)) + 3.0
    assert principal_components(flat, 1).explained_variance_ratio_K[0] == pytest.approx(1.0)
    with pytest.raises(StatesError, match="fewer than 2 directions"):
        principal_components(flat, 2)
    with pytest.raises(StatesError, match="fewer than 1 directions"):
        principal_components(np.full((5, 4), 0.1), 1)


def test_states_that_are_not_numbers_are_refused() -> None:
    states = cloud(0)
    states[3, 2] = np.nan
    for wrong in (states, cloud(0)[0]):
        with pytest.raises(StatesError, match="finite"):
            principal_components(wrong, 1)
