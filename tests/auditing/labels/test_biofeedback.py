"""Biofeedback is judged against whoever reads the same texts: a label that the words carry is no private state."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from firsthand.auditing.labels.biofeedback import OBSERVED, curve, judge
from firsthand.auditing.labels.onlookers import Seen, informed, matched, meanings
from firsthand.auditing.labels.readers import OWN, READER, UNREAD, WEAK
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Verdict

SPEC = AnalysisSpec(clusters=("group", "experiment"), bootstrap_draws=400)
SHOTS, EXPERIMENTS, JUDGED = 61, 25, 51
NOUNS = ("river", "cat", "letter", "window", "doctor", "song", "garden", "train")
VERBS = ("saw", "lost", "found", "painted", "sold", "carried")


def every(count: int) -> np.ndarray:
    """Every text asked about after all those before it."""
    return np.repeat(np.arange(count)[:, None], 2, axis=1)


def who_sees(texts: list[str], embedding: np.ndarray) -> Seen:
    return Seen(tuple(texts), embedding, tuple(range(len(texts))))


def texts_of(count: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Sentences, and whether each of them says ``never``: a label that the words carry."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    made = []
    for i, label in enumerate(labels):
        a, b, verb = rng.choice(NOUNS), rng.choice(NOUNS), rng.choice(VERBS)
        made.append(f"The {a} {i} {'never' if label else 'once'} {verb} the {b}.")
    return made, labels


@lru_cache
def trials(by_words: bool, seed: int) -> pd.DataFrame:
    """A study without answers, whose labels are those of the words, or carried by the activations alone."""
    rng = np.random.default_rng(seed)
    fit_texts, fit_words = texts_of(150, seed + 1)
    fit_states = np.c_[fit_words + rng.normal(0, 0.1, 150), rng.normal(0, 1, (150, 7))].astype(np.float32)
    rows = []
    for experiment in range(EXPERIMENTS):
        texts, words = texts_of(SHOTS, 1000 * seed + experiment + 7)
        embedding = np.c_[words + rng.normal(0, 0.1, SHOTS), rng.normal(0, 1, (SHOTS, 7))].astype(np.float32)
        truth = words if by_words else rng.integers(0, 2, SHOTS)
        fit_truth = fit_words if by_words else rng.integers(0, 2, 150)
        shown, known = who_sees(texts, embedding), who_sees(fit_texts, fit_states)
        seen = matched(shown, truth, every(SHOTS), JUDGED) | informed(known, fit_truth, shown)
        base = pd.DataFrame(
            {
                "referent": f"planted at {experiment % 5}",
                "experiment": experiment,
                "place": np.arange(SHOTS),
                "group": np.arange(SHOTS) + SHOTS * experiment,
                "truth": truth,
                "coverage": 0.95,
                "wire": np.where(truth == 1, 1.0, -1.0),
            }
        )
        target = base.assign(arm="target", **{f"{OBSERVED}{name}": values for name, values in seen.items()})
        rows += [target, base.assign(arm="redrawn")]
    table = pd.concat(rows, ignore_index=True)
    return table.assign(trial_id=[str(i) for i in range(len(table))])


def study(
    reporter: Callable[[np.ndarray, np.random.Generator], np.ndarray], by_words: bool, seed: int = 0
) -> pd.DataFrame:
    """The same with a reporter's answers, and with answers by lot where labels were drawn by lot."""
    table, rng = trials(by_words, seed), np.random.default_rng(seed + 100)
    said = reporter(table["truth"].to_numpy(), rng).astype(float)
    return table.assign(answer=np.where(table["arm"] == "target", said, rng.integers(0, 2, len(table))))


def perfect(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(len(truth)) < 0.97, truth, 1 - truth)


def guessing(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 2, len(truth))


def test_a_state_that_only_the_activations_carry_leaves_text_observers_at_chance_and_its_reporter_privileged() -> None:
    table = study(perfect, by_words=False)
    lot = np.random.default_rng(5).integers(0, 2, len(table)).astype(float)
    read = table.assign(**{f"{OBSERVED}{READER}other": lot})
    assert judge(read, SPEC, JUDGED).reasons[-1] == WEAK  # nobody knows how well that reader learns
    result = judge(read.assign(**{f"{OWN}other": 1.0}), SPEC, JUDGED)
    assert result.verdict is Verdict.PRIVILEGED, result.reasons
    for row in result.observers:
        assert abs(row.score.value - 0.5) < 0.12, row.name


def test_a_label_that_the_words_carry_is_public_even_for_a_perfect_reporter() -> None:
    result = judge(study(perfect, by_words=True), SPEC, JUDGED)
    assert result.verdict is Verdict.PUBLIC_INFERENCE, result.reasons


def test_a_reporter_that_guesses_has_no_access_and_the_wire_shows_that_the_state_was_there() -> None:
    result = judge(study(guessing, by_words=False), SPEC, JUDGED)
    assert result.verdict in (Verdict.NO_ACCESS, Verdict.AVAILABLE_NOT_REPORTED), result.reasons
    assert result.readers[0].accuracy.value == 1.0


def test_one_that_is_as_right_where_labels_were_drawn_by_lot_is_not_called_privileged() -> None:
    table = study(perfect, by_words=False)
    lot = table["arm"] == "redrawn"
    result = judge(table.assign(answer=table["answer"].where(~lot, table["truth"].astype(float))), SPEC, JUDGED)
    assert result.verdict is Verdict.ANOMALY_ONLY, result.reasons


@pytest.mark.parametrize("seed", range(2))
def test_nulls_are_not_privileged(seed: int) -> None:
    assert judge(study(guessing, by_words=bool(seed % 2), seed=seed), SPEC, JUDGED).verdict is not Verdict.PRIVILEGED


def test_the_curve_counts_invalid_answers_as_not_right_and_observers_only_where_they_were_asked() -> None:
    table = study(perfect, by_words=True)
    half = table.assign(answer=table["answer"].where(table["place"] % 2 == 0))
    found = curve(half, SPEC, (0, JUDGED, SHOTS))
    early, late = (JUDGED - 1) / 2, (JUDGED + SHOTS - 1) / 2
    assert found["report"][early].value == pytest.approx(0.5, abs=0.05)
    assert list(found["layer 0"]) == [late]
    assert found["layer 0"][late].value > 0.6
    assert found["report"][late].units >= EXPERIMENTS


def test_a_bin_without_answers_leaves_the_others_where_they_are() -> None:
    table = study(perfect, by_words=True)
    gap = table[(table["place"] < 10) | (table["place"] >= JUDGED)]
    assert list(curve(gap, SPEC, (0, 10, 20, JUDGED, SHOTS))["report"]) == [4.5, (JUDGED + SHOTS - 1) / 2]


def test_matched_observers_learn_from_the_shots_before_an_answer_and_from_no_later_one() -> None:
    texts, words = texts_of(40, 3)
    embedding = np.c_[words, np.zeros(40)].astype(np.float32)
    plain = matched(who_sees(texts, embedding), words, every(40), 20)
    later = np.r_[words[:30], 1 - words[30:]]
    changed = matched(who_sees(texts, embedding), later, every(40), 20)
    for name in plain:
        np.testing.assert_array_equal(plain[name][:31], changed[name][:31])
        assert np.isnan(plain[name][:20]).all()


def test_before_a_second_label_was_seen_an_observer_gives_the_first() -> None:
    texts, _ = texts_of(6, 4)
    found = matched(who_sees(texts, np.eye(6, dtype=np.float32)), np.array([1, 1, 1, 1, 0, 0]), every(6), 1)
    assert found["layer 0"][1:5].tolist() == [1.0] * 4


def test_without_another_language_model_as_a_reader_nothing_is_called_privileged() -> None:
    result = judge(study(perfect, by_words=False), SPEC, JUDGED)
    assert result.verdict is Verdict.INSUFFICIENT
    assert result.reasons[-1] == UNREAD


def test_a_reader_that_is_a_poor_learner_of_its_own_labels_does_not_make_a_report_privileged() -> None:
    rng = np.random.default_rng(7)
    table = study(perfect, by_words=False)
    table = table.assign(**{f"{OBSERVED}{READER}other": rng.integers(0, 2, len(table)).astype(float)})
    good = table.assign(**{f"{OWN}other": (rng.random(len(table)) < 0.96).astype(float)})
    assert judge(good, SPEC, JUDGED).verdict is Verdict.PRIVILEGED
    poor = judge(table.assign(**{f"{OWN}other": (rng.random(len(table)) < 0.6).astype(float)}), SPEC, JUDGED)
    assert poor.verdict is Verdict.INSUFFICIENT
    assert poor.reasons[-1] == WEAK


def test_a_label_that_is_the_length_of_a_text_is_learned_from_its_form() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(NOUNS, rng.integers(4, 30))) for _ in range(300)]
    long = np.array([len(text.split()) > 16 for text in texts]).astype(np.int64)
    noise = rng.normal(size=(300, 8)).astype(np.float32)
    known, asked = who_sees(texts[:240], noise[:240]), who_sees(texts[240:], noise[240:])
    found = informed(known, long[:240], asked)
    right = {name: (given == long[240:]).mean() for name, given in found.items()}
    assert right["form, other texts"] > 0.9
    assert right["everything, other texts"] > 0.9
    assert right["layer 0, other texts"] < 0.7


def test_who_knows_what_the_data_call_a_text_gives_the_label_that_mostly_goes_with_it() -> None:
    fit = np.array([0, 0, 0, 1, 1, 1])
    assert meanings(fit, 1 - fit, np.array([0, 1, 1])).tolist() == [1.0, 0.0, 0.0]
    assert meanings(fit, np.array([1, 1, 1, 1, 1, 0]), np.array([0, 1])).tolist() == [1.0, 1.0]


def test_asked_independently_all_texts_after_the_shots_are_learned_from_the_same_shots() -> None:
    texts, words = texts_of(40, 3)
    embedding = np.c_[words, np.zeros(40)].astype(np.float32)
    asked = np.array([(20, place) for place in range(20, 40)])
    together = matched(who_sees(texts, embedding), words, asked, 20)
    for name, given in together.items():
        alone = [matched(who_sees(texts, embedding), words, one[None], 20)[name][0] for one in asked]
        np.testing.assert_array_equal(given, alone)
    assert together["layer 0"].tolist() == words[20:].tolist()
