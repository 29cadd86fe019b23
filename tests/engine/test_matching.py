"""Other directions are given the dose at which they change as much as the target does."""

import numpy as np
import pytest
import torch
from plain_families import HIDDEN, VOCABULARY

from firsthand.engine import Anatomy, Edit, Row, resid_post, run
from firsthand.engine.matching import Measure, impacts, match_directions
from firsthand.engine.readout import entropy, kl_divergence
from firsthand.errors import EngineError

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
        resid_post(1),
        PLACE,
        DIRECTIONS[1:],
        [target] * 5,
        start=[1.0] * 5,
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
        anatomy, Row(TOKENS), resid_post(1), PLACE, DIRECTIONS[:2], [1e6, 1e6], start=[1.0, 1.0], max_rounds=6
    )
    assert not match.matched.any()
    assert (match.impact < 1e6).all()


def test_rows_with_other_tokens_have_no_common_impact(anatomy: Anatomy) -> None:
    with pytest.raises(EngineError, match="same tokens"):
        impacts(anatomy, Row(TOKENS), [Row(TOKENS[:-1])])
