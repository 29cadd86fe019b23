"""The introspection triangle in miniature: no model, four reporters, numbers known in closed form.

A hidden bit has a public cue that is right in 72% of trials and leaks into a visible output with 68% reliability. After
both are frozen, target trials flip it covertly. The study makes tables of the same form as a study of a real model,
so that observers, organisms and verdicts are tested on truth that is known (seed: "A report needs a private
referent", worked example one and executable artefact).
"""

from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from firsthand.states.register import sign
from firsthand.trials.canonical import digest
from firsthand.trials.codebook import Codebook, draw_codebook
from firsthand.trials.design import BlockPlan, assign_kinds, plan_block
from firsthand.trials.public import PublicQuestion, PublicView, Turn
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability, Kind, Subset

CUE_RELIABILITY: Final = 0.72
LEAK_RELIABILITY: Final = 0.68
LETTERS: Final = tuple("BCDFGHJKLMNPQRSTVWXYZ")
ASKED: Final = (Capability.IDENTIFICATION, Capability.DETECTION)
DISTURBING: Final = (Kind.TARGET, Kind.INPUT_CONTROL, Kind.IMPACT_CONTROL)


@dataclass(frozen=True)
class TriangleTables:
    """The study's tables, in the columns of a trace.

    Attributes:
        public: Trial ids, blocks and views (parsed, in column ``parsed``).
        sealed: Kinds and states.
        readings: What sensors read: the register before and after, exactly.
    """

    public: pd.DataFrame
    sealed: pd.DataFrame
    readings: pd.DataFrame


def run_triangle(blocks: int, seed: int, subset: Subset = Subset.CONFIRMATION) -> TriangleTables:
    """Make the trials of ``blocks`` balanced blocks of ten.

    Args:
        blocks: Number of blocks.
        seed: Seed of every draw.
        subset: Confirmation blocks are judged; selection blocks are the past that observers learn from.

    Returns:
        The study's tables.
    """
    made = [_block(plan_block(seed, subset, index), seed) for index in range(blocks)]
    public, sealed, readings = (pd.DataFrame([row for block in made for row in block[i]]) for i in range(3))
    return TriangleTables(public, sealed, readings)


def _block(plan: BlockPlan, seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    draws = stream(seed, plan.subset, plan.index, "public")
    codebook = draw_codebook(LETTERS, ASKED, plan.index, stream(seed, plan.subset, plan.index, "codebook"))
    frozen = []
    for state in plan.pre_states:
        cue = state if draws.random() < CUE_RELIABILITY else 1 - state
        output = state if draws.random() < LEAK_RELIABILITY else 1 - state
        frozen.append((cue, output))
    kinds = assign_kinds(seed, plan, digest(frozen))
    public, sealed, readings = [], [], []
    for slot, (kind, pre, (cue, output)) in enumerate(zip(kinds, plan.pre_states, frozen, strict=True)):
        trial = plan.trial_id(slot)
        post = 1 - pre if kind is Kind.TARGET else pre
        view = _view(trial, plan.name, codebook, cue, output, kind is Kind.INPUT_CONTROL)
        public.append({"trial_id": trial, "block": plan.name, "carrier": plan.name, "parsed": view})
        energy = 1.0 if kind in DISTURBING else 0.0
        sealed.append(
            {
                "trial_id": trial,
                "kind": str(kind),
                "pre_state": pre,
                "post_state": post,
                "changed": int(kind is Kind.TARGET),
                "impact_neutral": energy,
                "impact_matched": True,
                "layer": 0,
                "dose": 1.0,
                "impact_dose": 0.0,
            }
        )
        readings.append({"trial_id": trial, "site_early": sign(pre), "site_late": sign(post)})
    return public, sealed, readings


def _view(trial: str, block: str, codebook: Codebook, cue: int, output: int, anomaly: bool) -> PublicView:
    noise = " (( static ))" if anomaly else ""
    return PublicView(
        trial_id=trial,
        clusters={"block": block},
        turns=(Turn("user", f"{trial}: the cue says {cue}.{noise}"), Turn("assistant", f"{output}")),
        output=str(output),
        features={"cue": float(cue), "anomaly": float(anomaly)},
        output_features={"second_option": float(output)},
        questions={c: PublicQuestion("Which code?", "Code", codebook[c].pair) for c in ASKED},
    )
