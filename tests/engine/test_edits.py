"""What cannot be carried out exactly is refused before anything runs."""

import numpy as np
import pytest
import torch
from plain_families import HIDDEN
from transformers import PreTrainedModel

from firsthand.engine import Anatomy, Capture, Edit, run_prefix, run_rows
from firsthand.engine.edits import Extent, check_plan
from firsthand.errors import EngineError

EXTENT = Extent(start=3, ends=(6, 4), hidden=8, depth=4)
DELTA = torch.zeros(2, 8)


@pytest.mark.parametrize(
    ("layer", "positions", "reason"),
    [
        (4, ((3,), (3,)), "layers 0 to 3"),
        (-1, ((3,), (3,)), "layers 0 to 3"),
        (1.5, ((3,), (3,)), "layers 0 to 3"),
        (1, ((3,),), "1 rows, the batch has 2"),
        (1, ((3,), (3,), (3,)), "3 rows, the batch has 2"),
        (1, ((2,), (3,)), "row 0.*3 to 5"),
        (1, ((6,), (3,)), "row 0.*3 to 5"),
        (1, ((3,), (4,)), "row 1.*3 to 3"),
        (1, ((-1,), (3,)), "row 0"),
        (1, ((3, 3), (3,)), "not distinct"),
        (1, ((3.5,), (3,)), "row 0"),
    ],
)
def test_places_outside_the_run_are_refused_for_edits_and_readings(
    layer: int, positions: tuple[tuple[int, ...], ...], reason: str
) -> None:
    with pytest.raises(EngineError, match=reason):
        check_plan([Edit(layer, positions, DELTA)], [], EXTENT)
    with pytest.raises(EngineError, match=reason):
        check_plan([], [Capture("site", layer, positions)], EXTENT)


@pytest.mark.parametrize(
    ("delta", "reason"),
    [
        (torch.zeros(8), "shape"),
        (torch.zeros(1, 8), "shape"),
        (torch.zeros(2, 9), "shape"),
        (torch.full((2, 8), float("nan")), "not finite"),
        (torch.full((2, 8), float("inf")), "not finite"),
    ],
)
def test_a_delta_of_another_shape_or_not_finite_is_refused(delta: torch.Tensor, reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        check_plan([Edit(1, ((3,), ()), delta)], [], EXTENT)


def test_an_edit_may_leave_rows_alone_but_a_reading_needs_a_place_in_each() -> None:
    check_plan([Edit(1, ((), ()), DELTA)], [Capture("site", 1, ((3, 5), (3,)))], EXTENT)
    with pytest.raises(EngineError, match="'site' has a row without positions"):
        check_plan([], [Capture("site", 1, ((3,), ()))], EXTENT)


def test_numpy_integers_are_positions_too() -> None:
    check_plan([Edit(np.int64(1), ((np.int64(3),), ()), DELTA)], [], EXTENT)


def test_positions_are_absolute_so_those_of_a_prefix_are_refused_in_its_rows(
    shared_llama: PreTrainedModel, anatomy: Anatomy
) -> None:
    prefix, _ = run_prefix(shared_llama, anatomy, [[5, 6, 7]])
    delta = torch.ones(1, HIDDEN)
    run_rows(shared_llama, anatomy, [[8, 9]], [Edit(1, ((4,),), delta)], prefix=prefix)
    for position in (2, 5):
        with pytest.raises(EngineError, match="3 to 4"):
            run_rows(shared_llama, anatomy, [[8, 9]], [Edit(1, ((position,),), delta)], prefix=prefix)
    with pytest.raises(EngineError, match="0 to 2"):
        run_prefix(shared_llama, anatomy, [[5, 6, 7]], [Edit(1, ((3,),), delta)])


def test_a_padding_place_of_a_shorter_row_is_refused(shared_llama: PreTrainedModel, anatomy: Anatomy) -> None:
    with pytest.raises(EngineError, match="row 1"):
        run_rows(shared_llama, anatomy, [[5, 6, 7], [8]], [Edit(1, ((2,), (2,)), torch.ones(2, HIDDEN))])
