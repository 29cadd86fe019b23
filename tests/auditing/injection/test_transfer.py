"""Transfer: the probe is fitted once on the choosing concepts, and meets each new thing as it is."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from synthetic import CONCEPTS

from firsthand.auditing.injection.plan import TRANSFER, Pick
from firsthand.auditing.injection.transfer import EXPLAINED, transfer_rows
from firsthand.claims.claim import AnalysisSpec
from firsthand.report.injection_document import TransferRow
from firsthand.studies.cells import Cell
from firsthand.studies.injection.questions.base import Setting

SPEC = AnalysisSpec(clusters=("concept",))
PICK = Pick(Cell(3, 1.0), Setting())
CHOOSING = tuple(f"s{i}" for i in range(8))


def asked(
    concepts: tuple[str, ...] = CONCEPTS, state: float = 3.0, moves: Callable[[int], bool] = bool, layer: int = 3
) -> pd.DataFrame:
    """Clean and target trials; the state is along the first axis, and the answer moves where ``moves`` says so."""
    rng, rows = np.random.default_rng(len(concepts)), []
    for number, concept in enumerate(concepts):
        for order in ("injected|nothing", "nothing|injected"):
            for arm in ("clean", "target"):
                target = arm == "target"
                lift = (1.0 if moves(number) else -1.0) * target
                logits = np.array([lift, 0.0])[:: 1 if order.startswith("injected") else -1]
                rows.append(
                    {
                        "trial_id": f"{concept}/{order}/{arm}",
                        "task": "detection",
                        "concept": concept,
                        "order": order,
                        "arm": arm,
                        "text": f"{concept}/{order}",
                        "layer": layer if target else -1,
                        "dose": float(target),
                        "truth": "",
                        "answer": "nothing",
                        "logprobs": (logits - np.logaddexp.reduce(logits)).tolist(),
                        "residual": (rng.normal(0, 0.1, 4) + np.array([state * target, 0, 0, 0])).astype(np.float32),
                    }
                )
    return pd.DataFrame(rows)


def always(_number: int) -> bool:
    return True


def rows(**tables: pd.DataFrame) -> dict[str, TransferRow]:
    plain = {"training": asked(CHOOSING, moves=always), "detection-2": asked(moves=always)}
    named = {name.replace("_", "-"): table for name, table in tables.items()}
    return {row.new: row for row in transfer_rows(plain | named, PICK, SPEC)}


def test_everything_that_the_plan_runs_is_explained() -> None:
    assert set(EXPLAINED) == set(TRANSFER)


def test_what_carries_over_everywhere_is_shown_so() -> None:
    found = rows(transfer_recipe=asked(moves=always), transfer_voice=asked(moves=always))
    assert list(found) == [
        "nothing",
        "other concepts",
        "other concepts and vectors of the other recipe",
        "other concepts and another voice",
    ]
    for row in found.values():
        assert row.report.value == 1.0
        assert row.probe is not None
        assert row.probe.value == 1.0


def test_a_state_that_lies_elsewhere_is_not_read_by_the_probe_of_the_training() -> None:
    found = rows(transfer_recipe=asked(moves=always, state=-3.0))["other concepts and vectors of the other recipe"]
    assert found.probe is not None
    assert found.probe.value == pytest.approx(0.5)
    assert found.report.value == 1.0


def test_a_report_that_moves_one_way_on_half_of_the_concepts_is_at_one_half() -> None:
    found = rows(transfer_framing=asked(moves=lambda number: number % 2 == 0))["other concepts and the other framing"]
    assert found.report.value == pytest.approx(0.5)
    assert found.report.units == len(CONCEPTS)
    assert found.probe is not None
    assert found.probe.value == 1.0


def test_the_probe_meets_its_own_concepts_without_having_been_fitted_on_them() -> None:
    """Every concept has its state along an axis of its own, so that no other concept tells where it is."""
    training = asked(CHOOSING, moves=always)
    rng = np.random.default_rng(0)
    states = []
    for concept, arm in zip(training["concept"], training["arm"], strict=True):
        state = rng.normal(0, 0.1, 16)
        state[CHOOSING.index(concept)] += 5.0 * (arm == "target")
        states.append(state.astype(np.float32))
    own = training.assign(residual=pd.Series(states, dtype=object))
    other = asked(moves=always)
    other = other.assign(
        residual=pd.Series(list(rng.normal(0, 0.1, (len(other), 16)).astype(np.float32)), dtype=object)
    )
    found = {row.new: row for row in transfer_rows({"training": own, "detection-2": other}, PICK, SPEC)}
    assert found["nothing"].probe is not None
    assert found["nothing"].probe.value < 0.8


def test_other_tasks_and_arms_are_left_out() -> None:
    own = asked(moves=always)
    beside = own.assign(task="unrelated", text=own["text"] + "?", order="yes|no")
    sham = own[own["arm"] == "target"].assign(arm="sham")
    with_more = pd.concat([own, beside, sham], ignore_index=True)
    assert rows(transfer_voice=with_more)["other concepts and another voice"].report.n_trials == 2 * len(CONCEPTS)


@pytest.mark.parametrize("name", ["layer-below", "layer-above"])
def test_a_layer_that_is_not_another_one_is_not_shown(name: str) -> None:
    there = f"other concepts and the layer {name.removeprefix('layer-')}"
    assert there not in rows(**{f"transfer-{name}": asked(moves=always)})
    assert there in rows(**{f"transfer-{name}": asked(moves=always, layer=2)})
