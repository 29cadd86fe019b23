"""The folder of a training run: when it began, what it holds, and whether that is still what was written."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.rows import row_of
from firsthand.counterfactual.training.rejudging import judged_again
from firsthand.engine import LoadedModel
from firsthand.errors import TraceError
from firsthand.report.training_document import MARKER
from firsthand.report.training_html import read_training
from firsthand.trials.canonical import canonical_json, digest
from firsthand.trials.files import read_json, sha256_file, write_atomic, write_json

RESULT: Final = "result.json"
_LISTED: Final = (
    "claims/*.jsonl",
    "**/predictions.json",
    "**/drift.json",
    "**/relabelled.json",
    "**/learnt.json",
    "**/measured.json",
    "**/training.json",
    "**/rows.safetensors",
    "**/adapter/*.safetensors",
    "judged/*.json",
    "written/**/explanations.json",
    RESULT,
)


def begun(folder: Path, asked: Mapping[str, Any], later: Mapping[str, Any] | None = None) -> datetime:
    """When a run was begun, noted the first time.

    Args:
        folder: The run's folder.
        asked: What was asked for, as JSON; a folder in which something else was begun is refused.
        later: What may be asked for in a run that was begun without it; afterwards it belongs to the run.

    Raises:
        TraceError: If the folder holds another run, or files of any other kind.
    """
    path = folder / MARKER
    if path.exists():
        held = read_json(path)
        known, parts = held.get("later", {}), dict(later or {})
        if held.get("asked") != dict(asked) or any(parts.get(name) != value for name, value in known.items()):
            raise TraceError(
                f"{folder} holds a training run of other settings.",
                "Name another folder with --out, or ask for all that was asked for here.",
            )
        if parts != known:
            write_json(path, {**held, "later": parts})
        return datetime.fromisoformat(held["begun"])
    if folder.is_dir() and any(folder.iterdir()):
        raise TraceError(f"{folder} holds files, and no training run.", "Name a new folder with --out.")
    now = datetime.now(UTC)
    write_json(path, {"asked": dict(asked), "later": dict(later or {}), "begun": now.isoformat(), "files": {}})
    return now


def content_of(parts: Iterable[Part]) -> str:
    """Says which claims or cases a run rests on, labels and rates included: measured anew, they keep their names."""
    return digest(sorted(digest(one.model_dump(mode="json")) for one in parts))


def write_claims(path: Path, claims: Iterable[Claim]) -> None:
    """Write claims as exported rows, one a line."""
    write_atomic(path, b"".join(canonical_json(row_of(claim)) + b"\n" for claim in claims))


def listed(folder: Path) -> dict[str, str]:
    """Note the hash of every file that the result rests on."""
    paths = sorted({path for pattern in _LISTED for path in folder.glob(pattern)})
    files = {path.relative_to(folder).as_posix(): sha256_file(path) for path in paths}
    held = read_json(folder / MARKER)
    write_json(folder / MARKER, {**held, "files": files})
    return files


def verified(folder: Path) -> dict[str, int]:
    """See that every file is as it was written and verdicts are what the predictions give; count files by kind.

    Raises:
        TraceError: If a file is missing or was altered, a verdict is another, or the run is not finished.
    """
    files: dict[str, str] = read_json(folder / MARKER).get("files", {})
    if not files:
        raise TraceError(f"{folder} holds no finished training run.", "Run the same command again to finish it.")
    for name, written in files.items():
        if not (folder / name).is_file() or sha256_file(folder / name) != written:
            raise TraceError(f"{folder / name} is not the file that was written.", "Remove it, and run again.")
    if RESULT in files:
        document = read_training(folder / RESULT)
        if document.explanations is None:
            judged_again(folder, {study.name: study.result for study in document.studies}, document.spec)
        else:
            from firsthand.counterfactual.training.explanations.concluding import concluded_again

            concluded_again(folder, document)
    counts: dict[str, int] = {}
    for name in files:
        kind = Path(name).name if name.endswith(".json") else Path(name).suffix.removeprefix(".")
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def cards(models: Iterable[LoadedModel]) -> tuple[dict[str, str | int | None], ...]:
    """What identifies each model, once."""
    found = {one.weights_sha256: one for one in models}
    names = ("name", "source", "dtype", "device", "weights_sha256", "tokenizer_sha256", "n_parameters")
    return tuple({name: one.card()[name] for name in names} for one in found.values())
