"""What an importer is: something that turns a folder of published files into studies.

An importer reads and renames; it judges nothing. It hands over one
:class:`~firsthand.analysis.imported_study.ImportedStudy` a table, with one row a distinct measurement, and every check
that the columns allow is then run on it. Add one of your own by writing a class with ``name``, ``title`` and ``read``
and naming it as ``package.module:Class``.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from firsthand.analysis.findings import Source
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.errors import FirsthandError


class ImporterError(FirsthandError):
    """Published files that cannot be found, read or understood."""


@dataclass(frozen=True)
class Imported:
    """What an importer read.

    Attributes:
        studies: One a published table, in the order in which they are shown.
        sources: The files read, with their hashes.
        notes: What was left out, and why.
    """

    studies: tuple[ImportedStudy, ...]
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()


@runtime_checkable
class Importer(Protocol):
    """Reads the published files of one study."""

    name: str
    title: str

    def read(self, folder: Path) -> Imported:
        """Read the folder.

        Args:
            folder: An existing folder.

        Returns:
            The studies that could be read, and notes on what could not.

        Raises:
            ImporterError: Nothing in the folder can be used.
        """
        ...
