"""The baseline of reproductions: drawn once for all claims of an investigation, in a batch of its own."""

import asyncio

from faked import FakedCalls
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.edits import Edit, Replace
from firsthand.counterfactual.inspecting.stages.again import Baselines
from firsthand.counterfactual.inspecting.stages.calling import CallLost
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rates import Rate


def claim(experiment: int, investigation: str = "i") -> Claim:
    return Claim(
        investigation=investigation,
        target="t",
        prompt=Prompt(turns=(Turn(role="user", content="copper"),)),
        edit=Edit(operations=(Replace(turn=0, find="copper", text="iron"),)),
        experiment=experiment,
        behaviour=Pattern(question="?", pattern="yes"),
        baseline=Rate(yes=30, no=0),
        rate=Rate(yes=0, no=30),
        intervention="Another metal.",
        label=True,
    )


def giving(role, messages, tools, config):  # type: ignore[no-untyped-def]
    said = ["yes" if number % 2 else "no" for number in range(config.num_choices)]
    choices = [ChatCompletionChoice(message=ChatMessageAssistant(content=one), stop_reason="stop") for one in said]
    return ModelOutput(model="m", choices=choices, usage=ModelUsage(output_tokens=len(said)))


def test_claims_of_an_investigation_share_one_baseline_that_one_of_them_drew() -> None:
    baselines, calls = Baselines(), FakedCalls(giving)

    async def all_of_them() -> list[Rate]:
        return list(await asyncio.gather(*(baselines.of(calls, claim(number)) for number in range(1, 4))))

    assert asyncio.run(all_of_them()) == [Rate(yes=15, no=15)] * 3
    assert [place for _, _, place in calls.asked] == ["reproduce.baseline/0+30"]
    asyncio.run(baselines.of(calls, claim(1, "j")))
    assert len(calls.asked) == 2
    assert baselines.drawn_by == {"i": "sample", "j": "sample"}


def test_one_that_was_drawn_before_is_not_drawn_again_and_one_that_was_lost_is() -> None:
    calls = FakedCalls([CallLost("503", "again"), "refused"])
    before = Baselines({"i": Rate(yes=3, no=27)})
    assert asyncio.run(before.of(calls, claim(1))) == Rate(yes=3, no=27)
    assert not calls.asked
    assert not before.drawn_by
    baselines = Baselines()
    try:
        asyncio.run(baselines.of(calls, claim(1)))
    except CallLost:
        assert not baselines.held
    else:
        raise AssertionError
