import errno
import os
import shutil
import threading
import time
from collections import namedtuple

import pytest
import torch
from safetensors.torch import save_file

from firsthand.engine.loading import cache
from firsthand.engine.loading.quiet import ignore
from firsthand.errors import ModelError

Usage = namedtuple("Usage", "total used free")


def build(folder):
    save_file({"w": torch.arange(1000.0)}, folder / "model.safetensors")
    (folder / "config.json").write_text('{"a": 1}')


def refuse(_folder):
    raise AssertionError("built again")


def test_built_once_then_found(private_cache):
    entry, digest = cache.obtain("k", 10, build, ignore)
    assert entry.is_relative_to(private_cache)
    assert cache.obtain("k", 10, refuse, ignore) == (entry, digest)


@pytest.mark.parametrize(
    "harm",
    [
        lambda entry: (entry / "model.safetensors").write_bytes((entry / "model.safetensors").read_bytes()[:-4]),
        lambda entry: (entry / "config.json").write_text('{"a": 2}'),
        lambda entry: (entry / "config.json").unlink(),
        lambda entry: (entry / "manifest.json").write_text('{"files'),
        lambda entry: (entry / "manifest.json").unlink(),
        lambda entry: (entry / "adapter_config.json").write_text("{}"),
        lambda entry: _flip_last_byte(entry / "model.safetensors"),
    ],
)
def test_any_damage_is_seen_and_mended(harm):
    entry, digest = cache.obtain("k", 10, build, ignore)
    harm(entry)
    said = []
    assert cache.obtain("k", 10, build, said.append) == (entry, digest)
    assert "damaged" in said[0]
    assert cache.verify(entry) == digest
    assert [path.name for path in entry.parent.iterdir()] == ["k"]


def _flip_last_byte(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def test_a_build_that_fails_leaves_nothing(private_cache):
    def broken(folder):
        build(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.obtain("k", 10, broken, ignore)
    assert list((private_cache / "models").iterdir()) == []


def test_a_full_disk_says_how_much_and_where(private_cache, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(100, 99, 1_000_000))
    with pytest.raises(ModelError, match=r"2,500 MB are needed") as caught:
        cache.obtain("k", 2_500_000_000, refuse, ignore)
    assert str(private_cache) in caught.value.problem
    assert "FIRSTHAND_CACHE" in caught.value.remedy


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), RuntimeError("I/O error: No space left on device")]
)
def test_a_disk_that_fills_up_while_writing(private_cache, error):
    def fill(folder):
        (folder / "half").write_text("x")
        raise error

    with pytest.raises(ModelError, match="too full"):
        cache.obtain("k", 10, fill, ignore)
    assert list((private_cache / "models").iterdir()) == []


def test_a_cache_that_is_no_folder(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("FIRSTHAND_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="cannot be written"):
        cache.obtain("k", 10, build, ignore)


def test_builders_that_race_agree_and_leave_one_entry(private_cache):
    barrier = threading.Barrier(4)
    results = []

    def slow(folder):
        build(folder)
        barrier.wait()

    threads = [threading.Thread(target=lambda: results.append(cache.obtain("k", 10, slow, ignore))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(set(results)) == 1
    assert [path.name for path in (private_cache / "models").iterdir()] == ["k"]


def test_only_old_leftovers_of_killed_runs_are_removed(private_cache):
    models = private_cache / "models"
    for name, age in ((".partial-old", 3 * 24 * 3600), (".partial-new", 60)):
        (models / name).mkdir(parents=True)
        os.utime(models / name, (time.time() - age, time.time() - age))
    cache.obtain("k", 10, build, ignore)
    assert {path.name for path in models.iterdir()} == {"k", ".partial-new"}


def test_the_platform_folder_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("FIRSTHAND_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_root() == tmp_path / "firsthand"


def test_an_entry_that_appears_at_the_last_moment_is_used(monkeypatch):
    def overtaken(folder):
        build(folder)
        cache.obtain("k", 10, build, ignore)
        monkeypatch.setattr(cache.Path, "exists", lambda _path: False)

    entry, digest = cache.obtain("k", 10, overtaken, ignore)
    monkeypatch.undo()
    assert cache.verify(entry) == digest
    assert [path.name for path in entry.parent.iterdir()] == ["k"]
