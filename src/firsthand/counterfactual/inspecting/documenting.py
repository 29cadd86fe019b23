"""A run of the stages as the document that its pages, tables and sets of claims are made of."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from firsthand.counterfactual.claiming import claims_of
from firsthand.counterfactual.concluding import Concluded, put_together
from firsthand.counterfactual.costs import costs_of
from firsthand.counterfactual.filters import Filters
from firsthand.counterfactual.finishing import LIMITS, floor_notes, label_errors
from firsthand.counterfactual.funnel import claimed, described, investigated, verified
from firsthand.counterfactual.inspecting.running import StagesResult
from firsthand.counterfactual.inspecting.stages.from_logs import WAITS, finished_from_logs
from firsthand.counterfactual.inspecting.stages.settings import ROLES, StagesSettings
from firsthand.counterfactual.inspecting.stages.stage import STAGES, left_by
from firsthand.counterfactual.prices import load_prices
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.transcripts import Transcripts, answered
from firsthand.report.investigations_document import Account, InvestigationsDocument, Thresholds
from firsthand.version import __version__

_REACHED = ("sample", "screen", "classify", "investigate")


def concluded_of(result: StagesResult, settings: StagesSettings) -> Concluded:
    """Claims of a run, the filters applied to them, and the errors of their labels: of accepted reports alone."""
    accepted = [one for one in result.investigations if verified(one, settings.bar)]
    claimings = [claims_of(one) for one in accepted]
    lost = dict(result.undescribed)
    missing = sum(len(one.claims) for one in claimings) - len(result.claims) - sum(lost.values())
    begun = investigated(result.investigations, settings.bar) + claimed(claimings)
    begun += described(result.claims, {**lost, "not reached": missing})
    return put_together(result.claims, claimings, begun, Filters(seed=settings.seed), _transcripts(result, settings))


def _transcripts(result: StagesResult, settings: StagesSettings) -> Transcripts:
    """Some of the screened responses to the prompt of each investigation."""
    found = left_by(Path(settings.folder).absolute(), "sample", finished=False)
    said = {one.id: found.get(one.screened.prompt.id, {}).get("responses", []) for one in result.investigations}
    return {name: answered([Response.model_validate(one) for one in some]) for name, some in said.items() if some}


def document_of(
    result: StagesResult,
    concluded: Concluded,
    settings: StagesSettings,
    prompts: Sequence[Prompt],
    reproduce: Sequence[str] = (),
) -> InvestigationsDocument:
    """The document of a run.

    Args:
        result: What it came to.
        concluded: What it allows to claim.
        settings: Its settings.
        prompts: The prompts that it was given, equal ones included.
        reproduce: Commands that repeat it.
    """
    target, sampling = settings.roles["target"].model, settings.sampling
    folder = Path(settings.folder).absolute()
    started = datetime.fromtimestamp((folder / "prompts.jsonl").stat().st_mtime, UTC)
    return InvestigationsDocument(
        title=f"Counterfactual investigations of {target}",
        target=result.target,
        investigator=settings.playing("investigator").model,
        roles={role: settings.playing(role).model for role in ROLES},
        settings={
            "effort": settings.effort,
            "responses of a batch": str(sampling.samples),
            "temperature": f"{sampling.temperature:g}",
            "longest response": f"{sampling.max_tokens} tokens",
            "judges": str(settings.panel),
            "seed": str(settings.seed),
        },
        thresholds=Thresholds(score=settings.bar),
        account=_account(result, prompts),
        investigations=result.investigations,
        claims=result.claims,
        funnel=[one.model_dump() for one in concluded.funnel.steps],
        label_errors=label_errors(concluded),
        costs=costs_of(result.used, load_prices(settings.prices)),
        logs=str(Path(settings.folder) / "logs"),
        package_version=__version__,
        started=started,
        finished=max(finished_from_logs(folder) or started, started),  # logs tell whole seconds
        stopped=result.stopped,
        notes=(*floor_notes(concluded), *(f"{count:,} x {name}" for name, count in result.counts.items())),
        limits=LIMITS,
        reproduce=tuple(reproduce),
    )


def _account(result: StagesResult, prompts: Sequence[Prompt]) -> Account:
    """What became of every prompt: of several behaviours on one, the one that came furthest counts."""
    reported = {one.screened.prompt.id for one in result.investigations if one.report is not None}
    distinct = {prompt.id for prompt in prompts}
    furthest: dict[str, tuple[int, str, str]] = {}
    for one in result.endings:
        place = STAGES.index(one.stage)
        if place >= furthest.get(one.prompt, (-1, "", ""))[0]:
            why = "waiting for a call that was lost" if one.status == WAITS else one.why or one.status
            furthest[one.prompt] = (place, _REACHED[min(place, len(_REACHED) - 1)], why)
    dropped = {stage: Counter[str]() for stage in _REACHED}
    for prompt in distinct - reported:
        _, stage, why = furthest.get(prompt, (0, "sample", "not begun"))
        dropped[stage][why] += 1
    names = dict(zip(_REACHED, ("sampled", "screened", "classified", "investigated"), strict=True))
    return Account.of(
        len(prompts),
        ("each once", {"given more than once": len(prompts) - len(distinct)}),
        *((names[stage], dropped[stage]) for stage in _REACHED),
    )
