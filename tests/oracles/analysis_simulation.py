"""Simulated traces with reporters whose answer is known: what the instrument is tested on.

A block holds each kind once for each pre-state, ten trials. The public cue names the pre-state with some reliability
and is drawn once a block and pre-state, so that trials of a block are not independent. The post-state is the pre-state,
flipped on target trials.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis import CapabilityResult, ObserverPrediction, Reading, judge
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import CONTROLS, Capability, Condition, Kind

Array = NDArray[np.float64]
DISTURBED = (Kind.TARGET, Kind.INPUT_CONTROL, Kind.IMPACT_CONTROL)


@dataclass
class World:
    """The hidden coin: trials with their states and public cues, one element a trial."""

    block: NDArray[np.int64]
    kind: NDArray[np.str_]
    pre: Array
    post: Array
    cue: Array
    rng: np.random.Generator

    def __len__(self) -> int:
        return len(self.pre)

    @property
    def changed(self) -> Array:
        return (self.kind == Kind.TARGET).astype(float)

    @property
    def disturbed(self) -> Array:
        return np.isin(self.kind, DISTURBED).astype(float)

    def noisy(self, truth: Array, accuracy: float) -> Array:
        """The truth, each trial wrong with probability ``1 - accuracy``."""
        return np.where(self.rng.random(len(self)) < accuracy, truth, 1.0 - truth)


def world(blocks: int = 24, *, cue: float = 0.72, seed: int = 0) -> World:
    """Balanced blocks of ten trials."""
    rng = np.random.default_rng(seed)
    kinds = [kind.value for kind in Kind for _ in range(2)]
    pre = np.tile([0.0, 1.0], len(Kind) * blocks)
    kind = np.array(kinds * blocks)
    block = np.repeat(np.arange(blocks), len(kinds))
    told_right = rng.random((blocks, 2)) < cue
    right = told_right[block, pre.astype(int)]
    return World(
        block=block,
        kind=kind,
        pre=pre,
        post=np.where(kind == Kind.TARGET, 1.0 - pre, pre),
        cue=np.where(right, pre, 1.0 - pre),
        rng=rng,
    )


def table(
    w: World,
    truth: Array,
    answer: Array,
    *,
    probability: Array | None = None,
    contrast: Array | None = None,
    coverage: float | Array = 0.9,
) -> pd.DataFrame:
    """A scored table; probability follows the answer unless given, and contrast the probability or the answer."""
    yes = np.nan_to_num(answer, nan=0.5)
    if probability is not None and contrast is None:
        inside = np.clip(probability, 1e-6, 1.0 - 1e-6)
        contrast = np.log(inside / (1.0 - inside))
    return pd.DataFrame(
        {
            "trial_id": [f"t{i}" for i in range(len(w))],
            "kind": w.kind,
            "truth": truth.astype(int),
            "answer": answer,
            "probability": 0.1 + 0.8 * yes if probability is None else probability,
            "coverage": np.broadcast_to(coverage, len(w)).astype(float),
            "contrast": (2.0 * yes - 1.0) * 3.0 if contrast is None else contrast,
            "block": w.block,
        }
    )


def public_observers(w: World, capability: Capability) -> dict[str, ObserverPrediction]:
    """A good reader of the cue and a useless one."""
    guess = np.full(len(w), 0.5 if capability is not Capability.DETECTION else 0.2)
    informed = np.where(w.cue == 1.0, 0.72, 0.28) if capability is Capability.IDENTIFICATION else guess
    return {"cue": ObserverPrediction(False, informed), "guess": ObserverPrediction(False, guess)}


def wire(truth: Array, where: str = "site") -> dict[str, Reading]:
    """A reader that is always right."""
    return {f"wire at {where}": Reading(where, 2.0 * truth - 1.0)}  # type: ignore[arg-type]


def rules(**changes: object) -> AnalysisSpec:
    """The default rules with one cluster column and few draws."""
    return AnalysisSpec(**{"clusters": ("block",), "bootstrap_draws": 500, **changes})  # type: ignore[arg-type]


def judged(
    capability: Capability,
    frame: pd.DataFrame,
    observers: dict[str, ObserverPrediction],
    readers: dict[str, Reading] | None = None,
    *,
    spec: AnalysisSpec | None = None,
    condition: Condition = Condition.Y_SHOWN,
) -> CapabilityResult:
    """The verdict with all controls claimed."""
    return judge(capability, condition, frame, observers, readers or {}, spec or rules(), CONTROLS)
