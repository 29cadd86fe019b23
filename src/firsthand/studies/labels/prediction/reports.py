"""The conditions under which a model is asked what an answer would be, as rows.

``target``
    the model about itself, after some examples of its own behaviour, or none
``lot``
    the same where the classes of the examples were drawn by lot: was it learned from them? It decides nothing
``third person``
    the same model, the same examples, asked about "a language model"
``answer shown``
    the model reads the answers, in the examples and in the question: no prediction, but whether it can tell the
    property at all
``asked outright``
    the prompt itself, after the same examples: whether the behaviour is still what it was

Another model is asked in the third person too, with the same words and the same examples.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from firsthand.engine import Anatomy, LoadedModel
from firsthand.engine.prompts import Message
from firsthand.studies.labels.prediction.asking import Asked, Layout, replies
from firsthand.studies.labels.prediction.behaviour import behaviours
from firsthand.studies.labels.prediction.bench import Bench
from firsthand.studies.labels.prediction.properties import Settled
from firsthand.studies.labels.prediction.wordings import (
    HEARD,
    SELF,
    SHOWN,
    THIRD,
    Codebook,
    Example,
    hypothetical,
    introduction,
    of_a_given_answer,
)

TARGET, LOT, THIRD_PERSON, ANSWER_SHOWN, OUTRIGHT = "target", "lot", "third person", "answer shown", "asked outright"

COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "public": ("property", "experiment", "examples", "number", "group", "text"),
    "sealed": ("arm", "truth", "said", "finished", "option", "drawn", "drawn_finished"),
    "reports": ("answer", "choice", "coverage", "logprobs"),
    "readings": ("entropy", "letters"),
}
"""Columns of each part of the trace, beside ``trial_id``."""


def asked_rows(
    loaded: LoadedModel, anatomy: Anatomy, bench: Bench, one: Settled, experiment: int, arm: str, count: int
) -> pd.DataFrame:
    """What is replied in one experiment under one condition.

    Args:
        loaded: Who is asked: the model itself, or another one.
        anatomy: The same model's parts.
        bench: What is fixed.
        one: The property.
        experiment: Number of the experiment.
        arm: The condition.
        count: Number of examples.

    Returns:
        One row a judged prompt: ``trial_id``, ``property``, ``experiment``, ``examples``, ``number`` (in the judged
        part), ``group``, ``text``, ``arm``, ``truth``, ``answer`` (NaN if invalid), ``choice`` (the likelier class,
        valid or not), ``coverage`` and ``logprobs``.

    Raises:
        ElicitationError: If the letters cannot be told apart.
        EngineError: If a question cannot be run.
    """
    items = bench.items(one, experiment)
    found = replies(loaded, anatomy, questions(loaded, bench, one, experiment, arm, count))
    table = _rows(bench, one, experiment, items, arm, count)
    return table.assign(
        answer=found.answer_N,
        choice=found.choice_N,
        coverage=found.coverage_N,
        logprobs=pd.Series(found.logprobs_NC.tolist(), dtype=object),
    )


def questions(
    loaded: LoadedModel, bench: Bench, one: Settled, experiment: int, arm: str, count: int
) -> list[list[Asked]]:
    """The questions of one experiment under one condition, each in both orders of the classes."""
    wording, codebook = bench.wording(one, experiment)
    layout = Layout(loaded.tokenizer, wording.stem, codebook.letters)
    forms = [(book, _beginning(bench, one, experiment, arm, count, book)) for book in (codebook, codebook.exchanged())]
    numbers = range(len(one.classes))
    return [
        [
            layout(f"{beginning}\n\n{_question(bench, one, experiment, arm, item)}", [book.letter(i) for i in numbers])
            for book, beginning in forms
        ]
        for item in bench.items(one, experiment)
    ]


def prompt_of(bench: Bench, one: Settled, count: int) -> str:
    """What the model reads about the first judged prompt, as a reader may see it."""
    wording, codebook = bench.wording(one, 0)
    beginning = _beginning(bench, one, 0, TARGET, count, codebook)
    return f"{beginning}\n\n{_question(bench, one, 0, TARGET, bench.items(one, 0)[0])}\n\n{wording.stem}"


def outright_rows(loaded: LoadedModel, anatomy: Anatomy, bench: Bench, one: Settled, experiment: int) -> pd.DataFrame:
    """What the model answers to the prompts themselves after the examples that it was given.

    Returns:
        Rows as :func:`asked_rows` gives them, with what was ``said``, whether it was ``finished``, the ``option`` and
        the ``entropy`` before it; ``answer`` is the class of what was said.
    """
    wording, codebook = bench.wording(one, experiment)
    beginning = introduction(wording, SELF, one, codebook, bench.examples(one, experiment, bench.most))
    items = bench.items(one, experiment)
    prompts = [bench.judged[item] for item in items]
    conversations: list[list[Message]] = [
        [("user", beginning), ("assistant", HEARD), ("user", prompt.text), ("assistant", prompt.begin)]
        for prompt in prompts
    ]
    found = behaviours(
        loaded, anatomy, conversations, [prompt.options for prompt in prompts], longest=bench.claim.longest_answer
    )
    answers = [each.answer for each in found]
    classes = one.of(answers)
    return _rows(bench, one, experiment, items, OUTRIGHT, bench.most).assign(
        answer=classes,
        choice=classes,
        coverage=1.0,
        said=[answer.text for answer in answers],
        finished=[answer.finished for answer in answers],
        option=[np.nan if answer.option is None else float(answer.option) for answer in answers],
        entropy=[each.entropy for each in found],
    )


def _beginning(bench: Bench, one: Settled, experiment: int, arm: str, count: int, codebook: Codebook) -> str:
    wording, _ = bench.wording(one, experiment)
    if arm == ANSWER_SHOWN:
        return introduction(wording, SHOWN, one, codebook, bench.examples(one, experiment, count, shown=True))
    voice = THIRD if arm == THIRD_PERSON else SELF
    examples: list[Example] = bench.examples(one, experiment, count, lot=arm == LOT)
    return introduction(wording, voice, one, codebook, examples)


def _question(bench: Bench, one: Settled, experiment: int, arm: str, item: int) -> str:
    prompt = bench.judged[item].shown
    if arm == ANSWER_SHOWN:
        return of_a_given_answer(prompt, bench.answers[bench.fit + item].text)
    wording, _ = bench.wording(one, experiment)
    return hypothetical(wording, THIRD if arm == THIRD_PERSON else SELF, prompt)


def _rows(bench: Bench, one: Settled, experiment: int, items: Sequence[int], arm: str, count: int) -> pd.DataFrame:
    name = one.property.name
    return pd.DataFrame(
        {
            "trial_id": [f"{name}/{experiment}/{arm}/{count}/{item}" for item in items],
            "property": name,
            "experiment": experiment,
            "examples": count,
            "number": items,
            "group": [bench.judged[item].group for item in items],
            "text": [bench.judged[item].shown for item in items],
            "arm": arm,
            "truth": one.judged_J[items],
        }
    )
