"""What a plan costs before it is run: rows, tokens, time and memory.

Trials are listed without being run and counted as the engine shares them: tokens that prompts have in common once,
and for every edited row the tokens from its first edited place on, through the layers above. Time is what a measured
question of this model says; for a model of another size it grows with the number of parameters.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firsthand.auditing.injection.batches import batches, groups, tokens_of
from firsthand.auditing.injection.plan import Pick, selection_steps, selection_trials, trace_steps, trials_of
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.questions.naming import WORDS
from firsthand.studies.injection.running import run_trials
from firsthand.studies.injection.trials import Trial

ROUNDS: Final = 6
"""Rounds that matching an impact usually takes."""
AT_ONCE: Final = 6144
"""Tokens of one pass, for the memory of its activations."""


@dataclass(frozen=True)
class Part:
    """One question of the plan, over all its concepts.

    Attributes:
        phase: ``selection`` or ``trace``.
        name: The question.
        concepts: How many are asked.
        rows: Trials.
        tokens: Tokens computed, in passes through the whole depth.
    """

    phase: str
    name: str
    concepts: int
    rows: int
    tokens: int


@dataclass(frozen=True)
class Cost:
    """The cost of a plan.

    Attributes:
        parts: By question.
        rate: Tokens a second that a measured question gave on the loaded model.
        parameters: Parameters of the model that the cost is for.
        seconds: Time.
        memory: Bytes: weights, and the activations and distributions of one pass.
    """

    parts: tuple[Part, ...]
    rate: float
    parameters: int
    seconds: float
    memory: int

    @property
    def tokens(self) -> int:
        """All tokens."""
        return sum(part.tokens for part in self.parts)

    @property
    def rows(self) -> int:
        """All trials."""
        return sum(part.rows for part in self.parts)


def cost_of(bench: InjectionBench, parameters: int | None = None) -> Cost:
    """Price the plan of a study.

    Args:
        bench: The study on the loaded model.
        parameters: Size of another model that the plan is to be priced for, on this machine.
    """
    middle = bench.coarse[len(bench.coarse) // 2]
    names = ("detection-2", "detection-3", "localisation", "strength", "identification")
    framing = bench.claim.framings[0]
    picks = {name: Pick(middle, Setting(framing, 3 if name == "detection-3" else 2)) for name in names}
    parts: list[Part] = []
    matched: set[tuple[object, ...]] = set()
    for steps in (selection_steps(bench), trace_steps(bench)):
        for name in dict.fromkeys(step.name for step in steps):
            mine = [step for step in steps if step.name == name]
            trials = trials_of(bench, mine[0], picks)
            tokens = tokens_of(bench, trials) + _writing(trials, name) + _matching(trials, matched)
            parts.append(Part(mine[0].phase, name, len(mine), len(trials) * len(mine), round(tokens) * len(mine)))
    rate = _rate(bench)
    own = bench.loaded.n_parameters
    size = parameters or own
    tokens = sum(part.tokens for part in parts)
    each = 2 if bench.loaded.dtype in ("bfloat16", "float16") else 4
    activations = AT_ONCE * bench.anatomy.hidden_size * each * 12 * size // own
    return Cost(tuple(parts), rate, size, tokens / rate * size / own, size * each + activations)


def _writing(trials: Sequence[Trial], name: str) -> int:
    """Tokens of free answers."""
    return WORDS * len(trials) if name == "naming" or name.startswith("visible-") else 0


def _matching(trials: Sequence[Trial], known: set[tuple[object, ...]]) -> int:
    """Tokens for matching impacts that were not matched for an earlier question."""
    needed = {
        (trial.cell, trial.timing, trial.prompt.draft.framing): len(trial.prompt.tokens)
        for trial in trials
        if trial.like is not None
    }
    new = {key: length for key, length in needed.items() if key not in known}
    known.update(new)
    return sum(length + ROUNDS * 60 for length in new.values())


def _rate(bench: InjectionBench) -> float:
    """Tokens a second, counted as the plan counts them, of one batch of the selection."""
    batch = batches(bench, groups(selection_steps(bench))[0], {})[0]
    trials = [trial for step in batch for trial in selection_trials(bench, step)]
    run_trials(bench, trials[: len(trials) // 8])
    begun = time.perf_counter()
    run_trials(bench, trials)
    return tokens_of(bench, trials) / (time.perf_counter() - begun)
