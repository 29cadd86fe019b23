"""A study that needs no model: prompts whose answers are written here."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from firsthand.claims.labels import PredictionClaim
from firsthand.studies.labels.prediction.bench import Bench
from firsthand.studies.labels.prediction.prompts import Prompt, PromptSet

Made = Callable[..., Bench]


@pytest.fixture
def made() -> Made:
    """Makes a bench of prompts in groups of four, of which the answers are given."""

    def make(said: list[str], fit: int, **more: Any) -> Bench:
        prompts = tuple(Prompt(f"Prompt number {i} about {i % 7}.", f"group {i // 4}") for i in range(len(said)))
        behaviour = pd.DataFrame(
            {
                "number": np.arange(len(said)),
                "said": said,
                "finished": True,
                "option": np.nan,
                "entropy": 1.0,
            }
        )
        settings = {"properties": ("second-character",), "examples": (0, 4, 8), **more}
        claim = PredictionClaim(
            data_sha256=PromptSet("", prompts, {}).sha256, fit=fit, judged=len(said) - fit, **settings
        )
        return Bench(claim, prompts, fit, behaviour, tuple("FGHJK"))

    return make
