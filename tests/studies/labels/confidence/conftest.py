"""A small set of questions, and the tiny model asked some of them."""

from pathlib import Path

import pandas as pd
import pytest

from firsthand.claims.labels import ConfidenceClaim
from firsthand.engine import LoadedModel
from firsthand.studies.labels.confidence.asking import Bench, rows_of
from firsthand.studies.labels.confidence.questions import digest_of, read_questions, sample

TOWNS = ("Oslo", "Rome", "Lima", "Cairo", "Delhi", "Paris", "Accra", "Quito")


def mmlu(folder: Path, subject: str, count: int) -> Path:
    """A file in MMLU's layout, with a newline and quotes in its fields."""
    lines = []
    for i in range(count):
        options = [TOWNS[(i + j) % len(TOWNS)] for j in range(4)]
        lines.append(f'"Which ""town""\nis number {i} of {subject}?",{",".join(options)},{"ABCD"[i % 4]}')
    path = folder / f"{subject}_test.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def questions_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six files of questions."""
    folder = tmp_path_factory.mktemp("questions")
    for number in range(6):
        mmlu(folder, f"subject_{number}", 8)
    return folder


@pytest.fixture(scope="session")
def bench(tiny: LoadedModel, questions_folder: Path) -> Bench:
    """A study of twenty questions, two of which are asked again with two options."""
    questions = read_questions(questions_folder, tokenizer=tiny.tokenizer)
    claim = ConfidenceClaim(data_sha256=digest_of(questions), questions=20, pairs=2, layers=(0, 2))
    return Bench.of(claim, tiny, sample(questions, 20, 0))


@pytest.fixture(scope="session")
def rows(bench: Bench) -> pd.DataFrame:
    """The rows of its first three questions."""
    return rows_of(bench, 0, 3)
