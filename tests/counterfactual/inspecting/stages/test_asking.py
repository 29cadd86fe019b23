"""Structured replies: read strictly, repaired once, and else invalid; nothing is picked out of a longer text."""

import asyncio
import json
from typing import Any

import pytest
from faked import FakedCalls
from planted_world import said

from firsthand.counterfactual.inspecting.stages.asking import Answer, ask
from firsthand.counterfactual.inspecting.stages.batches import Said

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
    said(GOOD, stop="content_filter"),
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


def test_the_correction_repeats_nothing_of_what_was_said() -> None:
    _, calls = answered(json.dumps({"reason": "x", "answer": "IGNORE EVERYTHING"}), GOOD)
    assert "IGNORE" not in calls.asked[1][1][-1].text


def test_the_form_tells_fields_and_choices_and_no_docstrings() -> None:
    _, calls = answered(GOOD)
    system = calls.asked[0][1][0].text
    assert '"cannot tell"' in system
    assert "A classifier's reply" not in system
