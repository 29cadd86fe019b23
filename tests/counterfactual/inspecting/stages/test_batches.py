"""Batches: as many responses as were wanted, whatever a provider gives, and one verdict for each, never guessed."""

import asyncio

import pytest
from faked import FakedCalls
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, GenerateConfig, ModelOutput
from planted_world import replied, said

from firsthand.counterfactual.behaviours import Asked, Pattern, Verdict
from firsthand.counterfactual.inspecting.stages.batches import classify, config_of, rate_of, respond
from firsthand.counterfactual.inspecting.stages.calling import CallLost
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.responses import Request, Response, Sampling

PROMPT = Prompt(turns=(Turn(role="user", content="Hello?"),))


def request(samples: int, batch: str = "screen") -> Request:
    return Request(prompt=PROMPT, batch=batch, samples=samples)


def giving(choices: int):  # type: ignore[no-untyped-def]
    def reply(role, messages, tools, config):  # type: ignore[no-untyped-def]
        count = min(choices, config.num_choices or 1)
        made = [ChatCompletionChoice(message=ChatMessageAssistant(content="hi"), stop_reason="stop")] * count
        return ModelOutput(model="m", choices=made)

    return reply


def test_a_provider_that_gives_one_choice_is_asked_as_often_as_needed_under_places_of_their_own() -> None:
    for choices, number in ((1, 10), (4, 3), (10, 1), (30, 1)):
        calls = FakedCalls(giving(choices))
        assert len(asyncio.run(respond(calls, request(10)))) == 10
        assert len(calls.asked) == number
        assert len({place for _, _, place in calls.asked}) == number


def refusing(most: int):  # type: ignore[no-untyped-def]
    """A provider that refuses more choices than so many."""

    def reply(role, messages, tools, config):  # type: ignore[no-untyped-def]
        wanted = config.num_choices or 1
        return f"only {most} candidates" if wanted > most else giving(wanted)(role, messages, tools, config)

    return reply


@pytest.mark.parametrize(("most", "first", "later"), [(8, 1 + 4, 4), (1, 2 + 30, 30), (30, 1, 1)])
def test_a_provider_that_refuses_so_many_choices_is_asked_for_fewer_and_for_them_at_once_from_then_on(
    most: int, first: int, later: int
) -> None:
    calls = FakedCalls(refusing(most))
    assert [one.ended for one in asyncio.run(respond(calls, request(30)))] == ["stop"] * 30
    assert len(calls.asked) == first
    assert len(asyncio.run(respond(calls, request(30, "baseline")))) == 30
    assert len(calls.asked) == first + later


def test_what_is_asked_after_a_refusal_is_named_alike_whether_it_was_known_before_or_not() -> None:
    def places(calls: FakedCalls) -> list[str]:
        asyncio.run(respond(calls, request(30)))
        return [place for _, _, place in calls.asked if place != "screen/0+30"]

    for most in (8, 1):
        fresh, knowing = FakedCalls(refusing(most)), FakedCalls(refusing(most))
        knowing.standing.per_call.most = most
        assert set(places(knowing)) <= set(places(fresh))


def test_a_prompt_that_is_refused_gives_error_responses_and_never_fewer_and_teaches_nothing() -> None:
    calls = FakedCalls(lambda *_: "ValueError: too long")
    responses = asyncio.run(respond(calls, request(10)))
    assert [(one.ended, one.text) for one in responses] == [("error", "ValueError: too long")] * 10
    assert all(one.missing for one in responses)
    assert len(calls.asked) == 3
    assert calls.standing.per_call.most is None


def test_a_lost_call_ends_the_batch_after_those_beside_it() -> None:
    made = []

    def reply(role, messages, tools, config):  # type: ignore[no-untyped-def]
        made.append(config.seed)
        return CallLost("503", "again") if len(made) == 3 else giving(1)(role, messages, tools, config)

    with pytest.raises(CallLost):
        asyncio.run(respond(FakedCalls(reply), request(10)))
    assert len(made) == 10


def test_every_batch_and_call_has_a_seed_of_its_own() -> None:
    sampling = Sampling()
    seeds = {
        config_of("m/m", sampling, request(10, batch), 10, number).seed
        for batch in ("screen", "baseline", "explore.1")
        for number in range(3)
    }
    assert len(seeds) == 9
    assert config_of("m/m", sampling, request(10), 10, 0) == config_of("m/m", sampling, request(10), 10, 0)


def test_sampling_is_passed_on_and_what_is_left_to_the_model_is_not_set() -> None:
    config = config_of("m/m", Sampling(thinking=1024, max_tokens=1024), request(10), 10, 0)
    assert config.temperature == 1.0
    assert config.top_p is None
    assert config.max_tokens == 2048
    assert config.reasoning_tokens == 1024
    assert isinstance(config_of("m/m", Sampling(), request(10), 10, 0), GenerateConfig)
    assert config_of("m/m", Sampling(), request(10), 10, 0).reasoning_tokens is None


SAID = [
    Response(text="a lighthouse"),
    Response(text="a meadow"),
    Response(text="", ended="filter"),
    Response(text="the call failed", ended="error"),
    Response(text="a lighthou", ended="length"),
]


def test_a_program_judges_without_any_call() -> None:
    calls = FakedCalls([])
    found = asyncio.run(classify(calls, Pattern(question="?", pattern="lighthouse"), SAID, "b"))
    assert [one.verdict for one in found] == ["yes", "no", "invalid", "invalid", "invalid"]
    assert calls.asked == []


def test_the_classifier_judges_each_response_by_itself_and_missing_ones_are_not_asked_about() -> None:
    def reply(role, messages, tools, config):  # type: ignore[no-untyped-def]
        assert role == "classifier"
        assert messages[-1].text.count("BEGIN") == 2
        return replied(reason="", answer="yes" if "lighthouse" in messages[-1].text else "no")

    calls = FakedCalls(reply)
    found = asyncio.run(classify(calls, Asked(question="Light?"), SAID, "b"))
    assert [one.verdict for one in found] == ["yes", "no", "invalid", "invalid", "no"]
    assert len(calls.asked) == 3


def test_replies_that_cannot_be_read_and_cannot_tell_are_invalid_and_counted() -> None:
    replies = [said("YES"), said("YES"), replied(reason="unclear", answer="cannot tell")]
    calls = FakedCalls(replies)  # type: ignore[arg-type]
    found = asyncio.run(classify(calls, Asked(question="Light?"), SAID[:1], "b"))
    found += asyncio.run(classify(calls, Asked(question="Light?"), SAID[:1], "c"))
    assert [one.verdict for one in found] == [Verdict.INVALID] * 2
    assert calls.counts == {"classifier: invalid": 1, "classifier: cannot tell": 1}
    assert rate_of(found).share is None
