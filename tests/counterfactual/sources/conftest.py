"""Files as other people write them, made small, and the published ones where they are there."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.sources import Altered, Found, Refused

DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder of published data."""
    if not (DATA / "prompts").is_dir():
        pytest.skip(f"published data is not in {DATA}; set FIRSTHAND_DATA to run against it")
    return DATA


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes records, one a line, or a document."""

    def write(*records: Any, name: str = "set.jsonl", document: Any = None) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(document)] if document is not None else [json.dumps(record) for record in records]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def prompts(found: list[Found]) -> list[Prompt]:
    return [one for one in found if isinstance(one, Prompt)]


def refusals(found: list[Found]) -> list[tuple[str, str]]:
    return [(one.place, one.reason) for one in found if isinstance(one, Refused)]


def alterations(found: list[Found]) -> list[tuple[str, str]]:
    return [(one.place, one.what) for one in found if isinstance(one, Altered)]


def spoken(prompt: Prompt) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in prompt.turns]
