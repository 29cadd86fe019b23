"""Observers of confidence: what question, answer and other models tell of whether an answer is right.

Under *Y withheld* an observer reads the question alone; under *Y shown* also the answer, how likely the model found it
among the options (the output's distribution, not the report), what the same model says of it in the third person, and
what another model makes of it. What has to be fitted is fitted on other questions, with whole subjects held out where
there are enough of them.

A prediction that is held out carries the base rate of the other folds, which is higher where the own fold is lower; of
every fold the mean over its training rows is taken off, so that knowing nothing is worth one half and not less.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from firsthand.analysis.auroc import area
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.report_confidence import Foreseen
from firsthand.engine import LoadedModel
from firsthand.studies.labels.confidence.questions import MultipleChoice

FOLDS: Final = 5
LEAST_SUBJECTS: Final = 10
"""With fewer subjects than this single questions are held out, and are the only independent units."""
STRENGTHS: Final = (1e-3, 1e-2, 1.0)
COMPONENTS: Final = 16
THIRD: Final = "same model, third person"
LIKELIHOOD: Final = "probability of the answer"
SHRUNK: Final = 4.0
"""Answers of the usual rate that are added to each subject's."""


@dataclass(frozen=True, eq=False)
class OtherModel:
    """What another model made of the same questions and answers, one value a question.

    Attributes:
        name: Its name.
        sure: How likely it finds its own answer.
        likelihood: How likely it finds the judged model's answer.
        true: How likely it says that answer is right.
    """

    name: str
    sure: FloatArray
    likelihood: FloatArray
    true: FloatArray


@dataclass(frozen=True, eq=False)
class Public:
    """Everything that observers may see.

    Attributes:
        items: The questions.
        answers: What was answered, without what is right.
        embedding_NH: Mean embedding of each question's tokens, ``[questions, hidden]``.
        third: What the same model says of the answer when it is a student's.
        other: What another model made of all that.
    """

    items: tuple[MultipleChoice, ...]
    answers: pd.DataFrame
    embedding_NH: NDArray[np.float32]
    third: FloatArray
    other: OtherModel | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers", self.answers.drop(columns="right", errors="ignore"))

    @property
    def groups(self) -> NDArray[np.int64]:
        """What must not be on both sides of a split: the subject, or with few subjects the question."""
        names = [item.subject for item in self.items]
        if len(set(names)) < LEAST_SUBJECTS:
            names = [item.key for item in self.items]
        return pd.factorize(np.asarray(names, dtype=object))[0].astype(np.int64)


def embedded(loaded: LoadedModel, items: Sequence[MultipleChoice]) -> NDArray[np.float32]:
    """Mean of the embedding over each question's own tokens: words without their order, ``[questions, hidden]``."""
    table = loaded.model.get_input_embeddings()
    found = []
    with torch.no_grad():
        for item in items:
            tokens = loaded.tokenizer.encode(item.text, add_special_tokens=False)
            here = table(torch.tensor(tokens, device=loaded.model.device))
            found.append(here.float().mean(0).cpu().numpy())
    return np.stack(found).astype(np.float32)


def foreseen(public: Public, right: FloatArray) -> dict[str, Foreseen]:
    """What each observer foresees of every answer.

    Args:
        public: What they see.
        right: Whether answers are right, from which they learn, NaN where an answer is invalid ``[questions]``.
    """
    texts = np.array([item.text for item in public.items], dtype=object)
    form, groups = _form(public), public.groups
    words = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), _regression())
    dense = make_pipeline(StandardScaler(), _regression())
    asked = np.c_[form, public.embedding_NH]
    found = {
        "words of the question": Foreseen(held_out(words, texts, right, groups)),
        "length and form": Foreseen(held_out(dense, form, right, groups)),
        "layer 0": Foreseen(held_out(dense, public.embedding_NH, right, groups)),
        "subject": Foreseen(_subject_rate(public, right)),
    }
    answers = public.answers
    shown = np.c_[_output(answers), _of_answer(public), _logit(public.third)]
    found[LIKELIHOOD] = Foreseen(answers["top"].to_numpy(dtype=np.float64), sees_output=True)
    found["margin to the next option"] = Foreseen(answers["margin"].to_numpy(dtype=np.float64), sees_output=True)
    found["entropy of the options"] = Foreseen(-answers["entropy"].to_numpy(dtype=np.float64), sees_output=True)
    found[THIRD] = Foreseen(public.third, sees_output=True)
    if public.other is not None:
        other, name = public.other, f"reader: {public.other.name}"
        found[f"{name}, how sure it is itself"] = Foreseen(other.sure)
        found[f"{name}, its probability of the answer"] = Foreseen(other.likelihood, sees_output=True)
        found[f"{name}, its P(True)"] = Foreseen(other.true, sees_output=True)
        asked = np.c_[_logit(other.sure), asked]
        shown = np.c_[shown, _logit(other.sure), _logit(other.likelihood), _logit(other.true)]
    numbers = asked.shape[1] - public.embedding_NH.shape[1]
    found["everything in the question"] = Foreseen(held_out(_both(numbers), asked, right, groups))
    every = np.c_[shown, asked]
    both = _both(shown.shape[1] + numbers)
    found["everything in question and answer"] = Foreseen(held_out(both, every, right, groups), sees_output=True)
    return found


def held_out(model: Pipeline, features: NDArray[Any], right: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """Log odds of a right answer, each from a fit that saw none of its group, above the mean of that fit's own rows.

    Args:
        model: A pipeline that ends in a logistic regression.
        features: One row a question.
        right: 1 or 0, NaN where nothing can be learned from an answer.
        groups: What must not be on both sides of a split.

    Returns:
        Log odds ``[questions]``; 0 where a fit would have seen one class only.
    """
    values = np.zeros(len(right))
    for train, test in splits(right, groups):
        fitted = _fitted(model, features[train], right[train].astype(np.int64), groups[train])
        values[test] = fitted.decision_function(features[test]) - fitted.decision_function(features[train]).mean()
    return values


def splits(
    right: FloatArray, groups: NDArray[np.int64], folds: int = FOLDS
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows to learn from, all with a valid answer, and rows to be foreseen; only where both classes can be learned."""
    names = np.unique(groups)
    count = min(folds, len(names))
    if count < 2:
        return
    # Folds are dealt out in the order of the groups' numbers; questions come subject by subject in turn, so without a
    # lot all questions of a subject might fall into one fold.
    mixed = np.random.default_rng(0).permutation(len(names))[np.searchsorted(names, groups)]
    for train, test in GroupKFold(count).split(np.zeros(len(right)), groups=mixed):
        known = train[np.isfinite(right[train])]
        if len(np.unique(right[known])) == 2:
            yield known, test


def _fitted(model: Pipeline, features: NDArray[Any], right: NDArray[np.int64], groups: NDArray[np.int64]) -> Pipeline:
    inner = [
        (train, test) for train, test in splits(right.astype(np.float64), groups, 3) if len(np.unique(right[test])) == 2
    ]
    made = clone(model)
    name, last = made.steps[-1]
    if not inner:
        made.steps[-1] = (name, LogisticRegression(C=STRENGTHS[1], max_iter=1000))
    else:
        last.set_params(cv=inner)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made.fit(features, right)


def _regression() -> LogisticRegressionCV:
    return LogisticRegressionCV(Cs=list(STRENGTHS), max_iter=1000, scoring="neg_log_loss")


def _both(numbers: int) -> Pipeline:
    """Numbers as they are, and the embedding by its principal components, which are fitted inside of a fold."""
    parts = [
        ("numbers", StandardScaler(), slice(0, numbers)),
        ("embedding", make_pipeline(StandardScaler(), PCA(COMPONENTS, random_state=0)), slice(numbers, None)),
    ]
    return make_pipeline(ColumnTransformer(parts), _regression())


def _form(public: Public) -> FloatArray:
    """Lengths and other outward features of question and options ``[questions, features]``."""
    rows = []
    for item in public.items:
        lengths = [len(option) for option in item.options]
        rows.append(
            [
                np.log1p(len(item.question)),
                np.log1p(np.mean(lengths)),
                np.log1p(max(lengths) - min(lengths)),
                len(re.findall(r"\d", item.text)) / max(1, len(item.text)),
                float("_" in item.question),
                float(any(word in item.question for word in ("NOT", "EXCEPT", "not"))),
                float(any("all of" in o.lower() or "none of" in o.lower() for o in item.options)),
            ]
        )
    return np.asarray(rows, dtype=np.float64)


def _of_answer(public: Public) -> FloatArray:
    """Outward features of the answer: its letter in the first order, and its length among the options."""
    answers = public.answers
    rows = []
    for item, answer, place in zip(public.items, answers["answer"], answers["place"], strict=True):
        lengths = [len(option) for option in item.options]
        rank = sorted(lengths).index(lengths[int(answer)]) / max(1, len(lengths) - 1)
        rows.append([float(place), rank, np.log1p(lengths[int(answer)])])
    return np.asarray(rows, dtype=np.float64)


def _output(answers: pd.DataFrame) -> FloatArray:
    return answers[["top", "margin", "entropy", "agree", "coverage"]].to_numpy(dtype=np.float64)


def _logit(share: FloatArray) -> FloatArray:
    inside = np.clip(share, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(inside) - np.log1p(-inside), dtype=np.float64)


def _subject_rate(public: Public, right: FloatArray) -> FloatArray:
    """How often other answers on the same subject are right, beyond how often answers are."""
    subjects = np.asarray([item.subject for item in public.items], dtype=object)
    values = np.zeros(len(right))
    for train, test in splits(right, np.arange(len(right))):
        usual = float(right[train].mean())
        for row in test:
            same = right[train[subjects[train] == subjects[row]]]
            values[row] = (same.sum() + SHRUNK * usual) / (len(same) + SHRUNK) - usual
    return values


def probe(states_NLH: NDArray[np.float32], right: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """Whether an answer is right, as a probe reads it at the place of the answer; the layer is chosen on other folds.

    Args:
        states_NLH: Residual streams, ``[questions, layers, hidden]``.
        right: 1 or 0, NaN where an answer is invalid.
        groups: What must not be on both sides of a split.

    Returns:
        Above 0 for a right answer ``[questions]``; NaN where nothing could be fitted.
    """
    model = make_pipeline(
        StandardScaler(), LogisticRegressionCV(Cs=list(STRENGTHS), max_iter=1000, class_weight="balanced")
    )
    values = np.full(len(right), np.nan)
    for train, test in splits(right, groups):
        layer = _best_layer(model, states_NLH[train], right[train], groups[train])
        fitted = _fitted(model, states_NLH[train, layer], right[train].astype(np.int64), groups[train])
        values[test] = fitted.decision_function(states_NLH[test, layer])
    return values


def _best_layer(model: Pipeline, states_NLH: NDArray[np.float32], right: FloatArray, groups: NDArray[np.int64]) -> int:
    plain = make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTHS[2], max_iter=1000, class_weight="balanced"))
    scores = []
    for layer in range(states_NLH.shape[1]):
        read = np.zeros(len(right))
        for train, test in splits(right, groups, 3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = plain.fit(states_NLH[train, layer], right[train])
            read[test] = fitted.decision_function(states_NLH[test, layer])
        scores.append(np.nan_to_num(area(right, read).value, nan=0.5))
    return int(np.argmax(scores))
