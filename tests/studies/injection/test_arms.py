"""Every arm does what it says where it says: nothing, the vector, a control, or another conversation's stream."""

from typing import Any

import pytest
import torch

from firsthand.engine import Capture, Edit, Operation, Row, resid_post, run
from firsthand.engine.edits import check_timing
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import KINDS, Arm, edit, placed
from firsthand.studies.injection.bench import TWO, InjectionBench
from firsthand.studies.injection.drafts import detection
from firsthand.studies.injection.prompts import Prompt
from firsthand.studies.injection.questions.detection import earlier_of
from firsthand.vocabulary import CONTROLS, Kind, Timing

CELL = Cell(1, 1.0)


def asked(bench: InjectionBench, concept: str, timing: Timing = Timing.PREFILL, towards: str | None = None) -> Prompt:
    wording = bench.asked(concept, "instruction", 2)[0]
    return bench.led(detection(wording, TWO, earlier_of(bench, concept, timing)), concept, towards=towards)


def only(bench: InjectionBench, arm: Arm, prompt: Prompt, **more: Any) -> Edit:
    (made,) = edit(arm, bench, CELL, "apple", prompt, **more)
    return made


def test_every_kind_of_trial_has_its_arm() -> None:
    assert set(KINDS.values()) == set(Kind)
    assert {KINDS[arm] for arm in (Arm.CLEAN, Arm.SHAM, Arm.PUSH, Arm.CONTENT_FREE)} == set(CONTROLS)


@pytest.mark.parametrize("arm", [Arm.CLEAN, Arm.PUSH])
def test_without_an_edit_nothing_is_done(bench: InjectionBench, arm: Arm) -> None:
    assert edit(arm, bench, CELL, "apple", asked(bench, "apple")) == ()


def test_every_arm_edits_the_trial_line_at_the_cells_layer(bench: InjectionBench) -> None:
    prompt = asked(bench, "apple")
    for arm in (Arm.TARGET, Arm.SHAM, Arm.CONTENT_FREE, Arm.SHUFFLED, Arm.AGAINST):
        made = only(bench, arm, prompt)
        assert (made.site, made.positions, made.timing) == (resid_post(1), prompt.span, Timing.PREFILL)
        assert only(bench, arm, prompt, span=(7, 8)).positions == (7, 8)


def test_what_is_added_is_the_vector_or_its_control_in_the_cells_dose(bench: InjectionBench) -> None:
    prompt, strength = asked(bench, "apple"), bench.strength(CELL)
    vectors = {
        Arm.TARGET: bench.vector("apple", 1),
        Arm.CONTENT_FREE: bench.content_free("apple", 1),
        Arm.SHUFFLED: bench.shuffled("apple", 1),
    }
    for arm, vector in vectors.items():
        made = only(bench, arm, prompt)
        torch.testing.assert_close(made.vector_H, vector)
        assert (made.operation, made.strength) == (Operation.ADD, strength)
    assert only(bench, Arm.CONTENT_FREE, prompt, strength=0.25).strength == 0.25
    torch.testing.assert_close(
        only(bench, Arm.TARGET, prompt, other=True).vector_H, bench.vector("apple", 1, other=True)
    )


def test_a_sham_writes_what_is_there_and_changes_nothing(bench: InjectionBench) -> None:
    prompt = asked(bench, "apple")
    rows = [Row(prompt.tokens, edit(arm, bench, CELL, "apple", prompt)) for arm in (Arm.CLEAN, Arm.SHAM, Arm.TARGET)]
    clean, sham, target = run(bench.anatomy, rows, path="plain").logprobs_RV
    assert torch.equal(sham, clean)
    assert not torch.allclose(target, clean, atol=1e-3)


def test_a_live_edit_goes_on_from_the_trial_line_to_the_last_token(bench: InjectionBench) -> None:
    prompt = asked(bench, "apple")
    positions, when = placed(prompt, prompt.span, Timing.LIVE)
    assert positions == tuple(range(prompt.span[0], len(prompt.tokens)))
    assert set(prompt.span) < set(positions)
    assert when == {}


@pytest.mark.parametrize("timing", [Timing.LIFTED, Timing.DELAYED])
def test_a_lifted_or_delayed_edit_is_over_before_the_question(bench: InjectionBench, timing: Timing) -> None:
    prompt = asked(bench, "apple", timing)
    made = only(bench, Arm.TARGET, prompt, timing=timing)
    assert made.positions == prompt.span
    assert made.until == prompt.until == prompt.span[-1] + 1
    check_timing("the edit", made, len(prompt.tokens) - 1)
    if timing is Timing.LIFTED:
        assert made.question is None
        return
    assert made.question == prompt.question
    between = bench.loaded.tokenizer.decode(list(prompt.tokens[prompt.until : prompt.question]))
    assert between.count("<|im_start|>user") >= bench.claim.delay
    assert prompt.question is not None
    assert prompt.draft.messages[-2][1] in bench.loaded.tokenizer.decode(list(prompt.tokens[prompt.question :]))


def test_an_edit_that_was_lifted_is_felt_later_through_the_cache_alone(bench: InjectionBench) -> None:
    prompt = asked(bench, "apple", Timing.LIFTED)
    after = (len(prompt.tokens) - 1,)
    here = [Capture("line", resid_post(1), prompt.span), Capture("later", resid_post(1), after)]
    rows = [Row(prompt.tokens, captures=tuple(here))]
    rows.append(Row(prompt.tokens, edit(Arm.TARGET, bench, CELL, "apple", prompt, timing=Timing.LIFTED), tuple(here)))
    output = run(bench.anatomy, rows)
    clean, lifted = output.captures
    added = bench.strength(CELL) * bench.vector("apple", 1)
    torch.testing.assert_close(lifted["line"] - clean["line"], added.expand_as(clean["line"]), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(lifted["later"], clean["later"], atol=1e-5, rtol=1e-5)
    assert not torch.allclose(output.logprobs_RV[0], output.logprobs_RV[1], atol=1e-5)


def test_until_it_is_settled_a_swap_writes_what_is_there(bench: InjectionBench) -> None:
    prompt = asked(bench, "apple")
    made, sham = (only(bench, arm, prompt) for arm in (Arm.SWAP, Arm.SHAM))
    assert (made.operation, made.strength, made.positions) == (sham.operation, sham.strength, sham.positions)
