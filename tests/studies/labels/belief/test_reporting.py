"""Shots are balanced, come from other subjects than the questions, and carry labels that were fitted on them alone."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from firsthand.errors import LabelsError
from firsthand.studies.labels.belief.bench import Bench
from firsthand.studies.labels.belief.reporting import (
    REDRAWN,
    TARGET,
    conversation_of,
    experiment_of,
    queries_of,
    reader_rows,
    report_rows,
)


def test_shots_are_as_many_of_each_class_and_share_no_subject_with_what_is_asked(
    bench: Bench, dominances: pd.DataFrame
) -> None:
    table = dominances.copy()
    asked = []
    for number in range(bench.claim.experiments):
        made = experiment_of(bench, table, number)
        assert len(set(np.bincount(made.shot_labels, minlength=3))) == 1
        assert len(made.shots) <= bench.claim.shots
        subjects = table["subject"].str.casefold()
        assert not set(subjects.iloc[made.fit]) & set(subjects.iloc[made.asked])
        assert set(made.shots) <= set(made.fit)
        asked += made.asked.tolist()
    assert sorted(asked) == list(range(len(table)))


def test_clusters_are_fitted_on_the_records_of_shots_unless_the_claim_says_all(
    bench: Bench, dominances: pd.DataFrame
) -> None:
    table = dominances.copy()
    made = experiment_of(bench, table, 0)
    moved = table.copy()
    moved.loc[made.asked, ["label_base", "label_counter"]] = 0.4
    np.testing.assert_array_equal(experiment_of(bench, moved, 0).clusters.centres_K2, made.clusters.centres_K2)
    everywhere = replace(bench, claim=bench.claim.model_copy(update={"clustered": "all"}))
    one, other = (experiment_of(everywhere, some, 0).clusters.centres_K2 for some in (table, moved))
    assert not np.allclose(one, other)


def test_answers_without_tokens_are_neither_shown_nor_asked_about(bench: Bench, dominances: pd.DataFrame) -> None:
    table = dominances.copy()
    made = experiment_of(bench, table, 0)
    silent = [int(made.asked[0]), int(made.fit[0])]
    table.loc[silent, "states"] = 0
    again = experiment_of(bench, table, 0)
    assert not set(silent) & {*again.asked, *again.fit}


def test_dominances_that_are_all_the_same_make_no_experiment(bench: Bench, dominances: pd.DataFrame) -> None:
    table = dominances.assign(label_base=0.0, label_counter=0.5)
    with pytest.raises(LabelsError, match="only 1 different values"):
        experiment_of(bench, table, 0)


def test_labels_drawn_by_lot_are_the_same_labels_at_other_shots_and_names_move_between_experiments(
    bench: Bench, dominances: pd.DataFrame
) -> None:
    table = dominances.copy()
    made = experiment_of(bench, table, 0)
    shown, lot = (conversation_of(bench, table, made, bench.label_names, redrawn=lot) for lot in (False, True))
    assert [s.label for s in shown.shots] == made.shot_labels.tolist()
    assert sorted(s.label for s in lot.shots) == sorted(s.label for s in shown.shots)
    assert [s.text for s in lot.shots] == [s.text for s in shown.shots]
    names = [conversation_of(bench, table, experiment_of(bench, table, n), bench.label_names).names for n in range(3)]
    assert len(set(names)) == 3
    assert len({frozenset(some) for some in names}) == 1


def test_the_answer_is_shown_only_if_the_claim_says_so(bench: Bench, dominances: pd.DataFrame) -> None:
    table = dominances.copy()
    made = experiment_of(bench, table, 0)
    assert "answer" not in queries_of(bench, table, made)[0].text
    open_ = replace(bench, claim=bench.claim.model_copy(update={"shows": "answer"}))
    query = queries_of(open_, table, made)[0].text
    assert query.endswith(f"The answer was: answer {table['item'].iloc[made.asked[0]]}")


def test_rows_hold_both_arms_with_the_same_truth_and_three_log_probabilities(
    bench: Bench, dominances: pd.DataFrame
) -> None:
    table = dominances.copy()
    made = experiment_of(bench, table, 1)
    rows = report_rows(bench, table, made)
    assert rows["trial_id"].is_unique
    for arm in (TARGET, REDRAWN):
        some = rows[rows["arm"] == arm]
        assert some["truth"].tolist() == made.truth.tolist()
        assert {len(values) for values in some["logprobs"]} == {3}
        np.testing.assert_allclose([np.exp(v).sum() for v in some["logprobs"]], some["coverage"], rtol=1e-6)
        np.testing.assert_array_equal(some["wire"], some["truth"])  # here both halves read the same


def test_a_reader_that_would_write_no_label_still_gives_the_likeliest_of_them(
    bench: Bench, dominances: pd.DataFrame
) -> None:
    table = dominances.copy()
    made = experiment_of(bench, table, 0)
    own = report_rows(bench, table, made)
    target = own[own["arm"] == TARGET]
    assert target["answer"].isna().any()  # a random model writes anything
    rows = reader_rows(bench.loaded, bench, table, made, bench.label_names)
    assert rows["trial_id"].tolist() == target["trial_id"].tolist()
    assert rows["answer"].tolist() == [int(np.argmax(values)) for values in target["logprobs"]]
    np.testing.assert_allclose(rows["coverage"], target["coverage"], rtol=1e-6)
