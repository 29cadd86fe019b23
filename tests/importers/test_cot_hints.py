"""The hints study: its published figures, what it took care to see in them, and damaged files of its form."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from firsthand.analysis.findings import Number, StudyResult
from firsthand.errors import FirsthandError
from firsthand.importers.base import ImporterError
from firsthand.importers.registry import make_importer
from firsthand.vocabulary import Verdict

from .conftest import finding, first_run_rows, judged, second_run_rows, value

Profile = dict[str, StudyResult]
WriteJson = Callable[[str, object], Path]
UNASKED = "instruction baseline"
TOLD = "instruction explicit_ack"


def number(result: StudyResult, name: str, wanted: str) -> Number:
    return next(item for item in finding(result, name).numbers if item.name == wanted)


def names(result: StudyResult) -> set[str]:
    return {found.name for found in result.findings}


def test_it_is_acknowledged_unasked_in_a_fifth_of_the_trials(hints: Profile) -> None:
    result = hints["acknowledged"]
    assert result.published_rows == result.measurements == 5788
    assert value(result, "rates", f"yes, {UNASKED}") == 394
    assert value(result, "rates", f"rows, {UNASKED}") == 1908
    rate = number(result, "rates", f"rate of yes, {UNASKED}")
    assert rate.value == pytest.approx(0.2065, abs=5e-5)
    assert rate.estimate is not None
    assert rate.estimate.cluster == "question (100) x model (11)"
    assert rate.estimate.high - rate.estimate.low > 5 * 2 * 1.96 * (0.2065 * 0.7935 / 1908) ** 0.5
    assert result.clusters == {"question": 100, "model": 11}


def test_told_to_acknowledge_it_always_does(hints: Profile) -> None:
    found = finding(hints["acknowledged"], "constant-answer")
    assert f"{TOLD} 100.0%" in found.sentence
    assert UNASKED not in found.sentence


def test_the_99_percent_have_no_false_alarm_rate_and_say_so(hints: Profile) -> None:
    result = hints["saw-when-asked"]
    assert value(result, "rates", f"rate if no answer is no, {UNASKED}") == pytest.approx(1896 / 1908)
    assert "99.4% if they were all no" in finding(result, "rates").sentence
    assert value(result, "rates", f"rate of yes, {UNASKED}") == pytest.approx(1896 / 1898)
    gap = finding(result, "no-rows-without-hint")
    assert gap.tone == "gap"
    assert "There are no rows without a hint in which the follow-up question was asked" in gap.sentence
    assert result.verdict is Verdict.INSUFFICIENT
    assert "no rows without a hint in which the follow-up question was asked: no false-alarm rate" in result.reasons
    assert any("stands in the visible prompt" in reason for reason in result.reasons)
    assert result.concluded[0].startswith("nothing about the state")


def test_a_rate_of_nearly_all_does_not_get_an_interval_of_no_width(hints: Profile) -> None:
    made = number(hints["acknowledged"], "rates", f"rate of yes, {TOLD}").estimate
    assert made is not None
    assert made.value == made.high == 1.0
    assert made.low < 0.9


def test_following_is_14_percent_and_replies_without_an_answer_are_left_out(hints: Profile) -> None:
    result = hints["acknowledged"]
    assert value(result, "followed", f"followed, {UNASKED}") == 275
    assert value(result, "followed", f"answers, {UNASKED}") == 1906
    assert value(result, "followed", f"replies without an answer, {UNASKED}") == 2
    assert value(result, "followed", f"rate followed, {UNASKED}") == pytest.approx(0.144, abs=5e-4)


def test_the_rate_depends_on_the_denominator(hints: Profile) -> None:
    result = hints["acknowledged"]
    assert value(result, "where-followed", f"yes in all rows, {UNASKED}") == pytest.approx(394 / 1908)
    assert value(result, "where-followed", f"yes in rows that followed, {UNASKED}") == pytest.approx(0.269, abs=5e-4)
    assert "20.6% of all rows, 26.9%" in finding(result, "where-followed").sentence


def test_followed_is_not_changed(hints: Profile) -> None:
    result = hints["acknowledged"]
    assert "followed-is-not-changed" in names(result)
    assert value(result, "other-options", f"a wrong option not hinted at, {UNASKED}") == pytest.approx(352 / 2 / 1906)
    beyond = number(result, "other-options", f"beyond a wrong option not hinted at, {UNASKED}")
    assert beyond.value == pytest.approx((275 - 352 / 2) / 1906)
    same = number(result, "same-reply-elsewhere", "share with the same reply under another hint")
    assert 0.2 < same.value < 0.6
    assert "claude-opus-4 A in" in finding(result, "one-letter").sentence


def test_saying_influenced_hardly_follows_following(hints: Profile) -> None:
    gap = number(hints["influenced-when-asked"], "where-followed", f"yes, followed minus not, {UNASKED}")
    assert gap.value == pytest.approx(57 / 273 - 280 / 1621)
    assert gap.estimate is not None
    assert gap.estimate.low < 0.0 < gap.estimate.high
    assert hints["influenced-when-asked"].verdict is Verdict.INSUFFICIENT


def test_trials_that_are_not_there_are_counted(hints: Profile) -> None:
    found = finding(hints["acknowledged"], "missing-trials")
    assert [number.value for number in found.numbers[:2]] == [5788, 6600]
    assert "qwen3-235b-a22b-thinking-2507 57 of 600" in found.sentence


def test_derived_columns_that_disagree_are_listed(hints: Profile) -> None:
    first, second = hints["acknowledged"], hints["second-acknowledged"]
    assert value(first, "derived-columns", "is_faithful true, anew false") == 9
    assert value(first, "derived-columns", "category WRONG, anew unknown") == 2
    assert value(first, "derived-columns", "used_hint false, anew unknown") == 2
    assert value(second, "derived-columns", "hidden_knowledge true, anew false") == 11
    assert value(second, "derived-columns", "false_positive false, anew unknown") == 20


def test_without_a_hint_it_is_acknowledged_in_three_of_four_answers(hints: Profile) -> None:
    result = hints["second-acknowledged"]
    alarms = number(result, "false-alarms", "false alarms")
    assert alarms.value == pytest.approx(150 / 200)  # 20 of the 220 rows are messages of an outage, and no "no"
    assert alarms.estimate is not None
    assert 0.4 < alarms.estimate.low < 0.6 < 0.9 < alarms.estimate.high
    assert result.verdict is Verdict.INSUFFICIENT
    assert not any("no false-alarm rate" in reason for reason in result.reasons)
    assert value(result, "denials", "scored yes, rows without a hint") == 150
    assert value(result, "denials", "of these, the text says that there is none, rows without a hint") > 60


def test_the_same_questions_with_and_without_a_hint(hints: Profile) -> None:
    result = hints["second-acknowledged"]
    assert value(result, "changed-reply", f"pairs, {TOLD}") == 545
    assert value(result, "changed-reply", f"replies are the option hinted at with a hint, {TOLD}") == pytest.approx(
        0.477, abs=5e-4
    )
    assert value(result, "changed-reply", f"replies are the option hinted at without, {TOLD}") == pytest.approx(
        0.147, abs=5e-4
    )
    assert f"{UNASKED}, which the rows without a hint were not asked under" in finding(result, "changed-reply").sentence
    assert value(result, "said-on-same-units", f"answers are yes without, {TOLD}") == pytest.approx(0.804, abs=5e-4)


def test_the_letter_of_a_rejected_hint_was_taken_for_the_reply(hints: Profile) -> None:
    result = hints["second-acknowledged"]
    assert value(result, "reply-against-text", f"followed by the file, with one option in bold, {TOLD}") == 86
    assert value(result, "reply-against-text", f"followed by the file, not by the text, {TOLD}") == 73
    assert value(result, "cut-texts", "texts cut short") == 1047


def test_outages_are_no_answers_and_what_was_said_of_them_is_told(hints: Profile) -> None:
    assert value(hints["second-saw"], "asked-about-nothing", "of these, yes") == 72
    assert value(hints["second-influenced"], "asked-about-nothing", "rows asked about a response that never came") == 74
    assert value(hints["second-influenced"], "rates", f"rows without an answer, {UNASKED}") == 70 + 74


def both_runs(write: WriteJson) -> Path:
    write("all_results.json", first_run_rows())
    for experiment in ("exp1_control", "exp3_hints_baseline", "exp4_hints_explicit"):
        folder = write(f"{experiment}_20250101_000000.json", second_run_rows(experiment))
    return folder


def test_both_runs_of_a_small_study(write_json: WriteJson) -> None:
    found = judged("cot-hints", both_runs(write_json))
    assert list(found) == [
        "acknowledged",
        "saw-when-asked",
        "influenced-when-asked",
        "second-acknowledged",
        "second-saw",
        "second-influenced",
    ]
    assert all(result.verdict is Verdict.INSUFFICIENT for result in found.values())
    second = found["second-acknowledged"]
    assert value(second, "false-alarms", "false alarms") == 0.25
    assert value(second, "changed-reply", f"difference, {TOLD}") == 1.0
    assert value(second, "denials", "rate without denials, rows without a hint") == 0.0


@pytest.mark.parametrize(
    ("kept", "studies", "note"),
    [
        ("all_results.json", 3, "nothing is known of what is acknowledged, or replied, without a hint"),
        ("exp3_hints_baseline_1.json", 2, "all_results.json is not there"),
        ("exp4_hints_explicit_1.json", 1, "the follow-up questions of the second run are left out"),
    ],
)
def test_one_file_alone_gives_what_it_can(write_json: WriteJson, kept: str, studies: int, note: str) -> None:
    name = kept.removesuffix("_1.json")
    folder = write_json(kept, first_run_rows() if kept == "all_results.json" else second_run_rows(name))
    imported = make_importer("cot-hints").read(folder)
    assert len(imported.studies) == studies
    assert note in " ".join(imported.notes)


def test_a_missing_control_run_leaves_a_gap_and_not_a_rate(write_json: WriteJson) -> None:
    folder = write_json("exp4_hints_explicit_1.json", second_run_rows("exp4_hints_explicit"))
    result = judged("cot-hints", folder)["second-acknowledged"]
    assert finding(result, "no-rows-without-hint").tone == "gap"
    assert "no rows without a hint: no false-alarm rate" in result.reasons
    assert not names(result) & {"false-alarms", "changed-reply"}


def test_a_missing_reply_is_not_one_that_did_not_follow(write_json: WriteJson) -> None:
    rows = first_run_rows()
    lost = [row for row in rows if row["question_id"] == "q1" and row["system_type"] == "baseline"]
    for row in lost:
        row["extracted_answer"] = None
    result = judged("cot-hints", write_json("all_results.json", rows))["acknowledged"]
    assert value(result, "followed", f"replies without an answer, {UNASKED}") == len(lost) == 6
    assert value(result, "followed", f"rate followed, {UNASKED}") == pytest.approx(12 / 18)
    assert value(result, "derived-columns", "used_hint false, anew unknown") == 6


def test_odd_types_unknown_columns_and_repeated_trials_are_said(write_json: WriteJson) -> None:
    rows = [{**row, "mood": "calm"} for row in first_run_rows()]
    rows[0]["acknowledged"] = "perhaps"
    rows[1]["extracted_answer"] = "E"
    rows[2]["followup_saw"] = None
    rows.append(dict(rows[3]))
    imported = make_importer("cot-hints").read(write_json("all_results.json", [*rows, "no trial"]))
    said = " ".join([*imported.notes, *imported.studies[0].notes])
    assert "unknown columns are not used: mood" in said
    assert "column acknowledged: 1 cells are not true or false, the first in row 1" in said
    assert "1 cells of reply are none of A, B, C, D and count as missing" in said
    assert "1 rows repeat a trial" in said
    assert "1 items of the list are no objects" in said
    by_name = {study.name: study.table for study in imported.studies}
    assert by_name["acknowledged"]["answer"].isna().sum() == 1
    assert by_name["saw-when-asked"]["answer"].isna().sum() == 1
    assert len(by_name["acknowledged"]) == len(first_run_rows())


def test_a_column_that_is_gone_takes_its_study_with_it_alone(write_json: WriteJson) -> None:
    rows = [{name: cell for name, cell in row.items() if name != "followup_saw"} for row in first_run_rows()]
    imported = make_importer("cot-hints").read(write_json("all_results.json", rows))
    assert [study.name for study in imported.studies] == ["acknowledged", "influenced-when-asked"]
    assert "study saw-when-asked is left out: all_results.json has no values in followup_saw" in imported.notes


def test_questions_of_one_name_and_several_right_options_are_left_out(write_json: WriteJson) -> None:
    rows = second_run_rows("exp1_control")
    for row in rows:
        row["correct_answer"] = "C" if row["question_id"] == "q0" else "B"
    write_json("exp1_control_1.json", rows)
    folder = write_json("exp4_hints_explicit_1.json", second_run_rows("exp4_hints_explicit"))
    study = make_importer("cot-hints").read(folder).studies[0]
    assert set(study.table["question"]) == {"q1", "q2", "q3"}
    assert any("several right options are left out: q0" in note for note in study.notes)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ({"model": "m"}, "holds dict and not a list of trials"),
        ([], "has no rows"),
        ([{"model": "m"}], "lacks the columns: question_id, system_type, hint_type"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(write_json: WriteJson, value: object, word: str) -> None:
    folder = write_json("all_results.json", value)
    with pytest.raises(ImporterError, match=word):
        make_importer("cot-hints").read(folder)


def test_no_json_and_the_wrong_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(ImporterError, match=r"holds neither all_results\.json"):
        make_importer("cot-hints").read(tmp_path)
    (tmp_path / "all_results.json").write_text("{")
    with pytest.raises(ImporterError, match="is no JSON"):
        make_importer("cot-hints").read(tmp_path)


ODD = (None, "", 3, -1.5, True, [], {"a": 1}, "none", "A", "yes", "\u202e", "=1+1")


@pytest.mark.parametrize("seed", range(3))
def test_damaged_trials_are_survived_or_refused(write_json: WriteJson, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    files = {"all_results.json": first_run_rows(2, 3)}
    files |= {f"{name}_1.json": second_run_rows(name, 2, 3) for name in ("exp1_control", "exp4_hints_explicit")}
    for name, rows in files.items():
        lost = rng.choice(list(rows[0]))
        for row in rows:
            row[rng.choice(list(row))] = rng.choice(ODD)
            if rng.random() < 0.5:
                row.pop(lost, None)
        write_json(name, rows)
    try:
        found = judged("cot-hints", tmp_path)
    except FirsthandError:
        return
    for result in found.values():
        assert result.verdict is Verdict.INSUFFICIENT
        for one in result.findings:
            assert not re.search(r"\bnan", one.sentence), one.sentence
