"""What a run's logs, which are its evidence, say: investigations, claims, where each prompt ended, what it cost."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.inspecting.stages.bench import evidence_of
from firsthand.counterfactual.inspecting.stages.classify import investigation_id
from firsthand.counterfactual.inspecting.stages.settings import StagesSettings
from firsthand.counterfactual.inspecting.stages.stage import (
    STAGES,
    Found,
    StageName,
    latest_log,
    left_by,
    opened,
    waiting_in,
)
from firsthand.counterfactual.investigation import Cause, Experiment, Investigation, Judgement, Report, Screened
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.usage import Entry, summed

WAITS: Final = "waits"
"""Status of what has no outcome yet."""


class Ending(Part):
    """Where one prompt, or one behaviour on it, ended.

    Attributes:
        prompt: Identifier of the prompt.
        investigation: Identifier of the investigation, from the third stage on.
        stage: The last stage that it reached.
        status: What that found; ``waits`` where a call was lost, which the next run makes again.
        why: Why it went no further, where there is something to say.
    """

    prompt: str
    investigation: str | None = None
    stage: StageName
    status: str
    why: str = ""


def investigations_from_logs(folder: str | Path) -> list[Investigation]:
    """Every investigation of a run, unfinished ones included, in the order of their prompts."""
    run = opened(str(folder))
    confirmed, verified = (left_by(run.folder, stage, finished=False) for stage in ("confirm", "verify"))
    return [
        _investigation(run.settings, found, confirmed.get(name, {}), verified.get(name, {}))
        for name, found in left_by(run.folder, "investigate", finished=False).items()
        if "baseline" in found
    ]


def screened_from_logs(folder: str | Path) -> list[Screened]:
    """Every behaviour that was classified, frequent or not."""
    found = left_by(opened(str(folder)).folder, "classify", finished=False)
    return [Screened.model_validate(one["screened"]) for one in found.values() if "screened" in one]


def claims_from_logs(folder: str | Path) -> list[Claim]:
    """Every claim, before any filter."""
    found = left_by(opened(str(folder)).folder, "claim", finished=False)
    return [Claim.model_validate(one["claim"]) for one in found.values() if one.get("claim")]


def undescribed_from_logs(folder: str | Path) -> dict[str, int]:
    """How many measured claims the last stage lost, by reason."""
    place = opened(str(folder)).folder
    found = left_by(place, "claim", finished=False).values()
    lost = Counter(_unworded(one) for one in found if not one.get("claim"))
    lost["waiting for a call that was lost"] += len(waiting_in(place, "claim"))
    return {reason: count for reason, count in sorted(lost.items()) if count}


def _unworded(found: Found) -> str:
    return "no valid description" if found["status"] == "undescribed" else str(found["status"])


def finished_from_logs(folder: str | Path) -> datetime | None:
    """When the last stage that was run ended; ``None`` before any has."""
    logs = [latest_log(opened(str(folder)).folder, stage) for stage in STAGES]
    ended = [log.stats.completed_at for log in logs if log is not None and log.stats.completed_at]
    return max((datetime.fromisoformat(one) for one in ended), default=None)


def endings_from_logs(folder: str | Path) -> list[Ending]:
    """Where every prompt ended: at least one entry for each, and one for each behaviour that was flagged on it."""
    run = opened(str(folder))
    left = {stage: left_by(run.folder, stage, finished=False) for stage in STAGES}
    waiting = {stage: waiting_in(run.folder, stage) for stage in STAGES}
    by_prompt: dict[str, list[str]] = {}
    for found in left["screen"].values():
        for behaviour in found.get("behaviours", []):
            prompt = Prompt.model_validate(found["metadata"]["prompt"])
            by_prompt.setdefault(prompt.id, []).append(investigation_id(prompt, behaviour))
    endings: list[Ending] = []
    for prompt in run.prompts():
        names = [
            name for name in by_prompt.get(prompt.id, []) if name in left["classify"] or name in waiting["classify"]
        ]
        if names:
            endings += [_ending(prompt.id, name, left, waiting) for name in names]
        else:
            stage: StageName = "screen" if prompt.id in left["screen"] or prompt.id in waiting["screen"] else "sample"
            endings.append(_at(prompt.id, None, stage, left[stage].get(prompt.id), waiting[stage].get(prompt.id)))
    return endings


def counts_from_logs(folder: str | Path) -> dict[str, int]:
    """What happened to replies, by stage, role and outcome: failed calls, repaired and invalid replies, refusals."""
    total: Counter[str] = Counter()
    for stage, found in _all(folder):
        for name, count in found.get("counts", {}).items():
            total[f"{stage}: {name}"] += count
    return dict(sorted(total.items()))


def used_from_logs(folder: str | Path) -> list[Entry]:
    """What every role used in every stage. Calls that an interrupted process had made are in it, once."""
    return list(summed(Entry.model_validate(one) for _, found in _all(folder) for one in found.get("used", [])))


def _all(folder: str | Path) -> Iterator[tuple[StageName, Found]]:
    place = opened(str(folder)).folder
    for stage in STAGES:
        for found in left_by(place, stage, finished=False).values():
            yield stage, found


def _investigation(settings: StagesSettings, found: Found, confirmed: Found, verified: Found) -> Investigation:
    baseline = Rate.model_validate(confirmed.get("baseline") or found["baseline"])
    again = [Experiment.model_validate(one) for one in confirmed.get("experiments", [])]
    report = Report.model_validate(found["report"]) if found["report"] else None
    if report is not None:
        report = _with_confirmed(report, again, confirmed.get("of", {}), found["lines"], baseline)
    return Investigation(
        target=settings.target,
        investigator=settings.playing("investigator").model,
        screened=Screened.model_validate(found["metadata"]["screened"]),
        baseline=baseline,
        experiments=(*(Experiment.model_validate(one) for one in found["experiments"]), *again),
        report=report,
        ended=found["ended"],
        judgements=tuple(Judgement.model_validate(one) for one in verified.get("judgements", [])),
    )


def _with_confirmed(
    report: Report, again: list[Experiment], of: dict[str, int], lines: dict[str, str], baseline: Rate
) -> Report:
    """The report, with the confirming experiments beside those that they confirm. Its wording stays as it was filed."""

    def extended(cause: Cause) -> Cause:
        fresh = [one for one in again if of[str(one.number)] in cause.experiments]
        evidence = [
            evidence_of(
                one.number, f"fresh responses to the edit of experiment {of[str(one.number)]}", baseline, one.rate
            )
            for one in fresh
        ]
        return cause.model_copy(
            update={
                "evidence": (*cause.evidence, *evidence),
                "experiments": (*cause.experiments, *(one.number for one in fresh)),
            }
        )

    return report.model_copy(
        update={"causes": tuple(map(extended, report.causes)), "refuted": tuple(map(extended, report.refuted))}
    )


def _ending(
    prompt: str, name: str, left: dict[StageName, dict[str, Found]], waiting: dict[StageName, dict[str, str]]
) -> Ending:
    claims = [found for key, found in left["claim"].items() if key.rpartition(".")[0] == name]
    lost = [why for key, why in waiting["claim"].items() if key.rpartition(".")[0] == name]
    if claims or lost:
        made = sum(found.get("claim") is not None for found in claims)
        status = WAITS if lost else f"{made} of {len(claims)} claims"
        return Ending(prompt=prompt, investigation=name, stage="claim", status=status, why=lost[0] if lost else "")
    for stage in ("verify", "confirm", "investigate", "classify"):
        if name in left[stage] or name in waiting[stage]:
            return _at(prompt, name, stage, left[stage].get(name), waiting[stage].get(name))
    raise AssertionError(name)


def _at(
    prompt: str, name: str | None, stage: StageName, found: dict[str, Any] | None, waits: str | None = None
) -> Ending:
    if found is None and waits is not None:
        return Ending(prompt=prompt, investigation=name, stage=stage, status=WAITS, why=waits)
    if found is None:
        return Ending(prompt=prompt, investigation=name, stage=stage, status="not reached")
    why = found.get("problem") or found.get("ended") or ""
    return Ending(prompt=prompt, investigation=name, stage=stage, status=found["status"], why=why)
