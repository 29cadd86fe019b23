"""The cache of converted models: complete or absent, never in between.

An entry is built in a folder of its own and renamed into place, so that a run killed at any moment leaves no entry that
looks complete. Two processes may build the same entry; the first to rename wins and the other uses its work. Each entry
has a manifest; at every use the sizes of all files, the SHA-256 of the small ones and the fingerprint of the weights
are compared with it, and an entry that differs is built again.
"""

import errno
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from firsthand.engine.loading.hashes import file_sha256, weights_sha256
from firsthand.engine.loading.quiet import Progress
from firsthand.errors import ModelError

_MANIFEST = "manifest.json"
_PARTIAL = ".partial-"
_STALE_SECONDS = 24 * 3600
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def cache_root() -> Path:
    """``$FIRSTHAND_CACHE``, or the platform's folder for caches."""
    chosen = os.environ.get("FIRSTHAND_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "firsthand"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home()))) / "firsthand" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "firsthand"


def obtain(key: str, needed: int, build: Callable[[Path], None], progress: Progress) -> tuple[Path, str]:
    """The folder of a cache entry and the fingerprint of its weights, built first if absent or damaged.

    Args:
        key: Folder name of the entry. It must change whenever the content would.
        needed: Bytes that building takes on disk.
        build: Writes the content of the entry into an empty folder.
        progress: Told when a damaged entry is built again.

    Raises:
        ModelError: If the cache cannot be written or the disk is too full. Nothing is left behind.
    """
    models = cache_root() / "models"
    entry = models / key
    if entry.is_dir():
        digest = verify(entry)
        if digest is not None:
            return entry, digest
        progress(f"The cached copy in {entry} is damaged and is built again")
    with explained(models, needed):
        models.mkdir(parents=True, exist_ok=True)
        _remove_stale(models)
        _require_space(models, needed)
        partial = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=models))
        try:
            build(partial)
            digest = _write_manifest(partial)
            return entry, _move_into_place(partial, entry, digest)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def verify(entry: Path) -> str | None:
    """The fingerprint of an entry's weights, or None if anything in it differs from its manifest."""
    try:
        manifest = json.loads((entry / _MANIFEST).read_text(encoding="utf-8"))
        listed: dict[str, dict[str, Any]] = manifest["files"]
        if {path.name for path in entry.iterdir()} != {*listed, _MANIFEST}:
            return None
        for name, facts in listed.items():
            path = entry / name
            if path.stat().st_size != facts["size"]:
                return None
            if facts["sha256"] is not None and file_sha256(path) != facts["sha256"]:
                return None
        digest = weights_sha256(_weights(entry))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ModelError):
        return None
    return digest if digest == manifest.get("weights_sha256") else None


@contextmanager
def explained(folder: Path, needed: int) -> Iterator[None]:
    """Turn a full disk or a folder that cannot be written into a :class:`ModelError`.

    Args:
        folder: Where the block writes.
        needed: Bytes it needs there.
    """
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        if _is_full(error):
            raise _full(folder, needed) from error
        if isinstance(error, OSError) and error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}:
            raise ModelError(
                f"The cache {folder} cannot be written ({error.strerror}).",
                "Set FIRSTHAND_CACHE to a folder you can write to.",
            ) from error
        raise


def _weights(entry: Path) -> list[Path]:
    return sorted(entry.glob("*.safetensors"))


def _write_manifest(folder: Path) -> str:
    digest = weights_sha256(_weights(folder))
    files = {
        path.name: {
            "size": path.stat().st_size,
            "sha256": None if path.suffix == ".safetensors" else file_sha256(path),
        }
        for path in sorted(folder.iterdir())
    }
    text = json.dumps({"files": files, "weights_sha256": digest}, indent=1, sort_keys=True)
    (folder / _MANIFEST).write_text(text, encoding="utf-8")
    return digest


def _move_into_place(partial: Path, entry: Path, digest: str) -> str:
    """Rename a finished entry into place; returns the fingerprint of the entry that is there afterwards."""
    if entry.exists():
        theirs = verify(entry)
        if theirs is not None:
            return theirs
        discarded = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=entry.parent))
        entry.rename(discarded / entry.name)
        shutil.rmtree(discarded, ignore_errors=True)
    try:
        partial.rename(entry)
    except OSError:
        theirs = verify(entry) if entry.is_dir() else None
        if theirs is None:
            raise
        return theirs
    return digest


def _remove_stale(models: Path) -> None:
    """Remove what a killed run left a day ago or earlier."""
    for path in models.glob(f"{_PARTIAL}*"):
        if time.time() - path.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(path, ignore_errors=True)


def _require_space(folder: Path, needed: int) -> None:
    if shutil.disk_usage(folder).free < needed:
        raise _full(folder, needed)


def _is_full(error: BaseException) -> bool:
    return (isinstance(error, OSError) and error.errno in _FULL) or "no space left" in str(error).lower()


def _full(folder: Path, needed: int) -> ModelError:
    free = shutil.disk_usage(folder).free if folder.exists() else 0
    return ModelError(
        f"The disk is too full: {needed / 1e6:,.0f} MB are needed in {folder}, and {free / 1e6:,.0f} MB are free.",
        "Free some space, or set FIRSTHAND_CACHE to a folder on a larger disk.",
    )
