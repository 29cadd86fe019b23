"""What a run's logs, which are its evidence, say: investigations, claims, where each prompt ended, what it cost."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.inspecting.stages.bench import evidence_of
from firsthand.counterfactual.inspecting.stages.settings import StagesSettings
from firsthand.counterfactual.inspecting.stages.stage import STAGES, Found, StageName, left_by, opened
from firsthand.counterfactual.investigation import Cause, Experiment, Investigation, Judgement, Report, Screened
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.usage import Entry, summed


class Ending(Part):
    """Where one prompt, or one behaviour on it, ended.

    Attributes:
        prompt: Identifier of the prompt.
        investigation: Identifier of the investigation, from the third stage on.
        stage: The last stage that it reached.
        status: What that found.
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


def endings_from_logs(folder: str | Path) -> list[Ending]:
    """Where every prompt ended: at least one entry for each, and one for each behaviour that was flagged on it."""
    run = opened(str(folder))
    left = {stage: left_by(run.folder, stage, finished=False) for stage in STAGES}
    by_prompt: dict[str, list[str]] = {}
    for name, found in left["classify"].items():
        by_prompt.setdefault(_prompt_id(found), []).append(name)
    endings: list[Ending] = []
    for prompt in run.prompts():
        if names := by_prompt.get(prompt.id):
            endings += [_ending(prompt.id, name, left) for name in names]
            continue
        stage: StageName = "screen" if prompt.id in left["screen"] else "sample"
        endings.append(_at(prompt.id, None, stage, left[stage].get(prompt.id)))
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


def _prompt_id(found: Found) -> str:
    from firsthand.counterfactual.prompts import Prompt

    return Prompt.model_validate(found["metadata"]["prompt"]).id


def _ending(prompt: str, name: str, left: dict[StageName, dict[str, Found]]) -> Ending:
    claims = [found for key, found in left["claim"].items() if key.rpartition(".")[0] == name]
    if claims:
        made = sum(found.get("claim") is not None for found in claims)
        return Ending(prompt=prompt, investigation=name, stage="claim", status=f"{made} of {len(claims)} claims")
    for stage in ("verify", "confirm", "investigate", "classify"):
        if name in left[stage]:
            return _at(prompt, name, stage, left[stage][name])
    raise AssertionError(name)


def _at(prompt: str, name: str | None, stage: StageName, found: dict[str, Any] | None) -> Ending:
    if found is None:
        return Ending(prompt=prompt, investigation=name, stage=stage, status="not reached")
    why = found.get("problem") or found.get("ended") or ""
    return Ending(prompt=prompt, investigation=name, stage=stage, status=found["status"], why=why)
