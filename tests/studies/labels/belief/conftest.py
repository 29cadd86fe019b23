"""Facts of our own, and a model's parts, for tests of belief dominance."""

import json
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
import pytest

from firsthand.claims.labels import BeliefClaim
from firsthand.engine import LoadedModel
from firsthand.studies.labels.belief import readings
from firsthand.studies.labels.belief.bench import Bench, prepare
from firsthand.studies.labels.belief.records import Facts, data_hash, read_facts

CITIES = ("Oslo", "Lima", "Cairo", "Delhi", "Quito", "Tunis", "Perth", "Milan")
SMALL = {
    "records": 18,
    "known": False,
    "shots": 6,
    "rounds": 1,
    "answer_tokens": 4,
    "reading_tokens": 3,
    "splits": 3,
    "steering": {"records": 3, "doses": [0.5]},
}
"""A study of seconds."""


@pytest.fixture(scope="session")
def fact_rows() -> list[dict[str, str]]:
    """Twenty-four sentences about twenty subjects, with a true and another city."""
    return [
        {
            "base_prompt": f"{'The seat of' if i < 20 else 'The harbour of'} company {chr(65 + i % 20)}{i % 20} is in",
            "template": "{}",
            "target_true": f" {CITIES[i % 8]}",
            "target_new": f" {CITIES[(3 * i + 1) % 8 if i % 8 != (3 * i + 1) % 8 else (i + 2) % 8]}",
            "prompt": "unused",
            "subject": f"company {chr(65 + i % 20)}{i % 20}",
        }
        for i in range(24)
    ]


@pytest.fixture(scope="session")
def facts_file(fact_rows: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a file."""
    path = tmp_path_factory.mktemp("facts") / "facts.json"
    path.write_text(json.dumps(fact_rows))
    return path


@pytest.fixture(scope="session")
def facts(facts_file: Path) -> Facts:
    """The same, read."""
    return read_facts(facts_file)


@pytest.fixture(scope="session")
def claim(facts: Facts, tiny_folder: Path) -> BeliefClaim:
    """A small claim about the tiny model."""
    return BeliefClaim.model_validate({"model": str(tiny_folder), "data_sha256": data_hash(facts), **SMALL})


@pytest.fixture(scope="session")
def bench(tiny: LoadedModel, facts: Facts, claim: BeliefClaim) -> Bench:
    """What is fixed for it."""
    return prepare(tiny, facts, claim)


@pytest.fixture
def telling(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random model's texts hold no city; here what a text holds is drawn from the text itself."""
    monkeypatch.setattr(readings, "occurs", lambda entity, text: crc32(f"{entity}/{text}".encode()) % 3 == 0)


@pytest.fixture(scope="session")
def dominances(bench: Bench) -> pd.DataFrame:
    """Dominances of three kinds, in unequal numbers."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.6, 0.0], [0.1, 0.1], [0.0, 0.7]])
    points = centres[[i % 7 % 3 for i in range(len(bench.items))]] + rng.uniform(0, 0.05, (len(bench.items), 2))
    return pd.DataFrame(
        {
            "item": [item.number for item in bench.items],
            "record": [item.record for item in bench.items],
            "kind": [item.kind for item in bench.items],
            "subject": [item.fact.subject for item in bench.items],
            "text": [item.text for item in bench.items],
            "said": [f"answer {item.number}" for item in bench.items],
            "base": [item.fact.base for item in bench.items],
            "counter": [item.fact.counter for item in bench.items],
            "bd_base": points[:, 0],
            "bd_counter": points[:, 1],
            "states": 12,
            "label_base": points[:, 0],
            "label_counter": points[:, 1],
            "wire_base": points[:, 0],
            "wire_counter": points[:, 1],
        }
    )
