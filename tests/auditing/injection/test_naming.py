"""Naming: a concept that is named as often when any word is asked for was promoted, not reported."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from synthetic import CONCEPTS

from firsthand.auditing.injection.naming import arms_of, judge_naming
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Capability, Verdict

SPEC = AnalysisSpec(clusters=("concept",))
ARMS = ("clean", "target", "sham", "push", "content_free", "shuffled")
Score = Callable[[str, str, np.random.Generator], float]


def trials(score: Score, said: str = "word") -> pd.DataFrame:
    """Naming trials, and requests for any word told and untold, each with what ``score`` gives for its arm and task.

    Where nothing is said, nothing is named.
    """
    rng, rows = np.random.default_rng(0), []
    for concept in CONCEPTS:
        for task, detail in (("naming", ""), ("no_question", "told"), ("no_question", "untold")):
            for arm in ARMS if task == "naming" else ("clean", "target"):
                value = score(arm, task, rng)
                rows.append(
                    {
                        "trial_id": f"{concept}/{task}/{detail}/{arm}",
                        "task": task,
                        "detail": detail,
                        "arm": arm,
                        "concept": concept,
                        "text": f"{concept}/{task}/{detail}" + ("/push" if arm == "push" else ""),
                        "said": said,
                        "named": float(value > 0.5) if said.strip() else np.nan,
                        "percentile": value,
                    }
                )
    return pd.DataFrame(rows)


def knows(arm: str, task: str, rng: np.random.Generator) -> float:
    return float(rng.uniform(0.8, 1.0) if arm == "target" and task == "naming" else rng.uniform(0, 0.5))


def promotes(arm: str, _task: str, rng: np.random.Generator) -> float:
    return float(rng.uniform(0.8, 1.0) if arm == "target" else rng.uniform(0, 0.5))


def guesses(_arm: str, _task: str, rng: np.random.Generator) -> float:
    return float(rng.uniform(0, 1))


WIRED = pd.Series(1.0, index=list(CONCEPTS))


def test_the_arms_that_count_are_the_target_what_it_is_held_against_and_the_no_question_ones() -> None:
    found = arms_of(trials(knows), "named")
    assert set(found["arm"]) == {
        "target",
        "clean",
        "content_free",
        "shuffled",
        "no question, told",
        "no question, untold",
    }
    assert len(found) == 6 * len(CONCEPTS)
    assert (found.loc[found["arm"] == "target", "score"] == 1.0).all()


def test_silence_is_invalid_in_naming_and_means_nothing_for_a_rank() -> None:
    silent = trials(knows, said=" ")
    named, ranked = arms_of(silent, "named"), arms_of(silent, "percentile")
    assert named["score"].isna().all()
    assert (named["coverage"] == 0.0).all()
    assert ranked["score"].notna().all()
    assert (ranked["coverage"] == 1.0).all()


@pytest.mark.parametrize(
    ("score", "capability"), [("named", Capability.IDENTIFICATION), ("percentile", Capability.RECONSTRUCTION)]
)
def test_what_is_named_only_when_it_is_asked_for_is_privileged(score: str, capability: Capability) -> None:
    result = judge_naming(trials(knows), score, WIRED, SPEC)
    assert result.capability is capability
    assert result.verdict is Verdict.PRIVILEGED, result.reasons


@pytest.mark.parametrize("score", ["named", "percentile"])
def test_what_is_named_whatever_is_asked_was_promoted(score: str) -> None:
    result = judge_naming(trials(promotes), score, WIRED, SPEC)
    assert result.verdict is Verdict.ANOMALY_ONLY
    assert "no question" in result.reasons[0]


@pytest.mark.parametrize("score", ["named", "percentile"])
def test_what_is_named_without_an_injection_as_well_is_no_report_of_it(score: str) -> None:
    result = judge_naming(trials(lambda arm, task, rng: knows("target", task, rng)), score, WIRED, SPEC)
    assert result.verdict not in (Verdict.PRIVILEGED, Verdict.AVAILABLE_NOT_REPORTED)


def test_a_guess_is_not_privileged_and_its_chance_is_that_of_its_score() -> None:
    ranked = judge_naming(trials(guesses), "percentile", WIRED, SPEC)
    named = judge_naming(trials(guesses), "named", WIRED, SPEC)
    assert Verdict.PRIVILEGED not in (ranked.verdict, named.verdict)
    assert ranked.chance == 0.5
    assert named.chance == pytest.approx(1 / len(CONCEPTS))


def test_a_word_that_ranks_as_high_where_none_is_asked_for_was_promoted_though_it_is_written_only_when_asked() -> None:
    table = trials(knows)
    beside = (table["task"] == "no_question") & (table["arm"] == "target")
    rising = table.assign(percentile=table["percentile"].where(~beside, 0.5 + 0.5 * table["percentile"] + 0.2))
    rising["percentile"] = rising["percentile"].clip(0, 1)
    result = judge_naming(rising, "named", WIRED, SPEC)
    assert result.verdict is Verdict.INSUFFICIENT
    assert "rank among the concepts" in result.reasons[0]
