"""How likely is the report to be right? Asked in the same conversation, under the same injection.

An observer of the same kind is the model without the injection, asked about the same answer: what it says rests on the
conversation alone.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd

from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.places import confidence
from firsthand.studies.injection.texts_places import CONFIDENCE_TEXTS
from firsthand.studies.injection.trials import Trial, run_trials

ASKS: Final = tuple(CONFIDENCE_TEXTS)


def table(bench: InjectionBench, concept: str, trials: Sequence[Trial], answers: Sequence[str | None]) -> pd.DataFrame:
    """The confidence in the answers of some trials.

    Args:
        bench: What is fixed.
        concept: The concept.
        trials: The trials of the report.
        answers: What was answered on each; where it was invalid nothing is asked.

    Returns:
        The columns of :func:`~firsthand.studies.injection.trials.run_trials`, and ``report`` (the trial's
        ``trial_id``), ``given`` (its answer), ``confidence`` (mean of the stated ranges, weighted by their probability)
        and ``unedited`` (the same without the injection).
    """
    ask = ASKS[bench.concepts.index(concept) % len(ASKS)]
    asked: list[Trial] = []
    reports = [(trial, answer) for trial, answer in zip(trials, answers, strict=True) if answer is not None]
    for trial, answer in reports:
        draft = trial.prompt.draft
        prompt = bench.prompt(confidence(draft, draft.meanings.index(answer), ask))
        name = f"{trial.trial_id}: {answer}"
        asked.append(replace(trial, prompt=prompt, sensors=(), probed=False, name=name))
    known = {trial.prompt.tokens for trial in asked if not trial.edits}
    plain = {t.prompt.tokens: t for t in asked if t.prompt.tokens not in known}
    without = [replace(t, arm=Arm.CLEAN, edits=(), cell=None, truth="", matched=None) for t in plain.values()]
    if not asked:
        return pd.DataFrame({"trial_id": [], "text": [], "concept": []}, dtype=object)
    found = run_trials(bench, [*asked, *without])
    stated = [_mean(order, values) for order, values in zip(found["order"], found["logprobs"], strict=True)]
    unedited = {t.prompt.tokens: s for t, s in zip([*asked, *without], stated, strict=True) if not t.edits}
    return found[: len(asked)].assign(
        report=[trial.trial_id for trial, _ in reports],
        given=[answer for _, answer in reports],
        confidence=stated[: len(asked)],
        unedited=[unedited[trial.prompt.tokens] for trial in asked],
    )


def _mean(order: str, logprobs: Sequence[float]) -> float:
    share = np.exp(np.asarray(logprobs))
    return float((share * np.array([float(m) for m in order.split("|")])).sum() / share.sum())
