"""From a finished study to the document that reports are made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from firsthand.auditing.injection.findings import Study, findings_of
from firsthand.auditing.injection.known import known_answers, unexaminable
from firsthand.auditing.injection.limits import limits_of
from firsthand.auditing.injection.plan import Picks, judged_rows
from firsthand.auditing.injection.probing import probed
from firsthand.auditing.injection.transfer import transfer_rows
from firsthand.auditing.running import card_of
from firsthand.claims import FrozenInjection
from firsthand.progress import Progress
from firsthand.report.document import KnownAnswer
from firsthand.report.injection_document import InjectionDocument, Selection
from firsthand.studies.cells import Cell
from firsthand.studies.injection.bench import InjectionBench
from firsthand.version import __version__

COMPARED = ("detection-2", "detection-3", "localisation", "strength", "choice", "codes")
"""Questions that reporters of known answer are asked."""


@dataclass(frozen=True, eq=False)
class Told:
    """Everything that a document is made from.

    Attributes:
        frozen: The claim.
        bench: What was fixed.
        chosen: How settings were chosen.
        picks: Which.
        tables: The confirmation trials by step.
        trained: What the instrument said of a trained reporter.
        notes: What the examination of the model warns of.
        started: When the run began.
        folder: Where it lies.
    """

    frozen: FrozenInjection
    bench: InjectionBench
    chosen: Mapping[str, Selection]
    picks: Picks
    tables: Mapping[str, pd.DataFrame]
    trained: tuple[KnownAnswer, ...]
    notes: tuple[str, ...]
    started: datetime
    folder: Path


def document_of(told: Told, progress: Progress) -> InjectionDocument:
    """Judge everything and put it together."""
    claim, spec = told.frozen.claim, told.frozen.claim.analysis
    progress.start("probing", len(told.tables))
    judged = {}
    for name, table in told.tables.items():
        judged[name] = probed(judged_rows(table, _cell(told.picks, name)), name)
        progress.step()
    findings = findings_of(Study(claim, told.chosen, told.picks, judged), progress)
    progress.say("examining the instrument")
    compared = {name: judged[name] for name in COMPARED if name in judged}
    known = (*known_answers(compared, spec), *told.trained)
    unexamined = tuple(
        f"The instrument could not be examined on {name}: the direction without content matched the vector's impact on "
        f"{share:.0%} of its trials only. No positive verdict is given there."
        for name, share in unexaminable(compared).items()
    )
    passed = all(item.passed for item in known)
    transfer = transfer_rows(judged, told.picks["detection-2"], spec) if "training" in judged else ()
    return InjectionDocument(
        claim=claim,
        claim_hash=told.frozen.sha256,
        model=card_of(told.bench.loaded),
        package_version=__version__,
        started=told.started,
        finished=datetime.now(UTC),
        concepts_choosing=told.bench.choosing,
        concepts_judging=told.bench.judging,
        findings=findings,
        transfer=transfer,
        known_answers=known,
        instrument_ok=passed,
        limits=limits_of(claim, findings),
        reproduce=(
            f"firsthand inject --claim {told.folder}/claim.frozen.json --out NEW_FOLDER",
            f"firsthand report {told.folder}",
        ),
        notes=(*told.notes, *unexamined),
    )


def _cell(picks: Picks, name: str) -> Cell | None:
    """The cell that a step was judged in; ``None`` where all its rows count."""
    if name.startswith(("transfer-", "training")):
        return None
    if name in picks:
        return picks[name].cell
    base = name.removeprefix("confidence-").removeprefix("visible-")
    if base in picks:
        return picks[base].cell
    if base in ("detection", "live", "lifted", "delayed", "open"):
        return picks["detection-2"].cell
    return picks["identification"].cell
