"""Confidence: it is asked of the answer that was given, under the same injection; once more without it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from firsthand.engine import Row, run
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.places import CONTROL
from firsthand.studies.injection.questions import confidence, detection, strength
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.running import run_trials
from firsthand.studies.injection.trials import Trial

CELL = Cell(1, 1.0)


@pytest.fixture(scope="module")
def reports(injection_bench: InjectionBench) -> list[Trial]:
    return detection.trials(
        injection_bench, "sea", [CELL], Setting(), (Arm.CLEAN, Arm.TARGET), ask_unrelated=False, read=CELL
    )


@pytest.fixture(scope="module")
def given(reports: list[Trial]) -> list[str | None]:
    return [None if i == 1 else reports[i].prompt.meanings[i % 2] for i in range(len(reports))]


def heard(bench: InjectionBench, trials: list[Trial]) -> pd.DataFrame:
    """The trials as they are run, all of them valid: a random model's likeliest token is hardly ever a digit."""
    found = run_trials(bench, trials)
    return found.assign(answer=found["order"].str.split("|").str[0])


@pytest.fixture
def valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confidence, "run_trials", heard)


@pytest.fixture(scope="module")
def table(injection_bench: InjectionBench, reports: list[Trial], given: list[str | None]) -> pd.DataFrame:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(confidence, "run_trials", heard)
        return confidence.table(injection_bench, reports, given)


def asked(bench: InjectionBench, report: Trial, answer: str, ask: str = "") -> tuple[int, ...]:
    """The tokens of the question about an answer, from the report's own text and what it said."""
    ask = ask or confidence.ASKS[bench.concepts.index("sea") % len(confidence.ASKS)]
    draft = report.prompt.draft
    return bench.prompt(confidence.confidence(draft, draft.meanings.index(answer), ask)).tokens


def stated(bench: InjectionBench, row: Row) -> float:
    """The mean of the stated ranges, weighted by their probability, from a plain run."""
    logprobs = run(bench.anatomy, [row], path="plain").logprobs_RV[0].double()
    digits = [bench.loaded.tokenizer.encode(f"({i}", add_special_tokens=False)[-1] for i in range(10)]
    shares = np.exp([float(logprobs[token]) for token in digits])
    middles = [0.045, 0.145, 0.245, 0.345, 0.445, 0.545, 0.645, 0.745, 0.845, 0.95]
    return float(shares @ middles / shares.sum())


def test_every_valid_report_is_asked_about_and_no_other(
    reports: list[Trial], given: list[str | None], table: pd.DataFrame
) -> None:
    known = [(r.trial_id, a) for r, a in zip(reports, given, strict=True) if a is not None]
    assert list(zip(table["report"], table["given"], strict=True)) == known
    assert len(known) == len(reports) - 1
    assert set(table["task"]) == {"confidence"}
    assert table["trial_id"].is_unique


def test_the_question_stands_behind_the_answer_that_was_given(
    bench: InjectionBench, reports: list[Trial], table: pd.DataFrame
) -> None:
    by_name = {report.trial_id: report for report in reports}
    for _, row in table.iterrows():
        draft = by_name[row["report"]].prompt.draft
        label = draft.labels[draft.meanings.index(row["given"])]
        assert f"{draft.stem}{label})." in row["text"]
        assert all(f"{draft.stem}{other})." not in row["text"] for other in draft.labels if other != label)
        tokens = asked(bench, by_name[row["report"]], row["given"])
        assert row["text"] == bench.loaded.tokenizer.decode(list(tokens))


def test_confidence_is_stated_under_the_injection_and_the_unedited_models_without(
    bench: InjectionBench, reports: list[Trial], table: pd.DataFrame
) -> None:
    by_name = {report.trial_id: report for report in reports}
    for _, row in table.iterrows():
        report = by_name[row["report"]]
        tokens = asked(bench, report, row["given"])
        assert row["confidence"] == pytest.approx(stated(bench, Row(tokens, report.edits)), abs=1e-4)
        assert row["unedited"] == pytest.approx(stated(bench, Row(tokens)), abs=1e-4)
        other = asked(bench, report, row["given"], CONTROL)
        assert row["rating"] == pytest.approx(stated(bench, Row(other, report.edits)), abs=1e-4)
        if report.arm is Arm.CLEAN:
            assert row["confidence"] == pytest.approx(row["unedited"], abs=1e-9)
        else:
            assert abs(row["confidence"] - row["unedited"]) > 1e-6
    assert table["confidence"].between(0.045, 0.95).all()


@pytest.mark.usefixtures("valid")
def test_reports_with_several_marked_texts_keep_all_their_edits(bench: InjectionBench) -> None:
    report = next(t for t in strength.trials(bench, "sea", [CELL]) if t.arm is Arm.TARGET)
    (row,) = confidence.table(bench, [report], ["first"]).to_dict("records")
    assert row["confidence"] == pytest.approx(stated(bench, Row(asked(bench, report, "first"), report.edits)), abs=1e-4)
    assert row["unedited"] == pytest.approx(stated(bench, Row(asked(bench, report, "first"))), abs=1e-4)


def test_questions_rotate_over_concepts(bench: InjectionBench, reports: list[Trial]) -> None:
    same = [replace(reports[0], concept=concept) for concept in bench.concepts[:3]]
    details = confidence.table(bench, same, ["nothing"] * 3)["detail"].tolist()
    assert details == [f"detection: {ask}" for ask in confidence.ASKS]


def test_a_confidence_whose_likeliest_token_is_no_digit_is_invalid(bench: InjectionBench, reports: list[Trial]) -> None:
    found = confidence.table(bench, reports[:1], ["nothing"])
    assert found["answer"].isna().all()
    assert found[["confidence", "rating", "unedited"]].isna().all(axis=None)


def test_where_no_report_was_valid_nothing_is_asked(bench: InjectionBench, reports: list[Trial]) -> None:
    found = confidence.table(bench, reports, [None] * len(reports))
    assert len(found) == 0
    assert {"trial_id", "text", "concept"} <= set(found.columns)
