"""Open answers: sampled text, heard by a judge that sees nothing else, and never "no" where it cannot be judged."""

from firsthand.studies.cells import Cell
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.free_text import Heard, Said
from firsthand.studies.injection.questions import open as open_question
from firsthand.studies.injection.questions.base import Setting

SETTING = Setting()


def test_every_sample_is_a_row_and_a_sham_says_what_the_clean_trial_says(bench: InjectionBench) -> None:
    cell = Cell(bench.layers[0], 1.0)
    made = open_question.trials(bench, bench.judging[0], [cell], SETTING)
    seen: list[str] = []

    def judge(text: str) -> Heard:
        seen.append(text)
        return Heard(Said.NO, "as told")

    table = open_question.table(bench, made, judge)
    assert len(table) == len(made) * bench.claim.samples
    assert table["trial_id"].is_unique
    by_arm = {arm: rows["said"].tolist() for arm, rows in table.groupby("arm")}
    assert by_arm["sham"] == by_arm["clean"]
    assert by_arm["target"] != by_arm["clean"]
    assert set(by_arm) == {"clean", "target", "sham", "content_free", "shuffled", "push"}
    assert set(seen) == set(table["said"])
    assert set(table["answer"]) == {"nothing"}
    assert table["coverage"].eq(1.0).all()


def test_a_judge_that_fails_leaves_invalid_answers(bench: InjectionBench) -> None:
    def outage(text: str) -> Heard:
        raise ConnectionError("the judge is away")

    made = open_question.trials(bench, bench.judging[0], [Cell(bench.layers[0], 1.0)], SETTING)[:2]
    table = open_question.table(bench, made, outage)
    assert table["answer"].isna().all()
    assert table["coverage"].eq(0.0).all()
