"""An imported trace and profile on disk: whole or absent, with a hash of every file.

``trace/`` holds one Parquet file a study and ``manifest.json``, which is written last: a folder without it, or one
whose files do not have its hashes, is no trace.
"""

import csv
import io
import json
from pathlib import Path

import pandas as pd

from firsthand.analysis.findings import ImportedProfile, StudyResult
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.errors import TraceError
from firsthand.importers.base import Imported, ImporterError
from firsthand.trials.canonical import digest
from firsthand.trials.files import read_json, remove_leftovers, sha256_file, write_atomic, write_json
from firsthand.trials.trace import to_parquet

FORMAT = 1
MANIFEST = "manifest.json"
PROFILE = "profile.json"
FINDINGS = "findings.csv"
COLUMNS = (
    *("study", "finding", "tone", "number", "value"),
    *("low", "high", "level", "p", "units", "cluster", "trials", "sentence"),
)


def refuse_foreign(out: Path) -> None:
    """Refuse a folder that holds another kind of run, or is no folder.

    Raises:
        ImporterError: It is one.
    """
    if out.exists() and not out.is_dir():
        raise ImporterError(f"{out} is a file, not a folder.", "Name another folder with --out.")
    if (out / "claim.frozen.json").exists():
        raise ImporterError(f"{out} holds an audit, which would be overwritten.", "Name another folder with --out.")


def write_trace(out: Path, importer: str, imported: Imported) -> str:
    """Write one Parquet file a study and the manifest.

    Args:
        out: Folder of the import; its ``trace`` is written.
        importer: Name of the importer.
        imported: What was read.

    Returns:
        SHA-256 over the list of files and hashes: equal for equal traces.

    Raises:
        TraceError: A file cannot be written.
    """
    folder = out / "trace"
    older = _older_files(folder)
    files = {}
    for study in imported.studies:
        path = folder / f"{study.name}.parquet"
        write_atomic(path, to_parquet(_stored(study)))
        files[path.name] = {"sha256": sha256_file(path), "rows": len(study.table)}
    for name in older - set(files):
        (folder / name).unlink(missing_ok=True)
    remove_leftovers(folder)
    sources = [source.model_dump() for source in imported.sources]
    about = {study.name: _about(study) for study in imported.studies}
    write_json(
        folder / MANIFEST,
        {"format": FORMAT, "importer": importer, "sources": sources, "files": files, "studies": about},
    )
    return digest(files)


def read_trace(out: Path) -> dict[str, pd.DataFrame]:
    """The tables of an imported trace by study, checked against the manifest.

    Raises:
        TraceError: The trace is missing, truncated or altered.
    """
    folder = out / "trace"
    value = read_json(folder / MANIFEST)
    if not isinstance(value, dict) or value.get("format") != FORMAT or not isinstance(value.get("files"), dict):
        raise TraceError(f"{folder} holds no imported trace of this version.", "Import it again.")
    tables = {}
    for name, expected in value["files"].items():
        path = folder / Path(name).name
        if not path.exists() or sha256_file(path) != expected["sha256"]:
            raise TraceError(f"{path} is not what the manifest says.", "Import it again.")
        tables[path.stem] = pd.read_parquet(path)
    return tables


def _older_files(folder: Path) -> set[str]:
    """Parquet files that an earlier import listed; other people's files are never removed."""
    try:
        value = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    files = value.get("files") if isinstance(value, dict) else None
    return {name for name in files or {} if name.endswith(".parquet") and Path(name).name == name}


def _stored(study: ImportedStudy) -> pd.DataFrame:
    """The table with columns of one type each, so that equal tables give equal bytes."""
    table = study.table.copy()
    for name in table.columns:
        if table[name].dtype == object and not table[name].isna().all():
            table[name] = table[name].astype("string")
    return table


def _about(study: ImportedStudy) -> dict[str, object]:
    return {
        "title": study.title,
        "capability": study.capability.value,
        "clusters": list(study.clusters),
        "cells": list(study.cells),
        "options": list(study.options),
        "control": study.control,
        "main_arm": study.main_arm,
        "published_rows": study.published_rows,
    }


def write_profile(out: Path, profile: ImportedProfile) -> Path:
    """Write the profile as JSON, and its findings as a table.

    Returns:
        The path of the JSON file.
    """
    write_atomic(out / FINDINGS, findings_csv(profile.studies).encode())
    path = out / PROFILE
    write_atomic(path, profile_json(profile).encode())
    return path


def profile_json(profile: ImportedProfile) -> str:
    """The profile as JSON text."""
    return profile.model_dump_json(indent=2) + "\n"


def findings_csv(studies: tuple[StudyResult, ...]) -> str:
    """One row a number of a finding; a finding without numbers has one row."""
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(COLUMNS)
    for study in studies:
        for finding in study.findings:
            head = [study.name, finding.name, finding.tone]
            for number in finding.numbers:
                made = number.estimate
                ends: list[object] = ["", "", "", "", finding.units or "", finding.cluster or "", ""]
                if made is not None:
                    p = "" if made.p is None else made.p
                    ends = [made.low, made.high, made.level, p, made.units, made.cluster, made.n_trials]
                writer.writerow([*head, _plain(number.name), number.value, *ends, _plain(finding.sentence)])
            if not finding.numbers:
                writer.writerow([*head, *[""] * 9, _plain(finding.sentence)])
    return sink.getvalue()


def _plain(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" else text
