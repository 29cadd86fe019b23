"""The command ``labels direct-meta`` as a user meets it."""

import json
from pathlib import Path

import pytest
from commands import Command, assert_refused

from firsthand.auditing.labels import direct_meta, direct_meta_known
from firsthand.engine.loading import LoadedModel

NOUNS = ("river", "cat", "letter", "window", "doctor", "song", "garden", "train")


@pytest.fixture(autouse=True)
def briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the examination of models, and with few draws of known answers."""
    monkeypatch.setattr(direct_meta, "examined", lambda *_: ())
    monkeypatch.setattr(direct_meta_known, "DRAWS_OF_WORLD", 1)


@pytest.fixture(scope="module")
def other_folder(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second random model of the tiny one's shape."""
    import torch
    from transformers import LlamaForCausalLM

    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("other")
    LlamaForCausalLM(tiny.model.config).save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Pairs in CSV, with a quote in each, and one with identical strings."""
    lines = ["good,bad,phenomenon", "Same.,Same.,x"]
    for i in range(32):
        a, b = NOUNS[i % 8], NOUNS[(3 * i + 1) % 8]
        lines.append(f'"The ""{a}"" is near the {b} number {i}.","The ""{a}"" are near the {b} number {i}.",{i % 6}')
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_dry_run_prices_every_model_and_leaves_nothing(
    firsthand: Command, tiny_folder: Path, other_folder: Path, pairs: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    both = f"{tiny_folder},{other_folder}"
    done = firsthand("labels", "direct-meta", "--models", both, "--pairs", pairs, "--out", out, "--dry-run")
    assert done.code == 0, done.err
    assert "32 pairs (left out: 1 with two equal strings) in 4 phrasings" in done.out
    assert done.out.count("tokens at") == 2
    assert "In all about" in done.out
    assert not out.exists()


def test_a_study_ends_in_a_document_and_a_second_run_takes_up_what_is_there(
    firsthand: Command, tiny_folder: Path, other_folder: Path, pairs: Path, tmp_path: Path
) -> None:
    out, told = tmp_path / "run", tmp_path / "told.json"
    ask = ("labels", "direct-meta", "--models", f"{tiny_folder}, {other_folder}", "--pairs", pairs, "--out", out)
    ask = (*ask, "--phrasings", "better,alone", "--json", told)
    done = firsthand(*ask)
    assert done.code == 0, done.err
    found = json.loads(told.read_text())
    assert found["study"] == "direct-meta"
    assert found["data"]["dropped"] == {"with two equal strings": 1}
    assert json.loads((out / "result.json").read_text()) == found
    times = {path: path.stat().st_mtime_ns for path in (out / "trace").glob("*/units/*")}
    assert len(times) == 4
    assert firsthand(*ask).code == 0
    assert {path: path.stat().st_mtime_ns for path in (out / "trace").glob("*/units/*")} == times
    assert_refused(firsthand(*ask[:-4], "--phrasings", "better"), "claim changed")


def test_what_cannot_be_compared_is_told_in_words(
    firsthand: Command, tiny_folder: Path, other_folder: Path, pairs: Path, tmp_path: Path
) -> None:
    def refused(models: str, path: Path, *words: str) -> None:
        out = tmp_path / "never"
        assert_refused(firsthand("labels", "direct-meta", "--models", models, "--pairs", path, "--out", out), *words)

    one, both = str(tiny_folder), f"{tiny_folder},{other_folder}"
    refused(one, pairs, "two at least", "three for the regression")
    refused(f"{one},{one}", pairs, "more than once")
    few, wrong, same = (tmp_path / f"{name}.csv" for name in ("few", "wrong", "same"))
    few.write_text("good,bad\nA cat.,A cats.\n")
    wrong.write_text("right,bad\nA cat.,A cats.\n")
    same.write_text("good,bad\nA cat.,A cat.\n")
    refused(both, few, "1 pairs", "fewer than 20")
    refused(both, wrong, "no column good")
    refused(both, same, "two equal strings")
    done = firsthand("labels", "direct-meta", "--models", both, "--pairs", pairs, "--phrasings", "rhyme")
    assert_refused(done, "no phrasing 'rhyme'", "careful-writer")
