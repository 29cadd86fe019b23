"""The miniature: public evidence is what the seed says, and the hidden side is nowhere in it."""

import numpy as np

from firsthand.studies.triangle import CUE_RELIABILITY, LEAK_RELIABILITY, run_triangle


def test_cue_and_output_name_the_pre_state_as_often_as_they_should() -> None:
    tables = run_triangle(300, seed=5)
    pre = tables.sealed["pre_state"].to_numpy()
    cue = np.array([view.features["cue"] for view in tables.public["parsed"]])
    output = np.array([view.output_features["second_option"] for view in tables.public["parsed"]])
    error = 4 * np.sqrt(0.25 / len(pre))
    assert abs(np.mean(cue == pre) - CUE_RELIABILITY) < error
    assert abs(np.mean(output == pre) - LEAK_RELIABILITY) < error


def test_exactly_one_fifth_is_flipped_and_nothing_else_is() -> None:
    sealed = run_triangle(40, seed=1).sealed
    flipped = sealed["pre_state"] != sealed["post_state"]
    assert flipped.mean() == 0.2
    assert (flipped == (sealed["kind"] == "target")).all()


def test_a_withheld_view_holds_nothing_of_the_output() -> None:
    view = run_triangle(1, seed=0).public["parsed"][0].without_output()
    assert view.output is None
    assert view.output_features == {}
    assert all(turn.content is None for turn in view.turns if turn.role == "assistant")


def test_another_seed_makes_other_trials_and_the_same_seed_the_same() -> None:
    one, two, three = run_triangle(5, 0), run_triangle(5, 0), run_triangle(5, 1)
    assert one.sealed.equals(two.sealed)
    assert not one.sealed.equals(three.sealed)
