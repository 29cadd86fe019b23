"""Observers of behaviour learn what the prompts tell, from the fit part alone."""

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

from firsthand.auditing.labels.prediction_combined import combined
from firsthand.auditing.labels.prediction_observers import (
    Features,
    Outsider,
    form_of,
    informed,
    likelier,
    matched,
    most_frequent,
)
from firsthand.claims.labels import PredictionClaim
from firsthand.studies.labels.prediction.bench import Bench
from firsthand.studies.labels.prediction.prompts import Prompt

FIT, JUDGED = 48, 40
NOUNS = ("river", "cat", "letter", "window", "doctor", "song", "garden", "train")


def bench(seed: int = 0, told: bool = True, judged_as: str | None = None) -> tuple[Bench, Features]:
    """Prompts with "never" are answered "cow" and others "bread" (or by lot, if the prompt does not tell)."""
    rng = np.random.default_rng(seed)
    never = rng.integers(0, 2, FIT + JUDGED)
    said = never if told else rng.integers(0, 2, FIT + JUDGED)
    texts = [
        f"The {NOUNS[i % 8]} {'never' if one else 'often'} meets the {NOUNS[(3 * i + 1) % 8]}, number {i}."
        for i, one in enumerate(never)
    ]
    answers = ["cow" if one else "bread" for one in said]
    if judged_as is not None:
        answers[FIT:] = [judged_as] * 20 + ["bread"] * 20
    prompts = tuple(Prompt(text, f"g{i // 4}") for i, text in enumerate(texts))
    behaviour = pd.DataFrame(
        {"number": np.arange(len(texts)), "said": answers, "finished": True, "option": np.nan, "entropy": 1.0}
    )
    claim = PredictionClaim(
        data_sha256="0" * 64, properties=("second-character",), examples=(0, 12), fit=FIT, judged=JUDGED
    )
    embedding = np.c_[never + rng.normal(0, 0.1, len(texts)), rng.normal(0, 1, (len(texts), 6))].astype(np.float32)
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit_transform(texts)
    form = form_of(texts, [len(text.split()) for text in texts])
    return Bench(claim, prompts, FIT, behaviour, tuple("FGHJ")), Features(embedding, words, form)


def test_observers_learn_what_the_prompt_tells_and_more_of_more_prompts() -> None:
    made, features = bench()
    one = made.settled[0]
    few, many = matched(made, one, features, 12), informed(made, one, features)
    for who in ("layer 0", "words", "everything public"):
        assert np.mean(likelier(many[f"{who}, {FIT} prompts"]) == one.judged_J) >= 0.9
        assert np.mean(few[f"{who}, 12 examples"] == one.judged_J) >= 0.6


def test_behaviour_that_the_prompt_does_not_tell_leaves_them_near_chance() -> None:
    made, features = bench(told=False)
    one = made.settled[0]
    for values in informed(made, one, features).values():
        assert 0.25 < np.mean(likelier(values) == one.judged_J) < 0.75


def test_what_they_give_does_not_depend_on_the_answers_that_are_judged() -> None:
    plain, features = bench()
    other, _ = bench(judged_as="cow")
    for function in (informed, lambda b, s, f: {"mode": most_frequent(s)}):
        before, after = (function(b, b.settled[0], features) for b in (plain, other))
        for name, values in before.items():
            np.testing.assert_array_equal(values, after[name])


def test_without_examples_there_is_no_matched_observer() -> None:
    made, features = bench()
    assert matched(made, made.settled[0], features, 0) == {}


def test_the_mode_is_that_of_the_answers_to_learn_from() -> None:
    made, _ = bench()
    one = made.settled[0]
    expected = float(np.nanmean(one.fit_F) > 0.5)
    assert set(most_frequent(one).tolist()) == {expected}


def test_rare_words_do_not_drown_the_one_that_tells() -> None:
    """Standardised, each of the many words that occur once would weigh as much as the one that decides."""
    rng = np.random.default_rng(3)
    made, features = bench()
    one = made.settled[0]
    texts = [f"{prompt.text} {' '.join(f'w{rng.integers(0, 1000)}' for _ in range(30))}" for prompt in made.prompts]
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit_transform(texts)
    noisy = informed(made, one, Features(features.embedding_NH, words, features.form_NF))
    assert np.mean(likelier(noisy[f"words, {FIT} prompts"]) == one.judged_J) >= 0.87


def test_behaviour_that_the_length_of_the_prompt_decides_is_told_by_its_form() -> None:
    texts = [f"A prompt {'so ' * (i % 2) * 9}number {i}" for i in range(FIT + JUDGED)]
    made, features = bench()
    said = ["cow" if i % 2 else "bread" for i in range(FIT + JUDGED)]
    made = Bench(made.claim, made.prompts, FIT, made.behaviour.assign(said=said), made.letters)
    form = form_of(texts, [len(text.split()) for text in texts])
    found = informed(made, made.settled[0], Features(features.embedding_NH, features.words, form))
    assert np.mean(likelier(found[f"form, {FIT} prompts"]) == made.settled[0].judged_J) >= 0.95


def test_form_counts_tokens_characters_and_digits_and_knows_questions() -> None:
    found = form_of(["How much is 3 and 42?", "1, 2,"], [8, 4])
    np.testing.assert_allclose(found[:, 0], np.log1p([8, 4]))
    np.testing.assert_allclose(np.expm1(found[:, 2]), [3, 2])
    assert found[:, 3].tolist() == [1.0, 0.0]
    assert found[:, 4].tolist() == [0.0, 1.0]


def test_another_models_states_are_an_observer_of_the_layer_that_does_best() -> None:
    made, features = bench(told=False)
    one = made.settled[0]
    truth = np.r_[one.fit_F, one.judged_J]
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(len(truth), 5)).astype(np.float32)
    telling = np.c_[truth + rng.normal(0, 0.1, len(truth)), noise].astype(np.float32)
    other = Outsider("reader: other", np.full(len(truth), np.nan), {1: noise, 3: telling})
    found = informed(made, one, features, [other])
    assert np.mean(likelier(found[f"reader: other, its states of {FIT} prompts"]) == one.judged_J) >= 0.9


def test_what_another_model_answers_itself_is_a_part_of_everything_public() -> None:
    made, features = bench(told=False)
    one = made.settled[0]
    alike = Outsider("reader: other", np.r_[one.fit_F, one.judged_J], {})
    with_it, without = (informed(made, one, features, some) for some in ([alike], []))
    name = f"everything public, {FIT} prompts"
    assert np.mean(likelier(with_it[name]) == one.judged_J) >= 0.9
    assert np.mean(likelier(without[name]) == one.judged_J) < 0.75


def halves_that_tell_together(rows: int = 160) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """A class that is the sum of what two observers say, each of which is little better than chance."""
    rng = np.random.default_rng(5)
    told = rng.normal(size=(rows, 2))
    truth = (told.sum(axis=1) > 0).astype(float)
    table = pd.DataFrame(
        {"truth": truth, "group": [f"g{i // 4}" for i in range(rows)], "experiment": np.arange(rows) % 2}
    )
    drift = 50.0 * (np.arange(rows) % 2)[:, None]  # one draw's letters are liked better
    return table, {"a": np.c_[told[:, 0], -told[:, 0]] + drift, "b": np.c_[told[:, 1], -told[:, 1]]}


def test_what_two_observers_say_together_is_put_together_whatever_a_draw_of_letters_adds() -> None:
    table, said = halves_that_tell_together()
    found = combined(table, said, 2)
    alone = max(np.mean((values[:, 0] > np.median(values[:, 0])) == table["truth"]) for values in said.values())
    assert np.mean(found == table["truth"]) >= 0.9 > alone


def test_no_class_of_its_own_group_teaches_the_observer_that_puts_together() -> None:
    rng = np.random.default_rng(2)
    number = np.arange(160) // 4
    table = pd.DataFrame(
        {"truth": rng.permutation(40)[number] % 2.0, "group": number.astype(str), "experiment": np.arange(160) % 2}
    )
    found = combined(table, {"who": np.eye(40)[number]}, 2)
    assert np.mean(found == table["truth"]) < 0.7
