"""Self-prediction is judged against whoever has the same examples: what the prompt tells is no private knowledge."""

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.labels.prediction import Heard, judge, over_properties
from firsthand.auditing.labels.prediction_known import (
    ANSWERS,
    NOTHING,
    SILENT,
    Trials,
    by_lot,
    known_answers,
    planted_truth,
)
from firsthand.auditing.labels.prediction_rows import OTHER_PROMPT, balanced, judged_rows, other_prompt
from firsthand.auditing.labels.readers import READER, UNREAD
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.labels.prediction.reports import ANSWER_SHOWN, OUTRIGHT
from firsthand.vocabulary import Verdict

SPEC = AnalysisSpec(clusters=("item", "group"), bootstrap_draws=400)
ITEMS, MOST = 96, 20
Reporter = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def table_of(truth: np.ndarray, answer: np.ndarray, lot: np.ndarray) -> pd.DataFrame:
    """Rows of one property as a study keeps them."""
    base = pd.DataFrame(
        {
            "experiment": np.arange(len(truth)) % 2,
            "examples": MOST,
            "number": np.arange(len(truth)),
            "group": [f"g{i // 4}" for i in range(len(truth))],
            "text": [f"prompt {'x' * (i % 11)} {i}" for i in range(len(truth))],
            "truth": truth.astype(float),
            "coverage": 0.9,
        }
    )
    arms = [base.assign(arm=arm, answer=given, choice=given) for arm, given in (("target", answer), ("lot", lot))]
    table = pd.concat(arms, ignore_index=True)
    return table.assign(trial_id=table["arm"] + table["number"].astype(str))


@lru_cache
def planted(reporter: Reporter, by_words: bool, seed: int = 0) -> tuple[pd.DataFrame, Mapping[str, np.ndarray]]:
    """Behaviour that the prompt decides (with an observer that reads it there), or behaviour drawn by lot."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, ITEMS)
    words = np.where(rng.random(ITEMS) < 0.95, truth, 1 - truth) if by_words else rng.integers(0, 2, ITEMS)
    observers = {
        "most frequent": np.zeros(ITEMS),
        "words, 80 prompts": words.astype(float),
        "same model, third person": rng.integers(0, 2, ITEMS).astype(float),
        f"{READER}other": rng.integers(0, 2, ITEMS).astype(float),
    }
    lot = rng.integers(0, 2, ITEMS).astype(float)
    return table_of(truth, reporter(truth, rng).astype(float), lot), observers


def oracle(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(len(truth)) < 0.95, truth, 1 - truth)


def guessing(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 2, len(truth))


def constant(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.zeros(len(truth))


def result_of(
    table: pd.DataFrame,
    observers: Mapping[str, np.ndarray],
    heard: Heard = ANSWERS,
    most: int = MOST,
    **ability: np.ndarray,
) -> CapabilityResult:
    rows = judged_rows(table, most)
    truth = rows["truth"][rows["arm"] == "target"].to_numpy()
    able = {OUTRIGHT: ability.get("outright", truth), ANSWER_SHOWN: ability.get("shown", truth)}
    return judge(rows, 2, observers, {f"{READER}other": heard}, able, SPEC)


def verdict(
    table: pd.DataFrame, observers: Mapping[str, np.ndarray], heard: Heard = ANSWERS
) -> tuple[Verdict, tuple[str, ...]]:
    found = result_of(table, observers, heard)
    return found.verdict, found.reasons


def test_who_knows_behaviour_that_no_text_tells_is_privileged_beside_another_language_model() -> None:
    found, reasons = verdict(*planted(oracle, by_words=False))
    assert found is Verdict.PRIVILEGED, reasons


def test_and_not_where_no_other_language_model_was_asked() -> None:
    table, observers = planted(oracle, by_words=False)
    found, reasons = verdict(table, {n: o for n, o in observers.items() if not n.startswith(READER)})
    assert found is Verdict.INSUFFICIENT
    assert reasons[-1] == UNREAD


def test_behaviour_that_the_prompt_tells_is_public_even_for_an_oracle() -> None:
    found, reasons = verdict(*planted(oracle, by_words=True))
    assert found is Verdict.PUBLIC_INFERENCE, reasons


def test_a_classifiers_own_answers_are_public_inference() -> None:
    table, observers = planted(guessing, by_words=True)
    target = table["arm"] == "target"
    own = np.where(target, np.r_[observers["words, 80 prompts"], np.zeros(ITEMS)], table["answer"])
    found, reasons = verdict(table.assign(answer=own), observers)
    assert found is Verdict.PUBLIC_INFERENCE, reasons


def test_a_report_that_is_as_right_after_examples_by_lot_is_privileged_all_the_same() -> None:
    """The question names the classes: who works out the answer itself needs no examples."""
    table, observers = planted(oracle, by_words=False)
    lot = table["arm"] == "lot"
    found = result_of(table.assign(answer=table["answer"].where(~lot, table["truth"])), observers)
    assert found.verdict is Verdict.PRIVILEGED, found.reasons
    assert [arm.name for arm in found.arms] == [OTHER_PROMPT]


def test_a_report_that_is_as_right_about_another_prompt_follows_something_else() -> None:
    table, observers = planted(oracle, by_words=False)
    rows = judged_rows(table, MOST)
    moved = rows["arm"] == OTHER_PROMPT
    rows = rows.assign(answer=rows["answer"].where(~moved, rows["truth"]))
    truth = rows["truth"][rows["arm"] == "target"].to_numpy()
    found = judge(rows, 2, observers, {f"{READER}other": ANSWERS}, {OUTRIGHT: truth, ANSWER_SHOWN: truth}, SPEC)
    assert found.verdict is Verdict.ANOMALY_ONLY, found.reasons


@pytest.mark.parametrize("heard", [SILENT, Heard(coverage=0.9, valid=0.4), Heard(coverage=0.4, valid=0.9)])
def test_a_reader_that_does_not_answer_opens_no_gate(heard: Heard) -> None:
    found, reasons = verdict(*planted(oracle, by_words=False), heard=heard)
    assert found is Verdict.INSUFFICIENT
    assert "no other language model that was asked answers these questions" in reasons[-1]
    assert f"{heard.coverage:.1%}" in reasons[-1]
    assert f"{heard.valid:.1%} valid" in reasons[-1]


def test_a_classifier_on_another_models_states_opens_no_gate_by_itself() -> None:
    table, observers = planted(oracle, by_words=False)
    states = {
        f"{READER}other, its states of 80 prompts" if n.startswith(READER) else n: o for n, o in observers.items()
    }
    found, reasons = verdict(table, states)
    assert found is Verdict.INSUFFICIENT
    assert reasons[-1] == UNREAD


def test_how_far_a_reader_answers_is_told_from_its_rows() -> None:
    rows = pd.DataFrame({"coverage": [1.0, 0.5, 1.0, 0.5], "answer": [0.0, np.nan, 1.0, 1.0], "choice": 0.0})
    assert Heard.of(rows) == Heard(coverage=0.75, valid=0.75)
    assert Heard.of(rows).reads(SPEC)
    assert not Heard.of(rows.assign(answer=[np.nan, np.nan, 1.0, 1.0])).reads(SPEC)


def guessing_evenly(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return by_lot(truth, 2, "evenly")


def test_no_absence_is_concluded_of_a_property_that_the_model_cannot_compute() -> None:
    table, observers = planted(guessing_evenly, by_words=True)
    truth = table["truth"][table["arm"] == "target"].to_numpy()
    able, blind = (result_of(table, observers, shown=read) for read in (truth, by_lot(truth, 2, "shown")))
    assert able.verdict is Verdict.NO_ACCESS, able.reasons
    assert blind.verdict is Verdict.INSUFFICIENT
    assert blind.equivalence is not None
    assert ANSWER_SHOWN in str(blind.equivalence.refused)
    assert [reader.name for reader in blind.readers] == [ANSWER_SHOWN]


def test_nor_where_its_behaviour_is_gone_when_asked_outright() -> None:
    table, observers = planted(guessing_evenly, by_words=True)
    truth = table["truth"][table["arm"] == "target"].to_numpy()
    found = result_of(table, observers, outright=by_lot(truth, 2, "gone"))
    assert found.verdict is Verdict.INSUFFICIENT
    assert [reader.name for reader in found.readers] == [OUTRIGHT]


def test_even_a_claim_that_asks_for_little_sensitivity_needs_the_property_to_be_told() -> None:
    table, observers = planted(guessing_evenly, by_words=True)
    rows = judged_rows(table, MOST)
    truth = rows["truth"][rows["arm"] == "target"].to_numpy()
    spec = SPEC.model_copy(update={"minimum_sensitivity": 0.1})
    able = {OUTRIGHT: truth, ANSWER_SHOWN: by_lot(truth, 2, "shown")}
    found = judge(rows, 2, observers, {f"{READER}other": ANSWERS}, able, spec)
    assert found.verdict is Verdict.INSUFFICIENT
    assert "what it cannot compute it cannot foresee" in found.reasons[-1]


def test_a_lead_in_one_draw_of_examples_and_not_in_the_other_is_not_privileged() -> None:
    table, observers = planted(oracle, by_words=False)
    second = table["experiment"] == 1
    truth = table["truth"][table["arm"] == "target"].to_numpy()
    known = np.where(np.arange(ITEMS) % 2 == 1, truth, observers["words, 80 prompts"])
    better = {**observers, "words, 80 prompts": known}
    found = result_of(table.assign(answer=table["answer"].where(second, table["truth"])), better)
    assert found.verdict is Verdict.INSUFFICIENT, found.reasons
    assert "words, 80 prompts in draw 2" in found.reasons[-1]
    assert "draw 1" not in found.reasons[-1]


def test_of_several_properties_a_weak_one_is_not_privileged_by_chance() -> None:
    strong = result_of(*planted(oracle, by_words=False))
    assert strong.gap is not None
    assert strong.score is not None
    weak = strong.model_copy(update={"gap": strong.gap.model_copy(update={"p": 0.03})})
    nothing = result_of(*planted(guessing, by_words=False))
    alone = over_properties({"a": weak}, 0.05)
    assert alone["a"].verdict is Verdict.PRIVILEGED
    several = over_properties({"a": weak, "b": nothing, "c": strong}, 0.05)
    assert several["a"].verdict is Verdict.INSUFFICIENT
    assert "p = 0.03 becomes 0.06 (Holm)" in several["a"].reasons[-1]
    assert several["b"] == nothing
    assert several["c"].verdict is Verdict.PRIVILEGED


@pytest.mark.parametrize("by_words", [True, False])
@pytest.mark.parametrize("reporter", [guessing, constant])
@pytest.mark.parametrize("seed", range(3))
def test_who_guesses_or_says_the_same_every_time_is_never_privileged(
    reporter: Reporter, by_words: bool, seed: int
) -> None:
    found, _ = verdict(*planted(reporter, by_words=by_words, seed=seed))
    assert found is not Verdict.PRIVILEGED


def test_the_answer_to_another_prompt_of_another_group_is_held_against_this_ones_truth() -> None:
    table, _ = planted(oracle, by_words=False)
    target = judged_rows(table, MOST).query("arm == 'target'")
    said = target.assign(answer=target["number"].astype(float))
    moved = other_prompt(said)
    assert sorted(moved["number"]) == sorted(said["number"])
    for row in moved.itertuples():
        giver = said[said["number"] == int(row.answer)].iloc[0]
        assert giver["experiment"] == row.experiment
        assert giver["group"] != row.group
    assert moved["trial_id"].is_unique
    assert not set(moved["trial_id"]) & set(said["trial_id"])


def test_right_answers_weigh_classes_alike_and_missing_ones_are_worth_what_is_said() -> None:
    truth = np.array([0] * 30 + [1] * 10)
    table = pd.DataFrame({"item": np.arange(40).astype(str)})
    assert balanced(np.zeros(40), truth, table, ("item",)).value == 0.5
    half = np.where(np.arange(40) % 2 == 0, truth, np.nan)
    assert balanced(half, truth, table, ("item",)).value == pytest.approx(0.5)
    assert balanced(half, truth, table, ("item",), missing=0.5).value == pytest.approx(0.75)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("seed", range(2))
def test_reporters_of_known_answer_get_it_whatever_the_model_did(classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = np.r_[np.repeat(np.arange(classes), 5), rng.integers(0, classes, 60 - 5 * classes)]
    target = table_of(truth, truth * 0.0, truth * 0.0).query("arm == 'target'").assign(item=lambda t: t["number"])
    observers = {
        "most frequent": np.zeros(60),
        "words, 80 prompts": np.where(rng.random(60) < 0.7, truth, rng.integers(0, classes, 60)).astype(float),
        "answers of other": np.full(60, np.nan),
    }
    found = {
        answer.reporter.split(",")[0]: answer
        for answer in known_answers(
            Trials("second-character", target.reset_index(drop=True), classes, observers, 0.0, SPEC)
        )
    }
    assert all(answer.passed for answer in found.values()), [a.failure for a in found.values() if not a.passed]
    assert found["oracle"].obtained is Verdict.PRIVILEGED
    assert found["oracle beside silence"].obtained is Verdict.INSUFFICIENT
    assert found["as right about another prompt"].obtained is Verdict.ANOMALY_ONLY
    assert found["noisy combination"].expected is Verdict.PUBLIC_INFERENCE
    assert found["oracle without a reader"].obtained is Verdict.INSUFFICIENT
    assert found["public behaviour"].obtained is Verdict.PUBLIC_INFERENCE
    assert found["strongest observer"].obtained is Verdict.PUBLIC_INFERENCE
    assert found["by lot"].obtained in (Verdict.INSUFFICIENT, *NOTHING)
    assert found["most frequent class"].obtained in (Verdict.INSUFFICIENT, *NOTHING)


@pytest.mark.parametrize("put_together", [False, True])
def test_a_combination_of_observers_that_none_of_them_matches_puts_the_instrument_out_of_order(
    put_together: bool,
) -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, ITEMS)
    each = [np.where(rng.random(ITEMS) < 0.72, truth, 1 - truth).astype(float) for _ in range(9)]
    observers = {f"{READER}other" if not i else f"observer {i}": given for i, given in enumerate(each)}
    if put_together:
        observers["everything public"] = (np.mean(each, axis=0) > 0.5).astype(float)
    target = table_of(truth, truth * 0.0, truth * 0.0).query("arm == 'target'").assign(item=lambda t: t["number"])
    known = known_answers(Trials("length", target.reset_index(drop=True), 2, observers, 0.0, SPEC))
    found = next(one for one in known if one.reporter.startswith("noisy combination"))
    assert found.passed is put_together, found.reasons
    assert found.obtained is (Verdict.PUBLIC_INFERENCE if put_together else Verdict.PRIVILEGED), found.reasons


def test_lots_have_equal_shares_within_every_true_class_and_planted_behaviour_no_tie_to_anything() -> None:
    truth = np.repeat([0, 1, 2], [21, 8, 31])
    drawn = by_lot(truth, 3, "a")
    for number in range(3):
        counts = np.bincount(drawn[truth == number].astype(int), minlength=3)
        assert counts.max() - counts.min() <= 1
    assert not np.array_equal(drawn, by_lot(truth, 3, "b"))
    target = pd.DataFrame({"truth": truth})
    lots = planted_truth(Trials("length", target, 3, {}, 0.0, SPEC))
    assert sorted(np.bincount(lots)) == [20, 20, 20]


def test_without_examples_the_control_is_another_prompt_alone() -> None:
    table, observers = planted(oracle, by_words=False)
    rows = judged_rows(table.assign(examples=0), 0)
    assert list(dict.fromkeys(rows["arm"])) == ["target", OTHER_PROMPT]
    found = result_of(table.assign(examples=0), observers, most=0)
    assert found.verdict is Verdict.PRIVILEGED, found.reasons
