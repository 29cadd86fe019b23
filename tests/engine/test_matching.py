"""Other directions are given the dose at which they change as much as the target does."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from plain_families import HIDDEN, VOCABULARY

from firsthand.engine import Anatomy, Edit, Row, resid_post, run
from firsthand.engine.matching import Measure, impacts, match_directions
from firsthand.engine.readout import entropy, kl_divergence
from firsthand.errors import EngineError
from firsthand.vocabulary import Timing

_GENERATOR = torch.Generator().manual_seed(4)
TOKENS = tuple(torch.randint(3, VOCABULARY, (20,), generator=_GENERATOR).tolist())
DIRECTIONS = torch.randn(6, HIDDEN, generator=_GENERATOR)
PLACE = (17,)


def edited(direction: torch.Tensor, dose: float = 1.0) -> Row:
    return Row(TOKENS, (Edit(resid_post(1), PLACE, direction, strength=dose),))


@pytest.mark.parametrize("measure", ["kl", "entropy", "displacement"])
def test_matched_directions_have_the_targets_impact(anatomy: Anatomy, measure: Measure) -> None:
    (target,) = impacts(anatomy, Row(TOKENS), [edited(DIRECTIONS[0])], measure)
    match = match_directions(
        anatomy,
        Row(TOKENS),
        [Edit(resid_post(1), PLACE, direction) for direction in DIRECTIONS[1:]],
        [target] * 5,
        measure=measure,
        tolerance=0.02,
        max_rounds=30,
    )
    rows = [edited(direction, float(dose)) for direction, dose in zip(DIRECTIONS[1:], match.dose, strict=True)]
    again = impacts(anatomy, Row(TOKENS), rows, measure)
    np.testing.assert_allclose(again, match.impact, rtol=1e-3)
    assert match.matched.sum() >= (3 if measure == "entropy" else 5)  # an entropy may not be reachable
    np.testing.assert_allclose(again[match.matched], target, rtol=0.03)


def test_impact_is_what_the_formulas_say(anatomy: Anatomy) -> None:
    clean, changed = run(anatomy, [Row(TOKENS), edited(DIRECTIONS[0])], path="plain").logprobs_RV[:, None]
    assert impacts(anatomy, Row(TOKENS), [edited(DIRECTIONS[0])]) == pytest.approx(
        kl_divergence(clean, changed).numpy(), rel=1e-3
    )
    assert impacts(anatomy, Row(TOKENS), [edited(DIRECTIONS[0])], "entropy") == pytest.approx(
        (entropy(changed) - entropy(clean)).abs().numpy(), rel=1e-2
    )


def test_a_target_out_of_reach_is_marked_and_says_what_was_reached(anatomy: Anatomy) -> None:
    match = match_directions(
        anatomy, Row(TOKENS), [Edit(resid_post(1), PLACE, d) for d in DIRECTIONS[:2]], [1e6, 1e6], max_rounds=6
    )
    assert not match.matched.any()
    assert (match.impact < 1e6).all()


def test_rows_with_other_tokens_have_no_common_impact(anatomy: Anatomy) -> None:
    with pytest.raises(EngineError, match="same tokens"):
        impacts(anatomy, Row(TOKENS), [Row(TOKENS[:-1])])


def test_edits_of_other_timings_are_matched_in_their_own(anatomy: Anatomy) -> None:
    lifted = Edit(resid_post(1), (4, 5), DIRECTIONS[1], timing=Timing.LIFTED, until=8)
    (target,) = impacts(anatomy, Row(TOKENS), [Row(TOKENS, (replace(lifted, vector_H=DIRECTIONS[0]),))])
    match = match_directions(anatomy, Row(TOKENS), [lifted], [target], tolerance=0.02, max_rounds=30)
    like = match_directions(
        anatomy, Row(TOKENS), [lifted], [replace(lifted, vector_H=DIRECTIONS[0])], tolerance=0.02, max_rounds=30
    )
    np.testing.assert_allclose(like.dose, match.dose, rtol=1e-3)
    (again,) = impacts(anatomy, Row(TOKENS), [Row(TOKENS, (replace(lifted, strength=float(match.dose[0])),))])
    assert match.matched.all()
    assert again == pytest.approx(target, rel=0.03)
