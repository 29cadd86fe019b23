"""How likely is the report to be right? Asked in the same conversation, under the same injection.

Two rivals of the same kind. The model without the injection, asked about the same answer: what it says rests on the
conversation alone. And another rating of the same answer under the same injection: one that raises any rating is not a
confidence. A confidence whose likeliest token is no digit is invalid.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd

from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.places import CONTROL, confidence
from firsthand.studies.injection.running import run_trials
from firsthand.studies.injection.settling import settled
from firsthand.studies.injection.texts_places import CONFIDENCE_TEXTS
from firsthand.studies.injection.trials import Trial

ASKS: Final = tuple(CONFIDENCE_TEXTS)


def table(bench: InjectionBench, trials: Sequence[Trial], answers: Sequence[str | None]) -> pd.DataFrame:
    """The confidence in the answers of some trials.

    Args:
        bench: What is fixed.
        trials: The trials of the report, of one concept or several.
        answers: What was answered on each; where it was invalid nothing is asked.

    Returns:
        The columns of :func:`~firsthand.studies.injection.running.run_trials`, and ``report`` (the trial's
        ``trial_id``), ``given`` (its answer), ``confidence`` (mean of the stated ranges, weighted by their probability;
        NaN if it is invalid), ``rating`` (the same of the other rating) and ``unedited`` (the confidence without the
        injection).
    """
    reports = [(t, answer) for t, answer in zip(settled(bench, trials), answers, strict=True) if answer is not None]
    if not reports:
        return pd.DataFrame({"trial_id": [], "text": [], "concept": []}, dtype=object)
    asked = [_asked(bench, trial, answer, _ask(bench, trial.concept)) for trial, answer in reports]
    other = [_asked(bench, trial, answer, CONTROL) for trial, answer in reports]
    known = {trial.prompt.tokens for trial in (*asked, *other) if not trial.edits}
    plain = {t.prompt.tokens: t for t in (*asked, *other) if t.prompt.tokens not in known}
    without = [replace(t, arm=Arm.CLEAN, edits=(), cell=None, truth="", matched=None) for t in plain.values()]
    every = [*asked, *other, *without]
    found = run_trials(bench, every)
    stated = [
        _mean(order, values) if isinstance(answer, str) else np.nan
        for order, values, answer in zip(found["order"], found["logprobs"], found["answer"], strict=True)
    ]
    unedited = {t.prompt.tokens: s for t, s in zip(every, stated, strict=True) if not t.edits}
    count = len(asked)
    return found[:count].assign(
        report=[trial.trial_id for trial, _ in reports],
        given=[answer for _, answer in reports],
        confidence=stated[:count],
        rating=stated[count : 2 * count],
        unedited=[unedited[trial.prompt.tokens] for trial in asked],
    )


def _ask(bench: InjectionBench, concept: str) -> str:
    """How a concept's confidence is asked for."""
    return ASKS[bench.concepts.index(concept) % len(ASKS)]


def _asked(bench: InjectionBench, trial: Trial, answer: str, how: str) -> Trial:
    draft = trial.prompt.draft
    prompt = bench.prompt(confidence(draft, draft.meanings.index(answer), how))
    return replace(trial, prompt=prompt, sensors=(), reading=None, name=f"{trial.trial_id}: {answer}, {how}")


def _mean(order: str, logprobs: Sequence[float]) -> float:
    share = np.exp(np.asarray(logprobs))
    return float((share * np.array([float(m) for m in order.split("|")])).sum() / share.sum())
