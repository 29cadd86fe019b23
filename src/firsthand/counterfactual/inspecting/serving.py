"""One local model of this process: loaded once however often a provider is made for it, and asked in batches."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

import torch

from firsthand.counterfactual.inspecting.gathering import Gathering
from firsthand.engine import (
    Anatomy,
    Generated,
    LoadedModel,
    Row,
    Sampling,
    generate,
    inspect_model,
    load,
    run,
    score_candidates,
)
from firsthand.engine.candidates import Tokens
from firsthand.engine.edits import live_edits
from firsthand.engine.loading.names import NameKind, classify
from firsthand.errors import FirsthandError
from firsthand.trials.canonical import digest


class Settings(NamedTuple):
    """Which model, and how it is held."""

    name: str
    device: str | None = None
    dtype: str = "float32"
    revision: str | None = None


@dataclass(frozen=True, eq=False)
class Job:
    """One request.

    Attributes:
        row: The prompt with its edits.
        samples: Continuations; 0 for none.
        max_tokens: Most tokens of each.
        sampling: The distribution that is drawn from.
        seed: From it the seed of each continuation is derived.
        stop: Strings that end a continuation.
        candidates: Answers that are to be scored.
        alternatives: Log-probabilities of how many likeliest tokens are wanted at each generated token, beside that of
            the token itself; ``None``: none at all.
    """

    row: Row
    samples: int
    max_tokens: int
    sampling: Sampling
    seed: int
    stop: tuple[str, ...] = ()
    candidates: tuple[Tokens, ...] = ()
    alternatives: int | None = None


class Step(NamedTuple):
    """One generated token: its log-probability in nats, and the likeliest tokens with theirs."""

    token: int
    logprob: float
    likeliest: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Outcome:
    """What came of a request.

    Attributes:
        generated: The continuations.
        steps: For each of them its tokens one by one, where they were wanted.
        logprobs: Log-probability of each candidate, in nats.
        coverage: Probability mass on the candidates together; ``None`` if there are none.
    """

    generated: tuple[Generated, ...] = ()
    steps: tuple[tuple[Step, ...], ...] = ()
    logprobs: tuple[float, ...] = ()
    coverage: float | None = None


@dataclass(frozen=True, eq=False)
class Served:
    """A model ready to be asked.

    Attributes:
        loaded: The model.
        anatomy: Its parts.
        context: Most tokens of prompt and text together; ``None`` if the configuration does not say.
        queue: Where requests are handed over.
    """

    loaded: LoadedModel
    anatomy: Anatomy
    context: int | None
    queue: Gathering[Job, Outcome]

    @property
    def identity(self) -> str:
        """What answers depend on besides the request."""
        one = self.loaded
        return digest([one.weights_sha256, one.tokenizer_sha256, one.config_sha256, one.dtype])[:16]


_GUARD: Final = threading.Lock()


def served(settings: Settings) -> Served:
    """The model of some settings, loaded at the first call.

    Raises:
        ModelError: If it cannot be loaded.
        EngineError: If its parts cannot be found.
    """
    with _GUARD:
        return _loaded(settings)


@lru_cache(maxsize=4)
def _loaded(settings: Settings) -> Served:
    loaded = load(settings.name, device=settings.device, dtype=settings.dtype, revision=settings.revision)
    anatomy = inspect_model(loaded.model)
    longest = getattr(loaded.model.config.get_text_config(decoder=True), "max_position_embeddings", None)
    queue = Gathering[Job, Outcome](lambda jobs: carry_out(anatomy, loaded, jobs))
    return Served(loaded, anatomy, longest if isinstance(longest, int) else None, queue)


def context_of(name: str) -> int | None:
    """The context window, as far as it can be told without loading weights: of a folder.

    Raises:
        ModelError: If the name cannot be that of a model.
    """
    if classify(name) is not NameKind.FOLDER:
        return None
    try:
        config = json.loads((Path(name).expanduser() / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    longest = config.get("text_config", config).get("max_position_embeddings")
    return longest if isinstance(longest, int) else None


def carry_out(anatomy: Anatomy, loaded: LoadedModel, jobs: Sequence[Job]) -> list[Outcome | Exception]:
    """Carry out requests together; one that cannot be carried out fails alone."""
    try:
        return list(_together(anatomy, loaded, jobs))
    except (FirsthandError, RuntimeError) as error:
        if len(jobs) == 1:
            return [error]
        return [outcome for job in jobs for outcome in carry_out(anatomy, loaded, [job])]


def _together(anatomy: Anatomy, loaded: LoadedModel, jobs: Sequence[Job]) -> list[Outcome]:
    outcomes = [Outcome()] * len(jobs)
    for numbers in _alike(jobs, lambda job: (job.samples, job.max_tokens, job.sampling, job.stop)):
        first = jobs[numbers[0]]
        if not first.samples:
            continue
        texts = generate(
            anatomy,
            loaded.tokenizer,
            [jobs[i].row for i in numbers],
            samples=first.samples,
            max_tokens=first.max_tokens,
            sampling=first.sampling,
            seed=[jobs[i].seed for i in numbers],
            stop=first.stop,
        )
        for i, generated in zip(numbers, texts, strict=True):
            outcomes[i] = replace(outcomes[i], generated=tuple(generated))
    for numbers in _alike(jobs, lambda job: job.candidates):
        candidates = jobs[numbers[0]].candidates
        if candidates:
            scores = score_candidates(anatomy, [jobs[i].row for i in numbers], candidates)
            for place, i in enumerate(numbers):
                logprobs = tuple(scores.logprobs_RC[place].tolist())
                outcomes[i] = replace(outcomes[i], logprobs=logprobs, coverage=float(scores.coverage_R[place]))
    for i, job in enumerate(jobs):
        if job.alternatives is not None:
            steps = tuple(read_steps(anatomy, job.row, one.tokens, job.alternatives) for one in outcomes[i].generated)
            outcomes[i] = replace(outcomes[i], steps=steps)
    return outcomes


def _alike(jobs: Sequence[Job], kind: Callable[[Job], object]) -> list[list[int]]:
    """Numbers of jobs of one kind, in the order in which the kinds first occur."""
    kinds = [kind(job) for job in jobs]
    first = [kinds.index(one) for one in kinds]
    return [list(same) for _, same in groupby(sorted(range(len(jobs)), key=lambda i: first[i]), lambda i: first[i])]


def read_steps(anatomy: Anatomy, row: Row, tokens: Sequence[int], alternatives: int) -> tuple[Step, ...]:
    """Log-probabilities of tokens after a prompt under the model itself, with its edits in force.

    Args:
        anatomy: The model's parts.
        row: The prompt with its edits.
        tokens: Tokens that were generated after it.
        alternatives: How many likeliest tokens are wanted at each.
    """
    start, fed = len(row.tokens), tuple(tokens[:-1])
    edits = (*(edit for edit in row.edits if edit.positions), *live_edits(row, start, len(fed)))
    whole = Row((*row.tokens, *fed), edits, read=tuple(range(start - 1, start + len(fed))))
    own_E1 = torch.tensor(list(tokens))[:, None]

    def reduced(logprobs_EV: torch.Tensor, _: Sequence[int]) -> torch.Tensor:
        values, numbers = logprobs_EV.topk(alternatives) if alternatives else (logprobs_EV[:, :0], own_E1[:, :0])
        own = logprobs_EV.gather(1, own_E1.to(logprobs_EV.device))
        return torch.cat([own, values, numbers.to(values)], 1).double()

    found = run(anatomy, [whole], reduce=reduced).logprobs_RV.tolist()
    return tuple(
        Step(
            token,
            line[0],
            tuple((int(n), v) for v, n in zip(line[1 : 1 + alternatives], line[1 + alternatives :], strict=True)),
        )
        for token, line in zip(tokens, found, strict=True)
    )
