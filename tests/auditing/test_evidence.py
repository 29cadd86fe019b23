"""The joint between sealed and public: observers get views, the truth meets their guesses only in the table."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from firsthand.auditing.audit import Run
from firsthand.auditing.evidence import Evidence, load_evidence, public_views, rows_of, scored_table, truth_of
from firsthand.observers import make_observer, observe_all
from firsthand.trials.trace import Trace
from firsthand.vocabulary import Capability


@pytest.fixture(scope="module")
def evidence(tiny_run: Run) -> Evidence:
    return load_evidence(Trace(tiny_run.folder / "trace"))


def permuted(evidence: Evidence, blocks: set[str], seed: int) -> Evidence:
    """The same trace with the sealed state of some blocks permuted."""
    rng, sealed = np.random.default_rng(seed), evidence.sealed.copy()
    rows = np.flatnonzero([block in blocks for block in evidence.blocks])
    columns = ["kind", "pre_state", "post_state", "changed"]
    sealed.loc[rows, columns] = sealed.loc[rng.permutation(rows), columns].to_numpy()
    return dataclasses.replace(evidence, sealed=sealed)


@pytest.mark.parametrize("name", ["table", "text_classifier"])
@pytest.mark.parametrize("capability", [Capability.IDENTIFICATION, Capability.DETECTION])
def test_permuting_the_state_of_judged_blocks_leaves_what_observers_say_there_identical(
    evidence: Evidence, name: str, capability: Capability
) -> None:
    from firsthand.observers.scoring import fold_of_groups

    fold = fold_of_groups(evidence.blocks)
    judged = fold == 0
    other = permuted(evidence, {b for b, j in zip(evidence.blocks, judged, strict=True) if j}, seed=4)
    assert not np.array_equal(truth_of(evidence, capability), truth_of(other, capability))
    said = [
        observe_all(
            make_observer(name, {}), capability, public_views(e, capability, True), truth_of(e, capability), e.blocks
        )
        for e in (evidence, other)
    ]
    assert np.array_equal(said[0][judged], said[1][judged])


def test_views_do_not_depend_on_the_sealed_side_at_all(evidence: Evidence) -> None:
    other = permuted(evidence, set(evidence.blocks), seed=9)
    for shown in (False, True):
        assert public_views(evidence, Capability.IDENTIFICATION, shown) == public_views(
            other, Capability.IDENTIFICATION, shown
        )


def test_confidence_observers_see_the_state_that_was_reported(evidence: Evidence) -> None:
    answers = evidence.reports[Capability.IDENTIFICATION]["answer"]
    for view, answer in zip(public_views(evidence, Capability.CONFIDENCE, False), answers, strict=True):
        if not np.isnan(answer):
            assert view.features["reported"] == answer
            assert view.output is None


def test_confidence_is_judged_only_where_a_state_was_validly_reported(evidence: Evidence) -> None:
    valid = evidence.reports[Capability.IDENTIFICATION]["answer"].notna()
    assert len(rows_of(evidence, Capability.CONFIDENCE)) == int(valid.sum())


def test_an_invalid_answer_stays_invalid_in_the_table(evidence: Evidence) -> None:
    reports = dict(evidence.reports)
    changed = reports[Capability.IDENTIFICATION].copy()
    changed.loc[0, "answer"] = float("nan")
    table = scored_table(
        evidence.with_reports({**reports, Capability.IDENTIFICATION: changed}), Capability.IDENTIFICATION
    )
    assert np.isnan(table["answer"][0])
    assert table["surface"][0] == ""


def test_distinct_trials_have_distinct_input_hashes(evidence: Evidence) -> None:
    assert not scored_table(evidence, Capability.DETECTION)["input_hash"].duplicated().any()


def test_the_table_is_aligned_with_the_trace(evidence: Evidence) -> None:
    table = scored_table(evidence, Capability.DETECTION)
    pd.testing.assert_series_equal(table["trial_id"], evidence.public["trial_id"])
    assert ((table["kind"] == "target") == (table["truth"] == 1)).all()
