"""The audit: from a frozen claim and a model to a run folder with a trace, verdicts and a report.

Every step leaves its result in the run folder and takes up what is there, so that the same command after an
interruption goes on where it stopped and ends with the same trace.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from firsthand.analysis import Profile
from firsthand.auditing.evidence import Evidence, load_evidence
from firsthand.auditing.judgement import OBSERVERS_FILE, Panel, ask_observers, judge_all, memory_path
from firsthand.auditing.known_answers import judge_panel
from firsthand.auditing.limits import limits_of
from firsthand.auditing.running import bindings_of, card_of, examined, settle
from firsthand.auditing.samples import freeze_entries, trial_samples
from firsthand.auditing.trained import judge_trained, shipped_reporter
from firsthand.claims import Claim, FrozenClaim
from firsthand.engine import LoadedModel, load
from firsthand.engine.scorer import TextScorer
from firsthand.errors import ClaimError, ModelError
from firsthand.observers import make_observer
from firsthand.observers.remembered import RememberedModel
from firsthand.progress import Progress, Silent
from firsthand.report.document import (
    AuditDocument,
    KnownAnswer,
    ObserverNotRun,
    Selection,
    SelectionRow,
)
from firsthand.report.document import Cell as DocumentCell
from firsthand.studies.cells import Cell
from firsthand.studies.register import CellScore, choose, run_confirmation, run_selection
from firsthand.studies.register_bench import Bench, prepare
from firsthand.trials.files import read_json, write_json
from firsthand.trials.verify import verify_trace
from firsthand.version import __version__

LEAST_BLOCKS = 24
"""Confirmation blocks below which an absence could not be shown even for a reporter that never says yes."""

SIBLINGS: Mapping[str, str] = {"smollm2": "gemma3-270m", "gemma3-270m": "smollm2"}


@dataclass(frozen=True)
class Run:
    """A finished audit.

    Attributes:
        folder: Where everything lies.
        document: All that a report shows; its ``profile`` is ``None`` if the instrument was out of order.
    """

    folder: Path
    document: AuditDocument

    @property
    def profile(self) -> Profile | None:
        """The verdicts, one a capability and condition."""
        return self.document.profile

    def report(self, path: str | Path) -> Path:
        """Write the self-contained HTML report.

        Raises:
            FirsthandError: If it cannot be written.
        """
        from firsthand.report.html import write_html

        write_html(self.document, Path(path))
        return Path(path)


def freeze(claim: Claim, loaded: LoadedModel) -> FrozenClaim:
    """Freeze a claim for a model."""
    return FrozenClaim.of(claim, bindings_of(loaded))


def audit(
    claim: Claim | FrozenClaim,
    model: LoadedModel | None = None,
    folder: str | Path = "runs/audit",
    progress: Progress | None = None,
) -> Run:
    """Run an audit, or go on with one.

    Args:
        claim: A frozen claim; a claim that is not frozen yet is frozen here, before anything is run, and the folder
        then
            holds it.
        model: The model that the claim names, if it is loaded already.
        folder: The run's folder; one folder holds one claim.
        progress: Who is told how far it is.

    Returns:
        The finished run.

    Raises:
        FirsthandError: If the claim changed after freezing, the model does not fit it, or a step cannot be carried out.
    """
    progress, folder = progress or Silent(), Path(folder)
    plain = claim.claim if isinstance(claim, FrozenClaim) else claim
    if plain.design.confirmation_blocks < LEAST_BLOCKS:
        raise ClaimError(
            f"{plain.design.confirmation_blocks} confirmation blocks are too few: reporters of known answer, such as "
            "the denier, could not be told apart, and no verdict could be given.",
            f"Use at least {LEAST_BLOCKS} (design.confirmation_blocks of the claim, or --blocks).",
        )
    if model is None:
        progress.say(f"loading {plain.model}")
    loaded = model or load(plain.model)
    frozen = claim if isinstance(claim, FrozenClaim) else freeze(claim, loaded)
    frozen.refuse_if_changed(plain, bindings_of(loaded))
    settle(folder, frozen, loaded)

    notes = examined(loaded, progress)
    bench = prepare(loaded, plain)
    scores = run_selection(bench, folder / "selection", progress)
    cell = choose(bench, scores)
    panel = _panel(plain, loaded, folder, progress)
    known = _trained_reporter(bench, panel, folder, progress)
    trace = run_confirmation(bench, cell, folder / "trace", progress, "confirmation blocks")
    for part in run_traces(folder):
        verify_trace(part, plain.design.seed)
    evidence = load_evidence(trace)
    predictions = ask_observers(evidence, panel, plain.capabilities, folder / "observations", progress, "observers")
    progress.start("judging", 2)
    known = [*judge_panel(evidence, plain, predictions), *known]
    progress.step()
    profile = judge_all(evidence, plain, predictions, loaded.name, trace.content_digest())
    progress.step()
    document = _document(frozen, bench, cell, scores, profile, known, evidence, panel, folder, notes)
    write_json(folder / "result.json", document.model_dump(mode="json"))
    return Run(folder, document)


def run_traces(folder: Path) -> list[Path]:
    """Folders of every finished trace of a run: confirmation, selection, trained reporters."""
    parts = [folder / "trace", folder / "selection", *sorted((folder / "known-answers").glob("*"))]
    return [part for part in parts if (part / "manifest.json").exists()]


def _panel(claim: Claim, loaded: LoadedModel, folder: Path, progress: Progress) -> Panel:
    """The claim's observers: the model itself without edits, and a sibling if one is installed."""
    models: dict[str, RememberedModel] = {}
    absent: dict[str, str] = {}
    if "third_person" in claim.observers:
        models["third_person"] = _remembered("third_person", loaded, folder)
    if "sibling" in claim.observers:
        name = SIBLINGS.get(claim.model)
        if name is None:
            absent["sibling"] = "no sibling is known for this model."
        else:
            try:
                progress.say(f"loading the sibling {name}")
                models["sibling"] = _remembered("sibling", load(name, device=loaded.device.split()[0]), folder)
            except ModelError as error:
                absent["sibling"] = f"{error.problem} {error.remedy}"
    panel = Panel(claim.observers, models, absent)
    for present in panel.present:
        make_observer(present, models)  # a name that cannot be used is refused now, not after the trace has run
    identities = {name: model.identity for name, model in models.items()}
    write_json(folder / OBSERVERS_FILE, {"present": list(panel.present), "absent": absent, "models": identities})
    return panel


def _remembered(name: str, loaded: LoadedModel, folder: Path) -> RememberedModel:
    scorer = TextScorer(loaded)
    return RememberedModel(name, memory_path(folder, name), scorer.identity, scorer)


def _trained_reporter(bench: Bench, panel: Panel, folder: Path, progress: Progress) -> list[KnownAnswer]:
    reporter = shipped_reporter()
    if reporter is None or not reporter.fits(bench.loaded):
        return []
    return [judge_trained(reporter, bench.loaded, bench.claim, panel, folder / "known-answers" / "lora", progress)]


def _document(
    frozen: FrozenClaim,
    bench: Bench,
    cell: Cell,
    scores: list[CellScore],
    profile: Profile,
    known: list[KnownAnswer],
    evidence: Evidence,
    panel: Panel,
    folder: Path,
    notes: tuple[str, ...],
) -> AuditDocument:
    passed = all(item.passed for item in known)
    return AuditDocument(
        claim=frozen.claim,
        claim_hash=frozen.sha256,
        model=card_of(bench.loaded),
        package_version=__version__,
        started=datetime.fromisoformat(read_json(folder / "begun.json")["started"]),
        finished=datetime.now(UTC),
        profile=profile if passed else None,
        selection=_selection(cell, scores, profile),
        known_answers=tuple(known),
        instrument_ok=passed,
        trials=trial_samples(evidence),
        freeze_log=freeze_entries(folder / "trace"),
        observers_not_run=tuple(ObserverNotRun(name=n, reason=r) for n, r in panel.absent.items()),
        limits=limits_of(frozen.claim, cell, dict(panel.absent)),
        reproduce=(
            "make audit",
            f"firsthand audit --claim {folder}/claim.frozen.json --out NEW_FOLDER",
            f"firsthand verify {folder}",
        ),
        notes=notes,
    )


def _selection(cell: Cell, scores: list[CellScore], profile: Profile) -> Selection:
    rows = tuple(
        SelectionRow(layer=s.cell.layer, dose=s.cell.dose, score=s.concordance, n_trials=s.n_trials) for s in scores
    )
    confirmed = next((r.score for r in profile.results if r.capability == "identification"), None)
    return Selection(
        chosen=DocumentCell(layer=cell.layer, dose=cell.dose),
        rows=rows,
        criterion="concordance of the state's logit contrast within blocks",
        naive_best=max((s.accuracy for s in scores), default=None),
        confirmed=confirmed,
    )


__all__ = ["Run", "audit", "bindings_of", "freeze"]
