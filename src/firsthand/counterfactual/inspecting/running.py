"""All stages of an investigation, one after the other, in one call that can be repeated until it is finished."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

from inspect_ai import eval_set
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import GenerateConfig, Model
from pydantic import Field, ValidationError

from firsthand.counterfactual.behaviours import check_behaviours
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.inspecting.settings import model_of, settings_of
from firsthand.counterfactual.inspecting.stages.attempts import note_attempts
from firsthand.counterfactual.inspecting.stages.calling import Standing
from firsthand.counterfactual.inspecting.stages.from_logs import (
    Ending,
    claims_from_logs,
    counts_from_logs,
    endings_from_logs,
    investigations_from_logs,
    undescribed_from_logs,
    used_from_logs,
)
from firsthand.counterfactual.inspecting.stages.settings import ROLES, RoleModel, RoleName, StagesSettings
from firsthand.counterfactual.inspecting.stages.stage import (
    STAGES,
    NothingToDo,
    StageName,
    latest_log,
    left_by,
    logs_of,
    opened,
    waiting_in,
)
from firsthand.counterfactual.inspecting.stages.tasks import TASKS
from firsthand.counterfactual.inspecting.weights import weights_of
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prices import load_prices, unpriced
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.usage import Entry
from firsthand.errors import CounterfactualError
from firsthand.trials.files import read_json, write_atomic, write_json

Display: TypeAlias = Literal["full", "rich", "plain", "log", "none"]


class StagesResult(Part):
    """What a run came to, as far as it went.

    Attributes:
        finished: Whether every stage is finished, and nothing waits.
        stopped: Why not, if not.
        target: Identity of the target.
        investigations: All investigations, unfinished ones included.
        claims: All claims, before filters.
        undescribed: Claims that were measured and not put into words, by reason.
        endings: Where each prompt ended.
        counts: What happened to replies, by stage, role and outcome.
        used: What each role used in each stage.
    """

    finished: bool
    stopped: str = ""
    target: str = ""
    investigations: tuple[Investigation, ...] = ()
    claims: tuple[Claim, ...] = ()
    undescribed: dict[str, int] = Field(default_factory=dict)
    endings: tuple[Ending, ...] = ()
    counts: dict[str, int]
    used: tuple[Entry, ...] = ()


def run_stages(
    settings: StagesSettings,
    prompts: Sequence[Prompt],
    *,
    until: StageName = "claim",
    display: Display = "none",
) -> StagesResult:
    """Run the stages, or go on with a run that was interrupted.

    Everything is kept in ``settings.folder``: what calls gave in ``cache``, and a folder of Inspect logs for each
    stage in ``logs``. Stages that are finished are not run again; one that was interrupted makes only the calls whose
    answers are not kept. A sample whose call was lost (:class:`~.stages.calling.CallLost`) waits, and the others go on;
    the next run makes it, and whatever follows from it.

    Args:
        settings: What to do.
        prompts: Prompts for the target. Equal ones are asked once.
        until: The last stage to run; a later call goes on from there.
        display: Inspect's display.

    Raises:
        CounterfactualError: If the folder holds a run with other settings or prompts, a model cannot be made, a
            function that judges cannot be imported, or a stage fails as a whole.
    """
    folder = Path(settings.folder).absolute()
    _check_prices(settings)
    check_behaviours(settings.behaviours, settings.sampling.max_tokens)
    settings_of(settings.roles["target"].model, settings.sampling)
    _models(settings)
    settings = settings.model_copy(update={"weights": weights_of(settings.roles["target"].model)})
    _begin(folder, settings, prompts)
    stopped = ""
    with cache_in(folder / "cache"):
        for stage in STAGES[: STAGES.index(until) + 1]:
            stopped = _stage(folder, settings, stage, display)
            if stopped:
                break
    stopped = stopped or _waits(folder)
    return StagesResult(
        finished=not stopped and until == STAGES[-1],
        stopped=stopped,
        target=settings.target,
        investigations=tuple(investigations_from_logs(folder)),
        claims=tuple(claims_from_logs(folder)),
        undescribed=undescribed_from_logs(folder),
        endings=tuple(endings_from_logs(folder)),
        counts=counts_from_logs(folder),
        used=tuple(used_from_logs(folder)),
    )


def _check_prices(settings: StagesSettings) -> None:
    """Refuse a budget of money that nobody could keep."""
    billed = [settings.playing(role).model for role in ROLES if settings.playing(role).billed]
    unknown = unpriced(load_prices(settings.prices), billed) if settings.limits_money else ()
    if unknown:
        raise CounterfactualError(
            f"A budget of money cannot be kept: no price is known for {', '.join(unknown)}.",
            "Name a file with their prices, or set `billed=False` for a model that nobody charges for.",
        )


def _begin(folder: Path, settings: StagesSettings, prompts: Sequence[Prompt]) -> None:
    """Write down what the run is about, or check that it is the same as before; budgets and speed may change."""
    distinct = {one.id: one for one in prompts}
    if not distinct:
        raise CounterfactualError("There are no prompts.", "Give at least one.")
    lines = "".join(one.model_dump_json() + "\n" for one in distinct.values()).encode()
    place = folder / "settings.json"
    if place.exists():
        try:
            before = StagesSettings.model_validate(read_json(place))
        except ValidationError as error:
            raise CounterfactualError(f"{place} cannot be read.", "Use another folder.") from error
        if before.shaping != settings.shaping:
            changed = sorted(k for k, v in settings.shaping.items() if before.shaping[k] != v)
            raise CounterfactualError(
                f"{folder} holds a run with other settings: {', '.join(changed)}.",
                "Use another folder, or the settings that the run began with.",
            )
        if (folder / "prompts.jsonl").read_bytes() != lines:
            raise CounterfactualError(f"{folder} holds a run on other prompts.", "Use another folder.")
    else:
        if (folder / "prompts.jsonl").exists():
            raise CounterfactualError(
                f"{folder} holds prompts that were prepared, and no run.", "Choose another folder for the run."
            )
        write_atomic(folder / "prompts.jsonl", lines)
    write_json(place, settings.model_dump(mode="json"))
    opened.cache_clear()


def _models(settings: StagesSettings) -> dict[str, Model]:
    """A model for each role; roles that are played by the same one share it.

    They are made anew for each stage: a provider's client belongs to the event loop that it was used in.
    """
    made: dict[str, Model] = {}
    return {role: _model(settings, role, made) for role in ROLES}


def _model(settings: StagesSettings, role: RoleName, made: dict[str, Model]) -> Model:
    playing = settings.playing(role)
    name = playing.model_dump_json(exclude={"constrained"})
    if name not in made:
        try:
            made[name] = player(playing, settings.retries, settings.timeout)
        except CounterfactualError as error:
            raise CounterfactualError(f"Nobody plays the {role}. {error.problem}", error.remedy) from error
    return made[name]


def player(playing: RoleModel, retries: int, timeout: int) -> Model:
    """The model that plays a role.

    Args:
        playing: Which one, and how it is called.
        retries: How often a call is made again, unless its own `config` says.
        timeout: Seconds of one attempt, unless its own `config` says.

    Raises:
        CounterfactualError: If its `config` cannot be used, or there is no such model.
    """
    config = {"max_retries": retries, "attempt_timeout": timeout, **playing.config}
    unknown = sorted(set(config) - set(GenerateConfig.model_fields))
    if unknown:
        raise CounterfactualError(
            f"Inspect's GenerateConfig has no field {unknown[0]!r}.", "Name one that it has in `config`."
        )
    try:
        made = GenerateConfig(**config)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise CounterfactualError(
            f"`config` of {playing.model} cannot be used: {where}: {first['msg']} (it is {first['input']!r}).",
            "Write the value that Inspect's GenerateConfig wants there.",
        ) from None
    arguments: dict[str, Any] = {"base_url": playing.base_url, "config": made, **playing.arguments}
    return model_of(playing.model, arguments)


def _stage(folder: Path, settings: StagesSettings, stage: StageName, display: Display) -> str:
    """Run one stage; returns why the run stopped, empty if it goes on."""
    standing = opened(str(folder)).standing
    for _ in range(2):
        try:
            task = TASKS[stage](run=str(folder))
        except NothingToDo:
            return ""
        done = latest_log(folder, stage)
        left = left_by(folder, stage, finished=False)
        if done is not None and done.status == "success" and all(str(one.id) in left for one in task.dataset):
            return ""
        _, logs = eval_set(
            [task],
            log_dir=str(logs_of(folder, stage)),
            model=None,
            model_roles=dict(_models(settings)),
            retry_attempts=0,
            retry_immediate=False,
            fail_on_error=True,
            continue_on_fail=True,
            display=display,
            log_realtime=settings.live,
            acp_server=False,
            ctl_server=False,
            max_samples=settings.samples_at_once,
            max_connections=settings.connections,
            max_retries=settings.retries,
            score=False,
            log_dir_allow_dirty=True,
        )
        check_stage(stage, logs, standing)
        if standing.stopped:
            return standing.stopped
        # Prompts that were refused before their role had answered any can be told from an outage now.
        early = [
            one
            for one, role in standing.refused_first.items()
            if one in standing.waiting
            if standing.line(role).answered
        ]
        standing.refused_first.clear()
        for one in early:
            del standing.waiting[one]
        if not early:
            break
    note_attempts(folder, stage, [sample for of, sample in standing.waiting if of == stage])
    return ""


def check_stage(stage: StageName, logs: Sequence[EvalLog], standing: Standing) -> None:
    """See that a stage failed, if it did, for nothing but what passes; if no outage ended it, its refusals are real."""
    if not standing.stopped:
        standing.settle()
    log = logs[0]
    if log.status == "success" or standing.stopped:
        return
    problems = [] if log.error is None else [log.error.message]
    if not problems:
        samples = read_eval_log(log.location, exclude_fields={"events", "messages", "store"}).samples or []
        waiting = {sample for of, sample in standing.waiting if of == stage}
        problems = [one.error.message for one in samples if one.error is not None and str(one.id) not in waiting]
    if problems:
        raise CounterfactualError(
            f"The stage {stage!r} failed: {problems[0].strip()}",
            f"See the log {log.location}. Mend the cause and run the same command again; it goes on where it stopped.",
        )


def _waits(folder: Path) -> str:
    """What is told of samples whose call was lost."""
    waiting = {stage: whys for stage in STAGES if (whys := waiting_in(folder, stage))}
    if not waiting:
        return ""
    where = ", ".join(f"{len(whys):,} in the stage {stage!r}" for stage, whys in waiting.items())
    why = next(iter(next(iter(waiting.values())).values()))
    return f"Some wait: calls were lost after all retries, or something else went wrong ({where}), such as: {why}"


@contextmanager
def cache_in(folder: Path) -> Iterator[None]:
    """Let Inspect keep what calls gave in the run's own folder."""
    name = "INSPECT_CACHE_DIR"
    before = os.environ.get(name)
    os.environ[name] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
