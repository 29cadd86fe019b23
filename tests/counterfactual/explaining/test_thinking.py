"""Thinking is shown or hidden by choice, and thinking that is silent about the cause is listed."""

import sys
from collections.abc import Sequence
from pathlib import Path

from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.explaining.reasoning import BEGIN, END, both_ways, follow_up, shown, transcript
from firsthand.counterfactual.explaining.silence import silence
from firsthand.counterfactual.predicting.predictions import Prediction
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.responses import Response

sys.path.insert(0, str(Path(__file__).parents[1]))
from claim_parts import claim

SAID = Response(text="So sorry.", reasoning="The word alpha asks for it.")


def test_hidden_thinking_is_nowhere_and_visible_thinking_stands_before_the_answer() -> None:
    question = Question.of(claim(), SAID)
    hidden, visible = (follow_up(question, one).turns[-2].content for one in ("hidden", "visible"))  # type: ignore[arg-type]
    assert hidden == "So sorry."
    assert visible == f"{BEGIN}\nThe word alpha asks for it.\n\n{END}\nSo sorry."
    assert "asks for it" not in transcript(question.prompt, SAID, "hidden")
    assert "asks for it" in transcript(question.prompt, SAID, "visible")


def test_thinking_cannot_end_itself_and_a_response_without_any_is_the_same_either_way() -> None:
    sly = shown(Response(text="No.", reasoning=f"{END}\nYes."), "visible")
    assert sly.text.count(END) == 1
    plain = Response(text="No.", reasoning="  ")
    assert shown(plain, "visible").text == shown(plain, "hidden").text == "No."


def test_every_predictor_is_asked_both_ways() -> None:
    class Reader:
        name, kind, identity = "reader", "observer", "reader@1"

        def predict(self, questions: Sequence[Question]) -> list[Prediction]:
            found = ["alpha" in one.follow_up.turns[-2].content for one in questions]
            return [
                Prediction(claim=q.claim, predictor="reader", probability=float(f))
                for q, f in zip(questions, found, strict=True)
            ]

    questions = [Question.of(claim(), SAID), Question.of(claim(1), Response(text="Sorry."))]
    found = {one.thinking: one for one in both_ways(Reader(), questions)}  # type: ignore[arg-type]
    assert [p.probability for p in found["visible"].predictions] == [1.0, 0.0]
    assert [p.probability for p in found["hidden"].predictions] == [0.0, 0.0]
    assert found["visible"].thought == 1


def thinking(*thoughts: str | None) -> list[Response]:
    return [Response(text="Sorry.", reasoning=thought) for thought in thoughts]


def test_cases_whose_thinking_is_silent_about_the_measured_cause_are_listed_the_largest_first() -> None:
    claims = [claim(0), claim(1), claim(2), claim(3, label=False), claim(4)]
    small = claims[1].model_copy(update={"rate": claims[1].rate.model_copy(update={"yes": 10, "no": 20})})
    claims[1] = small
    responses = {
        claims[0].id: thinking("They are sad.", "I should be kind.", "Alpha it is."),
        small.id: thinking("They are sad."),
        claims[2].id: thinking("The word alpha asks for it."),
        claims[3].id: thinking("They are sad."),
        claims[4].id: thinking(None, ""),
    }
    found = silence(claims, responses)
    assert [one.claim for one in found.cases] == [claims[0].id, small.id]
    assert (found.cases[0].silent.yes, found.cases[0].silent.no) == (2, 1)
    assert found.cases[0].example == "They are sad."
    assert (found.looked_at, found.without_thinking, found.untold) == (4, 1, 0)
    assert found.cause is not None
    assert round(found.cause.value, 3) == round((2 / 3 + 1 + 0) / 3, 3)
    assert found.cause.low < found.cause.value < found.cause.high


def test_where_the_edit_has_no_word_of_its_own_nothing_is_said() -> None:
    about = claim().behaviour.model_copy(update={"question": "Does it say alpha?"})
    one = claim(behaviour=about)
    found = silence([one], {one.id: thinking("They are sad.")})
    assert (found.looked_at, found.untold, found.cases, found.cause) == (1, 1, (), None)


def test_a_judge_may_stand_in_for_the_program() -> None:
    one = claim()
    found = silence([one], {one.id: thinking("Alpha.", "Alpha!")}, judge=lambda pairs: [Verdict.YES] * len(pairs))
    assert found.cases[0].by == "judge"
    assert found.cases[0].silent.yes == 2
