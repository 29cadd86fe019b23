"""A tiny target, a question about it, and a tiny adapter."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))

from tiny_tools import question_of, write_adapter

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine import LoadedModel

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def subject(tiny: LoadedModel) -> Subject:
    return Subject(tiny)


@pytest.fixture(scope="session")
def question() -> Question:
    return question_of()


@pytest.fixture(scope="session")
def adapter(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_adapter(tmp_path_factory.mktemp("adapter"), tiny)
    (folder / "oracle.json").write_text('{"max_tokens": 6}')
    return folder
