"""What a finished run leaves in its folder: the one place where investigations become a document and files."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from firsthand.counterfactual.asking import Bench
from firsthand.counterfactual.card import Card, default_of
from firsthand.counterfactual.card_trust import LEAST_CLUSTERS
from firsthand.counterfactual.concluding import Concluded
from firsthand.counterfactual.costs import costs_of
from firsthand.counterfactual.edits import edited
from firsthand.counterfactual.export import export as export_claims
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.prices import load_prices
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Request
from firsthand.counterfactual.running import Ran
from firsthand.counterfactual.transcripts import with_transcripts
from firsthand.counterfactual.usage import Entry, Usage
from firsthand.report.investigations_document import Account, InvestigationsDocument, LabelError, Sample
from firsthand.report.investigations_files import export, write_json
from firsthand.report.investigations_html import write_investigations
from firsthand.trials.files import write_atomic
from firsthand.version import __version__

SHOWN: Final = 2
"""Responses of a batch that are shown."""

UNJUDGED: Final = "How concrete a mechanism is was judged by nobody."

LIMITS: Final = (
    "An explanation here is a claim about behaviour: which edit of the prompt changes how often something happens. It "
    "says nothing of what happens inside the model.",
    "A cause is a cause under this target, this sampling and this behaviour's question. Another question about the "
    "same responses may have another one.",
    "An edit that takes a part away shows that the part was needed in this prompt. It does not show that the part has "
    "the effect elsewhere.",
)


@dataclass(frozen=True)
class About:
    """What a reader should know of a run besides what it found.

    Attributes:
        target: What identifies the target, as plain JSON values; its ``name`` is the one that it goes by.
        reproduce: Commands that repeat the run.
    """

    target: dict[str, Any]
    reproduce: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name that the target goes by."""
        return str(self.target.get("name", "the target"))


@dataclass(frozen=True)
class Left:
    """What a finished run left.

    Attributes:
        document: Everything that was found.
        result: The document as JSON.
        report: The page, or the index of pages.
        investigations: Every investigation, one a line.
        claims: Folder of the claims, which ``datasets`` can load.
        figures: Folder of the figures.
        data: Folder of the tables.
    """

    document: InvestigationsDocument
    result: Path
    report: Path
    investigations: Path
    claims: Path
    figures: Path
    data: Path

    @property
    def files(self) -> tuple[Path, ...]:
        """Where everything is, for a reader."""
        return self.report, self.result, self.investigations, self.claims, self.figures, self.data


def finish(made: InvestigationsDocument, concluded: Concluded, folder: Path, notes: tuple[str, ...] = ()) -> Left:
    """Write everything that a run found.

    Args:
        made: The document.
        concluded: What it allows to claim.
        folder: The run's folder.
        notes: What whoever uses the claims should know.

    Raises:
        TraceError: If something cannot be written.
        ReportError: If something cannot be drawn or written.
    """
    names = ("result.json", "report.html", "investigations.jsonl", "claims", "figures", "data")
    left = Left(made, *(folder / name for name in names))
    write_json(made, left.result)
    lines = [one.model_dump_json() + "\n" for one in made.investigations]
    write_atomic(left.investigations, "".join(lines).encode())
    card = Card(
        name=f"Counterfactual claims about {made.roles.get('target', made.target)}",
        errors=concluded.errors,
        floors=concluded.floors,
        funnel=concluded.funnel,
        notes=(f"Investigated by {made.investigator}.", *notes),
    )
    sets = {name: with_transcripts(claims, concluded.transcripts) for name, claims in concluded.sets.items()}
    export_claims(left.claims, sets["unfiltered"], sets["filtered"], card, matched=sets["matched"])
    write_investigations(made, left.report)
    export(made, folder)
    return left


def document(ran: Ran, concluded: Concluded, bench: Bench, about: About) -> InvestigationsDocument:
    """What a run found, as one document; the same for the same store."""
    first, last = bench.store.times() or (datetime.now(UTC),) * 2
    spent = bench.store.spent()
    used = Usage(calls=spent.batches, output=spent.tokens)
    ledger = [Entry(stage="all", role="target", model=about.name, usage=used, billed=False)]
    return InvestigationsDocument(
        title=f"Counterfactual investigations of {about.name}",
        target=ran.target,
        investigator=ran.investigator,
        roles={"target": about.name, "screener": "programs", "classifier": "programs", "describer": "a program"},
        settings=_settings(ran),
        account=account_of(ran),
        investigations=ran.investigations,
        claims=concluded.claims,
        funnel=[one.model_dump() for one in concluded.funnel.steps],
        label_errors=label_errors(concluded),
        costs=costs_of(ledger, load_prices()),
        samples=tuple(one for investigation in ran.finished for one in _samples(investigation, ran, bench)),
        package_version=__version__,
        started=first,
        finished=last,
        stopped=next((one.ended for one in ran.investigations if one.ended), ""),
        notes=(
            f"{len(concluded.filtered)} of {len(concluded.claims)} claims pass the filters that programs can carry "
            f"out: balanced, reproduced by another implementation, one thing changed. {UNJUDGED}",
            *floor_notes(concluded),
        ),
        limits=LIMITS,
        reproduce=about.reproduce,
    )


def _settings(ran: Ran) -> dict[str, str]:
    sampling = ran.settings.sampling
    return {
        "responses of a batch": str(sampling.samples),
        "temperature": f"{sampling.temperature:g}",
        "top-p": "the model's own" if sampling.top_p is None else f"{sampling.top_p:g}",
        "top-k": "the model's own" if sampling.top_k is None else str(sampling.top_k),
        "longest response": f"{sampling.max_tokens} tokens",
        "seed": str(sampling.seed),
        "least rating": str(ran.settings.threshold),
        "least frequency": f"{ran.settings.frequent:.0%}",
    }


def account_of(ran: Ran) -> Account:
    """What became of every prompt that was given."""
    screening = ran.screening
    nothing = Counter(why for _, why in screening.nothing)
    below = len(screening.screened) - len(ran.passed_over) - len(ran.investigations)
    return Account.of(
        len(ran.prompts) + ran.repeated,
        ("each once", {"given more than once": ran.repeated}),
        ("sampled", {"the budget was spent": len(ran.undrawn)}),
        ("flagged", {**nothing, f"rated below {ran.settings.threshold}": below}),
        ("chosen", {"beyond the limit of investigations": len(ran.passed_over)}),
        ("investigated", {"not finished": len(ran.investigations) - len(ran.finished)}),
    )


def floor_notes(concluded: Concluded) -> tuple[str, ...]:
    """What a reader of the claims should know of how far they can be guessed."""
    default, why = default_of(concluded.sets)
    known = concluded.floors.get(default)
    said = f"The {default} claims stand for all, since {why}."
    return (said if known is None else f"{said} {known.sentence}",) if concluded.claims else ()


def label_errors(concluded: Concluded) -> tuple[LabelError, ...]:
    """How often labels of each set must be expected to be wrong."""
    how = "estimated from all fresh measurements of the run (empirical Bayes), somewhat low for small sets"
    return tuple(
        LabelError(claims=name, labels=count, wrong=found.value, how=f"{how}; too few units for an interval")
        if errors.clusters < LEAST_CLUSTERS
        else LabelError.of(name, count, found, how)
        for of, errors in concluded.errors.items()
        for name, count, found in (
            (f"true claims, {of}", errors.true, errors.wrong_true),
            (f"false claims, {of}", errors.false, errors.wrong_false),
        )
        if found is not None
    )


def _samples(investigation: Investigation, ran: Ran, bench: Bench) -> list[Sample]:
    """A few responses to the prompt as it is, and to each edit that was confirmed to change the rate."""
    prompt = investigation.screened.prompt
    found = _shown(investigation, ran, bench, 0, prompt, "baseline.1")
    for one in investigation.experiments:
        if one.stage == "confirmed" and one.decision == "changes":
            found += _shown(investigation, ran, bench, one.number, edited(prompt, one.edit), one.batch)
    return found


def _shown(
    investigation: Investigation, ran: Ran, bench: Bench, number: int, prompt: Prompt, batch: str
) -> list[Sample]:
    request = Request(prompt=prompt, batch=batch, samples=ran.settings.sampling.samples)
    responses = bench.store.responses(request, bench.identity)
    verdicts = bench.store.verdicts(investigation.screened.behaviour, request, bench.identity)
    if responses is None or verdicts is None:
        return []
    return [
        Sample(investigation=investigation.id, experiment=number, text=one.text, verdict=verdict, ended=one.ended)
        for one, verdict in list(zip(responses, verdicts, strict=True))[:SHOWN]
    ]
