"""Other directions are given the dose at which they change as much as the target does."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from plain_families import HIDDEN, VOCABULARY

from firsthand.engine import Anatomy, Edit, Row, matching, resid_post, run
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


def test_rows_of_their_own_are_matched_together_as_each_alone(anatomy: Anatomy) -> None:
    others = tuple(torch.randint(3, VOCABULARY, (27,), generator=_GENERATOR).tolist())
    rows = [Row(TOKENS), Row(others), Row(others)]
    edits = [Edit(resid_post(1), (at,), d) for at, d in zip((17, 9, 24), DIRECTIONS[1:], strict=False)]
    goals = [replace(edit, vector_H=DIRECTIONS[0]) for edit in edits]
    together = match_directions(anatomy, rows, edits, goals, tolerance=0.02, max_rounds=30)
    for i in range(3):
        alone = match_directions(anatomy, rows[i], [edits[i]], [goals[i]], tolerance=0.02, max_rounds=30)
        assert together.dose[i] == pytest.approx(alone.dose[0], rel=1e-3)
        assert together.matched[i]
        (goal, reached) = impacts(
            anatomy,
            rows[i],
            [Row(rows[i].tokens, (e,)) for e in (goals[i], replace(edits[i], strength=float(together.dose[i])))],
        )
        assert reached == pytest.approx(goal, rel=0.03)


def test_a_solved_direction_is_not_run_again(anatomy: Anatomy, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    plain = matching._Bases.impacts
    monkeypatch.setattr(
        matching._Bases,
        "impacts",
        lambda self, numbers, made: counts.append(len(numbers)) or plain(self, numbers, made),
    )
    easy, hard = Edit(resid_post(1), PLACE, DIRECTIONS[0]), Edit(resid_post(1), PLACE, DIRECTIONS[1], strength=50.0)
    match = match_directions(anatomy, Row(TOKENS), [easy, hard], [easy, easy], tolerance=0.02, max_rounds=30)
    assert match.matched.all()
    assert counts[:2] == [2, 2]
    assert set(counts[2:]) == {1}


@pytest.mark.parametrize(
    ("rows", "edits", "goals"), [([Row(TOKENS)], 2, 2), (Row(TOKENS), 0, 0), (Row(TOKENS), 2, 1), ([], 1, 1)]
)
def test_as_many_rows_and_targets_as_edits_are_needed(
    anatomy: Anatomy, rows: Row | list[Row], edits: int, goals: int
) -> None:
    some = [Edit(resid_post(1), PLACE, DIRECTIONS[i]) for i in range(edits)]
    with pytest.raises(EngineError, match="edits"):
        match_directions(anatomy, rows, some, [0.1] * goals)
