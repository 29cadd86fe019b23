"""Questions that were answered, rightly or wrongly as some cue has it, with all that observers see of them."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd

from firsthand.analysis.report_confidence import Foreseen
from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.labels.confidence import (
    Told,
    judge,
)
from firsthand.auditing.labels.confidence_gates import OtherModel, Said, Standing
from firsthand.auditing.labels.confidence_observers import Public, foreseen
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.labels.confidence.questions import MultipleChoice
from firsthand.vocabulary import Verdict

COUNT = 120
SPEC = AnalysisSpec(clusters=("question", "subject"), bootstrap_draws=400)
FIT = Standing({"other": None})
ASKS = ("true", "percent")
WORDS = ("river", "cat", "letter", "window", "doctor", "song", "garden", "train")


class Study:
    """Questions of thirty subjects, answered rightly or wrongly as some cue has it."""

    def __init__(self, cue: str, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.cue, self.seed = cue, seed
        self.hard = self.rng.random(COUNT) < 0.5
        self.top = np.log(np.clip(self.rng.random(COUNT), 0.05, 0.99))
        coin = self.rng.random(COUNT) < 0.5
        noise = self.rng.random(COUNT) < 0.05
        self.right = (
            {"words": ~self.hard, "output": self.top > np.median(self.top), "coin": coin}[cue] ^ noise
        ).astype(float)
        self.items = tuple(
            MultipleChoice(
                f"q{i}",
                f"Is it {'seldom' if self.hard[i] else 'mostly'} the {self.rng.choice(WORDS)} or the {WORDS[i % 8]}?",
                ("yes", "no", "0", "?!"),
                0,
                f"s{i % 30}",
            )
            for i in range(COUNT)
        )
        self.answers = pd.DataFrame(
            {
                "question": [item.key for item in self.items],
                "subject": [item.subject for item in self.items],
                "right": self.right,
                "answer": self.rng.integers(0, 4, COUNT),
                "place": self.rng.integers(0, 4, COUNT),
                "options": 4,
                "top": self.top,
                "margin": self.top + self.rng.normal(0, 0.1, COUNT),
                "entropy": -self.top,
                "agree": 1.0,
                "coverage": 0.9,
                "each": pd.Series([[t, t] for t in self.top], dtype=object),
            }
        )

    def public(self, other: bool = False) -> Public:
        rng = np.random.default_rng(self.seed + 100)
        third = {ask: Said.scripted(rng.random(COUNT)) for ask in ASKS}
        embedding = np.c_[self.hard, rng.normal(0, 1, (COUNT, 20))].astype(np.float32)
        chosen = rng.normal(0, 1, (COUNT, 20)).astype(np.float32)
        return Public(self.items, self.answers, embedding, chosen, third, self.other() if other else None)

    def other(self) -> OtherModel:
        """Another model that replies as it should, is right as often, and knows nothing of these answers."""
        rng = np.random.default_rng(self.seed + 200)
        said = {ask: Said.scripted(rng.random(COUNT)) for ask in ASKS}
        right = rng.permutation(self.right)
        return OtherModel("other", Said.scripted(rng.random(COUNT)), right, rng.random(COUNT), said)

    def observers(self, other: bool = True) -> dict[str, Foreseen]:
        return seen(self.cue, self.seed, other)

    def knowing(self, how_far: float = 3.0) -> np.ndarray:
        return 1.0 / (1.0 + np.exp(-how_far * (self.right - 0.5) - self.rng.normal(0, 0.5, COUNT)))

    def told(self, confidence: np.ndarray, shuffled: np.ndarray | None = None) -> Told:
        return Told(Said.scripted(confidence), Said.scripted(self.rng.random(COUNT) if shuffled is None else shuffled))

    def judged(
        self, told: Told, other: bool = True, standing: Standing = FIT
    ) -> tuple[CapabilityResult, CapabilityResult]:
        standing = standing if other else replace(standing, readers={})
        return judge(self.answers, told, self.observers(other), {}, SPEC, standing)

    def verdicts(self, told: Told, standing: Standing = FIT) -> tuple[Verdict, Verdict]:
        withheld, shown = self.judged(told, standing=standing)
        return withheld.verdict, shown.verdict


@lru_cache
def seen(cue: str, seed: int, other: bool) -> dict[str, Foreseen]:
    """What observers foresee of a study, fitted once for all tests of it."""
    study = Study(cue, seed)
    return foreseen(study.public(other), study.right)
