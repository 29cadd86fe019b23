"""How every label study ends: one document in the run's folder."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from firsthand.analysis.findings import Picture
from firsthand.claims.freeze import FrozenLabels
from firsthand.report.document import KnownAnswer, ModelCard
from firsthand.report.files import write_json
from firsthand.report.labels_document import DataCard, LabelsDocument, LabelsFinding
from firsthand.trials.files import read_json
from firsthand.version import __version__


def finish(
    folder: Path,
    title: str,
    frozen: FrozenLabels,
    models: Sequence[ModelCard],
    data: DataCard,
    findings: Sequence[LabelsFinding],
    *,
    published: Sequence[Picture] = (),
    published_sources: Sequence[str] = (),
    known_answers: Sequence[KnownAnswer] = (),
    failures: Sequence[str] = (),
    limits: Sequence[str] = (),
    reproduce: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> LabelsDocument:
    """Assemble the document of a study and write it as ``result.json``.

    Without ``instrument_ok`` a document has no verdicts; it is in order if every known answer came out as it must and
    nothing else failed.

    Args:
        folder: The run's folder, settled (see :func:`firsthand.auditing.running.settle`).
        title: Heading of the page.
        frozen: The claim.
        models: The model that was judged, then every other model that took part.
        data: What it was made on.
        findings: Every question.
        published: Published figures beside this run's.
        published_sources: Where they come from.
        known_answers: What the instrument said of reporters whose answer is known.
        failures: Failures of the instrument beside those.
        limits: What may not be concluded.
        reproduce: Commands that repeat the study.
        notes: Anything else.

    Raises:
        TraceError: If the folder was not settled.
        ReportError: If it cannot be written.
    """
    document = LabelsDocument(
        study=frozen.claim.study,
        title=title,
        claim=frozen.claim,
        claim_hash=frozen.sha256,
        models=tuple(models),
        data=data,
        package_version=__version__,
        started=datetime.fromisoformat(read_json(folder / "begun.json")["started"]),
        finished=datetime.now(UTC),
        findings=tuple(findings),
        published=tuple(published),
        published_sources=tuple(published_sources),
        known_answers=tuple(known_answers),
        instrument_ok=all(item.passed for item in known_answers) and not failures,
        instrument_failures=tuple(failures),
        limits=tuple(limits),
        reproduce=tuple(reproduce),
        notes=tuple(notes),
    )
    write_json(document, folder / "result.json")  # keys keep their order: a page made from the file is the same page
    return document
