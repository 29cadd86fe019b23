"""What has to be measured first is measured once, for all trials together, and put where it belongs."""

from dataclasses import replace

import pytest
import torch

from firsthand.engine import Capture, Operation, Row, resid_post, run
from firsthand.engine.matching import impacts
from firsthand.studies.cells import Cell
from firsthand.studies.injection import settling as module
from firsthand.studies.injection.arms import Arm, edit
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.questions import detection, identification, localisation
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.settling import settled
from firsthand.studies.injection.trials import Trial
from firsthand.vocabulary import Timing

CELL = Cell(1, 1.0)


@pytest.fixture
def fresh(bench: InjectionBench) -> InjectionBench:
    """The bench with nothing measured yet."""
    return replace(bench, matches={})


def of(bench: InjectionBench, concept: str, timing: Timing = Timing.PREFILL) -> list[Trial]:
    return detection.trials(bench, concept, [CELL], Setting(timing=timing))


@pytest.mark.parametrize("timing", [Timing.PREFILL, Timing.LIVE, Timing.LIFTED])
def test_a_direction_without_content_moves_the_unrelated_answer_as_much_as_the_target(
    fresh: InjectionBench, timing: Timing
) -> None:
    trials = [t for c in fresh.choosing for t in of(fresh, c, timing) if t.arm is Arm.CONTENT_FREE]
    firsts = {before.concept: (before, after) for before, after in zip(trials, settled(fresh, trials), strict=True)}
    matched = {concept: pair for concept, pair in firsts.items() if pair[1].matched}
    assert len(matched) > len(firsts) / 2  # a random model's impact has humps that not every goal can be reached over
    for concept, (before, trial) in matched.items():
        assert trial.like is None
        assert before.like is not None
        prompt = before.like.prompt
        target = edit(Arm.TARGET, fresh, CELL, concept, prompt, timing=timing)
        free = edit(Arm.CONTENT_FREE, fresh, CELL, concept, prompt, timing=timing, strength=trial.edits[0].strength)
        rows = [Row(prompt.tokens, edits) for edits in (target, free)]
        goal, reached = impacts(fresh.anatomy, Row(prompt.tokens), rows)
        assert goal > 1e-6
        assert reached == pytest.approx(goal, rel=fresh.claim.analysis.impact_tolerance + 0.01)


def test_the_place_of_the_edit_and_its_direction_stay_what_they_were(fresh: InjectionBench) -> None:
    trials = [*of(fresh, "sea"), *localisation.trials(fresh, "sea", [CELL], full=True)]
    for before, after in zip(trials, settled(fresh, trials), strict=True):
        assert (after.trial_id, after.prompt, after.cell) == (before.trial_id, before.prompt, before.cell)
        if after.arm is Arm.SWAP:
            continue
        assert [one.positions for one in after.edits] == [one.positions for one in before.edits]
        assert all(torch.equal(a.vector_H, b.vector_H) for a, b in zip(after.edits, before.edits, strict=True))
        if after.arm is not Arm.CONTENT_FREE:
            assert [one.strength for one in after.edits] == [one.strength for one in before.edits]
            assert after.matched is None


def test_an_impact_is_matched_once_for_all_questions_of_a_cell(
    fresh: InjectionBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = settled(fresh, of(fresh, "sand"))
    calls = len(fresh.matches)
    monkeypatch.setattr(module, "match_directions", None)
    listed = identification.trials(fresh, "sand", [CELL], Setting(), coded=False, full=True)
    again = [t for t in settled(fresh, listed) if t.arm is Arm.CONTENT_FREE]
    assert len(fresh.matches) == calls == 1
    (strength,) = {t.edits[0].strength for t in first if t.arm is Arm.CONTENT_FREE}
    assert {t.edits[0].strength for t in again} == {strength}


def test_what_is_matched_together_is_what_is_matched_alone(fresh: InjectionBench) -> None:
    together = settled(
        fresh, [*of(fresh, "sand"), *of(fresh, "sea"), *localisation.trials(fresh, "sea", [CELL], full=True)]
    )
    alone = settled(replace(fresh, matches={}), of(fresh, "sea"))
    for trial in alone:
        if trial.arm is Arm.CONTENT_FREE:
            same = next(t for t in together if t.trial_id == trial.trial_id)
            assert same.edits[0].strength == pytest.approx(trial.edits[0].strength, rel=1e-3)


def test_a_target_without_impact_matches_nothing(fresh: InjectionBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_IMPACT", 1e9)
    assert {t.matched for t in settled(fresh, of(fresh, "sea")) if t.arm is Arm.CONTENT_FREE} == {False}


def test_a_swap_puts_the_other_conversations_stream_there_and_nothing_elsewhere(fresh: InjectionBench) -> None:
    trials = [t for c in ("apple", "sea") for t in of(fresh, c) if t.arm is Arm.SWAP]
    site = resid_post(1)
    for listed, trial in zip(trials, settled(fresh, trials), strict=True):
        prompt, source = trial.prompt, listed.source
        assert source is not None
        assert trial.source is None
        assert prompt.tokens != source.tokens
        assert [one.positions for one in trial.edits] == [(at,) for at in prompt.span]
        assert {(one.operation, one.strength) for one in trial.edits} == {(Operation.REPLACE, 1.0)}
        before = prompt.span[0] - 1
        rows = [Row(source.tokens, captures=(Capture("line", site, source.span),))]
        rows += [
            Row(prompt.tokens, made, (Capture("line", site, prompt.span), Capture("before", site, (before,))))
            for made in ((), trial.edits)
        ]
        other, clean, changed = run(fresh.anatomy, rows, path="plain").captures
        torch.testing.assert_close(changed["line"], other["line"], atol=1e-4, rtol=1e-4)
        assert not torch.allclose(clean["line"], other["line"], atol=1e-3)
        assert torch.equal(changed["before"], clean["before"])


def test_trials_that_need_nothing_are_left_as_they_are(fresh: InjectionBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "match_directions", None)
    monkeypatch.setattr(module, "run", None)
    trials = detection.trials(fresh, "sea", [CELL], Setting(), (Arm.CLEAN, Arm.TARGET, Arm.SHAM))
    assert settled(fresh, trials) == trials
