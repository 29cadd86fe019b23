"""Observers of confidence: what question, answer and other models tell of whether an answer is right.

Under *Y withheld* an observer reads the question alone; under *Y shown* also the answer, how likely the model found it
among the options (the output's distribution, not the report), what the same model says of it in the third person, and
what another model makes of it. What has to be fitted is fitted on other questions, with whole subjects held out where
there are enough of them (see :mod:`firsthand.auditing.labels.confidence_fitting`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from firsthand.analysis.inference import FloatArray
from firsthand.analysis.report_confidence import Foreseen
from firsthand.auditing.labels.confidence_fitting import Features, dense, held_out, splits, together, words
from firsthand.auditing.labels.confidence_gates import OtherModel, Said
from firsthand.auditing.labels.readers import READER
from firsthand.engine import LoadedModel
from firsthand.errors import AnalysisError
from firsthand.studies.labels.confidence.questions import MultipleChoice

LEAST_SUBJECTS: Final = 10
"""With fewer subjects than this single questions are held out, since too few subjects are left to learn from."""
THIRD: Final = "same model, third person"
LIKELIHOOD: Final = "probability of the answer"
SHRUNK: Final = 4.0
"""Answers of the usual rate that are added to each subject's."""


def third_person(ask: str) -> str:
    """Name of the same model in the third person, asked in one form."""
    return f"{THIRD} ({ask})"


@dataclass(frozen=True, eq=False)
class Public:
    """Everything that observers may see.

    Attributes:
        items: The questions.
        answers: What was answered, without what is right, in the order of the questions.
        embedding_NH: Mean embedding of each question's tokens, ``[questions, hidden]``.
        answer_NH: The same of the option that was answered.
        third: What the same model says of the answer when it is a student's, by report.
        other: What another model made of all that.

    Raises:
        AnalysisError: If the answers are in another order than the questions.
    """

    items: tuple[MultipleChoice, ...]
    answers: pd.DataFrame
    embedding_NH: NDArray[np.float32]
    answer_NH: NDArray[np.float32]
    third: Mapping[str, Said]
    other: OtherModel | None = None

    def __post_init__(self) -> None:
        if list(self.answers["question"]) != [item.key for item in self.items]:
            raise AnalysisError("The answers are not in the order of the questions.", "Align them by their names.")
        object.__setattr__(self, "answers", self.answers.drop(columns="right", errors="ignore"))

    @property
    def groups(self) -> NDArray[np.int64]:
        """What must not be on both sides of a split: the subject, or with few subjects the question."""
        names = [item.subject for item in self.items]
        if len(set(names)) < LEAST_SUBJECTS:
            names = [item.key for item in self.items]
        return pd.factorize(np.asarray(names, dtype=object))[0].astype(np.int64)

    @property
    def chosen(self) -> list[str]:
        """Text of the option that was answered."""
        return [item.options[int(answer)] for item, answer in zip(self.items, self.answers["answer"], strict=True)]


def embedded(loaded: LoadedModel, texts: Sequence[str]) -> NDArray[np.float32]:
    """Mean of the embedding over each text's own tokens: words without their order, ``[texts, hidden]``."""
    table = loaded.model.get_input_embeddings()
    found = []
    with torch.no_grad():
        for text in texts:
            tokens = loaded.tokenizer.encode(text, add_special_tokens=False)
            here = table(torch.tensor(tokens, dtype=torch.long, device=loaded.model.device))
            found.append(here.float().sum(0).cpu().numpy() / max(1, len(tokens)))
    return np.stack(found).astype(np.float32)


def foreseen(public: Public, right: FloatArray) -> dict[str, Foreseen]:
    """What each observer foresees of every answer.

    Args:
        public: What they see.
        right: Whether answers are right, from which they learn, NaN where an answer is invalid ``[questions]``.
    """
    found, asked = _of_question(public, right)
    answers, groups = public.answers, public.groups
    shown = [_output(answers), _of_answer(public), *(_logit(said.raw)[:, None] for said in public.third.values())]
    chosen = np.array(public.chosen, dtype=object)
    for name, values in {
        LIKELIHOOD: answers["top"].to_numpy(dtype=np.float64),
        "margin to the next option": answers["margin"].to_numpy(dtype=np.float64),
        "entropy of the options": -answers["entropy"].to_numpy(dtype=np.float64),
        **{third_person(ask): said.raw for ask, said in public.third.items()},
        "words of the answer": held_out(words(), chosen, right, groups),
        "layer 0 of the answer": held_out(dense(), public.answer_NH, right, groups),
    }.items():
        found[name] = Foreseen(values, sees_output=True)
    if public.other is not None:
        other, name = public.other, f"{READER}{public.other.name}"
        found[f"{name}, how sure it is itself"] = Foreseen(other.answered.raw)
        found[f"{name}, its probability of the answer"] = Foreseen(other.likelihood, sees_output=True)
        for ask, said in other.said.items():
            found[f"{name}, asked the same ({ask})"] = Foreseen(said.raw, sees_output=True)
        shown += [_logit(one)[:, None] for one in (other.likelihood, *(said.raw for said in other.said.values()))]
    question = Features(asked, [public.embedding_NH])
    found["everything in the question"] = Foreseen(together(question, right, groups))
    every = Features(np.concatenate([*shown, asked], axis=1), [public.embedding_NH, public.answer_NH], chosen)
    found["everything in question and answer"] = Foreseen(together(every, right, groups), sees_output=True)
    return found


def _of_question(public: Public, right: FloatArray) -> tuple[dict[str, Foreseen], FloatArray]:
    """What is foreseen from the question alone, and the numbers that the question has."""
    texts: NDArray[Any] = np.array([item.text for item in public.items], dtype=object)
    form, groups = _form(public), public.groups
    found = {
        "words of the question": Foreseen(held_out(words(), texts, right, groups)),
        "length and form": Foreseen(held_out(dense(), form, right, groups)),
        "layer 0": Foreseen(held_out(dense(), public.embedding_NH, right, groups)),
        "subject": Foreseen(_subject_rate(public, right)),
    }
    if public.other is not None:
        form = np.c_[_logit(public.other.answered.raw), form]
    return found, form


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
    """Outward features of the answer: its letter in the first order (one column a letter), and its length."""
    answers = public.answers
    letters = np.eye(max(len(item.options) for item in public.items))
    rows = []
    for item, answer, place in zip(public.items, answers["answer"], answers["place"], strict=True):
        lengths = [len(option) for option in item.options]
        rank = sorted(lengths).index(lengths[int(answer)]) / max(1, len(lengths) - 1)
        rows.append([*letters[int(place)], rank, np.log1p(lengths[int(answer)])])
    return np.asarray(rows, dtype=np.float64)


def _output(answers: pd.DataFrame) -> FloatArray:
    """The output's distribution, with the log share of the answer in each order."""
    numbers = answers[["top", "margin", "entropy", "agree", "coverage"]].to_numpy(dtype=np.float64)
    by_order = np.stack([np.asarray(one, dtype=np.float64) for one in answers["each"]])
    return np.concatenate([numbers, by_order], axis=1)


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
