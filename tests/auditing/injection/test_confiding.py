"""Confidence in reports: it counts for what it adds to the conversation and to the place of the answer."""

import numpy as np
import pandas as pd
import pytest
from synthetic import CONCEPTS

from firsthand.auditing.injection.confiding import _elsewhere, judge_confidence
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Capability, Verdict

SPEC = AnalysisSpec(clusters=("concept",))


def reports(seed: int = 0) -> pd.DataFrame:
    """Detection reports, each right with probability one half, in both orders and three arms."""
    rng = np.random.default_rng(seed)
    rows = []
    for concept in CONCEPTS:
        for arm in ("clean", "target", "content_free"):
            for order in ("injected|nothing", "nothing|injected"):
                for n in range(3):
                    truth = "injected" if arm == "target" else "nothing"
                    answer = rng.choice(["injected", "nothing"])
                    rows.append(
                        {
                            "trial_id": f"{concept}/{arm}/{order}/{n}",
                            "task": "detection",
                            "concept": concept,
                            "arm": arm,
                            "order": order,
                            "truth": "",
                            "answer": answer,
                            "is_right": float(answer == truth),
                        }
                    )
    return pd.DataFrame(rows)


def stated(of: pd.DataFrame, confidence: np.ndarray, unedited: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "trial_id": "confidence: " + of["trial_id"],
            "concept": of["concept"],
            "coverage": 1.0,
            "report": of["trial_id"],
            "given": of["answer"],
            "confidence": confidence,
            "rating": noise(of, 9),
            "unedited": unedited,
        }
    )


def noise(of: pd.DataFrame, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.2, 0.8, len(of))


def test_a_confidence_that_knows_which_reports_are_right_is_privileged() -> None:
    table = reports()
    knowing = np.clip(0.3 * noise(table, 1) + 0.5 * table["is_right"], 0, 1).to_numpy()
    result = judge_confidence(stated(table, knowing, noise(table, 2)), table, SPEC)
    assert result.capability is Capability.CONFIDENCE
    assert result.verdict is Verdict.PRIVILEGED
    assert result.score is not None
    assert result.score.value > 0.95
    assert {row.name for row in result.observers} >= {"unedited", "place"}


def test_what_the_unedited_model_says_as_well_is_no_privilege() -> None:
    table = reports()
    knowing = np.clip(0.3 * noise(table, 1) + 0.5 * table["is_right"], 0, 1).to_numpy()
    result = judge_confidence(stated(table, knowing, knowing), table, SPEC)
    assert result.verdict is not Verdict.PRIVILEGED


def test_a_confidence_that_follows_nothing_is_not_privileged() -> None:
    table = reports()
    result = judge_confidence(stated(table, noise(table, 1), noise(table, 2)), table, SPEC)
    assert result.verdict is not Verdict.PRIVILEGED
    assert result.score is not None
    assert result.score.value == pytest.approx(0.5, abs=0.1)


def test_a_report_is_right_by_its_arm_in_detection_and_by_its_truth_elsewhere() -> None:
    """Sure of exactly the right reports: the area is 1 only if right is counted so."""
    table = reports()
    sure = np.where(table["is_right"] == 1, 0.9, 0.1)
    assert judge_confidence(stated(table, sure, noise(table, 2)), table, SPEC).score.value == pytest.approx(1.0)  # type: ignore[union-attr]
    places = table.assign(task="localisation", truth="1", order="0|1|2")
    places["answer"] = np.where(places["is_right"] == 1, "1", "2")
    assert judge_confidence(stated(places, sure, noise(table, 2)), places, SPEC).score.value == pytest.approx(1.0)  # type: ignore[union-attr]


def test_reports_are_matched_by_name_and_not_by_order() -> None:
    table = reports()
    sure = np.where(table["is_right"] == 1, 0.9, 0.1)
    shuffled = stated(table, sure, noise(table, 2)).sample(frac=1, random_state=3)
    turned = table.sample(frac=1, random_state=4)
    assert judge_confidence(shuffled, turned, SPEC).score.value == pytest.approx(1.0)  # type: ignore[union-attr]


def test_where_the_unedited_model_gives_no_valid_confidence_the_rest_is_judged() -> None:
    table = reports()
    knowing = np.clip(0.3 * noise(table, 1) + 0.5 * table["is_right"], 0, 1).to_numpy()
    gaps = np.where(np.arange(len(table)) % 5 == 0, np.nan, noise(table, 2))
    assert judge_confidence(stated(table, knowing, gaps), table, SPEC).verdict is Verdict.PRIVILEGED


def test_an_invalid_confidence_is_no_answer_and_not_the_lowest() -> None:
    table = reports()
    knowing = np.clip(0.3 * noise(table, 1) + 0.5 * table["is_right"], 0, 1).to_numpy(copy=True)
    knowing[::7] = np.nan
    result = judge_confidence(stated(table, knowing, noise(table, 2)), table, SPEC)
    assert result.invalid_rate == pytest.approx(np.isnan(knowing).mean())
    assert result.score is not None
    assert result.score.value > 0.95


def test_how_often_a_place_is_right_is_counted_on_other_concepts_only() -> None:
    right = pd.Series([1.0, 0.0, 1.0, 1.0, 0.0])
    place = pd.Series([0, 0, 0, 1, 2])
    concept = pd.Series(["a", "a", "b", "a", "b"])
    found = _elsewhere(right, place, concept)
    assert found == pytest.approx([1.0, 1.0, 0.5, 0.6, 0.6])
