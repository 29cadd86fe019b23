"""What all stages have in common: a run on disk, a task over samples, and what a finished stage left."""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, EvalLogInfo, list_eval_logs, read_eval_log
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from firsthand.counterfactual.inspecting.stages.attempts import MOST, attempts_in
from firsthand.counterfactual.inspecting.stages.calling import CallLost, Calls, RunStopped, Standing
from firsthand.counterfactual.inspecting.stages.marks import marks_of
from firsthand.counterfactual.inspecting.stages.settings import StagesSettings
from firsthand.counterfactual.prices import load_prices
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.quoting import Fence, fence_key
from firsthand.counterfactual.usage import Entry
from firsthand.errors import CounterfactualError
from firsthand.trials.files import read_json

StageName = Literal["sample", "screen", "classify", "investigate", "confirm", "verify", "claim", "predict"]
STAGES: Final[tuple[StageName, ...]] = ("sample", "screen", "classify", "investigate", "confirm", "verify", "claim")

KEY: Final = "firsthand"
"""Under which a sample's store holds what the stage found of it."""

Found: TypeAlias = dict[str, Any]
Work: TypeAlias = Callable[[Calls, TaskState], Awaitable[Found]]


_REPR: Final = re.compile(r"""\w+\((['"])(.*)\1\)""", re.DOTALL)
"""How Inspect writes an error."""


class NothingToDo(CounterfactualError):  # noqa: N818 - no fault: the stages before left nothing
    """A stage without a sample."""


@dataclass(frozen=True)
class Run:
    """A run on disk.

    Attributes:
        folder: Its folder.
        settings: Its settings.
        key: Key of its fences.
        standing: How it stands, shared by all stages in this process.
        counts: Folder in which it is counted in how many runs a sample's calls were lost; its own by default.
    """

    folder: Path
    settings: StagesSettings
    key: bytes
    standing: Standing = field(default_factory=Standing)
    counts: Path | None = None

    def logs(self, stage: StageName) -> Path:
        """Folder of a stage's logs."""
        return logs_of(self.folder, stage)

    def prompts(self) -> list[Prompt]:
        """The prompts that the run is about."""
        lines = (self.folder / "prompts.jsonl").read_bytes().splitlines()  # a text may hold U+2028, which ends no line
        return [Prompt.model_validate_json(line) for line in lines]


def logs_of(folder: Path, stage: StageName) -> Path:
    """Folder of a stage's logs."""
    return folder / "logs" / (f"{STAGES.index(stage) + 1}-{stage}" if stage in STAGES else stage)


@cache
def opened(folder: str) -> Run:
    """A run on disk; the same object for the same folder within a process, so that its money is counted once.

    Raises:
        CounterfactualError: If there is none.
    """
    place = Path(folder)
    if not (place / "settings.json").exists():
        raise CounterfactualError(f"{place} holds no run of the stages.", "Name a folder that `run_stages` made.")
    settings = StagesSettings.model_validate(read_json(place / "settings.json"))
    standing = Standing(load_prices(settings.prices), settings.money, settings.give_up_after)
    for stage in STAGES:
        for found in left_by(place, stage, finished=False).values():
            for entry in map(Entry.model_validate, found.get("used", [])):
                standing.spent += standing.cost(entry)
    return Run(place, settings, fence_key(place), standing)


def staged(run: Run, stage: StageName, samples: Sequence[Sample], work: Work) -> Task:
    """A stage as a task.

    What passes is no outcome: a sample whose call was lost, whose work raised an error (a full disk, a mistake in a
    function of the user's or of ours), or that the end of the run came before, has an error in the log and is made by
    the next run, and does not keep the others from being finished. A sample whose calls were lost in several runs, by a
    role that is there, has an ``error`` as its outcome.

    Raises:
        NothingToDo: If there are no samples.
    """
    before = attempts_in(run.counts or run.folder, stage)

    @solver(name=f"firsthand_{stage}")
    def working() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            fence = Fence(run.key, marks_of(run.settings))
            calls = Calls(run.settings, fence, run.standing, stage, str(state.sample_id))
            run.standing.spent -= run.standing.unfinished.pop((stage, calls.sample), 0.0)
            run.standing.waiting.pop((stage, calls.sample), None)
            try:
                found = await work(calls, state)
                if (unsure := calls.unsure()) is not None:
                    raise unsure
            except Exception as error:
                for one in _each(error):
                    # Inspect's PrerequisiteError is not public: no model plays a role.
                    if isinstance(one, RunStopped | LimitExceededError) or type(one).__name__ == "PrerequisiteError":
                        raise one from error
                if (lost := await _for_good(error, calls, before.get(calls.sample, 0))) is None:
                    run.standing.waiting[stage, calls.sample] = str(error)
                    run.standing.unfinished[stage, calls.sample] = calls.money
                    raise
                found = {"status": "error", "problem": lost}
            state.store.set(KEY, {**found, **calls.account()})
            return state

        return solve

    if not samples:
        raise NothingToDo(f"There is nothing to do in the stage {stage!r}.", "See where the prompts ended before it.")
    settings = run.settings
    return Task(
        dataset=MemoryDataset(list(samples), name=f"firsthand-{stage}"),
        solver=working(),
        name=f"firsthand-{stage}",
        config=GenerateConfig(max_retries=settings.retries, attempt_timeout=settings.timeout),
        fail_on_error=True,
        continue_on_fail=True,
    )


async def _for_good(error: Exception, calls: Calls, before: int) -> str | None:
    """Why a sample will never be made, if so many runs before this one lost its calls, and other calls get through."""
    lost = [one for one in _each(error) if isinstance(one, CallLost)]
    roles = {one.role for one in lost if one.role is not None}
    if before + 1 < MOST or not roles or len(lost) != len(list(_each(error))):
        return None
    for role in roles:
        if not await calls.served(role):
            return None
    return f"{lost[0].problem.rstrip('.')}; the same in {before + 1} runs"


def _each(error: BaseException) -> Iterator[BaseException]:
    """An error, or those that went wrong side by side."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _each(one)
    else:
        yield error


def sample_of(prompt: Prompt, sample_id: str, **metadata: Any) -> Sample:
    """A sample about a prompt, whose identifier depends on nothing but what it is about."""
    return Sample(
        id=sample_id,
        input=prompt.user_text or prompt.place or prompt.id,
        metadata={"prompt": prompt.model_dump(mode="json"), **metadata},
    )


def prompt_of(state: TaskState) -> Prompt:
    """The prompt that a sample is about."""
    return Prompt.model_validate(state.metadata["prompt"])


def left_by(folder: Path, stage: StageName, *, finished: bool = True) -> dict[str, Found]:
    """What a stage found, by sample. Samples that wait for a call that was lost are not among them.

    Args:
        folder: The run's folder.
        stage: The stage.
        finished: Whether a stage that was interrupted is refused, rather than read as far as it went.

    Raises:
        CounterfactualError: If the stage is not finished and should be.
    """
    log = latest_log(folder, stage)
    if finished and log is not None and log.status in ("started", "cancelled"):
        raise CounterfactualError(
            f"The stage {stage!r} in {folder} is not finished ({log.status}).", "Run the same command again."
        )
    left: dict[str, Found] = {}
    for found, _ in _read(folder, stage):  # an attempt that was killed may lack what one before it had finished
        left |= {name: one for name, one in found.items() if name not in left}
    return left


def waiting_in(folder: Path, stage: StageName) -> dict[str, str]:
    """Samples of a stage that have no outcome yet, and why."""
    logs = _read(folder, stage)
    done = {name for found, _ in logs for name in found}
    return {name: why for _, waiting in logs[:1] for name, why in waiting.items() if name not in done}


def _read(folder: Path, stage: StageName) -> list[tuple[dict[str, Found], dict[str, str]]]:
    places = [Path(info.name.removeprefix("file://")) for info in _logs(folder, stage)]
    return [_found_in(str(place), place.stat().st_mtime_ns) for place in places]


def _logs(folder: Path, stage: StageName) -> list[EvalLogInfo]:
    """Logs of a stage, the newest first."""
    place = logs_of(folder, stage)
    return list_eval_logs(str(place), descending=True) if place.exists() else []


@lru_cache(maxsize=8 * len(STAGES))
def _found_in(place: str, _written: int) -> tuple[dict[str, Found], dict[str, str]]:
    """What the samples of a log found, and what kept the others from it; read once while the log does not change."""
    log = read_eval_log(place, exclude_fields={"events", "messages", "output", "timelines"})
    found: dict[str, Found] = {}
    waiting: dict[str, str] = {}
    for one in log.samples or ():
        if one.error is not None:
            told = _REPR.fullmatch(one.error.message.strip())
            waiting[str(one.id)] = told.group(2) if told else one.error.message.strip()
        elif KEY in one.store:
            found[str(one.id)] = {**one.store[KEY], "metadata": one.metadata}
    return found, waiting


def latest_log(folder: Path, stage: StageName) -> EvalLog | None:
    """Header of the newest log of a stage."""
    logs = _logs(folder, stage)
    return read_eval_log(logs[0], header_only=True) if logs else None
