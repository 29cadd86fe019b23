"""Observers of belief dominance: what the entities, the words and the kind of a prompt tell, and what the answer does.

The two restricted observers are those of arXiv 2605.26242, section 5.2: a logistic regression on the mean embedding
("layer 0") of the subject and of the counter entity, and of the base and of the counter entity, without anything of the
prompt. The paper supposes that frequency is behind what they find, so it is asked for by itself. *Matched* observers
learn from the shots that the model was shown; *informed* ones from every record that shots may come from. Either way
the classes are balanced by oversampling before anything is fitted.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from firsthand.claims.labels.belief import CLASSES
from firsthand.engine import LoadedModel
from firsthand.errors import LabelsError
from firsthand.studies.labels.belief.bench import Bench
from firsthand.studies.labels.belief.records import occurs
from firsthand.studies.labels.belief.scores import fit_clusters, points_of
from firsthand.trials.randomness import stream

SUBJECT_COUNTER: Final = "layer 0 of subject and counter"
BASE_COUNTER: Final = "layer 0 of base and counter"
FREQUENCY: Final = "frequency and length"
PRIOR: Final = "prior without evidence"
KIND: Final = "kind of conflict"
WORDS: Final = "words of the prompt"
ANSWER: Final = "visible answer"
MOST_FREQUENT: Final = "most frequent class"

STRENGTHS: Final = (0.001, 0.02, 0.4)
"""Inverse regularisations that are tried, the stiffest first: it is kept among equals."""
_FOLDS: Final = 3

Choices = NDArray[np.float64]
"""The class that an observer gives each answer, NaN where it gives none ``[answers]``."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is public about each answer.

    Attributes:
        features: Numbers that observers learn from, by observer, ``[answers, features]``.
        texts: What the user said.
        sees_output: Which observers see the model's answer.
    """

    features: Mapping[str, NDArray[np.float64]]
    texts: tuple[str, ...]
    sees_output: frozenset[str] = field(default_factory=lambda: frozenset({ANSWER}))


def evidence_of(bench: Bench, table: pd.DataFrame) -> Evidence:
    """What is public about each answer of a study.

    Args:
        bench: What is fixed.
        table: One row an answer, of which ``record``, ``kind``, ``text``, ``said``, ``base`` and ``counter`` are used:
            never the dominances.
    """
    records = table["record"].to_numpy()
    facts = [bench.facts[record] for record in records]
    subject, base, counter = (
        embeddings(bench.loaded, [getattr(fact, part) for fact in facts]) for part in ("subject", "base", "counter")
    )
    kinds = pd.get_dummies(pd.Categorical(table["kind"], [kind.name for kind in bench.claim.kinds])).to_numpy(float)
    lengths = np.array(
        [[len(_tokens(bench.loaded, part)) for part in (fact.base, fact.counter, fact.subject)] for fact in facts],
        dtype=np.float64,
    )
    words = np.array([[len(text.split())] for text in table["text"]], dtype=np.float64)
    likely, common = bench.likely_R2[records], bench.common_R2[records]
    said = [
        [occurs(fact.base, text), occurs(fact.counter, text), len(text.split()), *_ending(bench.loaded, text)]
        for fact, text in zip(facts, table["said"], strict=True)
    ]
    return Evidence(
        {
            SUBJECT_COUNTER: np.hstack([subject, counter]),
            BASE_COUNTER: np.hstack([base, counter]),
            FREQUENCY: np.hstack([lengths, words, np.nan_to_num(common, nan=-50.0), kinds]),
            PRIOR: np.hstack([likely, likely[:, :1] - likely[:, 1:], kinds]),
            KIND: kinds,
            ANSWER: np.hstack([np.array(said, dtype=np.float64), kinds]),
        },
        tuple(table["text"]),
    )


def embeddings(loaded: LoadedModel, entities: Sequence[str]) -> NDArray[np.float64]:
    """The mean embedding of each entity's tokens, as they are within a sentence ``[entities, hidden]``."""
    weight_VH = loaded.model.get_input_embeddings().weight.detach()
    return np.stack([weight_VH[_tokens(loaded, entity)].float().mean(0).cpu().double().numpy() for entity in entities])


def _ending(loaded: LoadedModel, said: str) -> tuple[int, bool]:
    """Tokens of an answer and whether it ends in a stop: a state at a stop holds less, so they bear on dominance."""
    return len(_tokens(loaded, said)), bool(said) and not said[-1].isalnum()


def _tokens(loaded: LoadedModel, entity: str) -> list[int]:
    return [int(token) for token in loaded.tokenizer.encode(f" {entity}", add_special_tokens=False)]


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
        purpose: Name of the random stream of the oversampling.

    Returns:
        What each gives: those of :attr:`Evidence.features`, the words, and the most frequent class.
    """
    found = {name: _told(values[seen], labels, values[asked], *purpose) for name, values in evidence.features.items()}
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    words = vectorizer.fit_transform([evidence.texts[i] for i in seen]).toarray()
    others = vectorizer.transform([evidence.texts[i] for i in asked]).toarray()
    found[WORDS] = _told(words, labels, others, *purpose)
    found[MOST_FREQUENT] = np.full(len(asked), float(np.bincount(labels, minlength=CLASSES).argmax()))
    return found


def oversampled(labels: NDArray[np.int64], *purpose: str | int) -> NDArray[np.int64]:
    """Places of examples, some several times, so that every class that there is has as many as the largest."""
    draw = stream("belief", "oversampled", *purpose)
    counts = np.bincount(labels)
    parts = []
    for one in np.flatnonzero(counts):
        members = np.flatnonzero(labels == one)
        parts += [members, draw.choice(members, size=int(counts.max()) - len(members))]
    return np.concatenate(parts).astype(np.int64)


def _told(
    seen: NDArray[np.float64],
    labels: NDArray[np.int64],
    asked: NDArray[np.float64],
    *purpose: str | int,
) -> Choices:
    """What a logistic regression gives that was fitted on the oversampled examples.

    How strongly it is held back is chosen by how it does on parts of the examples that are held out, all classes
    counting alike: an observer that is too stiff to learn would be no opponent.
    """
    if len(set(labels.tolist())) == 1:
        return np.full(len(asked), float(labels[0]))
    seen, asked = _spanned(seen, asked)
    fold = stream("belief", "observer folds", *purpose).permutation(np.arange(len(labels)) % _FOLDS)
    counts = 1.0 / np.maximum(np.bincount(labels, minlength=CLASSES), 1)
    worth = dict.fromkeys(STRENGTHS, 0.0)
    for part in range(_FOLDS):
        held = fold == part
        known = labels[~held]
        if len(set(known.tolist())) < 2 or not held.any():
            continue
        grown = oversampled(known, *purpose, part)
        for strength in STRENGTHS:
            given = _fitted(seen[~held][grown], known[grown], seen[held], strength)
            worth[strength] += float(counts[labels[held]][given == labels[held]].sum())
    grown = oversampled(labels, *purpose)
    return _fitted(seen[grown], labels[grown], asked, max(STRENGTHS, key=lambda strength: worth[strength]))


def _spanned(seen: NDArray[np.float64], asked: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Standardised features, as coordinates along what the examples span.

    A regression that is held back by the square of its weights has no weight beside that, so it gives the same with
    these few coordinates as with all features.
    """
    scaler = StandardScaler().fit(seen)
    seen, asked = scaler.transform(seen), scaler.transform(asked)
    axes = np.linalg.svd(seen, full_matrices=False)[2]
    return np.asarray(seen @ axes.T, dtype=np.float64), np.asarray(asked @ axes.T, dtype=np.float64)


def _fitted(
    seen: NDArray[np.float64], labels: NDArray[np.int64], asked: NDArray[np.float64], strength: float
) -> Choices:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = LogisticRegression(C=strength, max_iter=200, tol=1e-3).fit(seen, labels)
    return np.asarray(fitted.predict(asked), dtype=np.float64)


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
