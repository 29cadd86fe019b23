"""Steps that are run together give what each gives by itself, and are as many as memory and patience allow."""

from dataclasses import replace

import pandas as pd
import pytest

from firsthand.auditing.injection import batches as module
from firsthand.auditing.injection.batches import batches, groups, match_all, run_batch, tokens_of
from firsthand.auditing.injection.plan import Pick, Step, selection_steps, source_of, trace_steps, trials_of
from firsthand.studies.cells import Cell
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.questions.base import Setting

CELL = Cell(1, 1.0)
PICKS = {
    "detection-2": Pick(CELL, Setting()),
    "detection-3": Pick(CELL, Setting("instruction", 3)),
    **{name: Pick(CELL, Setting()) for name in ("localisation", "strength", "identification")},
}


@pytest.fixture
def bench(injection_bench: InjectionBench) -> InjectionBench:
    return injection_bench


def steps_of(bench: InjectionBench, name: str, count: int = 2) -> list[Step]:
    return [Step("trace", name, concept, i) for i, concept in enumerate(bench.judging[:count])]


def test_every_step_is_in_one_batch_and_after_the_one_it_goes_on_from(bench: InjectionBench) -> None:
    for steps in (selection_steps(bench), trace_steps(bench)):
        found = [step for group in groups(steps) for batch in batches(bench, group, PICKS) for step in batch]
        assert sorted(found, key=str) == sorted(steps, key=str)
        for place, step in enumerate(found):
            source = source_of(step)
            assert source is None or source in found[:place]


def test_steps_of_a_batch_are_put_in_the_same_way_and_questions_that_share_prompts_come_together(
    bench: InjectionBench,
) -> None:
    for group in groups(trace_steps(bench)):
        names = {step.name for step in group}
        if len(names) > 1:
            assert all(name.startswith(module.SAME_PROMPTS) for name in names)
    together = next(group for group in groups(trace_steps(bench)) if len({step.name for step in group}) > 1)
    first = [step.name for step in together if step.concept == together[0].concept]
    assert {"detection-2", "live", "transfer-recipe"} <= set(first)
    places = [i for i, step in enumerate(together) if step.concept == together[0].concept]
    assert places == list(range(len(places)))


def test_a_batch_holds_so_many_tokens_and_no_more(bench: InjectionBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2000)
    sizes = [
        [tokens_of(bench, trials_of(bench, step, PICKS)) for step in batch]
        for group in groups(selection_steps(bench))
        for batch in batches(bench, group, PICKS)
    ]
    assert all(len(batch) == 1 or sum(batch) <= 2000 * 1.1 for batch in sizes)
    assert max(map(len, sizes)) > 1


def test_tokens_are_counted_as_shared_and_from_the_edited_layer_on(bench: InjectionBench) -> None:
    trials = trials_of(bench, steps_of(bench, "localisation")[0], PICKS)
    clean = [t for t in trials if not t.edits]
    assert tokens_of(bench, clean[:1]) == len(clean[0].prompt.tokens)
    assert tokens_of(bench, [clean[0], clean[0]]) == len(clean[0].prompt.tokens)
    (edited,) = [t for t in trials if t.edits and t.truth == "4" and t.arm == "target" and t.prompt is clean[0].prompt]
    rest = len(edited.prompt.tokens) - edited.edits[0].positions[0]
    share = (bench.anatomy.n_layers - 1) / bench.anatomy.n_layers
    assert tokens_of(bench, [clean[0], edited]) == pytest.approx(len(clean[0].prompt.tokens) + rest * share)


@pytest.mark.parametrize("name", ["detection-3", "codes", "naming", "visible-identification"])
def test_together_every_step_gives_what_it_gives_alone(bench: InjectionBench, name: str) -> None:
    steps = steps_of(bench, name)
    together = run_batch(bench, steps, PICKS)
    for step, table in zip(steps, together, strict=True):
        (alone,) = run_batch(replace(bench, matches={}), [step], PICKS)
        assert set(table["concept"]) == {step.concept}
        assert table["trial_id"].tolist() == alone["trial_id"].tolist()
        assert table.columns.tolist() == alone.columns.tolist()
        assert (
            table["impact_kl"].tolist() == pytest.approx(alone["impact_kl"].tolist(), rel=0.02, abs=1e-5)
            if ("impact_kl" in table)
            else True
        )


def test_a_confidence_step_asks_of_the_answers_that_were_given(bench: InjectionBench) -> None:
    before = {}
    for step, table in zip(
        steps_of(bench, "strength"), run_batch(bench, steps_of(bench, "strength"), PICKS), strict=True
    ):
        answers = table["answer"].where(table["arm"] != "target", "first")
        before[step] = table.assign(answer=answers.where(table["truth"] != "second", None))
    steps = steps_of(bench, "confidence-strength")
    for step, found in zip(steps, run_batch(bench, steps, PICKS, before), strict=True):
        source = source_of(step)
        assert source is not None
        told = before[source]
        valid = told[(told["arm"] == "target") & (told["task"] == "strength") & (told["truth"] == "first")]
        assert sorted(found["report"]) == sorted(valid["trial_id"])
        assert set(found["given"]) == {"first"}
        assert set(found["concept"]) == {step.concept}


def test_where_nothing_was_answered_no_confidence_is_asked(bench: InjectionBench) -> None:
    (step,) = steps_of(bench, "strength", 1)
    (table,) = run_batch(bench, [step], PICKS)
    silent = {step: table.assign(answer=pd.Series([None] * len(table), dtype=object))}
    (found,) = run_batch(bench, steps_of(bench, "confidence-strength", 1), PICKS, silent)
    assert len(found) == 0


def test_impacts_are_matched_for_a_whole_group_whatever_is_still_to_be_run(bench: InjectionBench) -> None:
    whole, part = (replace(bench, matches={}) for _ in range(2))
    detection, codes = (steps_of(bench, name, 24) for name in ("choice", "codes"))
    match_all(whole, detection, PICKS)
    match_all(part, codes, PICKS)
    assert len(whole.matches) == 24
    assert whole.matches == part.matches
    run_batch(whole, codes[:2], PICKS)
    assert len(whole.matches) == 24
