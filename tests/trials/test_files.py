"""A file is whole or absent: failure leaves what was there, says why, and what to do."""

import errno
import os
from pathlib import Path

import pytest

from firsthand.errors import TraceError
from firsthand.trials.files import read_json, remove_leftovers, sha256_file, write_atomic, write_json


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_is_written_is_read_and_no_other_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "x.json"
    write_json(path, {"b": "é", "a": [1, None]})
    write_json(path, {"b": "é", "a": [2, None]})
    assert read_json(path) == {"a": [2, None], "b": "é"}
    assert names(path.parent) == {"x.json"}


def fail_with(number: int):
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_leaves_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    path = tmp_path / "x"
    write_atomic(path, b"old")
    monkeypatch.setattr(*((os, "fsync") if call == "fsync" else (Path, "replace")), fail_with(number))
    with pytest.raises(TraceError, match="The disk is full") as caught:
        write_atomic(path, b"new")
    assert "run the same command again" in caught.value.remedy
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == {"x"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_full_while_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every byte goes to a device that really has no space."""
    path, real = tmp_path / "x", Path.open
    write_atomic(path, b"old")

    def open_full(self: Path, mode: str = "r", **options: object):
        return real(Path("/dev/full"), mode) if mode == "wb" else real(self, mode, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "open", open_full)
    with pytest.raises(TraceError, match="The disk is full"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_parent_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TraceError, match=r"could not be written.*Choose a folder"):
        write_atomic(tmp_path / "file" / "x", b"new")


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "open", fail_with(errno.EACCES))
    with pytest.raises(TraceError, match="Permission denied"):
        write_atomic(tmp_path / "x", b"new")


def test_an_interruption_between_write_and_rename_leaves_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    write_atomic(path, b"old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    remove_leftovers(tmp_path)
    assert names(tmp_path) == {"x"}


@pytest.mark.parametrize("content", [b"", b'{"a": 1', b"\xff\xfe", b"not json"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(TraceError, match=r"x\.json is damaged"):
        read_json(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="does not exist"):
        read_json(tmp_path / "x.json")
    with pytest.raises(TraceError, match="could not be read"):
        sha256_file(tmp_path)


def test_hash_of_known_bytes(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert sha256_file(tmp_path / "x") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
