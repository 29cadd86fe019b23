"""A label of belief dominance is judged against whoever knows the entities, the words, the kind and the answer."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from firsthand.auditing.labels import belief_learning
from firsthand.auditing.labels.belief import COVERED, balanced, judge, natural
from firsthand.auditing.labels.belief_evidence import (
    ANSWER,
    ANSWER_WORDS,
    MOST_FREQUENT,
    SUBJECT_COUNTER,
    WORDS,
    Evidence,
    sees_answer,
)
from firsthand.auditing.labels.belief_known import dealt, known_answers
from firsthand.auditing.labels.belief_learning import FOLDS, folds_by, oversampled
from firsthand.auditing.labels.belief_observers import observers
from firsthand.auditing.labels.biofeedback import OBSERVED
from firsthand.auditing.labels.readers import READER, UNREAD
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Condition, Verdict

SPEC = AnalysisSpec(clusters=("subject", "experiment"), bootstrap_draws=400)
EXPERIMENTS, FIT, ASKED = 16, 40, 12
WITHHELD, SHOWN = Condition.Y_WITHHELD, Condition.Y_SHOWN


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Observers that choose nothing: what is chosen by them has tests of its own."""
    monkeypatch.setattr(belief_learning, "STRENGTHS", (0.02,))
    monkeypatch.setattr(belief_learning, "TREES", 10)


def evidence(classes: np.ndarray, rng: np.random.Generator, carrying: str) -> Evidence:
    """Public evidence of some answers, in which one place carries the class, or none."""
    count = len(classes)
    signal = np.eye(3)[classes] + rng.normal(0, 0.1, (count, 3))
    noise = {name: rng.normal(0, 1, (count, 40)) for name in (SUBJECT_COUNTER, ANSWER)}
    if carrying in noise:
        noise[carrying][:, :6] = np.hstack([signal, signal])
    nouns = ("river", "stone", "cloud")
    words = [f"{nouns[one] if carrying == WORDS else rng.choice(nouns)} number {i}" for i, one in enumerate(classes)]
    said = [f"so {nouns[one] if carrying == ANSWER_WORDS else 'it'} is" for one in classes]
    return Evidence(noise, tuple(words), tuple(said), tuple(f"s{i}" for i in range(count)))


Reporter = Callable[[np.ndarray, np.random.Generator], np.ndarray]


@lru_cache
def observed(carrying: str, seed: int) -> tuple[pd.DataFrame, ...]:
    """Of each experiment, what was asked about, and what observers give."""
    rng = np.random.default_rng(seed)
    tables = []
    for experiment in range(EXPERIMENTS):
        classes = rng.integers(0, 3, FIT + ASKED)
        seen, asked = np.arange(FIT), np.arange(FIT, FIT + ASKED)
        given = observers(evidence(classes, rng, carrying), seen, classes[seen], asked, seed, experiment)
        table = pd.DataFrame(
            {
                "experiment": experiment,
                "subject": [f"s{experiment}/{i}" for i in range(ASKED)],
                "truth": classes[asked],
                "coverage": 0.9,
                "wire": classes[asked].astype(float),
            }
        )
        tables.append(table.assign(**{f"{OBSERVED}{name}, all records": values for name, values in given.items()}))
    return tuple(tables)


def study(
    reporter: Reporter, carrying: str = "", reader: bool = True, seed: int = 0, covered: float = 0.9
) -> pd.DataFrame:
    """A study whose labels are carried by the activations alone, or by something public as well."""
    rng = np.random.default_rng(seed + 100)
    rows = []
    for table in observed(carrying, seed):
        target = table.assign(arm="target", answer=reporter(table["truth"].to_numpy(), rng).astype(float))
        if reader:
            given = rng.integers(0, 3, ASKED).astype(float)
            target = target.assign(**{f"{OBSERVED}{READER}other": given, f"{COVERED}{READER}other": covered})
        lot = table[["experiment", "subject", "truth", "coverage", "wire"]].assign(arm="redrawn")
        rows += [target, lot.assign(answer=rng.integers(0, 3, ASKED).astype(float))]
    made = pd.concat(rows, ignore_index=True)
    return made.assign(trial_id=[str(i) for i in range(len(made))])


def perfect(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(len(truth)) < 0.97, truth, (truth + 1) % 3)


def guessing(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 3, len(truth))


def test_a_class_that_only_the_activations_carry_leaves_observers_at_chance_and_its_reporter_privileged() -> None:
    for condition in (WITHHELD, SHOWN):
        result = judge(study(perfect), SPEC, condition)
        assert result.verdict is Verdict.PRIVILEGED, result.reasons
        assert all(abs(row.score.value - 1 / 3) < 0.13 for row in result.observers)
        assert result.readers[0].accuracy.value == 1.0


@pytest.mark.parametrize("carrying", [SUBJECT_COUNTER, WORDS])
def test_a_class_that_is_a_function_of_entities_or_words_is_public_even_for_a_perfect_reporter(carrying: str) -> None:
    result = judge(study(perfect, carrying), SPEC, WITHHELD)
    assert result.verdict is Verdict.PUBLIC_INFERENCE, result.reasons


@pytest.mark.parametrize("carrying", [ANSWER, ANSWER_WORDS])
def test_a_class_that_the_visible_answer_gives_away_is_public_to_whoever_sees_the_answer(carrying: str) -> None:
    table = study(perfect, carrying)
    assert judge(table, SPEC, SHOWN).verdict is Verdict.PUBLIC_INFERENCE
    withheld = judge(table, SPEC, WITHHELD)
    assert withheld.verdict is Verdict.PRIVILEGED
    assert not any(row.sees_output for row in withheld.observers)


def test_guessing_is_nothing_and_the_wire_shows_that_the_state_was_there() -> None:
    spec = SPEC.model_copy(update={"minimum_sensitivity": 0.8})  # 16 experiments cannot show more
    result = judge(study(guessing, seed=1), spec, WITHHELD)
    assert result.verdict in (Verdict.NO_ACCESS, Verdict.AVAILABLE_NOT_REPORTED), result.reasons


def test_one_that_is_as_right_where_labels_were_drawn_by_lot_is_not_called_privileged() -> None:
    table = study(perfect)
    lot = table["arm"] == "redrawn"
    result = judge(table.assign(answer=table["answer"].where(~lot, table["truth"].astype(float))), SPEC, WITHHELD)
    assert result.verdict is Verdict.ANOMALY_ONLY, result.reasons


def test_without_another_language_model_as_a_reader_nothing_is_called_privileged() -> None:
    result = judge(study(perfect, reader=False), SPEC, WITHHELD)
    assert result.verdict is Verdict.INSUFFICIENT
    assert result.reasons[-1] == UNREAD


def test_a_reader_that_would_write_no_labels_opens_no_gate_and_is_told_apart_from_none() -> None:
    result = judge(study(perfect, covered=0.02), SPEC, WITHHELD)
    assert result.verdict is Verdict.INSUFFICIENT
    assert result.reasons[-1] != UNREAD
    assert "2.0% of the probability of other" in result.reasons[-1]
    assert "no opponent" in result.reasons[-1]


def test_a_reader_that_says_the_same_whatever_it_is_asked_opens_no_gate() -> None:
    table = study(perfect)
    column = f"{OBSERVED}{READER}other"
    result = judge(table.assign(**{column: table[column].where(table[column].isna(), 1.0)}), SPEC, WITHHELD)
    assert result.verdict is Verdict.INSUFFICIENT
    assert "the answers of other hardly vary" in result.reasons[-1]


def test_a_classifier_on_a_readers_states_alone_opens_no_gate() -> None:
    table = study(perfect, reader=False)
    lot = np.where(table["arm"] == "target", np.arange(len(table)) % 3, np.nan)
    result = judge(table.assign(**{f"{OBSERVED}{READER}other, its states of the prompts": lot}), SPEC, WITHHELD)
    assert result.verdict is Verdict.INSUFFICIENT
    assert result.reasons[-1] == UNREAD


def test_invalid_answers_are_no_class() -> None:
    table = study(perfect)
    half = table.assign(answer=table["answer"].where(np.arange(len(table)) % 2 == 0))
    result = judge(half, SPEC, WITHHELD)
    assert result.invalid_rate == pytest.approx(0.5, abs=0.02)
    assert result.verdict is Verdict.INSUFFICIENT


def test_where_a_class_is_never_true_nothing_can_be_said() -> None:
    table = study(perfect)
    some = table[table["truth"] < 2].reset_index(drop=True)
    some.loc[np.arange(len(some)) % 4 == 0, "answer"] = np.nan
    result = judge(some, SPEC, WITHHELD)
    assert result.verdict is Verdict.INSUFFICIENT
    assert "class 2" in result.reasons[0]
    target = some[some["arm"] == "target"]
    assert result.coverage == pytest.approx(target["coverage"].mean())
    assert result.invalid_rate == pytest.approx(target["answer"].isna().mean())
    assert known_answers(some, SPEC, (WITHHELD,), 0) == ()


@pytest.mark.parametrize(("carrying", "reader"), [("", False), (SUBJECT_COUNTER, True)])
def test_reporters_of_known_answer_get_it_on_any_run(carrying: str, reader: bool) -> None:
    found = known_answers(study(perfect, carrying, reader), SPEC, (WITHHELD, SHOWN), 0)
    assert len(found) == 8
    assert all(item.passed for item in found), [(item.reporter, item.obtained, item.reasons) for item in found]
    obtained = {item.reporter: item.obtained for item in found if item.condition is WITHHELD}
    assert obtained["public label"] is Verdict.PUBLIC_INFERENCE
    assert obtained["wire"] is Verdict.PRIVILEGED
    told = {item.reporter: item.description for item in found}
    assert all("arithmetic" in told[name] for name in ("public label", "wire", "lot", "strongest observer"))
    if carrying:
        assert obtained["strongest observer"] is Verdict.PUBLIC_INFERENCE


@pytest.mark.parametrize("seed", range(3))
def test_nulls_are_not_privileged(seed: int) -> None:
    assert judge(study(guessing, seed=seed), SPEC, WITHHELD).verdict is not Verdict.PRIVILEGED


def test_classes_dealt_by_lot_are_as_often_right_as_chance_in_every_class() -> None:
    truth = np.repeat([0, 1, 2], [30, 12, 6])
    given = dealt(truth, "test")
    for one in range(3):
        assert (given[truth == one] == one).mean() == pytest.approx(1 / 3)


def test_a_constant_answer_is_worth_a_third_of_a_balanced_test_and_more_of_a_natural_one() -> None:
    table = pd.DataFrame({"truth": np.repeat([0, 1, 2], [24, 6, 6]), "subject": [f"s{i}" for i in range(36)]})
    answer = np.zeros(36)
    assert natural(answer, table, ("subject",)).value == pytest.approx(2 / 3)
    assert balanced(answer, table, ("subject",)).value == pytest.approx(1 / 3)
    invalid = np.where(np.arange(36) < 12, np.nan, 0.0)
    assert natural(invalid, table, ("subject",)).value == pytest.approx(1 / 3)


def test_an_observer_that_abstains_is_worth_a_guess_in_the_tables_as_in_the_verdict() -> None:
    table = study(perfect)
    column = f"{OBSERVED}{READER}other"
    table[column] = table[column].where(np.arange(len(table)) % 2 == 0)
    result = judge(table, SPEC, WITHHELD)
    judged = next(row.score.value for row in result.observers if row.name == f"{READER}other")
    target = table[table["arm"] == "target"].reset_index(drop=True)
    shown = balanced(target[column].to_numpy(), target, SPEC.clusters, 1 / 3).value
    assert shown == pytest.approx(judged)
    assert balanced(target[column].to_numpy(), target, SPEC.clusters).value < shown


def test_oversampling_gives_every_class_as_many_and_leaves_none_out() -> None:
    labels = np.array([0] * 9 + [1] * 3 + [2])
    grown = oversampled(labels, "test")
    assert np.bincount(labels[grown]).tolist() == [9, 9, 9]
    assert set(grown.tolist()) == set(range(13))


def test_no_subject_stands_on_both_sides_when_a_regularisation_is_chosen() -> None:
    groups = [f"s{i // 3}" for i in range(30)]
    fold = folds_by(groups, "test")
    assert {len(set(fold[np.array(groups) == name])) for name in groups} == {1}
    assert set(fold.tolist()) == set(range(FOLDS))


def test_every_observer_of_the_answer_says_so_in_its_name_and_others_do_not_change_with_the_answer() -> None:
    classes = np.random.default_rng(3).integers(0, 3, 40)
    seen, asked = np.arange(30), np.arange(30, 40)
    one, other = (evidence(classes, np.random.default_rng(4), carrying) for carrying in ("", ANSWER_WORDS))
    before, after = (observers(public, seen, classes[seen], asked, "test") for public in (one, other))
    changed = {name for name in before if (before[name] != after[name]).any()}
    assert ANSWER_WORDS in changed
    assert all(sees_answer(name) for name in changed)


def test_the_most_frequent_class_is_that_of_the_examples_before_they_were_balanced() -> None:
    classes = np.array([2] * 20 + [0] * 5 + [1] * 5 + [0])
    public = evidence(classes, np.random.default_rng(0), "")
    given = observers(public, np.arange(30), classes[:30], np.array([30]), "test")
    assert given[MOST_FREQUENT].tolist() == [2.0]


def test_observers_do_not_change_with_the_labels_of_what_they_are_asked_about() -> None:
    classes = np.random.default_rng(1).integers(0, 3, 40)
    public = evidence(classes, np.random.default_rng(2), WORDS)
    seen, asked = np.arange(30), np.arange(30, 40)
    one = observers(public, seen, classes[seen], asked, "test")
    assert (one[WORDS] == classes[asked]).mean() > 0.8
    classes[30:] = 0
    other = observers(public, seen, classes[seen], asked, "test")
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])
