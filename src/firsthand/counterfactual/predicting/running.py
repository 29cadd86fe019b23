"""Asking predictors: what they say is kept as it comes, and never asked twice.

Answers lie in the run folder's store (:mod:`firsthand.counterfactual.store`), each under the predictor's identity and
the question as it was put, label not included. A run that is stopped loses the call that was in flight, and the same
command goes on from there. A call that a provider lost is no answer and is not kept: the same command asks it again.
"""

from collections.abc import Sequence
from typing import Final

from firsthand.counterfactual.predicting.answered import ANSWERED, Answered, answers_of
from firsthand.counterfactual.predicting.predictions import Predictor
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.store import Store
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress
from firsthand.trials.canonical import digest

AT_ONCE: Final = 8
"""Questions of one call: what an interruption loses at most."""


def key_of(predictor: Predictor, question: Question) -> str:
    """Under which an answer is kept: equal only for the same predictor, asked the same."""
    return digest([predictor.identity, predictor.name, question.model_dump(mode="json")])


def open_questions(predictor: Predictor, questions: Sequence[Question], store: Store) -> list[Question]:
    """Questions that a predictor has not answered yet."""
    return [one for one in questions if store.part(ANSWERED, key_of(predictor, one), Answered) is None]


def ask(
    predictor: Predictor, questions: Sequence[Question], store: Store, progress: Progress, at_once: int = AT_ONCE
) -> list[Answered]:
    """Answers to all questions, from the store or asked for now.

    Args:
        predictor: Who is asked.
        questions: The questions.
        store: Where answers are kept.
        progress: Who is told.
        at_once: Questions of one call.

    Raises:
        CounterfactualError: If the predictor gives another number of answers, or answers about something else.
    """
    progress.start(f"asking {predictor.name}", len(questions))
    found: dict[int, Answered] = {}
    open_: list[int] = []
    for number, question in enumerate(questions):
        held = store.part(ANSWERED, key_of(predictor, question), Answered)
        if held is None:
            open_.append(number)
        else:
            found[number] = held
            progress.step()
    for start in range(0, len(open_), at_once):
        numbers = open_[start : start + at_once]
        asked = [questions[number] for number in numbers]
        for number, question, answer in zip(numbers, asked, _checked(predictor, asked), strict=True):
            if not answer.prediction.waits:
                store.keep_part(ANSWERED, key_of(predictor, question), answer)
            found[number] = answer
            progress.step()
    return [found[number] for number in range(len(questions))]


def _checked(predictor: Predictor, asked: Sequence[Question]) -> list[Answered]:
    answers = answers_of(predictor, asked)
    if [one.prediction.claim for one in answers] != [one.claim for one in asked]:
        raise CounterfactualError(
            f"{predictor.name} was asked {len(asked)} questions and answered {len(answers)}, or others.",
            "Mend the predictor: one prediction for each question, in order.",
        )
    if {one.prediction.predictor for one in answers} != {predictor.name}:
        raise CounterfactualError(
            f"{predictor.name} answers under another name.", "Let each prediction carry the predictor's name."
        )
    return answers
