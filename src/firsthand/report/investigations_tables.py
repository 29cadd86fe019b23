"""The numbers of counterfactual investigations as tables, one row each, to be written as CSV and Parquet.

investigations (one row an investigation):
    investigation, prompt: Identifiers.
    source, place, cluster: Where the prompt comes from, and what it must not be parted from.
    rating: How unexpected the behaviour is, 1 to 5.
    behaviour, kind: The frozen question, and who answers it.
    question: What was asked of the investigator.
    status: ``verified``, ``not verified``, ``not judged`` or ``unfinished``; ``ended`` says why it is unfinished.
    confirmed: Whether a cause that the report names changed the rate on responses drawn after its edit had been fixed,
        and a matched control elsewhere did less.
    score, judges: The judges' mean valid score, and how many there were.
    experiments: How many were run; ``best`` is the number of the most informative one.
    baseline_*: See below.
    change, change_low, change_high: Its change in points, with an interval.
experiments (one row an experiment; 0 is the baseline):
    investigation, experiment, stage, batch, decision, purpose, error: As in the document.
    edit: In words, a list of one line an operation; ``edit_json`` is the edit itself.
    rate_*, change*: See below.
claims (one row a claim):
    investigation, experiment, intervention, label, concreteness, reproduced, single_factor, cluster: As in the claim.
    behaviour, text: The question, and the claim as a predictor reads it.
    baseline_*, rate_*: Counts; ``change`` is in points.
account, funnel (one row a step and reason; reason ``""`` is what was kept):
    number, step, unit, reason, count: Which step, what it counts, why something was dropped, how many.
    true, clusters: Of kept claims, how many are true, and how many clusters they come from.
label_errors (one row a set): As in the document.
costs (one row a stage, role and model): usage in tokens, ``money`` empty where it is unknown or nobody bills it.

A rate ``x`` has seven columns: ``x_yes``, ``x_no``, ``x_invalid``, ``x`` (share of the valid), ``x_low`` and ``x_high``
(its interval), and ``x_n`` (valid responses).
"""

from collections.abc import Iterator

import pandas as pd

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.costs import Costs
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.rates import Rate
from firsthand.report.investigations_document import InvestigationsDocument, Step
from firsthand.report.investigations_views import (
    change_view,
    edit_words,
    has_confirmed_cause,
    interval,
    most_informative,
    status_of,
)
from firsthand.report.tables import Row, frames


def tables_of(document: InvestigationsDocument) -> dict[str, pd.DataFrame]:
    """Give every table that has rows, by name."""
    level = document.thresholds.level
    rows: dict[str, list[Row]] = {
        "investigations": [_investigation(one, document) for one in document.investigations],
        "experiments": [row for one in document.investigations for row in _experiments(one, level)],
        "claims": [_claim(claim, level) for claim in document.claims],
        "account": list(_steps(document.account.steps)),
        "funnel": list(_steps(document.funnel)),
        "label_errors": [error.model_dump() for error in document.label_errors],
        "costs": list(_costs(document.costs)) if document.costs is not None else [],
    }
    return frames(rows)


def _investigation(one: Investigation, document: InvestigationsDocument) -> Row:
    screened, level, best = one.screened, document.thresholds.level, most_informative(one)
    score = one.score
    return {
        "investigation": one.id,
        "prompt": screened.prompt.id,
        "source": screened.prompt.source,
        "place": screened.prompt.place,
        "cluster": screened.prompt.cluster,
        "rating": screened.rating,
        "behaviour": screened.behaviour.question,
        "kind": screened.behaviour.kind,
        "question": screened.question,
        "status": status_of(one, document.thresholds.score),
        "ended": one.ended,
        "confirmed": has_confirmed_cause(one),
        "score": score,
        "judges": len(one.judgements),
        "experiments": len(one.experiments),
        **_rate("baseline", one.baseline, level),
        "best": None if best is None else best.number,
        **_change(one.baseline, None if best is None else best.rate, level),
    }


def _experiments(one: Investigation, level: float) -> Iterator[Row]:
    key = {"investigation": one.id}
    bare: Row = {"decision": None, "purpose": None, "error": None, "edit": [], "edit_json": None}
    baseline = {**key, "experiment": 0, "stage": "baseline", "batch": None, **bare}
    yield {**baseline, **_rate("rate", one.baseline, level), **_change(one.baseline, None, level)}
    for experiment in one.experiments:
        yield {
            **key,
            "experiment": experiment.number,
            "stage": experiment.stage,
            "batch": experiment.batch,
            "decision": experiment.decision,
            "purpose": experiment.purpose,
            "error": experiment.error,
            "edit": list(edit_words(experiment.edit)),
            "edit_json": experiment.edit.model_dump_json(),
            **_rate("rate", experiment.rate, level),
            **_change(one.baseline, experiment.rate, level),
        }


def _claim(claim: Claim, level: float) -> Row:
    return {
        "investigation": claim.investigation,
        "experiment": claim.experiment,
        "behaviour": claim.behaviour.question,
        "intervention": claim.intervention,
        "label": claim.label,
        "concreteness": claim.concreteness,
        "reproduced": claim.reproduced,
        "single_factor": claim.single_factor,
        "cluster": claim.cluster,
        **_rate("baseline", claim.baseline, level),
        **_rate("rate", claim.rate, level),
        **_change(claim.baseline, claim.rate, level),
        "text": claim.text,
    }


def _rate(name: str, rate: Rate, level: float) -> Row:
    low, high = interval(rate, level)
    counts = {f"{name}_yes": rate.yes, f"{name}_no": rate.no, f"{name}_invalid": rate.invalid}
    return {**counts, name: rate.share, f"{name}_low": low, f"{name}_high": high, f"{name}_n": rate.valid}


def _change(before: Rate, after: Rate | None, level: float) -> Row:
    found = None if after is None else change_view(before, after, level)
    values = (None, None, None) if found is None else (found.points, found.low, found.high)
    return dict(zip(("change", "change_low", "change_high"), values, strict=True))


def _steps(steps: tuple[Step, ...]) -> Iterator[Row]:
    for number, step in enumerate(steps, 1):
        where = {"number": number, "step": step.name, "unit": step.unit}
        yield {**where, "reason": "", "count": step.kept, "true": step.true, "clusters": step.clusters}
        for reason, count in step.dropped.items():
            yield {**where, "reason": reason, "count": count, "true": None, "clusters": None}


def _costs(costs: Costs) -> Iterator[Row]:
    for row in costs.rows:
        entry = row.entry
        yield {
            "stage": entry.stage,
            "role": entry.role,
            "model": entry.model,
            "batch": entry.batch,
            "billed": entry.billed,
            **entry.usage.model_dump(),
            "money": row.money,
            "currency": costs.currency,
            "price": row.price,
        }
