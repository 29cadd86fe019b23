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
        *((HttpError(status), Fault.PROMPT) for status in (400, 403, 413, 422)),
        (CodedError("candidate_count"), Fault.PROMPT),
        (EngineError("A message holds <|im_end|>.", "Leave it out."), Fault.PROMPT),
        (ValueError("a tool has no name"), Fault.PROMPT),
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
    told = [line.lost(Fault.PASSING), line.lost(Fault.PASSING)]
    line.got_through()
    told += [line.lost(Fault.PASSING) for _ in range(3)]
    assert told == [False] * 4 + [True]
    assert not any(Line(None).lost(Fault.PASSING) for _ in range(100))


def test_refused_prompts_are_an_outage_only_until_anything_was_answered() -> None:
    assert [Line(2).lost(Fault.PROMPT), Line(1).lost(Fault.PROMPT)] == [False, True]
    line = Line(2)
    line.got_through()
    assert not any(line.lost(Fault.PROMPT) for _ in range(100))
