"""Equal content has equal bytes, and nothing else has."""

import hashlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.trials.canonical import canonical_json, digest

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def reordered(value: object) -> object:
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return tuple(map(reordered, value)) if isinstance(value, list) else value


@given(VALUES)
def test_order_of_keys_and_kind_of_sequence_do_not_matter(value: object) -> None:
    assert canonical_json(value) == canonical_json(reordered(value))


def test_the_bytes_are_these() -> None:
    written = '{"a":"é","b":[1,2.5,null]}'.encode()
    assert canonical_json({"b": (1, 2.5, None), "a": "é"}) == written
    assert digest({"a": "é", "b": [1, 2.5, None]}) == hashlib.sha256(written).hexdigest()


def test_order_in_a_list_and_every_value_matter() -> None:
    different = [[1, 2], [2, 1], ["1", 2], [1.5, 2], [[1], 2], {"1": 2}, None, "", 0, False]
    assert len({digest(value) for value in different}) == len(different)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json({"deep": [value]})
