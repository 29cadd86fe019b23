"""The study of belief dominance: from a claim, a model and facts to a run folder with a trace and a document."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.labels.belief import judge, lacking
from firsthand.auditing.labels.belief_evidence import Evidence, evidence_of
from firsthand.auditing.labels.belief_known import LACKING, UNEXAMINED, known_answers, two_blocks_rows
from firsthand.auditing.labels.belief_observers import split_rows
from firsthand.auditing.labels.belief_run import Ran, run_all
from firsthand.auditing.labels.belief_showing import (
    LIMITS,
    PUBLISHED,
    dominance_finding,
    entities_finding,
    report_finding,
    steering_finding,
)
from firsthand.auditing.labels.finishing import finish
from firsthand.auditing.running import bindings_of, card_of, examined, settle, settle_further
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.labels import BeliefClaim
from firsthand.engine import LoadedModel, load
from firsthand.errors import LabelsError
from firsthand.progress import Progress, Silent
from firsthand.report.document import KnownAnswer
from firsthand.report.labels_document import DataCard, LabelsDocument
from firsthand.studies.labels.belief.bench import Bench, prepare
from firsthand.studies.labels.belief.records import Facts
from firsthand.trials.trace import Trace
from firsthand.vocabulary import Condition

TITLE = "Belief dominance"


@dataclass(frozen=True, eq=False)
class BeliefRun:
    """A finished study, its document and what it rests on."""

    folder: Path
    document: LabelsDocument
    ran: Ran

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """What there is: the report's ``trials`` with observers, ``answers`` with their dominances, what each of their
        ``states`` held, and ``steered`` answers.
        """
        ran = self.ran
        found = {"trials": ran.reports, "answers": ran.table, "states": ran.readings, "steered": ran.steered}
        return {name: table for name, table in found.items() if len(table)}


def belief(
    claim: BeliefClaim,
    facts: Facts,
    model: LoadedModel | None = None,
    folder: str | Path = "runs/belief",
    progress: Progress | None = None,
    *,
    reader: LoadedModel | None = None,
    data: str = "facts",
    reproduce: Sequence[str] = (),
) -> BeliefRun:
    """Run a belief study, or go on with one.

    Args:
        claim: The claim; it is frozen before anything is run.
        facts: The facts that it names.
        model: The model that the claim names, if it is loaded already.
        folder: The run's folder; one folder holds one claim.
        progress: Who is told how far it is.
        reader: The other language model that the claim names, if it is loaded already.
        data: Name of the data.
        reproduce: Commands that repeat the study, for the report.

    Raises:
        FirsthandError: If the folder holds another claim, the data do not fit, or something cannot be run.
    """
    progress, folder = progress or Silent(), Path(folder)
    loaded = model or load(claim.model)
    frozen = FrozenLabels.of(claim, bindings_of(loaded))
    settle(folder, frozen, loaded)
    notes = examined(loaded, progress)
    other = _reader(claim, loaded, reader, progress)
    if other is not None:
        settle_further(folder, other)
    progress.say("screening the facts")
    bench = prepare(loaded, facts, claim)
    ran = run_all(bench, Trace(folder / "trace"), partial(evidence_of, bench), progress, other)
    progress.say("judging")
    public = evidence_of(bench, ran.table)
    findings = [
        report_finding(bench, ran, [_judged(ran, claim, condition) for condition in conditions_of(claim)]),
        entities_finding(claim, split_rows(bench, ran.table, public), len(ran.table)),
        dominance_finding(bench, ran),
        steering_finding(bench, ran),
    ]
    progress.say("examining the instrument")
    known, unexamined = _known(ran, claim, public)
    document = finish(
        folder,
        TITLE,
        frozen,
        [card_of(loaded), *([card_of(other)] if other is not None else [])],
        data_card(facts, bench, data),
        [finding for finding in findings if finding is not None],
        published_sources=PUBLISHED,
        known_answers=known,
        limits=LIMITS,
        reproduce=reproduce,
        notes=(*facts.notes, *notes, *unexamined),
    )
    return BeliefRun(folder, document, ran)


def conditions_of(claim: BeliefClaim) -> tuple[Condition, ...]:
    """Whether observers see the answer: in both ways, unless the model that labels sees it."""
    return (Condition.Y_WITHHELD, Condition.Y_SHOWN) if claim.shows == "prompt" else (Condition.Y_SHOWN,)


def data_card(facts: Facts, bench: Bench, name: str) -> DataCard:
    """What the study was made on."""
    return DataCard(
        name=name,
        sha256=bench.claim.data_sha256,
        used={"facts in the file": len(facts), "records": len(bench.facts), "answers": len(bench.items)},
        dropped={**facts.dropped},
    )


def _judged(ran: Ran, claim: BeliefClaim, condition: Condition) -> CapabilityResult:
    if not len(ran.reports):
        return lacking(condition, " ".join(ran.impossible) or "There was no conversation.")
    return judge(ran.reports, claim.analysis, condition)


def _known(ran: Ran, claim: BeliefClaim, public: Evidence) -> tuple[tuple[KnownAnswer, ...], tuple[str, ...]]:
    """Reporters of known answer, and what could not be examined by them."""
    if not len(ran.reports):
        return (), (UNEXAMINED,)
    with threadpool_limits(1):
        both = two_blocks_rows(ran.reports, ran.table, public, ran.experiments, claim.seed)
    found = known_answers(ran.reports, claim.analysis, conditions_of(claim), claim.seed, both)
    return found, (UNEXAMINED,) if not found else (LACKING,) if both is None else ()


def _reader(
    claim: BeliefClaim, loaded: LoadedModel, reader: LoadedModel | None, progress: Progress
) -> LoadedModel | None:
    """The other language model, if the claim names one.

    Raises:
        LabelsError: If it is the model itself.
    """
    if claim.reader is None:
        return None
    if reader is None:
        progress.say(f"loading {claim.reader}")
        reader = load(claim.reader, device=loaded.device.split()[0], dtype=loaded.dtype)
    if reader.weights_sha256 == loaded.weights_sha256:
        raise LabelsError(f"The reader {reader.name} is the model itself.", "Name another model.")
    return reader
