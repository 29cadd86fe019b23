"""What the commands on finished runs do, whatever the study: verify, report and rescore."""

import shutil
from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from rich.console import Console

from firsthand.auditing.audit import Run, run_traces
from firsthand.auditing.labels.traces import traces_of
from firsthand.auditing.rescore import rescore
from firsthand.claims import read_frozen
from firsthand.claims.studies import LABEL_STUDIES, command_of, frozen_kind
from firsthand.cli.progress import TerminalProgress
from firsthand.errors import TraceError
from firsthand.report import injection_files, investigations_files, labels_files, predictions_files
from firsthand.report.files import read_json, write_json, write_text
from firsthand.report.injection_html import write_injection_html
from firsthand.report.investigations_html import write_investigations
from firsthand.report.labels_html import write_labels_html
from firsthand.report.predictions_html import write_predictions_html
from firsthand.report.terminal import print_profile
from firsthand.report.training_document import MARKER
from firsthand.report.training_html import read_training, write_training_html
from firsthand.trials.files import read_json as read_any_json
from firsthand.trials.trace import Trace
from firsthand.trials.verify import verify_trace

INVESTIGATIONS: Final = "investigations"
PREDICTIONS: Final = "predictions"
TRAINING: Final = "training"


def study_of(folder: Path) -> str:
    """The study whose frozen claim a run folder holds; ``register`` where there is none.

    A run of counterfactual investigations has no frozen claim: it makes claims. Predictions and trainings read them.
    """
    path = folder / "claim.frozen.json"
    if not path.exists() and (folder / "predictions.jsonl").exists():
        return PREDICTIONS
    if not path.exists() and (folder / MARKER).exists():
        return TRAINING
    if not path.exists() and (folder / "investigations.jsonl").exists():
        return INVESTIGATIONS
    held = read_any_json(path) if path.exists() else None
    claim = held.get("claim") if isinstance(held, dict) else None
    return str(claim.get("study", "register")) if isinstance(claim, dict) else "register"


def run_rescore(folder: Path, observers: tuple[str, ...], json: Path | None) -> None:
    """Judge a stored trace again and print the new profile."""
    study = study_of(folder)
    if study in LABEL_STUDIES:
        raise TraceError(
            f"{folder} holds the label study {study}, whose observers are part of its claim.",
            f"Name the observers that you want in a new claim, and run it: firsthand {command_of(study)} --help.",
        )
    if study == PREDICTIONS:
        raise TraceError(
            f"{folder} holds predictions, whose predictors are named when they are asked.",
            "Name another with `firsthand predict CLAIMS --model NAME` in the same folder: nothing is asked twice.",
        )
    if study == INVESTIGATIONS:
        raise TraceError(
            f"{folder} holds counterfactual investigations, which nobody was observed in.",
            "Hold predictors against its claims, in the folder claims.",
        )
    if study == TRAINING:
        raise TraceError(
            f"{folder} holds a training run, whose rivals were trained.",
            "Judge its predictions with firsthand.analysis.self_cross.",
        )
    if study != "register":
        raise TraceError(
            f"{folder} holds an injection study, whose observers are not chosen by name.",
            "Read its trials from the folder data, and judge them with firsthand.analysis.",
        )
    with TerminalProgress() as progress:
        made = rescore(folder, observers, progress)
    print_profile(made.profile, Console())
    Console(stderr=True).print(f"\nVersion: {made.path}", markup=False, highlight=False)
    if json is not None:
        shutil.copyfile(made.path, json)


def run_verify(folder: Path, json: Path | None) -> None:
    """Check a stored run and say what was checked."""
    study = study_of(folder)
    if study == INVESTIGATIONS:
        _verify_investigations(folder, json)
        return
    if study == PREDICTIONS:
        from firsthand.counterfactual.predicting.finishing import verified as predicted

        _tell_counts(predicted(folder), "as written, and the numbers are theirs", json)
        return
    if study == TRAINING:
        from firsthand.counterfactual.training.folders import verified as trained

        _tell_counts(trained(folder), "as written", json)
        return
    frozen = read_frozen(folder / "claim.frozen.json", frozen_kind(study))
    if study == "register":
        units = _assigned(folder, frozen.claim.design.seed)
        checked = ", public evidence frozen before assignment, assignment drawn from its hash"
    else:
        units, checked = _as_written(folder, _traces(folder, study, frozen.claim)), ""
    Console().print(
        f"{sum(units.values())} units: files as written{checked}.", markup=False, highlight=False, soft_wrap=True
    )
    if json is not None:
        told = {"schema_version": 1, "claim_sha256": frozen.sha256, "units": units}
        write_text(json, dumps(told, indent=2) + "\n")


def _verify_investigations(folder: Path, json: Path | None) -> None:
    """Check the sets of claims, and everything that was drawn and judged where there is a store of it."""
    from firsthand.counterfactual.export import SETS, load
    from firsthand.counterfactual.store import NAME, Store

    counts = {f"{which} claims": len(load(folder / "claims", which)) for which in SETS}
    if (folder / NAME).exists():
        with Store(folder) as store:
            counts |= store.checked()
    _tell_counts(counts, "as written", json)


def _tell_counts(counts: Mapping[str, int], found: str, json: Path | None) -> None:
    told = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    Console().print(f"{told}: {found}.", markup=False, highlight=False, soft_wrap=True)
    if json is not None:
        write_text(json, dumps({"schema_version": 1, "counts": dict(counts)}, indent=2) + "\n")


def _assigned(folder: Path, seed: int) -> dict[str, int]:
    """Units of every trace of a run whose assignment was drawn from frozen evidence."""
    parts = run_traces(folder)
    if folder / "trace" not in parts:
        raise _unfinished(folder, "register")
    return {part.relative_to(folder).as_posix(): verify_trace(part, seed) for part in parts}


def _traces(folder: Path, study: str, claim: Any) -> list[Trace]:
    """Every trace of a finished study whose arms are all run on every prompt: there is no draw to repeat."""
    if study in LABEL_STUDIES:
        if not (folder / "result.json").exists():
            raise _unfinished(folder, study)
        return traces_of(folder, claim)
    parts = sorted(path.parent for path in folder.glob("*/manifest.json"))
    if folder / "trace" not in parts:
        raise _unfinished(folder, study)
    return [Trace(part) for part in parts]


def _as_written(folder: Path, traces: Sequence[Trace]) -> dict[str, int]:
    """Units of each trace, whose files are as they were written."""
    units = {}
    for trace in traces:
        trace.manifest()
        units[trace.folder.relative_to(folder).as_posix()] = len(trace.units())
    return units


def write_report(folder: Path, out: Path, json: Path | None) -> None:
    """Write the page of a finished run again."""
    path, study = folder / "result.json", study_of(folder)
    if not path.exists():
        raise _unfinished(folder, study)
    document: BaseModel
    if study == PREDICTIONS:
        document = predictions_files.read_json(path)
        page = write_predictions_html(document, out)
    elif study == INVESTIGATIONS:
        document = investigations_files.read_json(path)
        page = write_investigations(document, out)[0]
    elif study == TRAINING:
        document = read_training(path)
        page = write_training_html(document, out)
    elif study in LABEL_STUDIES:
        document = labels_files.read_json(path)
        page = write_labels_html(document, out)
    elif study == "injection":
        document = injection_files.read_json(path)
        page = write_injection_html(document, out)
    else:
        document = read_json(path)
        page = Run(folder, document).report(out)
    Console(stderr=True).print(f"Report: {page}", markup=False, highlight=False)
    if json is not None:
        write_json(document, json)


def _unfinished(folder: Path, study: str) -> TraceError:
    if study in (INVESTIGATIONS, PREDICTIONS, TRAINING):  # what their commands need to be told stands in no claim
        return TraceError(
            f"{folder} holds no finished run.",
            f"Give the `firsthand {command_of(study)}` command that began it once more, with --out {folder}.",
        )
    return TraceError(
        f"{folder} holds no finished run.", f"Finish it first with: firsthand {command_of(study)} --out {folder}"
    )
