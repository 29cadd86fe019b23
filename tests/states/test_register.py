"""The register's directions: fixed by name, of unit length, and unrelated to each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.states.register import orthogonal_direction, sign, unit_direction

SIZES = st.sampled_from([2, 3, 16, 64, 576, 4096])
NAMES = st.tuples(st.text(max_size=4), st.integers(0, 1000))


def test_these_directions_never_change() -> None:
    np.testing.assert_allclose(
        unit_direction(4, "register", 0),
        [-0.950365777362328, -0.06455717456103618, -0.14632330757684223, -0.2668834016775244],
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        unit_direction(576, "register", 0)[:3],
        [0.07674761470717194, 0.09875361411896941, 0.05869049270306637],
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        orthogonal_direction(unit_direction(4, "register", 0), "impact", 0),
        [0.17977988537890538, -0.5710694894251298, 0.375104084998036, -0.7077116337030609],
        rtol=1e-9,
    )


@given(SIZES, NAMES)
def test_a_direction_has_unit_length_and_is_made_again_the_same(size: int, name: tuple[str, int]) -> None:
    direction = unit_direction(size, *name)
    assert direction.shape == (size,)
    assert np.linalg.norm(direction) == pytest.approx(1.0, abs=1e-12)
    assert np.array_equal(direction, unit_direction(size, *name))


@given(SIZES, NAMES, NAMES, st.floats(1e-3, 1e6))
def test_a_control_direction_has_unit_length_and_no_component_along_the_register(
    size: int, name: tuple[str, int], other: tuple[str, int], length: float
) -> None:
    reference = unit_direction(size, "register", *name)
    control = orthogonal_direction(length * reference, "control", *other)
    assert np.linalg.norm(control) == pytest.approx(1.0, abs=1e-9)
    assert abs(control @ reference) < 1e-9


def test_other_names_and_sizes_give_unrelated_directions() -> None:
    made = np.stack([unit_direction(576, "register", seed) for seed in range(40)])
    made = np.vstack([made, [orthogonal_direction(made[0], "impact", seed) for seed in range(40)]])
    cosines = (made @ made.T)[~np.eye(len(made), dtype=bool)]
    assert np.abs(cosines).max() < 5 / np.sqrt(576)
    assert not np.allclose(unit_direction(576, "register", 0)[:16], unit_direction(16, "register", 0) / 6)


def test_state_one_is_plus_and_state_zero_is_minus() -> None:
    assert (sign(0), sign(1)) == (-1.0, 1.0)
