"""Injected trials: every arm adds what it says where it says, and controls are drawn for each concept."""

import numpy as np
import pytest
import torch

from firsthand.engine import LoadedModel, Row, resid_post
from firsthand.engine.matching import impacts
from firsthand.errors import ClaimError
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import KINDS, Arm, edits_of
from firsthand.studies.injection.bench import TWO, InjectionBench, prepare
from firsthand.studies.injection.built_in import built_in
from firsthand.studies.injection.detection import YES_NO, run_detection, unrelated_prompt
from firsthand.vocabulary import Kind

CONCEPTS = ("apple", "music", "poetry", "sand", "war", "justice")
CELL = Cell(1, 1.0)


@pytest.fixture(scope="module")
def bench(tiny: LoadedModel) -> InjectionBench:
    return prepare(tiny, CONCEPTS, [0, 1], built_in(options=2, labels="digits")[:2])


def test_control_directions_are_unit_vectors_of_each_concepts_own(bench: InjectionBench) -> None:
    free = [bench.content_free(concept, 1) for concept in CONCEPTS]
    mixed = [bench.shuffled(concept, 1) for concept in CONCEPTS]
    for direction in (*free, *mixed):
        assert float(direction.norm()) == pytest.approx(1.0, abs=1e-5)
    for concept in CONCEPTS:
        assert all(abs(float(direction @ bench.vector(concept, 1))) < 1e-5 for direction in free)
    assert len({tuple(d.tolist()) for d in (*free, *mixed)}) == 12
    assert torch.equal(mixed[0].sort().values, bench.vector("apple", 1).sort().values)
    assert not torch.equal(bench.content_free("apple", 0), bench.content_free("apple", 1))


def test_no_two_concepts_share_their_uninjected_prompt(bench: InjectionBench) -> None:
    prompts = {bench.prompt(concept, bench.wordings[0], TWO).tokens for concept in CONCEPTS}
    assert len(prompts) == len(CONCEPTS)
    pushed = bench.prompt("poetry", bench.wordings[0], TWO, pushed=True)
    assert "poetry" in pushed.text
    assert "poetry" not in bench.prompt("poetry", bench.wordings[0], TWO).text


def test_every_arm_edits_the_trial_line_as_it_says(bench: InjectionBench) -> None:
    span = (7, 8, 9)
    strength = bench.strength(CELL)
    assert edits_of(Arm.CLEAN, bench, CELL, "apple", span) == ()
    assert edits_of(Arm.PUSH, bench, CELL, "apple", span) == ()
    for arm in (Arm.TARGET, Arm.SHAM, Arm.CONTENT_FREE, Arm.SHUFFLED):
        (edit,) = edits_of(arm, bench, CELL, "apple", span)
        assert (edit.site, edit.positions) == (resid_post(1), span)
        assert edit.strength == (0.0 if arm is Arm.SHAM else strength)
    (solved,) = edits_of(Arm.CONTENT_FREE, bench, CELL, "apple", span, 0.25)
    assert solved.strength == 0.25


def test_a_sham_leaves_the_answer_bit_for_bit_and_a_target_does_not(bench: InjectionBench) -> None:
    table = run_detection(bench, "apple", [CELL])
    keys = ["task", "wording", "order"]
    by_arm = {arm: rows.set_index(keys).sort_index() for arm, rows in table.groupby("arm")}
    clean = by_arm["clean"]
    np.testing.assert_allclose(by_arm["sham"]["contrast"], clean["contrast"], atol=1e-4)
    assert (by_arm["sham"]["impact_kl"] < 1e-8).all()
    assert (by_arm["target"]["impact_kl"] > 1e-5).all()
    assert set(table["kind"]) == {*(str(kind) for kind in Kind), ""}
    assert set(KINDS.values()) == set(Kind)
    assert table["trial_id"].is_unique
    assert (table.loc[table["arm"] == "content_free", "impact_matched"].notna()).all()


def test_the_content_free_direction_moves_an_unrelated_answer_as_the_target_does(bench: InjectionBench) -> None:
    table = run_detection(bench, "music", [CELL], (Arm.CLEAN, Arm.TARGET, Arm.CONTENT_FREE), tolerance=0.1)
    assert table.loc[table["arm"] == "content_free", "impact_matched"].all()
    prompt = unrelated_prompt(bench, "music", bench.wordings[0], YES_NO)
    target = Row(prompt.tokens, edits_of(Arm.TARGET, bench, CELL, "music", prompt.span))
    goal = impacts(bench.anatomy, Row(prompt.tokens), [target])[0]
    here = table[(table["task"] == "unrelated") & (table["wording"] == bench.wordings[0].name)]
    first = here[(here["order"] == "yes-no") & (here["arm"] == "content_free")]
    assert float(first["impact_kl"].iloc[0]) == pytest.approx(goal, rel=0.11)


def test_layers_and_concepts_that_do_not_fit_are_refused(tiny: LoadedModel) -> None:
    wordings = built_in(options=2, labels="digits")[:1]
    with pytest.raises(ClaimError, match="not layers 0 to 2"):
        prepare(tiny, CONCEPTS, [3], wordings)
    with pytest.raises(ClaimError, match="3 concepts"):
        prepare(tiny, CONCEPTS[:3], [0], wordings)
