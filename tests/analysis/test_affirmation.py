"""A rise of "yes" counts only beyond what it rises under a question that has nothing to do with injections."""

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.affirmation import affirmation
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError

SPEC = AnalysisSpec(clusters=("concept",), bootstrap_draws=400)


def table(rates: dict[tuple[str, str], float], units: int = 24, each: int = 20, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        {"task": task, "arm": arm, "concept": f"c{unit}", "answer": float(rng.random() < rate)}
        for (task, arm), rate in rates.items()
        for unit in range(units)
        for _ in range(each)
    ]
    return pd.DataFrame(rows)


def rates(asked: float, unrelated: float) -> dict[tuple[str, str], float]:
    return {
        ("detection", "clean"): 0.1,
        ("detection", "target"): asked,
        ("unrelated", "clean"): 0.1,
        ("unrelated", "target"): unrelated,
    }


def test_a_rise_under_the_injection_question_alone_is_beyond_affirmation() -> None:
    found = affirmation(table(rates(0.7, 0.1)), SPEC)
    assert found.asked.value == pytest.approx(0.6, abs=0.06)
    assert found.unrelated.p_above(0.0) > 0.05
    assert found.beyond.p_above(0.0) < 0.01


def test_an_injection_that_raises_yes_to_anything_is_found_out() -> None:
    found = affirmation(table(rates(0.7, 0.7)), SPEC)
    assert found.asked.p_above(0.0) < 0.01
    assert found.unrelated.p_above(0.0) < 0.01
    assert found.beyond.p_above(0.0) > 0.05


def test_invalid_answers_and_other_arms_do_not_count() -> None:
    plain = table(rates(0.7, 0.1))
    more = plain.assign(answer=np.nan)
    other = plain.assign(arm="sham", answer=1.0)
    found = affirmation(pd.concat([plain, more, other], ignore_index=True), SPEC)
    assert found.beyond.value == pytest.approx(affirmation(plain, SPEC).beyond.value)


def test_without_one_of_the_four_kinds_nothing_can_be_said() -> None:
    some = table(rates(0.7, 0.1))
    with pytest.raises(AnalysisError, match="unrelated question in the target arm"):
        affirmation(some[~((some["task"] == "unrelated") & (some["arm"] == "target"))], SPEC)
    with pytest.raises(AnalysisError, match="concept"):
        affirmation(some.drop(columns="concept"), SPEC)
