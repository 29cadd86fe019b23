"""What a run would take is told before anything is trained for good, with a penalty on moving away as without."""

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from firsthand.cli.main import app
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.training.demo import FULL, QUICK

sys.path.insert(0, str(Path(__file__).parent))
from training_parts import claims_of, kin_of, written

PRICE = re.compile(r"(\d+) trainings, [\d,]+ steps, [\d,]+ tokens; a step takes")


def test_the_plans_hold_models_to_their_base() -> None:
    assert FULL.training.kl_share > 0.0
    assert QUICK.training.kl_share > 0.0


def test_the_dry_run_of_the_demonstration_tells_its_price(words_folder: Path) -> None:
    said = CliRunner().invoke(app, ["train", "demo", "--dry-run", "--model", str(words_folder), "--stranger", "none"])
    assert said.exception is None
    assert PRICE.search(said.output)


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_the_dry_run_of_own_claims_tells_its_price(words_folder: Path, tmp_path: Path, share: float) -> None:
    claims = written(tmp_path / "claims.jsonl", claims_of("t"))
    settings = tmp_path / "settings.yaml"
    settings.write_text(f"{{rank: 4, batch: 4, kl_share: {share}}}\n")
    words = [str(claims), "--target", str(words_folder), "--cross", str(kin_of(words_folder, tmp_path))]
    words.append("--target-is-another")
    said = CliRunner().invoke(app, ["train", "run", *words, "--settings", str(settings), "--dry-run"])
    assert said.exception is None
    assert PRICE.search(said.output)


def dry_run(words_folder: Path, tmp_path: Path, claims: list[Claim], *more: str) -> str:
    """What a dry run of a target of its own copy's says."""
    tmp_path.mkdir(exist_ok=True)
    exported = written(tmp_path / "claims.jsonl", claims)
    settings = tmp_path / "settings.yaml"
    settings.write_text("{rank: 4, batch: 4}\n")
    words = [str(exported), "--target", str(words_folder), "--cross", str(kin_of(words_folder, tmp_path))]
    words += ["--target-is-another", "--settings", str(settings), "--dry-run", *more]
    said = CliRunner().invoke(app, ["train", "run", *words])
    assert said.exception is None
    return said.output


def test_measuring_labels_anew_is_in_the_price(words_folder: Path, tmp_path: Path) -> None:
    said = dry_run(words_folder, tmp_path, claims_of("t"), "--seeds", "2", "--samples", "3", "--max-tokens", "5")
    # Three of eight prompts are held out; each claim has its own edit: (3 + 6) prompts, 3 responses of 5 tokens, twice.
    assert "For measuring labels anew on the trained target" in said
    assert "at most 270 generated tokens" in said
    assert "Not counted: loading models" in said


def test_without_labels_to_measure_nothing_is_drawn_for_the_price(words_folder: Path, tmp_path: Path) -> None:
    assert "generated tokens" not in dry_run(words_folder, tmp_path, claims_of("t"), "--samples", "0")


def test_the_positive_control_is_in_the_price(words_folder: Path, tmp_path: Path) -> None:
    plain = PRICE.search(dry_run(words_folder, tmp_path, claims_of("t"), "--samples", "0"))
    said = dry_run(words_folder, tmp_path / "control", claims_of("t"), "--samples", "0", "--sensitivity")
    control = PRICE.search(said)
    assert plain is not None
    assert control is not None
    assert (plain.group(1), control.group(1)) == ("6", "12")
    assert "For the positive control of --sensitivity: about" in said


def test_claims_elsewhere_are_priced_by_how_many_they_are(words_folder: Path, tmp_path: Path) -> None:
    plain = dry_run(words_folder, tmp_path, claims_of("t"), "--samples", "0")
    more = written(tmp_path / "elsewhere.jsonl", claims_of("a third", 40))
    also = ("--elsewhere", str(more), "--elsewhere-is-another")
    both = dry_run(words_folder, tmp_path / "both", claims_of("t"), "--samples", "0", *also)
    steps = [int(re.findall(r"([\d,]+) steps", said)[0].replace(",", "")) for said in (plain, both)]
    assert steps[1] > 5 * steps[0]
