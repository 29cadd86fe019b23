"""The file of a store: opened for one process alone, checked, and its errors in words."""

import sqlite3
from pathlib import Path
from typing import Final

from firsthand.errors import CounterfactualError

FORMAT: Final = 1
_APPLICATION: Final = 0x66686366
"""Marks the file as ours; in ASCII it reads "fhcf"."""

_TABLES: Final = """
CREATE TABLE batches (
    key TEXT PRIMARY KEY, target TEXT NOT NULL, batch TEXT NOT NULL, request TEXT NOT NULL, value TEXT NOT NULL,
    responses INTEGER NOT NULL, tokens INTEGER NOT NULL, sha256 TEXT NOT NULL, at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE verdicts (
    behaviour TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, sha256 TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (behaviour, key)
) WITHOUT ROWID;
CREATE TABLE parts (
    kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, sha256 TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID;
"""


def opened(path: Path) -> sqlite3.Connection:
    """Open a store's file for this process alone, or begin one.

    Raises:
        CounterfactualError: If another process holds it, or it is damaged, another program's, or of another version.
    """
    database = None
    try:
        database = sqlite3.connect(path, timeout=0, check_same_thread=False)
        database.execute("PRAGMA locking_mode=EXCLUSIVE")
        if not _is_empty(database):
            _check(path, database)  # before anything in another program's file is touched
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        database.execute("BEGIN EXCLUSIVE")
        if _is_empty(database):
            for statement in _TABLES.split(";")[:-1]:
                database.execute(statement)
            database.execute(f"PRAGMA application_id={_APPLICATION}")
            database.execute(f"PRAGMA user_version={FORMAT}")
        database.commit()
    except (sqlite3.Error, CounterfactualError) as error:
        if database is not None:
            database.close()
        if isinstance(error, sqlite3.Error):
            raise failed(path, error) from error
        raise
    return database


def _is_empty(database: sqlite3.Connection) -> bool:
    """Whether there is no table in it, as after a kill between making the file and making its tables."""
    return not database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()


def _check(path: Path, database: sqlite3.Connection) -> None:
    application = database.execute("PRAGMA application_id").fetchone()[0]
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if application != _APPLICATION:
        raise CounterfactualError(f"{path} is another program's database.", "Choose another folder with --out.")
    if version != FORMAT:
        raise CounterfactualError(
            f"{path} has format {version}; this version reads {FORMAT}.",
            "Use the version of firsthand that wrote it, or another folder.",
        )
    found = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
    if found != "ok":
        raise damaged(path, ValueError(found))


def failed(path: Path, error: sqlite3.Error) -> CounterfactualError:
    """What an error of SQLite means for whoever ran the command."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return CounterfactualError(
            f"Another process is using {path.parent}.",
            "Wait until it has ended, or choose another folder with --out.",
        )
    if name == "SQLITE_FULL":
        return CounterfactualError(
            f"The disk is full: {path} could not be written.",
            "Free some space and run the same command again; what was kept is not asked again.",
        )
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return damaged(path, error)
    return CounterfactualError(
        f"{path} could not be read or written: {error}.", "Choose a folder that you may write to."
    )


def damaged(path: Path, error: Exception) -> CounterfactualError:
    """An error that says that the file is not what was written."""
    return CounterfactualError(
        f"{path} is damaged, or no store of firsthand: {error}.",
        "Restore it from a copy, or run again in a new folder.",
    )
