"""The investigator's tools: edits are measured or refused with a reason it can act on, and reports must be complete."""

import asyncio
from typing import Any

import pytest
from faked import FakedCalls
from planted_world import CAUSE, OTHER, prompt_text, target

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.inspecting.stages.bench import Bench
from firsthand.counterfactual.inspecting.stages.settings import Budget
from firsthand.counterfactual.investigation import Screened
from firsthand.counterfactual.prompts import Prompt, ToolCall, Turn
from firsthand.counterfactual.rates import Rate

SWAP = {"kind": "replace", "turn": 0, "find": CAUSE, "text": OTHER}


def bench(prompt: Prompt | None = None, **settings: Any) -> Bench:
    prompt = prompt or Prompt(turns=(Turn(role="user", content=prompt_text(1)),))
    screened = Screened(
        prompt=prompt,
        rating=4,
        behaviour=Pattern(question="Is it there?", pattern="lighthouse"),
        summary="s",
        question="q",
        own_question="o",
        rate=Rate(yes=25, no=5),
    )
    calls = FakedCalls(lambda role, messages, tools, config: target(messages, config), **settings)
    return Bench(calls, screened, Rate(yes=26, no=4))


def told(one: Bench, tool: str, **arguments: Any) -> tuple[str, bool]:
    return asyncio.run(one.do(tool, arguments, None))


def test_an_edit_is_measured_on_fresh_responses_and_shown_with_rates_intervals_and_quotes() -> None:
    one = bench()
    text, done = told(one, "resample", hypothesis="copper", operations=[SWAP])
    assert done
    (experiment,) = one.experiments
    assert experiment.stage == "explored"
    assert experiment.batch == "explore.1"
    assert experiment.rate.responses == 30
    assert experiment.decision == "changes"
    assert f"{experiment.rate.yes} of 30 responses" in text
    assert "26 of 30 responses" in text
    assert "95% interval" in text
    assert text.count("BEGIN") == 4
    assert "14 experiments are left" in text


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        ([{**SWAP, "find": "brass"}], "stands 0 times in turn 0"),
        ([{**SWAP, "turn": 4}], "There is no turn 4"),
        ([{**SWAP, "text": CAUSE}], "leaves the prompt as it is"),
        ([{"kind": "drop", "turn": 0}], "leaves no prompt"),
        ([{"kind": "swap", "turn": 0}], "does not match any of the expected tags"),
        ([{**SWAP, "turn": "0"}], "valid integer"),
        ([{**SWAP, "why": "because"}], "Extra inputs"),
        ([], "at least 1 item"),
        ("copper", "valid array"),
        ([{"kind": "insert", "turn": 0, "role": "tool", "content": "42"}], "results of tools without their calls"),
        ([{"kind": "rewrite", "turn": 0, "content": "x" * 200_000}], "200,000 characters"),
    ],
)
def test_an_edit_that_cannot_be_made_is_refused_with_its_reason_and_costs_nothing(operations: Any, reason: str) -> None:
    one = bench()
    text, done = told(one, "resample", hypothesis="x", operations=operations)
    assert not done
    assert reason in text
    assert one.experiments == []
    assert one.calls.asked == []  # type: ignore[attr-defined]
    assert one.calls.counts == {"investigator: refused tool call": 1}


def test_the_same_edit_twice_is_refused() -> None:
    one = bench()
    told(one, "resample", hypothesis="x", operations=[SWAP])
    text, done = told(one, "resample", hypothesis="x", operations=[{**SWAP, "find": f"{CAUSE} ", "text": f"{OTHER} "}])
    assert not done
    assert "Experiment 1 measured the same prompt" in text


def test_a_call_is_not_left_without_its_result_nor_a_result_without_its_call() -> None:
    prompt = Prompt(
        turns=(
            Turn(role="user", content="Look."),
            Turn(role="assistant", content="", calls=(ToolCall(id="1", name="look"),)),
            Turn(role="tool", content="It is dark.", answers="1"),
        )
    )
    text, done = told(bench(prompt), "resample", hypothesis="x", operations=[{"kind": "drop", "turn": 1}])
    assert not done
    assert "results of tools without their calls" in text


def test_no_more_experiments_than_the_budget_allows() -> None:
    one = bench(budget=Budget(experiments=1))
    told(one, "resample", hypothesis="x", operations=[SWAP])
    text, done = told(one, "resample", hypothesis="x", operations=[{**SWAP, "text": "tin"}])
    assert not done
    assert "File the report" in text


def report(**changed: Any) -> dict[str, Any]:
    filed = {
        "observed": "A lighthouse.",
        "causes": [{"hypothesis": "copper", "experiments": [1]}],
        "refuted": [],
        "answer": "Copper.",
        "lines": [{"experiment": 1, "edit": "copper became iron, from 100% to 0%"}],
    }
    return {**filed, **changed}


def test_a_report_holds_a_line_for_each_experiment_with_the_rates_that_were_measured() -> None:
    one = bench()
    told(one, "resample", hypothesis="x", operations=[SWAP])
    _, done = told(one, "report", **report())
    assert done
    assert one.report is not None
    (line,) = one.report.causes[0].evidence
    after = round(100 * (one.experiments[0].rate.share or 0))
    assert line.startswith("Experiment 1: ")
    assert line.endswith(f"(87% → {after}%)")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"lines": []}, "one line for each experiment that was run (1)"),
        ({"lines": [{"experiment": 2, "edit": "x"}]}, "one line for each"),
        ({"causes": [{"hypothesis": "copper", "experiments": [7]}]}, "Experiment 7 was not run"),
        ({"refuted": [{"hypothesis": "copper", "experiments": []}]}, "at least 1 item"),
        ({"answer": ""}, "answer"),
        ({"causes": "copper"}, "causes"),
    ],
)
def test_an_incomplete_report_is_refused(changed: dict[str, Any], reason: str) -> None:
    one = bench()
    told(one, "resample", hypothesis="x", operations=[SWAP])
    text, done = told(one, "report", **report(**changed))
    assert not done
    assert reason in text
    assert one.report is None


def test_nulls_that_a_provider_fills_in_are_left_out() -> None:
    _, done = told(bench(), "resample", hypothesis="x", operations=[{**SWAP, "which": None, "content": None}])
    assert done


def test_unreadable_arguments_and_tools_that_are_not_there_are_refused() -> None:
    one = bench()
    assert not asyncio.run(one.do("resample", {}, "no JSON"))[1]
    assert not told(one, "bash", cmd="ls")[1]
    assert len(one.refusals) == 2
