"""Runs steps together: a short pass of a model costs as much as one of a hundred tokens, so that one step at a time
would take three times as long.

Steps of one batch are put in the same way (exact answers, free text, confidence, ...), and questions that share their
prompts come together, concept by concept. What is kept is still each step by itself.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

import pandas as pd

from firsthand.auditing.injection.plan import Picks, Step, confided_trials, source_of, trials_of
from firsthand.claims.injection import Question
from firsthand.engine.chunks import chunked
from firsthand.engine.loading import load
from firsthand.engine.scorer import TextScorer
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.free_text import Judge, hear_detection, scorer_judge
from firsthand.studies.injection.questions import confidence, naming
from firsthand.studies.injection.questions import open as open_question
from firsthand.studies.injection.running import run_trials
from firsthand.studies.injection.settling import match
from firsthand.studies.injection.trials import Trial

MOST: Final = 24_576
"""Tokens of a batch, counted without what steps share: passes are at their full rate from about 1,000, and an
interruption loses what the batch has done."""
SAME_PROMPTS: Final = ("detection-2", "live", "training", "transfer")
"""Beginnings of names of the questions that put the two-answer question, changed or not."""


def groups(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps that may be run together, concept by concept; one that goes on from another comes after it."""
    found: dict[str, list[Step]] = {}
    for step in steps:
        found.setdefault(_group(step), []).append(step)
    return [_by_concept(group) for group in found.values()]


def match_all(bench: InjectionBench, group: Sequence[Step], picks: Picks) -> None:
    """Match every impact that a group needs, those of all concepts together.

    Args:
        bench: What is fixed.
        group: The steps.
        picks: The settings that were chosen.
    """
    match(bench, [trial for step in group for trial in trials_of(bench, step, picks) if trial.like is not None])


def batches(bench: InjectionBench, group: Sequence[Step], picks: Picks) -> list[list[Step]]:
    """The steps of a group, as many together as :data:`MOST` allows.

    Args:
        bench: What is fixed.
        group: The steps.
        picks: The settings that were chosen.
    """
    sizes: dict[tuple[str, str], float] = {}

    def size(step: Step) -> float:
        if (step.phase, step.name) not in sizes:
            sizes[step.phase, step.name] = tokens_of(bench, trials_of(bench, step, picks))
        return sizes[step.phase, step.name]

    return chunked(group, size, MOST)


def _group(step: Step) -> str:
    """What steps of one batch have in common."""
    same = step.phase == "trace" and step.name.startswith(SAME_PROMPTS)
    return SAME_PROMPTS[0] if same else f"{step.phase} {step.name}"


def _by_concept(steps: Sequence[Step]) -> list[Step]:
    order = {concept: i for i, concept in enumerate(dict.fromkeys(step.concept for step in steps))}
    return sorted(steps, key=lambda step: order[step.concept])


def tokens_of(bench: InjectionBench, trials: Sequence[Trial]) -> float:
    """Tokens that some trials need, in passes through the whole depth, as the engine shares them: what prompts have in
    common once, and for each edited trial what comes after its first edit, from the edited layer on.
    """
    depth = bench.anatomy.n_layers
    before: tuple[int, ...] = ()
    whole = 0.0
    for tokens in sorted({trial.prompt.tokens for trial in trials}):
        whole += len(tokens) - _common(before, tokens)
        before = tokens
    for trial in trials:
        if trial.edits and trial.cell is not None:
            begin = min(min(edit.positions) for edit in trial.edits)
            whole += (len(trial.prompt.tokens) - begin) * (depth - trial.cell.layer) / depth
    return whole


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def run_batch(
    bench: InjectionBench, steps: Sequence[Step], picks: Picks, before: Mapping[Step, pd.DataFrame] | None = None
) -> list[pd.DataFrame]:
    """Run some steps of one batch, and return the rows of each.

    Args:
        bench: What is fixed.
        steps: The steps.
        picks: The settings that were chosen.
        before: The rows of the steps that these go on from (see :func:`~.plan.source_of`).
    """
    if source_of(steps[0]) is not None:
        return _confided(bench, steps, picks, before or {})
    listed = [trials_of(bench, step, picks) for step in steps]
    every = [trial for one in listed for trial in one]
    found = _way(bench, steps[0], picks)(every)
    each = len(found) // len(every)  # several samples of an open answer
    return _parted(found, [each * len(one) for one in listed])


def _way(bench: InjectionBench, step: Step, picks: Picks) -> Callable[[Sequence[Trial]], pd.DataFrame]:
    """How the trials of a step are run and read."""
    if step.name == Question.OPEN:
        return lambda trials: open_question.table(bench, trials, judge_named(bench.claim.judge))
    if step.name == "visible-identification" and Question.VISIBLE in bench.claim.questions:
        setting = picks["identification"].setting
        return lambda trials: naming.explained(bench, naming.table(bench, trials), setting)
    if step.name in (Question.NAMING, "visible-detection", "visible-identification"):
        return lambda trials: naming.table(bench, trials)
    return lambda trials: run_trials(bench, trials)


def _confided(
    bench: InjectionBench, steps: Sequence[Step], picks: Picks, before: Mapping[Step, pd.DataFrame]
) -> list[pd.DataFrame]:
    """The confidence in what was answered in the steps that these go on from; invalid answers have none."""
    reports: list[Trial] = []
    answers: list[str | None] = []
    counts = []
    for step in steps:
        source = source_of(step)
        mine = confided_trials(bench, step, picks)
        told = before[step if source is None else source].set_index("trial_id")["answer"]
        given = [told[trial.trial_id] for trial in mine]
        reports += mine
        answers += [answer if isinstance(answer, str) else None for answer in given]
        counts.append(sum(isinstance(answer, str) for answer in given))
    return _parted(confidence.table(bench, reports, answers), counts)


def _parted(table: pd.DataFrame, counts: Sequence[int]) -> list[pd.DataFrame]:
    """A table cut into parts of some lengths."""
    parts, at = [], 0
    for count in counts:
        parts.append(table[at : at + count].reset_index(drop=True))
        at += count
    return parts


@lru_cache(maxsize=2)
def judge_named(name: str) -> Judge:
    """The judge of open answers: rules, or a model on this machine.

    Raises:
        ModelError: If the model cannot be loaded.
        ElicitationError: If it cannot say yes, no and unclear as one token each.
    """
    return hear_detection if name == "rules" else scorer_judge(TextScorer(load(name)))
