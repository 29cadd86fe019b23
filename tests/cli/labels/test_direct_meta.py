"""The command ``labels direct-meta`` as a user meets it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Command, assert_refused
from finished import Finished, assert_claimed, assert_goes_on, assert_kept_right

from firsthand.auditing.labels import direct_meta, direct_meta_known
from firsthand.engine.loading import LoadedModel

NOUNS = ("river", "cat", "letter", "window", "doctor", "song", "garden", "train")


@pytest.fixture(scope="module", autouse=True)
def briefly() -> Iterator[None]:
    """Without the examination of models, and with few draws of known answers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(direct_meta, "examined", lambda *_: ())
        patch.setattr(direct_meta_known, "DRAWS_OF_WORLD", 1)
        yield


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


@pytest.fixture(scope="module")
def both(tiny_folder: Path, other_folder: Path) -> str:
    """Both models, as they are named."""
    return f"{tiny_folder}, {other_folder}"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs in CSV, with a quote in each, and one with identical strings."""
    lines = ["good,bad,phenomenon", "Same.,Same.,x"]
    for i in range(32):
        a, b = NOUNS[i % 8], NOUNS[(3 * i + 1) % 8]
        lines.append(f'"The ""{a}"" is near the {b} number {i}.","The ""{a}"" are near the {b} number {i}.",{i % 6}')
    path = tmp_path_factory.mktemp("pairs") / "mine.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def finished(both: str, pairs: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The study of two random models."""
    out = tmp_path_factory.mktemp("direct-meta") / "run"
    return Finished.of("direct-meta", out, "--models", both, "--pairs", pairs, "--phrasings", "better,alone")


def test_a_dry_run_prices_every_model_and_leaves_nothing(
    firsthand: Command, both: str, pairs: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    done = firsthand("labels", "direct-meta", "--models", both, "--pairs", pairs, "--out", out, "--dry-run")
    assert done.code == 0, done.err
    assert "32 pairs in 2 phrasings" in done.out
    assert "Left out of the data: 1 with two equal strings" in done.out
    assert done.out.count("tokens at") == 2
    assert "In all about" in done.out
    assert not out.exists()


def test_options_are_the_claim_s_fields(finished: Finished) -> None:
    document = finished.document
    assert document.claim.study == "direct-meta"
    assert document.claim.phrasings == ("better", "alone")
    assert document.data.name == "mine.csv"
    assert document.data.dropped == {"with two equal strings": 1}


def test_a_study_is_repeated_by_its_own_command_and_takes_up_what_is_there(
    firsthand: Command, finished: Finished
) -> None:
    assert_goes_on(firsthand, finished, "trials", ("--phrasings", "better"))


def test_a_finished_study_is_verified_in_every_model_shown_again_and_not_rescored(
    firsthand: Command, finished: Finished, tmp_path: Path
) -> None:
    assert_kept_right(firsthand, finished, tmp_path, units=2)


def test_a_claim_names_several_models_and_is_frozen_to_the_first(
    firsthand: Command, both: str, pairs: Path, tmp_path: Path
) -> None:
    priced = assert_claimed(firsthand, tmp_path, "direct-meta", both, pairs, {})
    assert "32 pairs in 2 phrasings" in priced


def test_what_cannot_be_compared_is_told_in_words(
    firsthand: Command, tiny_folder: Path, other_folder: Path, pairs: Path, tmp_path: Path
) -> None:
    def refused(models: str, path: Path, *words: str) -> None:
        out = tmp_path / "never"
        assert_refused(firsthand("labels", "direct-meta", "--models", models, "--pairs", path, "--out", out), *words)

    one, both = str(tiny_folder), f"{tiny_folder},{other_folder}"
    assert_refused(firsthand("labels", "direct-meta", "--out", tmp_path / "never"), "No models are named", "--claim")
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
