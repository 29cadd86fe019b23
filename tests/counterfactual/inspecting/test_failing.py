"""Whose fault a failed call is, and from when on it must be an outage."""

from json import JSONDecodeError
from typing import Any

import pytest

from firsthand.counterfactual.inspecting.failing import Fault, Line, fault_of
from firsthand.errors import EngineError


class HttpError(Exception):
    """A provider's error."""

    def __init__(self, status: int, message: str = "no") -> None:
        super().__init__(message)
        self.status_code = status


class CodedError(Exception):
    """An error of Google's client, whose status is called a code."""

    code = 400


class OpenAIError(Exception):
    """As OpenAI's client has it: the provider's code beside the message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status_code, self.code, self.body = status, code, {"code": code, "message": message}


class AttemptTimeoutError(Exception):
    """As Inspect names it."""


class Api:
    """A provider that knows one error of its own."""

    def should_retry(self, error: Any) -> bool:
        return "try again" in str(error)


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        *((HttpError(status), Fault.ACCOUNT) for status in (401, 402, 404)),
        (HttpError(400, "Your credit balance is too low."), Fault.ACCOUNT),
        (HttpError(429, "insufficient_quota"), Fault.ACCOUNT),
        (HttpError(400, "Cannot take: 'What is my billing address? Is my credit balance too low?'"), Fault.PROMPT),
        (HttpError(413, "Too long: 'insufficient quota of fish'"), Fault.PROMPT),
        (OpenAIError(400, "insufficient_quota", "You have used it up."), Fault.ACCOUNT),
        *((HttpError(status, "See your billing details."), Fault.ACCOUNT) for status in (402, 403, 429)),
        *((HttpError(status), Fault.PROMPT) for status in (400, 413, 422)),
        (HttpError(403), Fault.ACCOUNT),
        (HttpError(403, "no identity-based policy allows bedrock:InvokeModel"), Fault.ACCOUNT),
        (HttpError(403, "Input was flagged: 'my billing address'"), Fault.PROMPT),
        (OpenAIError(403, "content_policy_violation", "No."), Fault.PROMPT),
        (CodedError("candidate_count"), Fault.PROMPT),
        (EngineError("A message holds <|im_end|>.", "Leave it out."), Fault.PROMPT),
        (EngineError("Memory does not suffice for a single row: CUDA out of memory", "Use less."), Fault.PASSING),
        *((kind("?"), Fault.PASSING) for kind in (ValueError, RuntimeError, MemoryError, KeyError)),
        *((HttpError(status), Fault.PASSING) for status in (408, 409, 429, 500, 502, 503, 529)),
        *((kind(), Fault.PASSING) for kind in (ConnectionError, TimeoutError, AttemptTimeoutError, EOFError)),
        (JSONDecodeError("cut", "{", 1), Fault.PASSING),
        (RuntimeError("overloaded, try again"), Fault.PASSING),
    ],
)
def test_whose_fault_it_is(error: BaseException, fault: Fault) -> None:
    assert fault_of(error, Api()) is fault


def test_lost_calls_in_a_row_are_an_outage_and_an_answer_begins_anew() -> None:
    line = Line(3)
    told = [line.lost(Fault.PASSING, "a"), line.lost(Fault.PASSING, "a")]
    line.got_through()
    told += [line.lost(Fault.PASSING, "a") for _ in range(3)]
    assert told == [False] * 4 + [True]
    assert not any(Line(None).lost(Fault.PASSING, "a") for _ in range(100))


@pytest.mark.parametrize("answered", [False, True])
def test_many_prompts_refused_in_a_row_are_an_outage_whatever_was_answered_before(answered: bool) -> None:
    line = Line(3)
    if answered:
        line.got_through()
    assert [line.lost(Fault.PROMPT, str(n)) for n in range(3)] == [False, False, True]
    assert not line.own


def test_one_prompt_counts_once_however_often_it_is_refused_and_an_answer_says_that_it_was_its_own_fault() -> None:
    line = Line(2)
    line.got_through()
    assert not any(line.lost(Fault.PROMPT, "a") for _ in range(100))
    assert line.refused == {"a"}
    line.got_through()
    assert (line.refused, line.own) == (set(), {"a"})
    assert not line.lost(Fault.PROMPT, "b")
    assert not line.lost(Fault.PROMPT, "a")
    assert line.in_a_row == 1


def test_what_is_refused_before_anything_is_answered_says_nothing_of_the_prompt() -> None:
    line = Line(5)
    line.lost(Fault.PROMPT, "a")
    line.settle()
    assert not line.own


def test_prompts_whose_turn_comes_again_after_all_others_are_no_outage_where_others_were_answered_between() -> None:
    line = Line(2)
    for prompt in "abcd":
        line.several_refused(prompt)
        line.got_through()
    assert not any(line.lost(Fault.PROMPT, prompt) for prompt in "abcd")
    silent = Line(2)
    for prompt in "abcd":
        silent.several_refused(prompt)
    assert [silent.lost(Fault.PROMPT, prompt) for prompt in "ab"] == [False, True]
