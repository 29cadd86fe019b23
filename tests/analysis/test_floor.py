"""The floor finds what the surface tells, and nothing where it tells nothing."""

import numpy as np
import pytest

from firsthand.analysis.floor import BOOSTED, LINEAR, WORDS, Floor, floor_of


def measured(count: int = 240, seed: int = 0, leak: str = "", per_unit: int = 4) -> Floor:
    """Claims, four to a unit, whose labels are by chance or by what leaks."""
    rng = np.random.default_rng(seed)
    units = np.arange(count) // per_unit
    labels = rng.random(count) < 0.5
    size = rng.normal(0.0, 1.0, count) + (1.5 * labels if leak == "size" else 0.0)
    baseline = rng.uniform(0.3, 1.0, count)
    if leak == "bump":  # neither large nor small ones: no line parts these
        size = np.where(labels, rng.normal(0.0, 0.4, count), rng.choice([-2.0, 2.0], count) + rng.normal(0, 0.4, count))
    if leak == "unit":
        labels = (units % 2 == 0) ^ (rng.random(count) < 0.1)
    said = np.where(labels & (leak == "words"), "deleted", "replaced")
    named = [f"project{unit}" if leak == "unit" else "the project" for unit in units]
    places = [
        f"the word {'xyzw'[n % 4]} of {name} is {how} in place {n % 7}"
        for n, (how, name) in enumerate(zip(said, named, strict=True))
    ]
    return floor_of(labels.tolist(), {"size": size, "baseline": baseline}, places, units, draws=400)


def reached(floor: Floor) -> dict[str, float]:
    return {one.learner: one.auroc.value for one in floor.guesses}


def test_where_labels_are_by_chance_no_learner_is_said_to_tell_them() -> None:
    wrong = 0
    for seed in range(4):
        for guess in measured(160, seed=seed).guesses:
            assert guess.auroc.value == pytest.approx(0.5, abs=0.18)
            wrong += guess.auroc.low > 0.5
    assert wrong <= 1


def test_what_leaks_through_the_surface_is_found_and_named_with_an_interval_over_units() -> None:
    found = measured(leak="size")
    assert reached(found)[LINEAR] == pytest.approx(0.856, abs=0.05)  # Phi(1.5 / sqrt 2), the best that can be done
    assert found.best is not None
    assert found.best.learner in (LINEAR, BOOSTED)
    assert found.best.auroc.low < found.best.auroc.value < found.best.auroc.high
    assert (found.units, found.best.auroc.units) == (60, 60)
    assert f"must beat this floor: without prompt and model, an AUROC of {found.best.auroc.value:.2f}" in found.sentence


def test_a_leak_that_no_line_parts_is_found_by_boosting() -> None:
    found = reached(measured(leak="bump"))
    assert found[BOOSTED] > 0.9
    assert found[LINEAR] < 0.7


def test_a_leak_through_the_wording_is_found_by_the_words() -> None:
    found = measured(leak="words")
    assert found.best is not None
    assert (found.best.learner, found.best.auroc.value) == (WORDS, pytest.approx(1.0, abs=0.01))


def test_what_is_known_of_one_unit_alone_tells_nothing_of_another() -> None:
    """Labels are nearly the same within a unit, and its name stands in the text: held out, that is no help."""
    assert max(reached(measured(leak="unit")).values()) < 0.65


def test_too_few_units_give_no_floor_and_say_so() -> None:
    found = measured(count=36)
    assert (found.guesses, found.best, found.units) == ((), None, 9)
    assert "9 independent units, and 10 are needed" in found.sentence
    one_sided = floor_of([True] * 40, {"size": np.zeros(40)}, ["x"] * 40, np.arange(40))
    assert "its false claims come from 0 independent units" in one_sided.why
    nothing = floor_of([], {}, [], np.array([], np.int64))
    assert (nothing.claims, nothing.guesses) == (0, ())
