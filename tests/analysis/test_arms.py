"""What choices and scores refuse alike, and how worth is balanced over strata."""

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.arms import Arms
from firsthand.analysis.choice import Chosen, judge_choice
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Capability, Condition

SPEC = AnalysisSpec(clusters=("concept",), bootstrap_draws=200)


def choices() -> pd.DataFrame:
    truth = np.tile(np.arange(3), 16)
    return pd.DataFrame(
        {
            "trial_id": [f"t{i}" for i in range(48)],
            "arm": np.repeat(["target", "control"], 24),
            "truth": truth,
            "answer": truth.astype(float),
            "coverage": 0.9,
            "concept": np.tile(np.repeat(np.arange(4), 6), 2),
        }
    )


def refused(match: str, table: pd.DataFrame, chosen: np.ndarray, where: str = "report", arm: str = "control") -> None:
    with pytest.raises(AnalysisError, match=match):
        judge_choice(
            Capability.LOCALISATION,
            Condition.Y_WITHHELD,
            table,
            3,
            {"guesser": Chosen(chosen)},
            {"probe": (where, chosen)},
            SPEC,
            [arm],
        )


def test_worth_is_balanced_over_strata_and_invalid_answers_belong_to_none() -> None:
    table = choices()
    strata = np.array([0] * 20 + [1] * 4 + [0] * 24)
    worth = np.concatenate([np.full(20, 0.25), [1.0, 0.5, np.nan, np.nan], np.full(24, 0.1)])
    data = Arms(table, worth, strata, SPEC, seed=0)
    data.add("other", np.where(np.isfinite(worth[:24]), 0.5, 1.0))
    data.close()
    assert data.measure(data.accuracy("target")).value == pytest.approx((0.25 + 0.75) / 2)
    assert data.measure(data.accuracy("control")).value == pytest.approx(0.1)
    assert data.lead("other").value == pytest.approx(0.0)
    assert data.measure(data.accuracy("target")).n_trials == 22


def test_a_coverage_that_is_not_known_closes_no_gate_by_being_no_number() -> None:
    refused("coverage", choices().assign(coverage=np.nan), np.zeros(24))


def test_a_reader_at_no_known_place_is_not_taken_for_one_at_the_report() -> None:
    refused("'site' or 'report'", choices(), np.zeros(24), where="sites")


def test_options_numbered_from_one_are_not_taken_for_wrong_answers() -> None:
    refused("guesser chose what is not one of the 3", choices(), np.tile(np.arange(1.0, 4.0), 8))


def test_the_target_arm_is_no_control_of_its_own_and_every_trial_has_an_arm() -> None:
    refused("its own control", choices(), np.zeros(24), arm="target")
    refused("no arm", choices().assign(arm=None), np.zeros(24))
