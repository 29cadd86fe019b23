"""What a run would take is told before anything is trained for good, with a penalty on moving away as without."""

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from firsthand.cli.main import app
from firsthand.counterfactual.training.demo import FULL, QUICK

sys.path.insert(0, str(Path(__file__).parent))
from training_parts import claims_of, written

PRICE = re.compile(r"\d+ trainings, [\d,]+ steps, [\d,]+ tokens; a step takes")


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
    words = [str(claims), "--target", str(words_folder), "--cross", str(_copy(words_folder, tmp_path))]
    words.append("--target-is-another")
    said = CliRunner().invoke(app, ["train", "run", *words, "--settings", str(settings), "--dry-run"])
    assert said.exception is None
    assert PRICE.search(said.output)


def _copy(folder: Path, at: Path) -> Path:
    """The same model under another name."""
    copy = at / "copy"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return copy
