"""One claim at a time: the predictor reads, calls tools if it has any, and gives a probability."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import anyio.to_thread
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolCall, ToolCallError

from firsthand.counterfactual.inspecting.predicting.settings import PredictSettings
from firsthand.counterfactual.inspecting.predicting.wording import Foretold, info_of, system
from firsthand.counterfactual.inspecting.stages.asking import AGAIN, form_of, parsed, replied
from firsthand.counterfactual.inspecting.stages.batches import shown, shown_prompt
from firsthand.counterfactual.inspecting.stages.calling import Calls, RunStopped, Standing
from firsthand.counterfactual.inspecting.stages.stage import Found, Run, left_by, sample_of, staged
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.prices import load_prices
from firsthand.counterfactual.quoting import RULE, fence_key, quoted
from firsthand.counterfactual.tools.altered import AlteredError
from firsthand.counterfactual.tools.guard import Guarded
from firsthand.counterfactual.tools.session import Session, told
from firsthand.counterfactual.tools.subject import Subject
from firsthand.counterfactual.usage import Entry
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest
from firsthand.trials.files import read_json

STAGE: Final = "predict"
TOLD: Final = 60_000
"""Characters of what one call of a tool says that the predictor is shown."""


@dataclass(frozen=True)
class Toolbox:
    """Tools and the target that they read.

    Attributes:
        subject: The target.
        tools: The tools, guarded.
    """

    subject: Subject
    tools: tuple[Guarded, ...]


@dataclass(frozen=True)
class Opened:
    """A run on disk.

    Attributes:
        run: What the stages' machinery needs of it.
        settings: Its settings.
        questions: What is asked, by the sample's name.
        toolbox: Its tools, if it has any.
    """

    run: Run
    settings: PredictSettings
    questions: dict[str, Question]
    toolbox: Toolbox | None


IN_PROCESS: Final[dict[str, Toolbox]] = {}
"""Toolboxes that this process has made, by the folder of their run; others are opened as the settings say."""


@lru_cache(maxsize=64)
def opened(folder: str) -> Opened:
    """A run on disk.

    Raises:
        CounterfactualError: If there is none, or its tools are not what they were.
    """
    place = Path(folder)
    if not (place / "settings.json").is_file():
        raise CounterfactualError(f"{place} holds no predictions.", "Name a folder that a predictor agent made.")
    settings = PredictSettings.model_validate(read_json(place / "settings.json"))
    lines = (place / "questions.jsonl").read_bytes().splitlines()
    questions = [Question.model_validate_json(line) for line in lines]
    standing = Standing(load_prices(settings.prices), settings.money, settings.give_up_after)
    for found in left_by(place, STAGE, finished=False).values():
        for entry in map(Entry.model_validate, found.get("used", [])):
            standing.spent += standing.cost(entry)
    home = place.parent  # the next run asks only what waits, in another folder
    run = Run(place, settings.stages(folder), fence_key(home), standing, home)
    box = IN_PROCESS.get(folder) or _toolbox(settings)
    return Opened(run, settings, {name_of(one): one for one in questions}, box)


def _toolbox(settings: PredictSettings) -> Toolbox | None:
    if not settings.tools:
        return None
    from firsthand.counterfactual.tools.registry import open_tools
    from firsthand.engine import load

    subject = Subject(load(settings.target, dtype=settings.dtype))
    box = Toolbox(subject, open_tools(settings.tools, subject))
    if tuple(one.identity for one in box.tools) != settings.identities:
        raise CounterfactualError(
            "The tools are not those that the run began with: their weights, labels or settings differ.",
            "Restore them, or begin anew in another folder.",
        )
    return box


def name_of(question: Question) -> str:
    """Name of a question's sample."""
    return f"{question.claim}-{digest(question.model_dump(mode='json'))[:8]}"


def build(run: str) -> Task:
    """A probability for each question (arXiv 2608.16747, section 3.2).

    Args:
        run: Folder of the run.
    """
    opening = opened(run)

    async def work(calls: Calls, state: TaskState) -> Found:
        return await _work(opening, calls, state)

    return staged(opening.run, STAGE, samples(opening), work)


def samples(opening: Opened) -> list[Sample]:
    """One sample for each question."""
    return [
        sample_of(one.prompt, name, question=one.model_dump(mode="json")) for name, one in opening.questions.items()
    ]


async def _work(opening: Opened, calls: Calls, state: TaskState) -> Found:
    question = Question.model_validate(state.metadata["question"])
    session = await _session(opening, question)
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=f"{system(session is not None, opening.settings.limits)}\n\n{RULE}\n\n{_form()}"),
        ChatMessageUser(content=material(opening, calls, question, session)),
    ]
    found, why = await _answered(calls, messages, session)
    state.messages = messages
    if found is None:
        calls.count("predictor", "invalid")
    for _ in session.refusals if session else ():
        calls.count("predictor", "refused tool call")
    return {
        "status": "predicted" if found else "invalid",
        "probability": found.probability if found else None,
        "note": found.reason if found else why,
        "calls": session.calls if session else 0,
        "refusals": session.refusals if session else [],
        "made": [one.model_dump(mode="json") for one in session.made] if session else [],
    }


def _form() -> str:
    return form_of(Foretold)


async def _session(opening: Opened, question: Question) -> Session | None:
    box = opening.toolbox
    if box is None:
        return None
    transcript = await anyio.to_thread.run_sync(box.subject.transcript, question)
    return Session(box.tools, question, transcript, opening.settings.limits)


def material(opening: Opened, calls: Calls, question: Question, session: Session | None) -> str:
    """What the predictor is shown: everything that somebody else wrote is quoted."""
    lengths = opening.settings.lengths
    parts = [
        f"The prompt that the target was given:\n{shown_prompt(question.prompt, calls)}",
        f"One of its responses:\n{shown(question.response, calls, 'response', lengths.response)}",
    ]
    if opening.settings.reasoning and question.response.reasoning:
        thought = quoted(question.response.reasoning, calls.fence, "reasoning before the response", lengths.response)
        parts.append(f"What it thought before:\n{thought}")
    if session is not None:
        listed = quoted(session.transcript.listed(), calls.fence, "numbered tokens", opening.settings.listed)
        parts.append(f"The transcript's tokens, each as its number and its text:\n{listed}")
    parts.append(f"The claim:\n{quoted(question.text, calls.fence, 'claim', lengths.turn)}")
    return "\n\n".join(parts)


async def _answered(calls: Calls, messages: list[ChatMessage], session: Session | None) -> tuple[Foretold | None, str]:
    """The predictor's loop; returns its answer, or why there is none.

    A reply that calls no tool is the answer. One that cannot be read is asked for once more, and then invalid.
    """
    infos = [info_of(tool, session.limits) for tool in session.tools] if session else []
    turn, repaired = 0, False
    while True:
        output = await replied(calls, "predictor", list(messages), f"turn.{turn}", GenerateConfig(), infos)
        turn += 1
        if isinstance(output, str):
            calls.count("predictor", "no reply")
            return None, output
        messages.append(output.message)
        wanted = output.message.tool_calls or []
        if session is not None and wanted:
            if session.over:
                return None, "it went on calling tools after its calls were used up or refused"
            messages += [await _called(calls, session, call) for call in wanted]  # one after the other
            continue
        read = parsed(output, Foretold)
        if not isinstance(read, str):
            if repaired:
                calls.count("predictor", "repaired")
            return read, ""
        if repaired:
            return None, read
        repaired = True
        if not output.message.text.strip():
            messages[-1] = ChatMessageAssistant(content="(nothing)")
        messages.append(ChatMessageUser(content=AGAIN.format(problem=read)))


async def _called(calls: Calls, session: Session, call: ToolCall) -> ChatMessageTool:
    """Carry out one call, off the event loop; what the tool says is quoted."""
    try:
        done = await anyio.to_thread.run_sync(session.do, call.function, call.arguments, call.parse_error)
    except AlteredError as error:
        raise calls.standing.stop(RunStopped(error.problem, error.remedy)) from error
    text = done.note
    if done.done:
        what = f"what {call.function} says"
        text = f"{quoted(told(done.readings), calls.fence, what, TOLD)}\n{done.note}"
    return ChatMessageTool(
        content=text,
        tool_call_id=call.id,
        function=call.function,
        error=None if done.done else ToolCallError("parsing", done.note),
    )
