"""A small, whole trace of two blocks, made by hand in the form that studies write."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from firsthand.trials.canonical import digest
from firsthand.trials.design import BlockPlan, assign_kinds, plan_block
from firsthand.trials.freeze_log import log_event
from firsthand.trials.public import PublicQuestion, PublicView, Turn
from firsthand.trials.trace import Trace
from firsthand.vocabulary import Capability, Kind, Subset

SEED = 5


def view_of(trial: str, block: str, cue: int, anomaly: bool) -> PublicView:
    return PublicView(
        trial_id=trial,
        clusters={"block": block},
        turns=(
            Turn("user", f"The cue says {cue}.{' (( static ))' if anomaly else ''}"),
            Turn("assistant", "I pick oak."),
        ),
        output="oak",
        features={"cue": float(cue), "anomaly": float(anomaly)},
        output_features={"second_option": 0.0},
        questions={Capability.IDENTIFICATION: PublicQuestion("Code J or Q?", "Code", ("J", "Q"))},
    )


def unit_tables(plan: BlockPlan, cue: int = 1) -> tuple[dict[str, pd.DataFrame], dict[str, object], str]:
    """Parts, frozen evidence and its hash for one block."""
    ids = [plan.trial_id(slot) for slot in range(len(plan.pre_states))]
    views = [{"plain": view_of(i, plan.name, cue, False), "anomalous": view_of(i, plan.name, cue, True)} for i in ids]
    evidence = [{name: view.as_json() for name, view in pair.items()} for pair in views]
    public_hash = digest(evidence)
    kinds = assign_kinds(SEED, plan, public_hash)
    changed = [int(kind is Kind.TARGET) for kind in kinds]
    shown = [
        pair["anomalous" if kind is Kind.INPUT_CONTROL else "plain"] for pair, kind in zip(views, kinds, strict=True)
    ]
    parts = {
        "public": pd.DataFrame({"trial_id": ids, "block": plan.name, "view": [view.dumps() for view in shown]}),
        "sealed": pd.DataFrame(
            {
                "trial_id": ids,
                "kind": [str(kind) for kind in kinds],
                "pre_state": plan.pre_states,
                "post_state": [abs(pre - flip) for pre, flip in zip(plan.pre_states, changed, strict=True)],
                "changed": changed,
            }
        ),
        "reports": pd.DataFrame({"trial_id": ids, "probability": 0.5, "answer": float("nan")}),
        "readings": pd.DataFrame({"trial_id": ids, "residual": [np.ones(3, dtype=np.float32)] * len(ids)}),
    }
    frozen = {
        "evidence": evidence,
        "subset": str(plan.subset),
        "index": plan.index,
        "kinds": [str(kind) for kind in plan.kinds],
    }
    return parts, frozen, public_hash


def write_block(folder: Path, index: int) -> str:
    plan = plan_block(SEED, Subset.CONFIRMATION, index)
    parts, frozen, public_hash = unit_tables(plan)
    log_event(folder, plan.name, "frozen", public_hash)
    log_event(folder, plan.name, "assigned", public_hash)
    Trace(folder).write_unit(plan.name, parts, frozen)
    return plan.name


@pytest.fixture
def seed() -> int:
    return SEED


@pytest.fixture
def view() -> PublicView:
    return view_of("c0000-00", "c0000", 1, False)


@pytest.fixture
def block_writer() -> Callable[[Path, int], str]:
    return write_block


@pytest.fixture
def tables() -> tuple[dict[str, pd.DataFrame], dict[str, object]]:
    parts, frozen, _ = unit_tables(plan_block(SEED, Subset.CONFIRMATION, 0))
    return parts, frozen


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    folder = tmp_path / "trace"
    units = [write_block(folder, index) for index in (0, 1)]
    whole = Trace(folder)
    whole.finish(units, {"subset": "confirmation"})
    return whole
