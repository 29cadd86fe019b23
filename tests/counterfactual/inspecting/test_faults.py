"""Faults of a server: calls are repeated or recorded as invalid, every prompt is accounted for, and nothing is lost."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed; pip install 'firsthand[investigate]'")
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import Model
from inspect_ai.solver import generate
from openai_server import KEY, PASSING, Reply, Server, echo, text_of

from firsthand.counterfactual.inspecting.ledger import Ledger
from firsthand.counterfactual.inspecting.target import InspectTarget
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.responses import Request, Response, Sampling
from firsthand.errors import CounterfactualError

Serve, ModelAt = Callable[..., Server], Callable[..., Model]
SAMPLING = Sampling(samples=2, max_tokens=20)


def asked(text: str, samples: int = 2) -> Request:
    return Request(prompt=Prompt(turns=(Turn(role="user", content=text),)), batch="screen", samples=samples)


def first_times(kind: str, times: int) -> Callable[[dict[str, Any], int], str | None]:
    return lambda body, before: kind if before < times else None


@pytest.mark.parametrize("kind", PASSING)
def test_a_fault_that_passes_costs_repeated_calls_and_no_response(serve: Serve, model_at: ModelAt, kind: str) -> None:
    server = serve(fault=first_times(kind, 2))
    with InspectTarget(model_at(server), SAMPLING, attempt_timeout=1) as target:
        (responses,) = target.respond([asked("hello")])
    assert [one.ended for one in responses] == ["stop"] * 2
    assert [one.fault for one in server.seen] == [kind, kind, None]


@pytest.mark.parametrize("kind", [kind for kind in PASSING if kind != "hang"])
def test_a_fault_that_stays_ends_after_the_retries_with_a_reason(serve: Serve, model_at: ModelAt, kind: str) -> None:
    server, ledger = serve(fault=lambda body, before: kind), Ledger()
    with InspectTarget(model_at(server), SAMPLING, max_retries=2, ledger=ledger) as target:
        (responses,) = target.respond([asked("hello")])
    assert [one.ended for one in responses] == ["error"] * 2
    assert all(one.missing and one.text for one in responses)
    assert len(server.seen) == 3
    assert target.failed == 1
    assert not ledger.entries()


def test_a_server_that_says_when_to_come_back_is_left_alone_until_then(serve: Serve, model_at: ModelAt) -> None:
    server = serve(fault=first_times("429 with Retry-After", 1))
    begin = time.monotonic()
    with InspectTarget(model_at(server, sdk_retries=2), SAMPLING) as target:
        target.respond([asked("hello")])
    assert time.monotonic() - begin >= 0.9
    assert len(server.seen) == 2


def test_a_key_or_a_model_that_is_refused_stops_the_run_and_is_no_answer(serve: Serve, model_at: ModelAt) -> None:
    for kind, words in (("401", "does not accept the key"), ("404", "does not know it")):
        server, kept = serve(fault=lambda body, before, kind=kind: kind), []
        with (
            InspectTarget(model_at(server), SAMPLING, kept=lambda *batch, kept=kept: kept.append(batch)) as target,
            pytest.raises(CounterfactualError, match=words),
        ):
            target.respond([asked(str(i)) for i in range(5)])
        assert not kept


def test_an_outage_stops_the_run_with_what_has_arrived_kept(serve: Serve, model_at: ModelAt) -> None:
    server, kept = serve(fault=lambda body, before: None if int(text_of(body)) < 10 else "503"), []
    with (
        InspectTarget(
            model_at(server),
            SAMPLING,
            max_retries=0,
            max_connections=1,
            give_up_after=5,
            kept=lambda request, responses: kept.append(responses),
        ) as target,
        pytest.raises(CounterfactualError, match=r"5 calls .* in a row failed"),
    ):
        target.respond([asked(str(i)) for i in range(100)])
    assert [batch[0].ended for batch in kept] == ["stop"] * 10 + ["error"] * 4
    assert len(server.seen) <= 16  # one more may have been under way


def test_refusals_in_a_row_after_an_answer_are_an_outage_too(serve: Serve, model_at: ModelAt) -> None:
    server = serve(fault=lambda body, before: None if int(text_of(body)) < 3 else "bad request")
    with (
        InspectTarget(model_at(server), SAMPLING, max_connections=1, give_up_after=5) as target,
        pytest.raises(CounterfactualError, match=r"5 calls .* in a row failed"),
    ):
        target.respond([asked(str(i)) for i in range(40)])


@pytest.mark.parametrize(("kind", "status"), [("bad request", "400"), ("403", "403")])
def test_prompts_that_are_refused_are_their_own_outcome_and_no_outage(
    serve: Serve, model_at: ModelAt, kind: str, status: str
) -> None:
    server = serve(fault=lambda body, before: kind if int(text_of(body)) % 10 else None)
    with InspectTarget(model_at(server), SAMPLING, max_connections=1, give_up_after=10) as target:
        found = target.respond([asked(str(number)) for number in range(40)])
    ended = [{one.ended for one in batch} for batch in found]
    assert ended == [{"error"} if number % 10 else {"stop"} for number in range(40)]
    assert status in found[1][0].text
    assert target.failed == 36


def test_a_run_of_200_prompts_under_a_mixture_of_faults_accounts_for_every_prompt(
    serve: Serve, model_at: ModelAt, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kinds = (*PASSING, None, None, "always 500", "too long", "filtered prompt", "empty", "refusal", "bad call")

    def kind_of(body: dict[str, Any]) -> str | None:
        return kinds[int(text_of(body).split()[1]) % len(kinds)]

    def fault(body: dict[str, Any], before: int) -> str | None:
        kind = kind_of(body)
        if kind in PASSING:
            return kind if before < 1 + (kind not in ("hang", "429 with Retry-After")) else None
        return {"always 500": "500", "refusal": None, "bad call": None}.get(kind or "", kind)

    def reply(body: dict[str, Any], number: int) -> Reply:
        match kind_of(body):
            case "refusal":
                return Reply(None, refusal="I cannot help with that.")
            case "bad call":
                return Reply(None, calls=(("look", "{not json"),))
        return echo(body, number)

    server = serve(fault=fault, reply=reply, hang_seconds=5.0)
    requests, kept = [asked(f"prompt {i}") for i in range(200)], {}

    def keep(request: Request, responses: list[Response]) -> None:
        assert request.prompt.id not in kept
        kept[request.prompt.id] = responses

    ledger = Ledger(tmp_path / "usage.jsonl")
    with (
        caplog.at_level(logging.INFO),
        InspectTarget(
            model_at(server),
            SAMPLING,
            max_connections=32,
            max_retries=5,
            attempt_timeout=4,
            ledger=ledger,
            journal=tmp_path / "journal.jsonl",
        ) as target,
    ):
        found = target.respond(requests, kept=keep)
    ends = {kind: Counter() for kind in kinds}
    for number, responses in enumerate(found):
        ends[kinds[number % len(kinds)]].update(one.ended for one in responses)
        assert len(responses) == 2
        assert kept[requests[number].prompt.id] == responses
        for one in responses:
            assert not one.missing or one.ended != "stop" or not one.text
            if one.ended == "stop" and one.text:
                assert one.text.startswith(f"prompt {number} #")  # nobody got another's answer
            if one.ended == "error":
                assert one.text
    wanted = dict.fromkeys((*PASSING, None, "empty"), "stop")
    wanted |= {"always 500": "error", "too long": "error", "bad call": "error"}
    wanted |= {"filtered prompt": "filter", "refusal": "filter"}
    assert {kind: set(ended) for kind, ended in ends.items()} == {kind: {end} for kind, end in wanted.items()}
    (entry,) = ledger.entries()
    assert target.failed == sum(1 for i in range(200) if kinds[i % len(kinds)] == "always 500")
    good = [one for one in server.seen if one.fault in (None, "empty", "too long", "filtered prompt")]
    assert entry.usage.calls == 200 - target.failed  # every answer was noted, and no prompt was paid for twice
    assert len(good) >= entry.usage.calls  # a slow machine may give up an attempt that was going well
    assert len(server.seen) >= 200 + sum(kinds[i % len(kinds)] in PASSING for i in range(200))
    assert {one.authorization for one in server.seen} == {f"Bearer {KEY}"}
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    texts = [one.text for responses in found for one in responses]
    assert not any(KEY.encode() in content for content in files)
    assert not any(KEY in text for text in (*texts, caplog.text))


def test_a_key_that_a_server_quotes_is_not_quoted_again(serve: Serve, model_at: ModelAt, tmp_path: Path) -> None:
    server = serve(fault=lambda body, before: "key told")
    with InspectTarget(model_at(server), SAMPLING, max_retries=0, journal=tmp_path / "journal.jsonl") as target:
        (responses,) = target.respond([asked("hello")])
    assert "Something failed for Bearer [key]" in responses[0].text
    assert KEY not in responses[0].text


def test_no_key_is_in_what_libraries_log(serve: Serve, model_at: ModelAt, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(fault=first_times("500", 1))
    with caplog.at_level(logging.DEBUG), InspectTarget(model_at(server, sdk_retries=1), SAMPLING) as target:
        target.respond([asked("hello")])
    assert "HTTP Request" in caplog.text
    assert KEY not in caplog.text


def test_no_key_is_in_a_log_of_inspect(serve: Serve, model_at: ModelAt, tmp_path: Path) -> None:
    server = serve(fault=lambda body, before: "429" if not before else ("401" if "bad" in text_of(body) else None))
    samples = [Sample(id=text, input=text) for text in ("good", "bad")]
    (log,) = eval(
        Task(dataset=samples, solver=generate()),
        model=model_at(server),
        log_dir=str(tmp_path / "logs"),
        display="none",
        fail_on_error=False,
        max_retries=2,
    )
    written = read_eval_log(log.location).model_dump_json()
    assert "Incorrect API key provided" in written
    assert len(server.seen) >= 4
    assert KEY not in written
