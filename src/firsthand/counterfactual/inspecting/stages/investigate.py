"""Stage 4: an agent edits the prompt, sees what becomes of the behaviour, and files a report."""

import time
from typing import Any, Final

from inspect_ai import Task
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageTool, ChatMessageUser
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolCallError

from firsthand.counterfactual.costs import money_text
from firsthand.counterfactual.inspecting.stages.batches import classify, rate_of, respond, shown, shown_prompt
from firsthand.counterfactual.inspecting.stages.bench import Bench, described
from firsthand.counterfactual.inspecting.stages.calling import CallRefused, Calls
from firsthand.counterfactual.inspecting.stages.stage import (
    Found,
    Run,
    left_by,
    opened,
    sample_of,
    staged,
)
from firsthand.counterfactual.inspecting.stages.wording import LIGHT, REPORT, RESAMPLE, THOROUGH
from firsthand.counterfactual.investigation import Screened
from firsthand.counterfactual.quoting import RULE, quoted
from firsthand.counterfactual.responses import Request

SILENT: Final = 3
"""Turns in a row without a tool call after which an investigation is given up."""

_NUDGE: Final = "Nothing happens unless you call a tool. Call resample for an experiment, or report to file the report."
_QUOTED: Final = 4


def build(run: str) -> Task:
    """Experiments and a report for each frequent behaviour (arXiv 2608.16747, section B.1, stage 3).

    The baseline is drawn anew: the screened batch chose the behaviour.

    Args:
        run: Folder of the run.
    """
    opening = opened(run)
    return staged(opening, "investigate", samples(opening), _work)


def samples(run: Run) -> list[Any]:
    """One sample for each frequent behaviour."""
    return [
        sample_of(
            Screened.model_validate(found["screened"]).prompt,
            name,
            screened=found["screened"],
        )
        for name, found in left_by(run.folder, "classify").items()
        if found["status"] == "frequent"
    ]


async def _work(calls: Calls, state: TaskState) -> Found:
    started = time.monotonic()
    screened = Screened.model_validate(state.metadata["screened"])
    request = Request(prompt=screened.prompt, batch="baseline", samples=calls.settings.sampling.samples)
    responses = await respond(calls, request)
    found = await classify(calls, screened.behaviour, responses, "baseline")
    bench = Bench(calls, screened, rate_of(found))
    if bench.baseline.valid:
        limit = calls.settings.lengths.quote
        shown_first = [
            shown(response, calls, f"response {index + 1}, judged {one.verdict.value}", limit)
            for index, (response, one) in enumerate(zip(responses, found, strict=True))
        ][:_QUOTED]
        ended = await _investigated(bench, state, _material(bench, shown_first), started)
    else:
        ended = "no response of the baseline could be judged"
    return {
        "status": "reported" if bench.report else "unfinished",
        "ended": ended,
        "baseline": bench.baseline.model_dump(mode="json"),
        "experiments": [one.model_dump(mode="json") for one in bench.experiments],
        "report": bench.report.model_dump(mode="json") if bench.report else None,
        "lines": {str(number): line for number, line in bench.lines.items()},
        "refusals": bench.refusals,
    }


def _material(bench: Bench, responses: list[str]) -> str:
    screened, calls = bench.screened, bench.calls
    return "\n\n".join(
        [
            f"The question:\n{quoted(screened.question, calls.fence, 'question', 4_000)}",
            f"The behaviour:\n{quoted(screened.summary, calls.fence, 'summary', 4_000)}",
            "The frozen yes/no question that measures it:\n"
            + quoted(screened.behaviour.question, calls.fence, "classifier question", 4_000),
            f"The prompt:\n{shown_prompt(screened.prompt, calls)}",
            f"In a fresh batch on the prompt as it is: {described(bench.baseline)} Some of its responses:\n"
            + "\n".join(responses),
            f"You have {bench.left} experiments and {calls.settings.spending.calls} turns.",
        ]
    )


async def _investigated(bench: Bench, state: TaskState, material: str, started: float) -> str:
    """The agent's loop; returns why it ended, empty if by a report. Every way out leaves what was measured in place."""
    calls = bench.calls
    rules = THOROUGH if calls.settings.effort == "thorough" else LIGHT
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=f"{rules}\n{RULE}"),
        ChatMessageUser(content=material),
    ]
    turns, silent, ended = 0, 0, ""
    while not bench.report and not ended:
        ended = _used_up(bench, turns, time.monotonic() - started)
        if ended:
            break
        try:
            output = await calls.generate("investigator", list(messages), f"turn.{turns}", tools=[RESAMPLE, REPORT])
        except CallRefused as refused:
            ended = f"a call of the investigator failed: {refused.problem}"
            break
        turns += 1
        messages.append(output.message)
        wanted = output.message.tool_calls or []
        silent = 0 if wanted else silent + 1
        if not wanted:
            calls.count("investigator", "turn without a tool call")
            ended = f"{SILENT} turns in a row without a tool call" if silent >= SILENT else ""
            messages.append(ChatMessageUser(content=_NUDGE))
        for call in wanted:
            none_left = _used_up(bench, 0, time.monotonic() - started)
            if bench.report or (none_left and call.function != REPORT.name):
                told, done = f"Not carried out: {none_left or 'the report is filed'}.", False
            else:
                told, done = await bench.do(call.function, call.arguments, call.parse_error)
            messages.append(
                ChatMessageTool(
                    content=told,
                    tool_call_id=call.id,
                    function=call.function,
                    error=None if done else ToolCallError("parsing", told),
                )
            )
        _count_down(messages, calls.settings.spending.calls - turns)
    state.messages = messages
    return ended


def _count_down(messages: list[ChatMessage], turns_left: int) -> None:
    if turns_left in (1, 3) and messages[-1].role == "tool":
        word = "This is your last turn" if turns_left == 1 else f"{turns_left} turns are left"
        messages[-1].text = f"{messages[-1].text}\n{word}: file the report."


def _used_up(bench: Bench, turns: int, seconds: float) -> str:
    """Which budget is used up, if one is; checked before a call, so that it is never passed by more than one call."""
    budget, calls = bench.calls.settings.spending, bench.calls
    if turns >= budget.calls:
        return f"budget used up: {budget.calls} turns"
    if budget.tokens is not None and calls.tokens >= budget.tokens:
        return f"budget used up: {budget.tokens:,} tokens"
    if budget.money is not None and calls.money >= budget.money:
        return f"budget used up: {money_text(budget.money, calls.standing.prices.currency)}"
    if budget.seconds is not None and seconds >= budget.seconds:
        return f"budget used up: {budget.seconds:,.0f} seconds"
    return ""
