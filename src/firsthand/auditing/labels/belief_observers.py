"""Observers of belief dominance: what whoever sees the prompts, or the answers too, makes of the labels.

Each learns from one kind of public evidence, and two from all of it side by side: a sum of what the parts tell, and
trees, which find what only several parts tell together. *Matched* observers learn from the shots that the model was
shown; *informed* ones from every record that shots may come from. Either way the classes are balanced by oversampling
before anything is fitted.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.feature_extraction.text import TfidfVectorizer

from firsthand.auditing.labels.belief_evidence import (
    ANSWER_EVERYTHING,
    ANSWER_EVERYTHING_TREES,
    ANSWER_WORDS,
    EVERYTHING,
    EVERYTHING_TREES,
    MOST_FREQUENT,
    WORDS,
    Evidence,
    sees_answer,
)
from firsthand.auditing.labels.belief_learning import Choices, Pair, linear, trees
from firsthand.claims.labels.belief import CLASSES
from firsthand.errors import LabelsError
from firsthand.studies.labels.belief.bench import Bench
from firsthand.studies.labels.belief.reporting import TARGET, Experiment
from firsthand.studies.labels.belief.scores import fit_clusters, points_of
from firsthand.trials.randomness import stream

SHOTS: Final = "the same shots"
ALL_RECORDS: Final = "all records for shots"
"""What observers of a conversation learn from."""


def observers(
    evidence: Evidence,
    seen: NDArray[np.int64],
    labels: NDArray[np.int64],
    asked: NDArray[np.int64],
    *purpose: str | int,
) -> dict[str, Choices]:
    """What each observer gives, having been shown some answers with their labels.

    Args:
        evidence: What is public.
        seen: Places of the answers that they learn from.
        labels: Labels of those.
        asked: Places of the answers that are asked about.
        purpose: Name of the random streams of oversampling, folds and trees.

    Returns:
        What each gives: those of :attr:`Evidence.features`, the words, everything side by side (with the answer and
        without), and the most frequent class.
    """
    with config_context(assume_finite=True, skip_parameter_validation=True):  # half of the time of such small fits
        return _learned(evidence, seen, labels, asked, *purpose)


def _learned(
    evidence: Evidence,
    seen: NDArray[np.int64],
    labels: NDArray[np.int64],
    asked: NDArray[np.int64],
    *purpose: str | int,
) -> dict[str, Choices]:
    groups = [evidence.subjects[i] for i in seen]
    blocks: dict[str, Pair] = {name: (values[seen], values[asked]) for name, values in evidence.features.items()}
    both = [f"{text} {said}" for text, said in zip(evidence.texts, evidence.said, strict=True)]
    blocks[WORDS], blocks[ANSWER_WORDS] = (_worded(texts, seen, asked) for texts in (evidence.texts, both))
    found = {name: linear([pair], labels, groups, *purpose) for name, pair in blocks.items()}
    public = [pair for name, pair in blocks.items() if not sees_answer(name)]
    shown = [*public, *(pair for name, pair in blocks.items() if sees_answer(name))]
    for names, some in (
        ((EVERYTHING, EVERYTHING_TREES), public),
        ((ANSWER_EVERYTHING, ANSWER_EVERYTHING_TREES), shown),
    ):
        found[names[0]] = linear(some, labels, groups, *purpose)
        found[names[1]] = trees(some, labels, *purpose)
    found[MOST_FREQUENT] = np.full(len(asked), float(np.bincount(labels, minlength=CLASSES).argmax()))
    return found


def _worded(texts: Sequence[str], seen: NDArray[np.int64], asked: NDArray[np.int64]) -> Pair:
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    words = vectorizer.fit_transform([texts[i] for i in seen]).toarray()
    return words, vectorizer.transform([texts[i] for i in asked]).toarray()


def names_of(table: pd.DataFrame, made: Experiment) -> list[str]:
    """``trial_id`` of what an experiment asks about."""
    return [f"{made.number}/{item}/{TARGET}" for item in table["item"].iloc[made.asked]]


def observed(
    evidence: Evidence,
    table: pd.DataFrame,
    experiments: Sequence[Experiment],
    *purpose: str | int,
    learning: Sequence[str] = (SHOTS, ALL_RECORDS),
) -> dict[str, dict[str, float]]:
    """What observers give in each experiment, by observer and ``trial_id``.

    Args:
        evidence: What is public.
        table: One row an answer.
        experiments: The experiments, with their labels.
        purpose: Name of the random streams.
        learning: What they learn from.
    """
    given: dict[str, dict[str, float]] = {}
    for made in experiments:
        names = names_of(table, made)
        learned: Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {
            SHOTS: (made.shots, made.shot_labels),
            ALL_RECORDS: (made.fit, made.fit_labels),
        }
        for how in learning:
            seen, labels = learned[how]
            for name, values in observers(evidence, seen, labels, made.asked, *purpose, made.number, how).items():
                given.setdefault(f"{name}, {how}", {}).update(zip(names, values.tolist(), strict=True))
    return given


def by_states(
    states: NDArray[np.float64], evidence: Evidence, table: pd.DataFrame, experiments: Sequence[Experiment], seed: int
) -> dict[str, float]:
    """What a classifier on another model's states of the texts gives, learned on all records for shots, by trial."""
    found: dict[str, float] = {}
    for made in experiments:
        pair = states[made.fit], states[made.asked]
        groups = [evidence.subjects[i] for i in made.fit]
        values = linear([pair], made.fit_labels, groups, seed, "states", made.number)
        found |= dict(zip(names_of(table, made), values.tolist(), strict=True))
    return found


def split_rows(bench: Bench, table: pd.DataFrame, evidence: Evidence) -> pd.DataFrame:
    """The paper's own test: observers on random halves of the records, no subject in both.

    Clusters are fitted on the half that observers learn from.

    Returns:
        One row for each observer and tested answer of each split: ``split``, ``observer``, ``item``, ``subject``,
        ``truth``, ``answer``. Splits on which three clusters cannot be made are missing.
    """
    usable = np.flatnonzero((table["states"] > 0).to_numpy())
    subjects = table["subject"].str.casefold().to_numpy()
    points, rows = points_of(table), []
    for split in range(bench.claim.splits):
        order = stream("belief", bench.claim.seed, "splits", split).permutation(sorted(set(subjects[usable])))
        learning = set(order[: len(order) // 2].tolist())
        inside = np.array([subjects[i] in learning for i in usable])
        seen, asked = usable[inside], usable[~inside]
        made = halves(points, seen, asked, bench.claim.seed)
        if made is None:
            continue
        labels, truth = made
        for name, values in observers(evidence, seen, labels, asked, bench.claim.seed, "split", split).items():
            some = table.iloc[asked]
            rows.append(
                pd.DataFrame(
                    {
                        "split": split,
                        "observer": name,
                        "item": some["item"].to_numpy(),
                        "subject": some["subject"].to_numpy(),
                        "truth": truth,
                        "answer": values,
                    }
                )
            )
    columns = ["split", "observer", "item", "subject", "truth", "answer"]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)


def halves(
    points: NDArray[np.float64], seen: NDArray[np.int64], asked: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Labels of both halves by clusters of the first; ``None`` if three cannot be made of it."""
    if not len(seen) or not len(asked):
        return None
    try:
        clusters = fit_clusters(points[seen], seed)
    except LabelsError:
        return None
    return clusters.of(points[seen]), clusters.of(points[asked])
