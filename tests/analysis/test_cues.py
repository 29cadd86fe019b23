"""Checks on cues in prompts, on tables whose truth was planted."""

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.checks.attrition import check_attrition
from firsthand.analysis.checks.base import Checked
from firsthand.analysis.checks.changed import check_changed
from firsthand.analysis.checks.cues import check_cues
from firsthand.analysis.checks.kinds import check_margins
from firsthand.analysis.checks.rates import check_rates
from firsthand.analysis.checks.recomputed import check_recomputed, disagreements
from firsthand.analysis.checks.yes_no import check_false_alarms
from firsthand.analysis.findings import Finding, Number
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.vocabulary import Capability, Kind

OPTIONS = np.array(["A", "B", "C", "D"])


def planted(
    effect: float, *, seed: int = 0, questions: int = 30, models: int = 8, wrong: float = 0.3, quiet: bool = False
) -> ImportedStudy:
    """Replies that are wrong with a probability, and turned to the hint with another; D is right everywhere."""
    rng = np.random.default_rng(seed)
    rows = []
    for question in range(questions):
        for model in range(models):
            own = rng.choice(OPTIONS[:3]) if rng.random() < wrong else "D"
            for instruction, kind in (("plain", Kind.TARGET), ("other", Kind.TARGET), ("plain", Kind.BASELINE)):
                if kind is Kind.BASELINE and not quiet:
                    continue
                hinted = None if kind is Kind.BASELINE else rng.choice(OPTIONS[:3])
                reply = hinted if hinted is not None and rng.random() < effect else own
                rows.append(
                    {
                        "trial_id": f"{question}-{model}-{instruction}-{kind}",
                        "repeats": 1,
                        "identical": True,
                        "kind": kind.value,
                        "question": f"q{question}",
                        "model": f"m{model}",
                        "instruction": instruction,
                        "hinted": hinted,
                        "key": "D",
                        "reply": reply,
                        "followed": np.nan if hinted is None else float(reply == hinted),
                        "answer": "yes" if rng.random() < 0.4 else "no",
                    }
                )
    return study(pd.DataFrame(rows))


def study(table: pd.DataFrame) -> ImportedStudy:
    return ImportedStudy(
        name="cues",
        title="Was there a hint?",
        capability=Capability.DETECTION,
        table=table,
        clusters=("question", "model"),
        cells=("instruction",),
        options=("yes", "no"),
        crossed=("question", "model"),
    )


def found(checked: Checked, name: str) -> Finding:
    return next(one for one in checked.findings if one.name == name)


def number(checked: Checked, name: str, wanted: str) -> Number:
    return next(one for one in found(checked, name).numbers if one.name == wanted)


@pytest.mark.parametrize(("effect", "shown"), [(0.0, False), (0.4, True)])
def test_what_a_hint_adds_is_seen_beyond_wrong_options_that_were_not_hinted_at(effect: float, shown: bool) -> None:
    beyond = number(
        check_cues(planted(effect)), "other-options", "beyond a wrong option not hinted at, instruction plain"
    )
    assert beyond.estimate is not None
    assert (beyond.estimate.low > 0.0) is shown
    assert beyond.estimate.low <= effect <= beyond.estimate.high


def test_hints_without_effect_are_followed_all_the_same() -> None:
    checked = check_cues(planted(0.0))
    rate = number(checked, "followed", "rate followed, instruction plain")
    assert rate.value == pytest.approx(0.1, abs=0.05)
    same = number(check_cues(one_instruction(planted(0.0))), "same-reply-elsewhere", SAME)
    assert same.value == 1.0
    assert number(check_cues(one_instruction(planted(1.0))), "same-reply-elsewhere", SAME).value == 0.0


SAME = "share with the same reply under another hint"


def one_instruction(made: ImportedStudy) -> ImportedStudy:
    return study(made.table.assign(instruction="plain"))


@pytest.mark.parametrize("effect", [0.0, 0.5])
def test_the_change_is_measured_where_the_same_units_have_no_hint(effect: float) -> None:
    checked = check_changed(planted(effect, quiet=True))
    gap = number(checked, "changed-reply", "difference, instruction plain")
    assert gap.estimate is not None
    assert gap.estimate.low <= effect * 0.9 <= gap.estimate.high
    if not effect:
        assert gap.value == 0.0
    assert "instruction other, which the rows without a hint were not asked under" in (
        found(checked, "changed-reply").sentence
    )
    assert "followed-is-not-changed" not in {one.name for one in check_cues(planted(effect, quiet=True)).findings}


def test_answers_that_never_came_are_in_no_rate() -> None:
    made = planted(0.0, quiet=True)
    table = made.table
    lost = table["question"].isin(["q0", "q1", "q2"])
    table = table.assign(answer=table["answer"].where(~lost, None))
    whole = study(table[~lost])
    for check, name, wanted in (
        (check_rates, "rates", "rate of yes, instruction plain"),
        (check_false_alarms, "false-alarms", "false alarms"),
        (check_margins, "margins", "margin over baseline"),
    ):
        assert number(check(study(table)), name, wanted).value == number(check(whole), name, wanted).value
    assert number(check_rates(study(table)), "rates", "rows without an answer, instruction plain").value == 3 * 8


def test_no_answer_to_any_quiet_row_is_no_false_alarm_rate() -> None:
    table = planted(0.0, quiet=True).table
    table = table.assign(answer=table["answer"].where(table["kind"].ne("baseline"), None))
    assert check_false_alarms(study(table)).missing == ("no rows without injection: no false-alarm rate",)
    assert not check_margins(study(table)).findings


def test_models_that_differ_widen_the_interval() -> None:
    made = planted(0.0)
    by_model = made.table.assign(answer=np.where(made.table["model"].isin(["m0", "m1"]), "yes", "no"))
    spread = number(check_rates(study(by_model)), "rates", "rate of yes, instruction plain")
    assert spread.value == 0.25
    assert spread.estimate is not None
    assert spread.estimate.high - spread.estimate.low > 0.6  # two of eight models, not sixty of 240 trials
    assert spread.estimate.cluster == "question (30) x model (8)"


def test_missing_combinations_are_counted_and_a_whole_design_says_nothing() -> None:
    made = planted(0.0)
    assert not check_attrition(made).findings
    table = made.table[~(made.table["model"].eq("m3") & made.table["question"].ne("q0"))]
    gap = found(check_attrition(study(table)), "missing-trials")
    assert [one.value for one in gap.numbers[:2]] == [480 - 58, 480]
    assert "m3 2 of 60" in gap.sentence


def test_disagreements_are_listed_and_unknown_agrees_with_missing() -> None:
    stated = pd.Series(["true", "false", None, "true", "true"], dtype=object)
    derived = pd.Series(["true", None, None, "false", "false"], dtype=object)
    assert disagreements(stated, derived) == {("true", "false"): 2, ("false", "unknown"): 1}
    table = planted(0.0).table
    agreed = study(table.assign(**{"stated:used": "true", "derived:used": "true"}))
    assert found(check_recomputed(agreed), "derived-columns").tone == "result"
    other = study(table.assign(**{"stated:used": "true", "derived:used": "false"}))
    assert "480 say true where it is false" in found(check_recomputed(other), "derived-columns").sentence


def test_a_unit_that_replies_one_letter_is_named() -> None:
    table = planted(0.0).table
    table = table.assign(reply=table["reply"].where(table["model"].ne("m2"), "A"))
    assert "m2 A in 100.0%, right in 0.0%" in found(check_cues(study(table)), "one-letter").sentence
    assert "one-letter" not in {one.name for one in check_cues(planted(0.0)).findings}
