"""Calls are limited and counted, and a call that is not carried out says why."""

from collections.abc import Sequence
from typing import Any

import pytest

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.altered import AlteredError
from firsthand.counterfactual.tools.limits import Limits, sweep
from firsthand.counterfactual.tools.reading import Reading
from firsthand.counterfactual.tools.session import Session, told
from firsthand.counterfactual.tools.transcript import Transcript
from firsthand.errors import CounterfactualError

TRANSCRIPT = Transcript(tokens=tuple(range(100)), texts=tuple(f" w{n}" for n in range(100)), response=60)


class Echo:
    """Says what it was asked."""

    identity = description = "echo"

    def __init__(self, takes: str = "positions", error: Exception | None = None) -> None:
        self.name, self.takes, self.error = f"echo_{takes}", takes, error

    def read(self, question: Question, positions: Sequence[int], ask: str) -> tuple[Reading, ...]:
        if self.error:
            raise self.error
        return tuple(Reading(position=n, token=TRANSCRIPT.texts[n], text=f"said {ask}") for n in positions)


def session(question: Question, **limits: int) -> Session:
    return Session((Echo(), Echo("segment")), question, TRANSCRIPT, Limits(**limits))  # type: ignore[arg-type]


def test_five_calls_of_thirty_two_positions_are_the_papers_limits() -> None:
    assert (Limits().calls, Limits().positions) == (5, 32)
    swept = {(one.calls, one.positions) for one in sweep()}
    assert swept == {(5, 32), (2, 32), (10, 32), (5, 16), (5, 64)}


def test_positions_are_read_once_each_and_in_order(question: Question) -> None:
    found = session(question).do("echo_positions", {"positions": [9, 3, 9]})
    assert [one.position for one in found.readings] == [3, 9]
    assert found.note == "4 calls left."
    assert told(found.readings) == "[3] ' w3': said\n[9] ' w9': said"


def test_a_segment_is_a_run_of_tokens_with_a_question(question: Question) -> None:
    found = session(question).do("echo_segment", {"first": 5, "last": 7, "question": "what?"})
    assert [(one.position, one.text) for one in found.readings] == [
        (5, "said what?"),
        (6, "said what?"),
        (7, "said what?"),
    ]


def test_the_call_beyond_the_limit_is_refused_and_counted(question: Question) -> None:
    one = session(question, calls=2)
    notes = [one.do("echo_positions", {"positions": [n]}) for n in range(4)]
    assert [found.done for found in notes] == [True, True, False, False]
    assert notes[2].note == "Not carried out: All 2 calls are used up. Answer now."
    assert one.calls == 2
    assert [made.readings[0].position for made in one.made] == [0, 1]
    assert len(one.refusals) == 2


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("echo_positions", {"positions": list(range(33))}, "at most 32"),
        ("echo_positions", {"positions": [100]}, "0 to 99"),
        ("echo_positions", {"positions": [-1]}, "do not fit"),
        ("echo_positions", {"positions": []}, "do not fit"),
        ("echo_positions", {"positions": "all"}, "do not fit"),
        ("echo_positions", {"first": 1, "last": 2, "question": "x"}, "do not fit"),
        ("echo_segment", {"first": 7, "last": 5, "question": "x"}, "before"),
        ("echo_segment", {"first": 1, "last": 5, "question": ""}, "do not fit"),
        ("edit", {"text": "x"}, "no tool"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason_and_takes_no_call(
    question: Question, name: str, arguments: dict[str, Any], why: str
) -> None:
    one = session(question)
    found = one.do(name, arguments)
    assert not found.done
    assert why in found.note
    assert (one.calls, len(one.refusals)) == (0, 1)


def test_after_too_many_refusals_it_is_over(question: Question) -> None:
    one = session(question, refused=1)
    one.do("edit", {})
    assert not one.over
    one.do("edit", {})
    assert one.over


def test_a_tool_that_fails_is_refused_and_one_that_changes_the_target_ends_everything(question: Question) -> None:
    failing = Session((Echo(error=CounterfactualError("It broke.", "Mend it.")),), question, TRANSCRIPT)  # type: ignore[arg-type]
    assert failing.do("echo_positions", {"positions": [1]}).note == "Not carried out: It broke."
    assert failing.calls == 0
    altering = Session((Echo(error=AlteredError("It changed.", "Stop.")),), question, TRANSCRIPT)  # type: ignore[arg-type]
    with pytest.raises(AlteredError):
        altering.do("echo_positions", {"positions": [1]})
