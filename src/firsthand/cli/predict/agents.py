"""Agents that ``firsthand predict`` asks: models behind an API, and each with tools beside itself without them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firsthand.cli.predict.ask import Ask
from firsthand.counterfactual.predicting.answered import Answered
from firsthand.counterfactual.predicting.finishing import Asked
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.predicting.reading import ReadClaims
from firsthand.counterfactual.predicting.running import ask as ask_all
from firsthand.counterfactual.store import Store
from firsthand.counterfactual.targets.local_predictor import is_target
from firsthand.engine import LoadedModel
from firsthand.engine.loading import load
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress

if TYPE_CHECKING:
    from firsthand.counterfactual.inspecting.predicting.agent import AgentPredictor

FOLDER = "agents"
"""Where calls and logs of agents lie in a run's folder."""


@dataclass(frozen=True, eq=False)
class Agents:
    """Everyone who is asked through Inspect.

    Attributes:
        members: Each with the name of the same agent without tools, which is empty for those that have none.
        notes: What a reader should know.
    """

    members: tuple[tuple["AgentPredictor", str], ...] = ()
    notes: tuple[str, ...] = ()


def agents_of(ask: Ask, read: ReadClaims, progress: Progress) -> Agents:
    """The agents that were asked for; those with tools come right after themselves without.

    Raises:
        CounterfactualError: If Inspect is not installed, or an agent or tool cannot be had.
        ModelError: If the target cannot be loaded, or an adapter does not match it.
    """
    if not ask.agents:
        return Agents()
    try:
        from firsthand.counterfactual.inspecting.predicting.agent import AgentPredictor
        from firsthand.counterfactual.inspecting.stages.settings import RoleModel
        from firsthand.counterfactual.tools.limits import Limits
    except ImportError as error:
        raise CounterfactualError(
            f"Agents need Inspect AI, which is not installed ({error}).",
            "Install it: pip install 'firsthand[investigate]'.",
        ) from None
    loaded, notes = _read_by_tools(ask, read, progress)
    folder, limits = ask.out / FOLDER, Limits(calls=ask.calls, positions=ask.positions)
    members: list[tuple[AgentPredictor, str]] = []
    for name in ask.agents:
        playing = RoleModel(model=name, billed=not name.startswith("firsthand/"))
        plain = AgentPredictor(playing, folder)
        members.append((plain, ""))
        if ask.tools:
            progress.say("opening tools")
            reading = AgentPredictor(playing, folder, target=loaded, tools=ask.tools, limits=limits)
            members.append((reading, plain.name))
    return Agents(tuple(members), notes)


def _read_by_tools(ask: Ask, read: ReadClaims, progress: Progress) -> tuple[LoadedModel | None, tuple[str, ...]]:
    """The target, if tools read one."""
    if not ask.tools or ask.target is None:
        return None, ()
    loaded = load(ask.target, device=ask.device, dtype=ask.dtype, progress=progress.say)
    if all(is_target(loaded, target) for target in read.targets):
        return loaded, ()
    note = f"Tools read {ask.target}, which was named as the target by whoever ran this: the claims do not say so."
    return loaded, (note,)


def ask_agents(
    ask: Ask, agents: Agents, questions: list[Question], store: Store, progress: Progress
) -> tuple[list[Asked], tuple[str, ...]]:
    """Ask every agent all that it has not answered, and say what was lost."""
    asked: list[Asked] = []
    notes = list(agents.notes)
    for predictor, beside in agents.members:
        # All at once: an agent keeps by itself what it was told, call by call.
        answers = ask_all(predictor, questions, store, progress, at_once=max(1, len(questions)))
        asked.append(Asked(predictor, answers, _how(ask, bool(beside)), _card(ask, predictor, beside), beside))
        lost = _lost(answers)
        if lost:
            notes.append(
                f"{lost} calls of {predictor.name} were lost after all retries. They count as invalid here, are not "
                "kept, and are made by the same command."
            )
    return asked, tuple(notes)


def _lost(answers: list[Answered]) -> int:
    return sum(one.prediction.waits for one in answers)


def _how(ask: Ask, tools: bool) -> str:
    how = "The transcript and the claim are quoted as data; it answers with a reason and a probability"
    if not tools:
        return f"{how}."
    return (
        f"{how}, after at most {ask.calls} calls of tools that read the target's activations on the transcript, of at "
        f"most {ask.positions} tokens each."
    )


def _card(ask: Ask, predictor: "AgentPredictor", tools: str) -> dict[str, str]:
    card = {"model": predictor.settings.predictor.model}
    return card | {"tools": ", ".join(ask.tools), "read by tools": ask.target or ""} if tools else card
