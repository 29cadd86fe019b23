"""Observers of behaviour learn what the prompts tell, from the fit part alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from firsthand.auditing.labels.prediction_observers import Features, informed, matched, most_frequent
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
    return Bench(claim, prompts, FIT, behaviour, tuple("FGHJ")), Features(embedding, words)


@pytest.mark.parametrize("who", ["layer 0", "words"])
def test_observers_learn_what_the_prompt_tells_and_more_of_more_prompts(who: str) -> None:
    made, features = bench()
    one = made.settled[0]
    few, many = matched(made, one, features, 12), informed(made, one, features)
    assert np.mean(many[f"{who}, {FIT} prompts"] == one.judged_J) >= 0.9
    assert np.mean(few[f"{who}, 12 examples"] == one.judged_J) >= 0.6


def test_behaviour_that_the_prompt_does_not_tell_leaves_them_near_chance() -> None:
    made, features = bench(told=False)
    one = made.settled[0]
    for values in informed(made, one, features).values():
        assert 0.25 < np.mean(values == one.judged_J) < 0.75


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
