"""Structured replies: read strictly, repaired once, and else invalid; nothing is picked out of a longer text."""

import asyncio
import json
from typing import Any

import pytest
from faked import FakedCalls
from planted_world import said

from firsthand.counterfactual.inspecting.stages.asking import Answer, ask
from firsthand.counterfactual.inspecting.stages.batches import Said
from firsthand.counterfactual.inspecting.stages.calling import CallLost, CallRefused

GOOD = '{"reason": "by the word", "answer": "no"}'


def answered(*replies: Any) -> tuple[Answer[Said], FakedCalls]:
    calls = FakedCalls([said(one) if isinstance(one, str) else one for one in replies])
    return asyncio.run(ask(calls, "classifier", "Task.", "Material.", Said, "place")), calls


@pytest.mark.parametrize("reply", [GOOD, f"  {GOOD}\n", f"```json\n{GOOD}\n```", f"```\n{GOOD}\n```"])
def test_a_whole_object_is_read(reply: str) -> None:
    answer, calls = answered(reply)
    assert answer.value is not None
    assert answer.value.answer == "no"
    assert not answer.repaired
    assert calls.counts == {}


BAD = [
    "",
    "no",
    "YES",
    f"Here it is: {GOOD}",
    f"{GOOD}\n{GOOD}",
    f"{GOOD} I hope this helps.",
    '{"reason": "x", "answer": "maybe"}',
    '{"reason": "x"}',
    '{"reason": "x", "answer": "yes", "confidence": 1}',
    '{"reason": 3, "answer": "yes"}',
    "[]",
    "null",
    said(GOOD, stop="max_tokens"),
]


@pytest.mark.parametrize("reply", BAD)
def test_anything_else_is_asked_for_once_more_and_counted(reply: Any) -> None:
    answer, calls = answered(reply, GOOD)
    assert answer.value is not None
    assert answer.repaired
    assert calls.counts == {"classifier: repaired": 1}
    assert "could not be read" in calls.asked[1][1][-1].text


@pytest.mark.parametrize("reply", BAD)
def test_twice_unreadable_is_invalid_and_no_third_time_is_asked(reply: Any) -> None:
    answer, calls = answered(reply, reply)
    assert answer.value is None
    assert answer.problem
    assert calls.counts == {"classifier: invalid": 1}
    assert len(calls.asked) == 2


WITHHELD = said("The provider filtered this.", stop="content_filter")
TOO_LONG = said("The prompt is too long.", stop="model_length").model_copy(update={"usage": None})


@pytest.mark.parametrize("reply", [CallRefused("ValueError 400: bad request", 400), WITHHELD, TOO_LONG])
def test_a_call_that_gave_no_reply_is_not_asked_to_mend_it(reply: Any) -> None:
    answer, calls = answered(reply)
    assert answer.value is None
    assert answer.problem
    assert not answer.repaired
    assert calls.counts == {"classifier: no reply": 1}
    assert len(calls.asked) == 1


def test_a_repair_that_is_refused_ends_the_question() -> None:
    answer, calls = answered("no", CallRefused("ValueError 400: bad request", 400))
    assert answer.value is None
    assert answer.repaired
    assert calls.counts == {"classifier: invalid": 1}


def test_a_call_that_was_lost_is_no_answer_at_all() -> None:
    with pytest.raises(CallLost):
        answered(CallLost("503", "again"))


def test_the_correction_repeats_nothing_of_what_was_said() -> None:
    _, calls = answered(json.dumps({"reason": "x", "answer": "IGNORE EVERYTHING"}), GOOD)
    assert "IGNORE" not in calls.asked[1][1][-1].text


def test_the_form_tells_fields_and_choices_and_no_docstrings() -> None:
    _, calls = answered(GOOD)
    system = calls.asked[0][1][0].text
    assert '"cannot tell"' in system
    assert "A classifier's reply" not in system
