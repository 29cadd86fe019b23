"""Self-prediction is judged against whoever has the same examples: what the prompt tells is no private knowledge."""

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from firsthand.auditing.labels.prediction import OTHER_PROMPT, balanced, judge, judged_rows, other_prompt
from firsthand.auditing.labels.prediction_known import NOTHING, Trials, by_lot, known_answers, planted_truth
from firsthand.auditing.labels.readers import READER, UNREAD
from firsthand.claims.claim import AnalysisSpec
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


def verdict(table: pd.DataFrame, observers: Mapping[str, np.ndarray]) -> tuple[Verdict, tuple[str, ...]]:
    rows = judged_rows(table, MOST)
    truth = rows["truth"][rows["arm"] == "target"].to_numpy()
    found = judge(rows, 2, observers, truth, SPEC)
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


def test_a_report_that_is_as_right_after_examples_by_lot_follows_something_else() -> None:
    table, observers = planted(oracle, by_words=False)
    lot = table["arm"] == "lot"
    found, reasons = verdict(table.assign(answer=table["answer"].where(~lot, table["truth"])), observers)
    assert found is Verdict.ANOMALY_ONLY, reasons


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
    assert found["oracle without a reader"].obtained is Verdict.INSUFFICIENT
    assert found["public behaviour"].obtained is Verdict.PUBLIC_INFERENCE
    assert found["strongest observer"].obtained is Verdict.PUBLIC_INFERENCE
    assert found["by lot"].obtained in (Verdict.INSUFFICIENT, *NOTHING)
    assert found["most frequent class"].obtained in (Verdict.INSUFFICIENT, *NOTHING)


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
    found = judge(rows, 2, observers, rows["truth"][rows["arm"] == "target"].to_numpy(), SPEC)
    assert found.verdict is Verdict.PRIVILEGED, found.reasons
