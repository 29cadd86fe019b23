"""A stream is its name: the same draws everywhere and for ever, whatever else was drawn."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firsthand.trials.randomness import stream

NAMES = st.lists(st.text(max_size=6) | st.integers(0, 10**6), min_size=1, max_size=4)


def test_draws_of_these_streams_never_change() -> None:
    assert stream(0, "confirmation", 3, "cue").integers(0, 1000, 5).tolist() == [967, 411, 617, 484, 429]
    assert stream("a").random(3).tolist() == [0.7148585164459785, 0.6886944477108075, 0.27350639590383374]


@given(NAMES, NAMES)
def test_streams_are_equal_exactly_if_their_names_are(one: list[str | int], other: list[str | int]) -> None:
    same = np.array_equal(stream(*one).random(4), stream(*other).random(4))
    assert same == (one == other)


def test_a_draw_from_one_stream_leaves_the_others_alone() -> None:
    before = stream("b").random(3)
    stream("a").random(1000)
    assert np.array_equal(stream("b").random(3), before)


def test_the_parts_of_a_name_do_not_run_together() -> None:
    names = [("ab", "c"), ("a", "bc"), ("abc",), (1, 2), (12,), ("1", 2), (1, "2")]
    assert len({stream(*name).random() for name in names}) == len(names)


def test_neighbouring_streams_are_uncorrelated() -> None:
    draws = np.array([stream(0, "x", index).standard_normal(400) for index in range(30)])
    off_diagonal = np.corrcoef(draws)[~np.eye(30, dtype=bool)]
    assert np.abs(off_diagonal).max() < 5 / np.sqrt(400)
    assert abs(off_diagonal.std() - 1 / np.sqrt(400)) < 0.01
