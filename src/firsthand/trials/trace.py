"""The trace on disk: public and sealed columns apart, in shards that are whole or absent.

A run folder holds one sub-folder a *part*: ``public`` (what observers may see), ``sealed`` (kind, states, edits,
impact), ``reports`` and ``readings``; each has one Parquet file a unit of work (a block under one setting). A unit is
finished when its entry in ``units/`` exists, and that is written last: a killed run resumes at the first unfinished
unit and, because every draw has a named stream, ends with the same bytes as a run that was never killed. The
wall-clock times of freezing are kept beside the trace in ``freeze-log.jsonl`` and are not part of it.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from firsthand.errors import TraceError
from firsthand.trials.canonical import digest
from firsthand.trials.files import read_json, remove_leftovers, sha256_file, write_atomic, write_json

PARTS: Final = ("public", "sealed", "reports", "readings")
FORMAT: Final = 1


@dataclass(frozen=True)
class Trace:
    """A finished or growing trace in a folder."""

    folder: Path

    def unit_done(self, unit: str) -> bool:
        """Whether the unit is finished and its files are as they were written.

        Raises:
            TraceError: If the unit is finished but a file of it is missing or altered.
        """
        entry = self._entry(unit)
        if not entry.exists():
            return False
        for name, expected in _files(entry, read_json(entry)).items():
            path = self.folder / name
            if not path.exists() or sha256_file(path) != expected["sha256"]:
                raise TraceError(
                    f"{path} was {'altered' if path.exists() else 'removed'} after it was written.",
                    f"Restore it, or delete {entry} to have this unit run again.",
                )
        return True

    def write_unit(self, unit: str, parts: Mapping[str, pd.DataFrame], frozen: object) -> None:
        """Write a unit's parts and its frozen public evidence, and mark it finished.

        Args:
            unit: Name of the unit, usable as a file name.
            parts: One table for each of :data:`PARTS`, each with a ``trial_id`` column.
            frozen: The public evidence as it was hashed.
        """
        files = {}
        for part in PARTS:
            path = self.folder / part / f"{unit}.parquet"
            write_atomic(path, to_parquet(parts[part]))
            files[f"{part}/{unit}.parquet"] = {"sha256": sha256_file(path), "rows": len(parts[part])}
        path = self.folder / "frozen" / f"{unit}.json"
        write_json(path, frozen)
        files[f"frozen/{unit}.json"] = {"sha256": sha256_file(path), "rows": None}
        write_json(self._entry(unit), {"files": files, "unit": unit})

    def finish(self, units: list[str], about: Mapping[str, object]) -> None:
        """Write the manifest: every unit's files with their hashes, and what the run was.

        Raises:
            TraceError: If a unit is not finished.
        """
        missing = [unit for unit in units if not self.unit_done(unit)]
        if missing:
            raise TraceError(
                f"{len(missing)} units are not finished, the first is {missing[0]}.", "Run it again to go on."
            )
        files = {}
        for unit in units:
            files.update(_files(self._entry(unit), read_json(self._entry(unit))))
        remove_leftovers(self.folder)
        write_json(self._manifest, {"format": FORMAT, "units": units, "files": files, **about})

    def manifest(self) -> dict[str, object]:
        """The manifest of a finished trace.

        Raises:
            TraceError: If the trace is unfinished, truncated, altered or of another format.
        """
        value = read_json(self._manifest)
        files = _files(self._manifest, value)
        if value.get("format") != FORMAT:
            raise TraceError(
                f"{self.folder} has trace format {value.get('format')!r}; this version reads {FORMAT}.",
                "Use the version of firsthand that wrote it.",
            )
        for name, expected in files.items():
            path = self.folder / name
            if not path.exists() or sha256_file(path) != expected["sha256"]:
                raise TraceError(
                    f"The trace is truncated or altered: {path} is not what the manifest says.",
                    "Restore the file, or run the audit again in a new folder.",
                )
        return dict(value)

    def units(self) -> list[str]:
        """Names of all units, in the manifest's order.

        Raises:
            TraceError: If the trace is unfinished or the manifest damaged.
        """
        value = read_json(self._manifest)
        units = value.get("units") if isinstance(value, dict) else None
        if not isinstance(units, list) or not units:
            raise _damaged(self._manifest)
        return [str(unit) for unit in units]

    def read(self, part: str) -> pd.DataFrame:
        """One part of all units, in the manifest's order.

        Args:
            part: One of :data:`PARTS`.
        """
        return self.read_units(part, self.units())

    def read_units(self, part: str, units: list[str]) -> pd.DataFrame:
        """One part of the given units, in the given order."""
        try:
            frames = [pd.read_parquet(self.folder / part / f"{unit}.parquet") for unit in units]
        except (OSError, pa.ArrowInvalid) as error:
            raise TraceError(f"The trace in {self.folder} is damaged: {error}.", "Restore it or run again.") from error
        return pd.concat(frames, ignore_index=True)

    def content_digest(self) -> str:
        """SHA-256 over the manifest's list of files and hashes: equal for equal traces."""
        return digest(_files(self._manifest, read_json(self._manifest)))

    @property
    def _manifest(self) -> Path:
        return self.folder / "manifest.json"

    def _entry(self, unit: str) -> Path:
        return self.folder / "units" / f"{unit}.json"


def _files(path: Path, value: object) -> dict[str, dict[str, object]]:
    """The files that a unit's entry or a manifest lists."""
    files = value.get("files") if isinstance(value, dict) else None
    if not isinstance(files, dict) or not all(isinstance(f, dict) and "sha256" in f for f in files.values()):
        raise _damaged(path)
    return files


def _damaged(path: Path) -> TraceError:
    return TraceError(f"{path} is damaged: it does not list the trace's files.", "Restore it from a copy.")


def to_parquet(table: pd.DataFrame) -> bytes:
    """A table as Parquet bytes, equal for equal tables (no index, no writer-dependent metadata).

    Raises:
        TraceError: If it has no ``trial_id``.
    """
    if "trial_id" not in table.columns:
        raise TraceError("A table of a trace has no trial_id column.", "Give every row the identifier of its trial.")
    sink = io.BytesIO()
    arrow = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(arrow, sink, compression="zstd")
    return sink.getvalue()
