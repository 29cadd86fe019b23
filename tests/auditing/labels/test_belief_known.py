"""Whoever puts two kinds of public evidence together is met by an observer that does so too."""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from firsthand.auditing.labels.belief import judge, observed_columns
from firsthand.auditing.labels.belief_evidence import FREQUENCY, PRIOR, SUBJECT_COUNTER, Evidence
from firsthand.auditing.labels.belief_known import (
    TWO_BLOCKS,
    _with_reader,
    both_blocks,
    erring,
    known_answers,
    two_blocks_rows,
)
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.labels.belief.reporting import Experiment
from firsthand.studies.labels.belief.scores import Clusters
from firsthand.vocabulary import Condition, Verdict

SPEC = AnalysisSpec(clusters=("subject", "experiment"), bootstrap_draws=400)
ANSWERS, FOLDS, ROUNDS = 60, 3, 2
WITHHELD = Condition.Y_WITHHELD


def public(rng: np.random.Generator) -> Evidence:
    """Evidence as of a study of the usual size: few numbers that matter, beside many that do not."""
    blocks = {SUBJECT_COUNTER: 400, PRIOR: 6, FREQUENCY: 9}
    return Evidence(
        {name: rng.normal(0, 1, (ANSWERS, columns)) for name, columns in blocks.items()},
        tuple(f"river {i} {rng.choice(['stone', 'cloud'])}" for i in range(ANSWERS)),
        ("so",) * ANSWERS,
        tuple(f"s{i}" for i in range(ANSWERS)),
    )


@lru_cache
def study(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of a report whose labels nothing carries, and the same with labels of two blocks."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"item": np.arange(ANSWERS), "states": 12})
    labels, evidence = rng.integers(0, 3, ANSWERS), public(rng)
    made, rows = [], []
    for number in range(FOLDS * ROUNDS):
        if number % FOLDS == 0:
            order = rng.permutation(ANSWERS)
        asked = np.sort(order[number % FOLDS :: FOLDS])
        fit = np.setdiff1d(np.arange(ANSWERS), asked)
        shots = fit[:30]
        clusters = Clusters(np.zeros((3, 2)))
        made.append(Experiment(number, clusters, fit, labels[fit], shots, labels[shots], asked, labels[asked]))
        for arm in ("target", "redrawn"):
            rows += [
                {
                    "trial_id": f"{number}/{item}/{arm}",
                    "arm": arm,
                    "experiment": number,
                    "item": item,
                    "subject": f"s{item}",
                    "truth": labels[item],
                    "answer": float(rng.integers(3)),
                    "coverage": 0.9,
                    "wire": float(labels[item]),
                    "observer lot": float(rng.integers(3)) if arm == "target" else np.nan,
                }
                for item in asked
            ]
    reports = pd.DataFrame(rows)
    both = two_blocks_rows(reports, table, evidence, made, seed)
    assert both is not None
    return reports, both


@pytest.mark.parametrize("seed", range(2))
def test_a_reporter_that_combines_two_public_blocks_is_public_inference_by_the_observer_that_has_both(
    seed: int,
) -> None:
    reports, both = study(seed)
    found = {one.reporter: one for one in known_answers(reports, SPEC, (WITHHELD,), seed, both)}
    assert found[TWO_BLOCKS].obtained is Verdict.PUBLIC_INFERENCE, found[TWO_BLOCKS].reasons
    assert found[TWO_BLOCKS].description.startswith("Can fail")


def test_without_that_observer_the_same_reporter_would_be_called_privileged() -> None:
    _, both = study(0)
    alone = both.drop(columns=[column for column in observed_columns(both) if "everything" in column])
    result = judge(_with_reader(alone, alone["truth"].to_numpy(), WITHHELD, 0), SPEC, WITHHELD)
    assert result.verdict is Verdict.PRIVILEGED, result.reasons


def test_labels_of_two_blocks_are_a_third_of_each_class_and_its_reporter_errs_in_a_fifth_of_each() -> None:
    labels = both_blocks(public(np.random.default_rng(0)), np.arange(ANSWERS))
    assert np.bincount(labels).tolist() == [20, 20, 20]
    given = erring(labels, 0)
    assert [(given[labels == one] == one).mean() for one in range(3)] == [0.8] * 3
    assert set(given.tolist()) == {0.0, 1.0, 2.0}
