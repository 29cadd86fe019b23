"""Any model of Inspect as a target: as many responses as wanted, whatever the provider gives in one call."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed; pip install 'firsthand[investigate]'")
from inspect_ai.model import ContentReasoning, ContentText, GenerateConfig, Model, ModelOutput, ModelUsage, get_model
from openai_server import Reply, Server

from firsthand.counterfactual.inspecting.ledger import Ledger
from firsthand.counterfactual.inspecting.target import InspectTarget
from firsthand.counterfactual.prompts import Prompt, Tool, ToolCall, Turn
from firsthand.counterfactual.responses import Request, Response, Sampling
from firsthand.errors import CounterfactualError

Serve, ModelAt = Callable[..., Server], Callable[[Server], Model]
SAMPLING = Sampling(samples=4, max_tokens=20, seed=3)


def asked(text: str = "hello", batch: str = "screen", samples: int = 4) -> Request:
    return Request(prompt=Prompt(turns=(Turn(role="user", content=text),)), batch=batch, samples=samples)


def respond(model: Model, *requests: Request, **settings: object) -> list[list[Response]]:
    with InspectTarget(model, SAMPLING, **settings) as target:  # type: ignore[arg-type]
        return target.respond(requests)


def test_a_provider_that_gives_choices_is_called_once_for_a_batch(serve: Serve, model_at: ModelAt) -> None:
    server = serve()
    (responses,) = respond(model_at(server), asked())
    assert [one.body["n"] for one in server.seen] == [4]
    assert len({one.text for one in responses}) == 4
    assert {one.ended for one in responses} == {"stop"}
    (seen,) = server.seen
    assert (seen.body["temperature"], seen.body["max_tokens"]) == (1.0, 20)


def test_a_provider_that_gives_one_choice_is_asked_for_the_rest(serve: Serve, model_at: ModelAt) -> None:
    server = serve(gives_n=False)
    first, second = respond(model_at(server), asked(), asked("other"), max_connections=1)
    assert len(first) == len(second) == 4
    assert len(server.seen) == 8
    seeds = {one.body["seed"] for one in server.seen}
    assert len(seeds) == 8  # or one seed would give one text again and again
    assert [one.body.get("n") for one in server.of("other")] == [None] * 4  # it was seen what it gives


def test_a_provider_that_refuses_several_choices_is_asked_for_one_at_a_time(serve: Serve, model_at: ModelAt) -> None:
    server = serve(fault=lambda body, before: "no n" if body.get("n", 1) > 1 else None)
    (responses,) = respond(model_at(server), asked())
    assert [one.ended for one in responses] == ["stop"] * 4
    assert len(server.seen) == 5


def test_a_provider_that_caps_choices_is_asked_for_as_many_as_it_gives(serve: Serve, model_at: ModelAt) -> None:
    server = serve(fault=lambda body, before: "at most 8" if body.get("n", 1) > 8 else None)
    first, second = respond(model_at(server), asked(samples=20), asked("other", samples=20), max_connections=1)
    assert [one.ended for one in (*first, *second)] == ["stop"] * 40
    assert len({one.text for one in first}) == 20
    assert [one.body["n"] for one in server.of("other") if one.fault is None] == [8, 8, 4]
    assert sum(one.fault is not None for one in server.seen) <= 2


def test_batches_of_one_prompt_are_drawn_anew_and_a_batch_repeats(serve: Serve, model_at: ModelAt) -> None:
    server = serve()
    screen, baseline = respond(model_at(server), asked(), asked(batch="baseline"))
    (again,) = respond(model_at(server), asked())
    assert {one.text for one in screen}.isdisjoint(one.text for one in baseline)
    assert again == screen


def test_no_more_calls_are_under_way_than_allowed(serve: Serve, model_at: ModelAt) -> None:
    server = serve(latency=0.02)
    respond(model_at(server), *(asked(str(i), samples=1) for i in range(20)), max_connections=3)
    assert server.most_at_once == 3
    assert len(server.seen) == 20


def test_turns_calls_results_and_tools_reach_the_provider_and_its_calls_come_back(
    serve: Serve, model_at: ModelAt
) -> None:
    server = serve(reply=lambda body, number: Reply(None, calls=(("look", '{"what": "sky"}'),)))
    call = ToolCall(id="c1", name="look", arguments={"what": "sea"})
    schema = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
    prompt = Prompt(
        turns=(
            Turn(role="system", content="Be brief."),
            Turn(role="user", content="What is there?"),
            Turn(role="assistant", content="", calls=(call,)),
            Turn(role="tool", content="waves", answers="c1"),
        ),
        tools=(Tool(name="look", description="Looks.", parameters=schema),),
    )
    (responses,) = respond(model_at(server), Request(prompt=prompt, batch="b", samples=2))
    (seen,) = server.seen
    system, user, assistant, result = seen.body["messages"]
    assert (system["content"], user["content"]) == ("Be brief.", "What is there?")
    assert assistant["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"what": "sea"}'}
    assert (result["role"], result["tool_call_id"], result["content"]) == ("tool", "c1", "waves")
    tool = seen.body["tools"][0]["function"]
    assert tool["name"] == "look"
    assert tool["parameters"]["properties"]["what"]["type"] == "string"
    assert [one.calls[0].arguments for one in responses] == [{"what": "sky"}] * 2
    assert not any(one.missing for one in responses)


def test_how_a_response_ended_is_kept(serve: Serve, model_at: ModelAt) -> None:
    replies = [
        Reply("whole"),
        Reply("cut off", finish="length"),
        Reply("", finish="content_filter"),
        Reply(None, refusal="I will not."),
        Reply(""),
        Reply("so", reasoning="let me see"),
        Reply(None, calls=(("look", '{"what": '),)),
        Reply("half of a pair \ud83d"),
    ]
    server = serve(reply=lambda body, number: replies[number])
    (found,) = respond(model_at(server), asked(samples=len(replies)))
    assert [one.ended for one in found] == ["stop", "length", "filter", "filter", "stop", "stop", "error", "stop"]
    assert [one.missing for one in found] == [False, False, True, True, True, False, True, False]
    assert (found[5].text, found[5].reasoning) == ("so", "let me see")
    assert not found[6].calls
    assert "tool call" in found[6].text
    assert found[7].text == "half of a pair ?"


@pytest.mark.parametrize(("fault", "ended"), [("too long", "error"), ("filtered prompt", "filter")])
def test_a_prompt_that_is_not_taken_is_not_asked_again_and_is_no_answer(
    serve: Serve, model_at: ModelAt, fault: str, ended: str
) -> None:
    server = serve(fault=lambda body, before: fault)
    (responses,) = respond(model_at(server), asked())
    assert [one.ended for one in responses] == [ended] * 4
    assert all(one.missing for one in responses)
    assert len(server.seen) == 1


def test_what_was_used_is_noted_by_role_and_known_after_a_crash(
    serve: Serve, model_at: ModelAt, tmp_path: Path
) -> None:
    ledger = Ledger(tmp_path / "usage.jsonl")
    server = serve(reply=lambda body, number: Reply("one two three"))
    (responses,) = respond(model_at(server), asked("a b c d"), role="judge", ledger=ledger)
    (entry,) = ledger.entries()
    assert (entry.stage, entry.role, entry.model) == ("screen", "judge", "openai-api/local/scripted")
    assert (entry.usage.calls, entry.usage.input, entry.usage.cache_read, entry.usage.output) == (1, 2, 2, 12)
    assert entry.billed
    assert sum(one.tokens for one in responses) == 12
    with (tmp_path / "usage.jsonl").open("a") as file:
        file.write('{"role": "jud')
    later = Ledger(tmp_path / "usage.jsonl")
    assert later.entries() == (entry,)
    later.note(entry)
    assert Ledger(tmp_path / "usage.jsonl").entries()[0].usage.output == 24


def test_each_batch_is_handed_over_when_it_is_complete_and_before_the_others(serve: Serve, model_at: ModelAt) -> None:
    server, kept = serve(gives_n=False), []

    def keep(request: Request, responses: list[Response]) -> None:
        kept.append((request.prompt.user_text, len(responses), len(server.seen)))

    respond(model_at(server), *(asked(str(i)) for i in range(3)), max_connections=1, kept=keep)
    assert sorted((text, count) for text, count, _ in kept) == [("0", 4), ("1", 4), ("2", 4)]
    assert kept[0][2] < len(server.seen)


def test_a_run_that_is_stopped_pays_for_nothing_twice(serve: Serve, model_at: ModelAt, tmp_path: Path) -> None:
    server = serve(gives_n=False)
    wanted = [asked(str(i)) for i in range(5)]
    (whole,) = [respond(model_at(server), *wanted)]
    calls = len(server.seen)
    server.seen.clear()

    def stop(request: Request, responses: list[Response]) -> None:
        raise KeyboardInterrupt

    journal = tmp_path / "journal.jsonl"
    with pytest.raises(KeyboardInterrupt):
        respond(model_at(server), *wanted, max_connections=1, journal=journal, kept=stop)
    before = len(server.seen)
    assert 0 < before < calls
    with journal.open("ab") as file:
        file.write(b'{"key": "torn')
    assert respond(model_at(server), *wanted, journal=journal) == whole
    assert len(server.seen) <= calls + 1  # the call that was in flight may have to be made again
    assert respond(model_at(server), *wanted, journal=journal) == whole
    assert len(server.seen) <= calls + 1


def test_the_identity_says_what_responses_depend_on(serve: Serve, model_at: ModelAt) -> None:
    model, more = model_at(serve()), SAMPLING.model_copy(update={"samples": 9})
    other = [SAMPLING.model_copy(update={name: value}) for name, value in {"top_p": 0.5, "max_tokens": 9}.items()]
    with InspectTarget(model, SAMPLING) as target:
        identities = {target.identity}
    for sampling, settings in [(more, {}), *((one, {}) for one in other), (SAMPLING, {"revision": "2"})]:
        with InspectTarget(model, sampling, **settings) as target:
            identities.add(target.identity)
    assert len(identities) == 4  # the number of samples of a batch is no part of the distribution
    with InspectTarget(model, SAMPLING, config=GenerateConfig(system_message="Be brief.")) as target:
        assert target.identity not in identities


def test_thinking_of_any_provider_is_kept_apart() -> None:
    message = [ContentReasoning(reasoning="hm"), ContentText(text="so")]
    output = ModelOutput.from_content("m", message)
    output.usage = ModelUsage(input_tokens=1, output_tokens=2, total_tokens=3)
    (responses,) = respond(get_model("mockllm/model", custom_outputs=[output] * 4), asked())
    assert {(one.text, one.reasoning) for one in responses} == {("so", "hm")}


def test_a_model_that_cannot_be_had_and_a_setting_that_is_not_handed_on_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LOCAL_API_KEY")
    for name in ("openai-api/local/m", "no-such-provider/m", "word"):
        with pytest.raises(CounterfactualError, match="cannot be had"):
            InspectTarget(name, SAMPLING)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    with pytest.raises(CounterfactualError, match="top_k"):
        InspectTarget("openai/gpt-4o-mini", SAMPLING.model_copy(update={"top_k": 5}))


def test_top_k_reaches_servers_that_know_it(serve: Serve, model_at: ModelAt) -> None:
    server = serve()
    with InspectTarget(model_at(server), SAMPLING.model_copy(update={"top_k": 5})) as target:
        target.respond([asked()])
    assert server.seen[0].body["top_k"] == 5
