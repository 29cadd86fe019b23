"""Rescoring: a stored trace judged again, with further observers. A gap is provisional, versioned evidence.

The trace is not run again and never changed. The new result is written beside the old ones as ``rescored/NNN.json``,
with the digest of the trace and the observers that took part, so that two gaps can be told apart. A further observer
can only lower a verdict; that it beats even the wire would mean that public evidence gives the state away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from firsthand.analysis import Profile
from firsthand.auditing.evidence import load_evidence
from firsthand.auditing.judgement import OBSERVERS_FILE, Panel, ask_observers, judge_all, memory_path
from firsthand.claims import read_frozen
from firsthand.errors import InstrumentError, ObserverError, TraceError
from firsthand.observers.remembered import RememberedModel
from firsthand.progress import Progress, Silent
from firsthand.trials.files import read_json, write_json
from firsthand.trials.trace import Trace
from firsthand.trials.verify import verify_trace


@dataclass(frozen=True)
class Rescored:
    """A new version of a run's profile.

    Attributes:
        path: Where it was written.
        profile: The verdicts with the further observers.
    """

    path: Path
    profile: Profile


def rescore(folder: str | Path, observers: Sequence[str], progress: Progress | None = None) -> Rescored:
    """Judge a stored run again with further observers.

    Observers that are language models are not asked again: their stored guesses are used.

    Args:
        folder: The run's folder.
        observers: Further observers, by name or as ``package.module:Class``.
        progress: Who is told.

    Returns:
        The new profile and where it lies.

    Raises:
        TraceError: If the run is not finished, or its trace was altered.
        ObserverError: If an observer cannot be loaded or fails.
        InstrumentError: If the run's instrument was out of order.
    """
    folder, progress = Path(folder), progress or Silent()
    if not (folder / "trace" / "manifest.json").exists():
        raise TraceError(f"{folder} holds no finished run.", "Finish it first with: firsthand audit --out FOLDER")
    frozen = read_frozen(folder / "claim.frozen.json")
    claim, trace = frozen.claim, Trace(folder / "trace")
    verify_trace(trace.folder, claim.design.seed)
    evidence = load_evidence(trace)
    if not observers:
        raise ObserverError("No observer was named.", "Name at least one with --observer package.module:Class.")
    result = read_json(folder / "result.json")
    if not result["instrument_ok"]:
        raise InstrumentError(
            f"The instrument of {folder} was out of order, so its trace cannot be judged again.", "Run the audit again."
        )
    before = read_json(folder / OBSERVERS_FILE)
    names = (*before["present"], *(name for name in observers if name not in before["present"]))
    models = {
        name: RememberedModel(name, memory_path(folder, name), identity, None)
        for name, identity in before["models"].items()
    }
    panel = Panel(names, models)
    predictions = ask_observers(evidence, panel, claim.capabilities, folder / "observations", progress, "observers")
    profile = judge_all(evidence, claim, predictions, claim.model, trace.content_digest())
    path = folder / "rescored" / f"{_next_version(folder):03d}.json"
    write_json(
        path,
        {
            "schema_version": 1,
            "claim_sha256": frozen.sha256,
            "observers": list(names),
            "profile": profile.model_dump(mode="json"),
        },
    )
    return Rescored(path, profile)


def _next_version(folder: Path) -> int:
    versions = [int(path.stem) for path in (folder / "rescored").glob("[0-9][0-9][0-9].json")]
    return int(np.max(versions)) + 1 if versions else 1
