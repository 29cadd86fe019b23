"""Trials and log lines for the report: a few of each kind, as they happened."""

from pathlib import Path

import numpy as np

from firsthand.auditing.evidence import Evidence, truth_of
from firsthand.report.document import FreezeEntry, TrialAnswer, TrialSample
from firsthand.studies.register_texts import QUESTIONS, STATE_NAMES
from firsthand.trials.freeze_log import read_log
from firsthand.vocabulary import Capability, Kind

EACH = 4
LOG_LINES = 8


def trial_samples(evidence: Evidence, each: int = EACH) -> tuple[TrialSample, ...]:
    """The first ``each`` trials of every kind."""
    kinds = evidence.sealed["kind"].to_numpy()
    rows = [int(i) for kind in Kind for i in np.flatnonzero(kinds == str(kind))[:each]]
    return tuple(_sample(evidence, i) for i in rows)


def _sample(evidence: Evidence, row: int) -> TrialSample:
    view, sealed = evidence.views[row], evidence.sealed.iloc[row]
    codes = {
        code: f"{capability}: {QUESTIONS[capability].meanings[i]}"
        for capability, question in view.questions.items()
        for i, code in enumerate(question.codes)
    }
    return TrialSample(
        trial_id=view.trial_id,
        block=view.clusters["block"],
        kind=Kind(sealed["kind"]),
        prompt="\n\n".join(f"[{turn.role}] {turn.content}" for turn in view.turns),
        visible_answer=view.output,
        truth={
            "state before": STATE_NAMES[int(sealed["pre_state"])],
            "state after": STATE_NAMES[int(sealed["post_state"])],
        },
        codes=codes,
        answers=tuple(_answer(evidence, row, capability) for capability in evidence.reports),
    )


def _answer(evidence: Evidence, row: int, capability: Capability) -> TrialAnswer:
    view, report = evidence.views[row], evidence.reports[capability].iloc[row]
    question, meanings = view.questions[capability], QUESTIONS[capability].meanings
    truth = int(truth_of(evidence, capability)[row])
    answer = None if np.isnan(report["answer"]) else int(report["answer"])
    given = float(report["probability"]) if answer != 0 else 1.0 - float(report["probability"])
    judged = capability is not Capability.CONFIDENCE
    return TrialAnswer(
        capability=capability,
        question=question.text,
        code=None if answer is None else question.codes[answer],
        meaning=None if answer is None else meanings[answer],
        probability=given,
        coverage=float(report["coverage"]),
        truth=meanings[truth] if judged else None,
        correct=None if answer is None or not judged else answer == truth,
    )


def freeze_entries(folder: Path, most: int = LOG_LINES) -> tuple[FreezeEntry, ...]:
    """The first units of a run's freeze log, with both times."""
    times: dict[tuple[str, str], dict[str, str]] = {}
    for event in read_log(folder):
        times.setdefault((event["unit"], event["public_hash"]), {})[event["event"]] = event["at"]
    whole = [(key, t) for key, t in times.items() if {"frozen", "assigned"} <= set(t)]
    return tuple(
        FreezeEntry.model_validate(
            {"block": unit, "public_sha256": public_hash, "frozen_at": t["frozen"], "assigned_at": t["assigned"]}
        )
        for (unit, public_hash), t in whole[:most]
    )
