"""The investigation without a language model, from a screened prompt to a report, as a generator.

It asks for batches and is sent the rate of each; whoever drives it draws and judges responses, and may drive many
searches side by side. Exploring proves nothing: every edit that is reported is fixed first, and is then measured on a
fresh batch of full size, against a baseline that is drawn with it. The batch that was screened chose the behaviour, and
the baseline that exploring began with chose the edits; neither judges them.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Final

from firsthand.counterfactual.deciding import decided
from firsthand.counterfactual.edits import edited
from firsthand.counterfactual.investigating.without_model.exploring import BudgetSpentError, Explorer, Steps
from firsthand.counterfactual.investigating.without_model.findings import Findings
from firsthand.counterfactual.investigating.without_model.hypotheses import Planned, planned
from firsthand.counterfactual.investigating.without_model.looking import look
from firsthand.counterfactual.investigating.without_model.reporting import reported
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigation import Experiment, Investigation, Screened
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request

Search = Steps[Investigation]
"""Asks for batches, is sent the rate of each, and returns the investigation."""

INVESTIGATOR: Final = "without a model, version 1"
"""Who investigated. The number goes up when the same responses could lead to another report."""


def search(screened: Screened, target: str, settings: SearchSettings) -> Search:
    """Looks for the smallest edits of a prompt that change how often a behaviour occurs.

    Yields:
        Batches that are wanted, named ``explore.baseline``, ``explore.N.I`` (batch I of experiment N), ``baseline.I``
        and ``confirm.N``; is to be sent one rate for each, in the same order.

    Returns:
        The investigation, with what was explored, what was confirmed, and a report.
    """
    prompt = screened.prompt
    baseline = (yield [Request(prompt=prompt, batch="explore.baseline", samples=settings.samples)])[0]
    findings = Findings.of(prompt)
    explorer = Explorer(prompt, baseline, settings, _allowance(settings))
    plan: list[Planned] = []
    if can_fall(baseline, settings):
        try:
            yield from look(explorer, settings, findings)
        except BudgetSpentError:
            findings.spent = True
        explored = sum(one.rate.responses for one in explorer.experiments)
        left = settings.responses - (1 + settings.baselines) * settings.samples - explored
        plan = planned(findings, min(settings.confirmed, left // settings.samples))
    experiments = explorer.experiments
    confirmed: list[Experiment] = []
    if plan:
        baseline, confirmed = yield from _confirmed(plan, screened, settings, len(experiments))
    return Investigation(
        target=target,
        investigator=INVESTIGATOR,
        screened=screened,
        baseline=baseline,
        experiments=(*experiments, *confirmed),
        report=reported(screened, baseline, findings, list(zip(plan, confirmed, strict=True)), settings),
    )


def can_fall(baseline: Rate, settings: SearchSettings) -> bool:
    """Whether the rate is high enough that an edit could lower it by as much as counts."""
    return baseline.share is not None and baseline.share >= settings.least_change


def _allowance(settings: SearchSettings) -> int:
    """Responses for exploring: what baselines and confirmed edits leave, and at least half of what there is."""
    rest = settings.responses - (1 + settings.baselines) * settings.samples
    reserved = min(settings.confirmed, max(1, rest // settings.samples // 2))
    return rest - reserved * settings.samples


def _confirmed(
    plan: Sequence[Planned], screened: Screened, settings: SearchSettings, before: int
) -> Steps[tuple[Rate, list[Experiment]]]:
    """The baseline, and every planned edit judged against it, all on fresh responses."""
    bases = [
        Request(prompt=screened.prompt, batch=f"baseline.{number}", samples=settings.samples)
        for number in range(1, settings.baselines + 1)
    ]
    requests = [
        Request(prompt=edited(screened.prompt, one.edit), batch=f"confirm.{number}", samples=settings.samples)
        for number, one in enumerate(plan, 1)
    ]
    rates = yield [*bases, *requests]
    baseline = reduce(add, rates[: len(bases)])
    experiments = [
        Experiment(
            number=before + number,
            edit=one.edit,
            purpose=f"Hypothesis: {one.hypothesis}. Edit: {one.done}.",
            stage="confirmed",
            batch=request.batch,
            rate=rate,
            decision=decided(baseline, rate, least=settings.least_change, level=settings.level, edits=len(plan)),
        )
        for number, (one, request, rate) in enumerate(zip(plan, requests, rates[len(bases) :], strict=True), 1)
    ]
    return baseline, experiments
