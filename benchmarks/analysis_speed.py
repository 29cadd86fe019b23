"""Times the judgement of a 78,000-trial trace: three capabilities, two conditions, five observers, 2,000 draws.

Run with ``python benchmarks/analysis_speed.py``; it prints seconds for each judgement and in total.
"""

import time

import numpy as np
import pandas as pd

from firsthand.analysis import ObserverPrediction, Reading, judge
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import CONTROLS, Capability, Condition, Kind

TRIALS, IN_BLOCK = 78_000, 10


def trace(capability: Capability, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, ObserverPrediction]]:
    kind = np.tile(np.repeat([k.value for k in Kind], 2), TRIALS // IN_BLOCK)
    post = np.tile([0, 1], TRIALS // 2)
    truth = (kind == Kind.TARGET.value).astype(int) if capability is Capability.DETECTION else post
    answer = np.where(rng.random(TRIALS) < 0.8, truth, 1 - truth).astype(float)
    answer[rng.random(TRIALS) < 0.01] = np.nan
    frame = pd.DataFrame(
        {
            "trial_id": np.arange(TRIALS),
            "kind": kind,
            "truth": truth,
            "answer": answer,
            "probability": np.clip(np.nan_to_num(answer, nan=0.5) + rng.normal(0, 0.2, TRIALS), 0, 1),
            "coverage": 0.9,
            "contrast": rng.normal(0, 1, TRIALS) + truth,
            "block": np.repeat(np.arange(TRIALS // IN_BLOCK), IN_BLOCK),
        }
    )
    observers = {f"observer {i}": ObserverPrediction(i % 2 == 1, rng.random(TRIALS)) for i in range(5)}
    return frame, observers


def main() -> None:
    rng = np.random.default_rng(0)
    spec = AnalysisSpec(clusters=("block",), bootstrap_draws=2000)
    total = 0.0
    for capability in (Capability.IDENTIFICATION, Capability.DETECTION, Capability.CONFIDENCE):
        frame, observers = trace(capability, rng)
        readers = {"wire": Reading("site", 2.0 * frame["truth"].to_numpy() - 1.0)}
        for condition in Condition:
            started = time.perf_counter()
            result = judge(capability, condition, frame, observers, readers, spec, CONTROLS)
            taken = time.perf_counter() - started
            total += taken
            print(f"{capability:15s} {condition:11s} {result.verdict:17s} {taken:6.2f} s")
    print(f"{'total':45s} {total:6.2f} s for {TRIALS:,} trials, {spec.bootstrap_draws:,} draws, 5 observers")


if __name__ == "__main__":
    main()
