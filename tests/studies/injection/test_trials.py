"""Trials are run exactly: what comes back is what a plain run of every row gives, whichever way is taken to it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from firsthand.engine import Capture, Edit, Operation, Row, resid_post, run
from firsthand.errors import ElicitationError
from firsthand.studies.cells import Cell
from firsthand.studies.injection import running as module
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.questions import detection, identification, localisation, strength
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.running import report_layer, run_trials
from firsthand.studies.injection.settling import settled
from firsthand.studies.injection.trials import COLUMNS, Trial, described
from firsthand.vocabulary import Timing

CELL = Cell(1, 1.0)
READ = [*COLUMNS["reports"][:5], *COLUMNS["readings"]]


def made_of(bench: InjectionBench, concept: str = "apple") -> list[Trial]:
    """Every kind of trial there is of one concept: several timings, sensors, numbers of answers and vectors."""
    setting = Setting(options=3)
    found = detection.trials(bench, concept, [CELL, Cell(0, 0.5)], setting, read=CELL)
    lifted = replace(setting, options=2, timing=Timing.LIFTED)
    found += detection.trials(bench, concept, [CELL], lifted, (Arm.CLEAN, Arm.TARGET), ask_unrelated=False, read=CELL)
    found += localisation.trials(bench, concept, [CELL], full=True, read=CELL)
    found += strength.trials(bench, concept, [CELL], full=True, read=CELL)
    return found + identification.trials(bench, concept, [CELL], Setting(), coded=True, full=True, read=CELL)


@pytest.fixture(scope="module")
def made(injection_bench: InjectionBench) -> list[Trial]:
    return settled(injection_bench, made_of(injection_bench))


@pytest.fixture(scope="module")
def found(injection_bench: InjectionBench, made: list[Trial]) -> pd.DataFrame:
    return run_trials(injection_bench, made)


def plainly(bench: InjectionBench, trial: Trial) -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]:
    """One trial alone, whole and through all layers: its distribution, the stream at its sensors and at the report."""
    captures = [Capture(str(i), resid_post(CELL.layer), span) for i, (span, _) in enumerate(trial.sensors)]
    captures.append(Capture("report", resid_post(2), (len(trial.prompt.tokens) - 1,)))
    output = run(bench.anatomy, [Row(trial.prompt.tokens, trial.edits, tuple(captures))], path="plain")
    streams = [output.captures[0][str(i)] for i in range(len(trial.sensors))]
    return output.logprobs_RV[0].double(), streams, output.captures[0]["report"][0]


def test_every_value_is_that_of_a_plain_run_of_the_row(
    bench: InjectionBench, made: list[Trial], found: pd.DataFrame
) -> None:
    for number in range(0, len(made), 3):
        trial, row = made[number], found.iloc[number]
        full, streams, report = plainly(bench, trial)
        clean, before, _ = plainly(bench, replace(trial, edits=()))
        answers = [float(full[answer[0]]) for answer in trial.prompt.answers]
        assert row["logprobs"] == pytest.approx(answers, abs=2e-4)
        assert row["coverage"] == pytest.approx(sum(np.exp(answers)), rel=1e-3)
        assert row["impact_kl"] == pytest.approx(float((clean.exp() * (clean - full)).sum()), abs=1e-5, rel=1e-3)
        assert row["entropy"] == pytest.approx(-float((full.exp() * full).sum()), abs=1e-4)
        moved = [(s - b).mean(0) for s, b in zip(streams, before, strict=True)]
        size = bench.strength(CELL)
        along = [float(m @ bench.vector(c, 1)) / size for m, (_, c) in zip(moved, trial.sensors, strict=True)]
        assert row["site"] == pytest.approx(along, abs=1e-3, rel=1e-4)
        assert row["added"] == pytest.approx([float(m.norm()) / size for m in moved], abs=1e-4, rel=1e-4)
        if trial.reading:
            np.testing.assert_allclose(row["residual"], report.numpy(), atol=1e-3)
        else:
            assert row["residual"] is None


def test_the_target_reads_one_dose_and_a_sham_none(found: pd.DataFrame) -> None:
    asked = found[(found["task"] == "detection") & (found["layer"].isin([-1, 1]))]
    for column in ("site", "added"):
        values = asked.groupby("arm")[column].agg(list)
        np.testing.assert_allclose(values["target"], 1.0, atol=1e-3)
        np.testing.assert_allclose([*values["clean"], *values["sham"], *values["push"]], 0.0, atol=1e-6)
    shuffled = asked[asked["arm"] == "shuffled"]
    np.testing.assert_allclose(shuffled["added"].tolist(), 1.0, atol=1e-3)
    assert max(abs(site[0]) for site in shuffled["site"]) < 0.9


def test_places_and_strengths_are_read_where_they_were_added(found: pd.DataFrame) -> None:
    places = found[(found["task"] == "localisation") & (found["arm"] == "target")]
    assert len(places) == 5
    for site, truth in zip(places["site"], places["truth"], strict=True):
        assert site[int(truth)] == pytest.approx(1.0, abs=1e-3)
        assert np.abs(site[: int(truth)]).max(initial=0.0) < 1e-5
    copies = found[(found["task"] == "strength") & (found["arm"] == "target")]
    for added, truth in zip(copies["added"], copies["truth"], strict=True):
        np.testing.assert_allclose(added, (1.0, 0.5) if truth == "first" else (0.5, 1.0), atol=0.2)


def test_a_trial_without_an_edit_has_no_impact_and_an_edited_one_has(found: pd.DataFrame) -> None:
    assert (found.loc[found["arm"].isin(["clean", "push", "sham"]), "impact_kl"].abs() < 1e-8).all()
    assert (found.loc[found["arm"].isin(["target", "shuffled", "swap", "against"]), "impact_kl"] > 1e-8).all()


def test_where_not_all_distributions_can_be_kept_the_values_are_the_same(
    bench: InjectionBench, made: list[Trial], found: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 0)
    some = slice(0, 40)
    again, before = run_trials(bench, made[some]), found.iloc[some]
    assert again["answer"].tolist() == before["answer"].tolist()
    for column in ("impact_kl", "entropy", "coverage"):
        np.testing.assert_allclose(again[column], before[column], atol=1e-5, rtol=1e-4)
    for column in ("logprobs", "site", "added"):
        np.testing.assert_allclose(
            np.concatenate(again[column].tolist()), np.concatenate(before[column].tolist()), atol=2e-4
        )


def renamed(bench: InjectionBench, trial: Trial, ranks: Sequence[int]) -> Trial:
    """The trial with the tokens of some ranks in the model's distribution as its answers."""
    full, _, _ = plainly(bench, trial)
    order = full.argsort(descending=True)
    return replace(trial, prompt=replace(trial.prompt, answers=tuple((int(order[rank]),) for rank in ranks)))


@pytest.mark.parametrize(("ranks", "place"), [((0, 1), 0), ((5, 0), 1), ((1, 2), None), ((0, 0), None)])
def test_an_answer_counts_only_if_no_other_token_is_likelier_and_no_two_answers_tie(
    bench: InjectionBench, made: list[Trial], ranks: tuple[int, int], place: int | None
) -> None:
    clean = next(t for t in made if len(t.prompt.answers) == 2 and t.arm is Arm.CLEAN)
    (row,) = run_trials(bench, [renamed(bench, clean, ranks)]).to_dict("records")
    draft = clean.prompt.draft
    assert row["answer"] == (None if place is None else draft.meanings[place])
    assert row["surface"] == (None if place is None else draft.labels[place])


def test_trials_with_fewer_answers_than_others_have_their_own_and_no_more(
    made: list[Trial], found: pd.DataFrame
) -> None:
    counts = [len(values) for values in found["logprobs"]]
    assert counts == [len(trial.prompt.draft.labels) for trial in made]
    assert set(counts) == {2, 3, 4, 5}
    assert [len(order.split("|")) for order in found["order"]] == counts


def test_every_trial_of_a_question_has_a_name_of_its_own(found: pd.DataFrame) -> None:
    assert found["trial_id"].is_unique


def test_a_prompt_without_a_clean_trial_is_refused(bench: InjectionBench, made: list[Trial]) -> None:
    alone = [trial for trial in made if trial.edits][:2]
    with pytest.raises(ElicitationError, match="has no clean trial"):
        run_trials(bench, alone)


def test_an_answer_of_several_tokens_is_refused(bench: InjectionBench, made: list[Trial]) -> None:
    long = replace(made[0], prompt=replace(made[0].prompt, answers=((1, 2), (3,), (4,))))
    with pytest.raises(ElicitationError, match="is 2 tokens for this model"):
        run_trials(bench, [long])


def test_a_row_says_what_is_known_before_the_run(made: list[Trial], found: pd.DataFrame) -> None:
    columns = [*COLUMNS["public"], *COLUMNS["sealed"], *READ]
    assert set(found.columns) == {"trial_id", *columns}
    for trial, (_, row) in zip(made, found.iterrows(), strict=True):
        expected = described(trial)
        assert row["arm"] == str(trial.arm)
        assert (row["layer"], row["dose"]) == ((-1, 0.0) if trial.cell is None else (trial.cell.layer, trial.cell.dose))
        assert row["text"] == trial.prompt.text
        assert (row["lead"] == "push") == (trial.arm in (Arm.PUSH, Arm.AGAINST))
        assert (row["trial_id"], row["order"]) == (trial.trial_id, expected["order"])
    matched = found[found["arm"] == "content_free"]["matched"]
    assert matched[found["task"] != "strength"].notna().all()
    assert found.loc[found["arm"] != "content_free", "matched"].isna().all()


def test_without_a_cell_nothing_is_read(bench: InjectionBench, made: list[Trial]) -> None:
    found = run_trials(bench, [replace(made[0], reading=None)])
    assert not {"site", "added", "residual"} & set(found.columns)


@pytest.mark.parametrize("layer", [0, 1])
def test_the_report_is_read_two_thirds_up(bench: InjectionBench, layer: int) -> None:
    assert report_layer(bench, layer) == 2


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_report_is_read_where_the_vector_can_have_reached_it(bench: InjectionBench, layer: int) -> None:
    """A vector added to a block's output at earlier tokens reaches the last one in the next block."""
    here = Cell(layer, 1.0)
    made = detection.trials(bench, "apple", [], Setting(), (Arm.CLEAN,), ask_unrelated=False, read=here)
    clean = replace(made[0], sensors=())
    added = Edit(resid_post(layer), clean.prompt.span, bench.vector("apple", 1), Operation.ADD, 10.0)
    target = replace(clean, arm=Arm.TARGET, edits=(added,), cell=Cell(layer, 1.0))
    read_at = replace(bench, scales={layer: 1.0})
    found = run_trials(read_at, [clean, target])
    assert np.abs(found["residual"][1] - found["residual"][0]).max() > 1e-3
