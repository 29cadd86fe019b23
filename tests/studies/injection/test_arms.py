"""Every arm does what it says where it says: nothing, the vector, a control, or another conversation's stream."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from firsthand.engine import Capture, Edit, Operation, Row, resid_post, run
from firsthand.engine.edits import check_timing
from firsthand.engine.matching import impacts
from firsthand.studies.cells import Cell
from firsthand.studies.injection import arms as module
from firsthand.studies.injection.arms import KINDS, Arm, edit, matched_strength, placed, swapped
from firsthand.studies.injection.bench import TWO, InjectionBench
from firsthand.studies.injection.drafts import detection
from firsthand.studies.injection.prompts import Prompt
from firsthand.studies.injection.questions.detection import YES_NO, earlier_of, unrelated_prompt
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


def test_a_swap_puts_the_other_conversations_stream_there_and_nothing_elsewhere(bench: InjectionBench) -> None:
    pairs = [(asked(bench, c), asked(bench, c, towards=bench.neighbour(c))) for c in ("apple", "sea")]
    site = resid_post(1)
    for (prompt, source), edits in zip(pairs, swapped(bench, CELL, pairs), strict=True):
        assert prompt.tokens != source.tokens
        before = prompt.span[0] - 1
        rows = [Row(source.tokens, captures=(Capture("line", site, source.span),))]
        rows += [
            Row(prompt.tokens, made, (Capture("line", site, prompt.span), Capture("before", site, (before,))))
            for made in ((), edits)
        ]
        other, clean, changed = run(bench.anatomy, rows, path="plain").captures
        torch.testing.assert_close(changed["line"], other["line"], atol=1e-4, rtol=1e-4)
        assert not torch.allclose(clean["line"], other["line"], atol=1e-3)
        assert torch.equal(changed["before"], clean["before"])


@pytest.mark.parametrize("timing", [Timing.PREFILL, Timing.LIVE, Timing.LIFTED])
def test_a_direction_without_content_moves_the_unrelated_answer_as_much_as_the_target(
    bench: InjectionBench, timing: Timing
) -> None:
    wording = bench.asked("music", "instruction", 2)[0]
    prompt = unrelated_prompt(bench, "music", wording, YES_NO, earlier_of(bench, "music", timing))
    strength, found = matched_strength(bench, CELL, "music", prompt, timing=timing)
    assert found
    clean = Row(prompt.tokens)
    made = [
        Row(prompt.tokens, edit(arm, bench, CELL, "music", prompt, timing=timing, strength=size))
        for arm, size in ((Arm.TARGET, None), (Arm.CONTENT_FREE, strength))
    ]
    goal, reached = impacts(bench.anatomy, clean, made)
    assert goal > 1e-6
    assert reached == pytest.approx(goal, rel=bench.claim.analysis.impact_tolerance + 0.01)


def test_an_impact_is_matched_once_for_all_questions_of_a_cell(
    bench: InjectionBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = unrelated_prompt(bench, "sand", bench.asked("sand", "instruction", 2)[0], YES_NO)
    first = matched_strength(bench, Cell(1, 0.5), "sand", prompt)
    monkeypatch.setattr(module, "match_directions", None)
    again = unrelated_prompt(bench, "sand", bench.asked("sand", "instruction", 2)[0], YES_NO)
    assert matched_strength(bench, Cell(1, 0.5), "sand", again) == first


def test_a_plan_measures_nothing(bench: InjectionBench, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = replace(bench, planned=True)
    monkeypatch.setattr(module, "match_directions", None)
    monkeypatch.setattr(module, "run", None)
    prompt = asked(bench, "apple")
    assert matched_strength(planned, CELL, "apple", prompt) == (bench.strength(CELL), True)
    (edits,) = swapped(planned, CELL, [(prompt, asked(bench, "apple", towards="war"))])
    assert np.ravel([one.positions for one in edits]).tolist() == list(prompt.span)
