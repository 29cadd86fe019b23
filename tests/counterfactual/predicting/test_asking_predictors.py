"""Answers are kept as they come, and nothing is asked twice."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from claim_parts import claim

from firsthand.counterfactual.predicting.predictions import WAITS, Prediction
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.predicting.running import ask, key_of, open_questions
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.store import Store
from firsthand.errors import CounterfactualError
from firsthand.progress import Silent

QUESTIONS = [Question.of(claim(number), Response(text=f"response {number}")) for number in range(10)]


class Counting:
    """Says what its identity says, and stops when it is told to."""

    name, kind = "counting", "observer"

    def __init__(self, identity: str = "1", stop_after: int | None = None) -> None:
        self.identity, self.asked, self._stop = identity, [], stop_after

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        if self._stop is not None and len(self.asked) >= self._stop:
            raise KeyboardInterrupt
        self.asked += [one.claim for one in questions]
        return [Prediction(claim=one.claim, predictor=self.name, probability=0.25) for one in questions]


def test_a_run_that_was_interrupted_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with Store(tmp_path) as store, pytest.raises(KeyboardInterrupt):
        ask(Counting(stop_after=6), QUESTIONS, store, Silent(), at_once=3)
    later = Counting()
    with Store(tmp_path) as store:
        assert len(open_questions(later, QUESTIONS, store)) == 4
        answers = ask(later, QUESTIONS, store, Silent(), at_once=3)
    assert later.asked == [one.claim for one in QUESTIONS[6:]]
    assert [one.prediction.claim for one in answers] == [one.claim for one in QUESTIONS]
    again = Counting()
    with Store(tmp_path) as store:
        assert ask(again, QUESTIONS, store, Silent()) == answers
    assert again.asked == []


def test_a_call_that_was_lost_is_no_answer_and_is_asked_again(tmp_path: Path) -> None:
    class Lossy(Counting):
        def predict(self, questions: Sequence[Question]) -> list[Prediction]:
            said = super().predict(questions)
            return [said[0].model_copy(update={"probability": None, "note": f"{WAITS}the provider was out"}), *said[1:]]

    with Store(tmp_path) as store:
        found = ask(Lossy(), QUESTIONS, store, Silent(), at_once=10)
        assert [one.prediction.waits for one in found] == [True] + [False] * 9
        assert open_questions(Lossy(), QUESTIONS, store) == QUESTIONS[:1]
        assert [one.prediction.probability for one in ask(Counting(), QUESTIONS, store, Silent())] == [0.25] * 10


def test_another_identity_or_another_transcript_is_asked_anew(tmp_path: Path) -> None:
    one = QUESTIONS[0]
    other = one.model_copy(update={"response": Response(text="another response")})
    assert key_of(Counting("1"), one) != key_of(Counting("2"), one)
    assert key_of(Counting("1"), one) != key_of(Counting("1"), other)


def test_answers_about_something_else_are_refused(tmp_path: Path) -> None:
    class Confused(Counting):
        def predict(self, questions: Sequence[Question]) -> list[Prediction]:
            return super().predict(questions)[::-1]

    class Short(Counting):
        def predict(self, questions: Sequence[Question]) -> list[Prediction]:
            return super().predict(questions)[1:]

    class Masked(Counting):
        def predict(self, questions: Sequence[Question]) -> list[Prediction]:
            return [one.model_copy(update={"predictor": "somebody"}) for one in super().predict(questions)]

    with Store(tmp_path) as store:
        for wrong in (Confused(), Short(), Masked()):
            with pytest.raises(CounterfactualError):
                ask(wrong, QUESTIONS, store, Silent())
        assert len(open_questions(Counting(), QUESTIONS, store)) == len(QUESTIONS)
