"""What kind of source a file is, by what it holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile, ZipFile

from firsthand.counterfactual.sources.files import first_line, is_one_document, json_document, json_records
from firsthand.counterfactual.sources.found import Refused
from firsthand.counterfactual.sources.inspect_logs import HEADERS, is_zip
from firsthand.counterfactual.sources.table import delimiter
from firsthand.errors import CounterfactualError


@dataclass(frozen=True)
class Peek:
    """The beginning of a file.

    Attributes:
        form: How it is written.
        record: The first record, where it is JSON.
        names: Names of a table's columns, or of an archive's members.
        document: Whether it is one JSON document rather than records.
    """

    form: Literal["json", "parquet", "zip", "table", "text"]
    record: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    document: bool = False

    @property
    def is_log(self) -> bool:
        """Whether it is a log of Inspect."""
        if self.form == "zip":
            return any(name in self.names for name in HEADERS)
        return isinstance(self.record.get("eval"), Mapping) and {"status", "version"} & set(self.record) != set()


def peek(path: Path) -> Peek:
    """Look at the beginning of a file; one JSON document is read whole.

    Raises:
        CounterfactualError: If it cannot be read.
    """
    if is_zip(path):
        return _archive(path)
    line = first_line(path)
    if line.startswith(b"PAR1"):
        return _parquet(path)
    if line[:1] in (b"{", b"["):
        return _json(path)
    try:
        header = line.decode("utf-8")
    except UnicodeDecodeError:
        return Peek("text")
    return Peek("table", names=tuple(cell.strip(' "').lower() for cell in header.split(delimiter(header))))


def _archive(path: Path) -> Peek:
    try:
        with ZipFile(path) as archive:
            return Peek("zip", names=tuple(archive.namelist()))
    except BadZipFile:
        # A log that its run did not close has no list of members; reading it says what to do.
        return Peek("zip", names=HEADERS if path.suffix == ".eval" else ())


def _parquet(path: Path) -> Peek:
    import pyarrow
    import pyarrow.parquet

    try:
        return Peek("parquet", names=tuple(pyarrow.parquet.read_schema(path).names))
    except (pyarrow.ArrowException, OSError) as error:
        raise CounterfactualError(
            f"{path} could not be read: {error}.", "Check that it is a whole Parquet file."
        ) from error


def _json(path: Path) -> Peek:
    if not is_one_document(path):
        records = (record for _, record in json_records(path) if not isinstance(record, Refused))
        return Peek("json", record=next(records, {}))
    document = json_document(path)
    first = next((one for one in document if isinstance(one, Mapping)), {}) if isinstance(document, list) else document
    return Peek("json", record=first if isinstance(first, Mapping) else {}, document=not isinstance(document, list))
