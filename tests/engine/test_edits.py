"""What cannot be carried out exactly is refused before anything runs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from plain_families import HIDDEN

from firsthand.engine import Anatomy, Capture, Edit, Operation, Row, Timing, resid_post, run, run_prefix, run_rows
from firsthand.engine.edits import check_rows, reads_of
from firsthand.errors import EngineError

ONES = torch.ones(8)
SITE = resid_post(1)


def check(row: Row, start: int = 3) -> None:
    check_rows([Row((5, 6, 7, 8)), row], [0, start], 8, 4)


def check_edit(**changes: Any) -> None:
    """One edit in the second of two rows, whose three tokens begin at position 3."""
    check(Row((5, 6, 7), (replace(Edit(SITE, (3,), ONES), **changes),)))


PLACES = [
    ((), "row 1.*at least one"),
    ((2,), r"row 1.*tokens 3 to 5"),
    ((6,), r"row 1.*tokens 3 to 5"),
    ((-1,), "row 1"),
    ((3, 3), "row 1 names a position twice"),
]


@pytest.mark.parametrize(("positions", "reason"), PLACES)
def test_places_outside_the_run_are_refused_for_edits_readings_and_distributions(
    positions: tuple[Any, ...], reason: str
) -> None:
    with pytest.raises(EngineError, match=f"An edit at resid_post.*{reason}"):
        check_edit(positions=positions)
    with pytest.raises(EngineError, match=f"Capture 'site'.*{reason}"):
        check(Row((5, 6, 7), captures=(Capture("site", SITE, positions),)))
    if positions:
        with pytest.raises(EngineError, match=r"[Rr]ow 1"):
            check(Row((5, 6, 7), read=positions))


@pytest.mark.parametrize("layer", [4, -1])
def test_layers_that_the_model_does_not_have_are_refused_for_edits_and_readings(layer: int) -> None:
    with pytest.raises(EngineError, match=r"An edit at .*layers 0 to 3"):
        check_edit(site=resid_post(layer))
    with pytest.raises(EngineError, match=r"Capture 'site'.*layers 0 to 3"):
        check(Row((5, 6, 7), captures=(Capture("site", resid_post(layer), (3,)),)))


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        (torch.ones(1, 8), "shape"),
        (torch.ones(9), "shape"),
        (torch.full((8,), float("nan")), "not finite"),
        (torch.full((8,), float("inf")), "not finite"),
    ],
)
def test_a_vector_of_another_shape_or_not_finite_is_refused(vector: torch.Tensor, reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        check_edit(vector_H=vector)


@pytest.mark.parametrize("strength", [float("nan"), float("inf"), -float("inf")])
def test_a_strength_that_is_no_number_is_refused(strength: float) -> None:
    with pytest.raises(EngineError, match="not finite"):
        check_edit(strength=strength)


def test_a_zero_vector_is_refused_where_a_direction_is_needed_and_only_there() -> None:
    for operation in (Operation.ADD_SCALED, Operation.PROJECT_OUT):
        with pytest.raises(EngineError, match="needs a direction"):
            check_edit(vector_H=0 * ONES, operation=operation)
    for operation in (Operation.ADD, Operation.REPLACE):
        check_edit(vector_H=0 * ONES, operation=operation)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"timing": Timing.LIFTED}, "'until' belongs to"),
        ({"timing": Timing.LIVE, "until": 4}, "'until' belongs to"),
        ({"timing": Timing.DELAYED, "until": 4}, "'question' to delayed"),
        ({"timing": Timing.LIFTED, "until": 4, "question": 5}, "'question' to delayed"),
        ({"timing": Timing.LIFTED, "until": 3}, "lifted at position 3, but it reaches position 3"),
        ({"timing": Timing.LIFTED, "until": 6}, "read at 5"),
        ({"timing": Timing.DELAYED, "until": 4, "question": 4}, "Neutral tokens"),
        ({"timing": Timing.DELAYED, "until": 4, "question": 6}, "Neutral tokens"),
    ],
)
def test_a_timing_whose_words_would_not_hold_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        check_edit(**changes)


def test_every_timing_is_taken_where_its_words_hold() -> None:
    check_edit(timing=Timing.PREFILL)
    check_edit(timing=Timing.LIVE)
    check_edit(timing=Timing.LIFTED, until=4)
    check_edit(timing=Timing.DELAYED, until=4, question=5)


def test_a_lifted_row_is_read_in_its_clean_part_only() -> None:
    lifted = Edit(SITE, (3,), ONES, timing=Timing.LIFTED, until=5)
    check(Row((5, 6, 7), (lifted,), read=(5,)))
    with pytest.raises(EngineError, match="read at 4"):
        check(Row((5, 6, 7), (lifted,), read=(5, 4)))


def test_two_readings_of_one_row_need_two_names() -> None:
    captures = (Capture("site", SITE, (3,)), Capture("site", resid_post(2), (3,)))
    with pytest.raises(EngineError, match="share a name"):
        check(Row((5, 6, 7), captures=captures))


@pytest.mark.parametrize("rows", [[], [Row(())], [Row((5,)), Row(())]])
def test_no_rows_and_rows_without_tokens_are_refused(rows: list[Row]) -> None:
    with pytest.raises(EngineError, match="at least one row, and each row at least one token"):
        check_rows(rows, [0] * len(rows), 8, 4)


def test_positions_that_are_no_whole_numbers_are_refused() -> None:
    for positions in ((3.5,), "34", ("a",)):
        with pytest.raises(EngineError, match="positions are"):
            Edit(SITE, positions, ONES)  # type: ignore[arg-type]
        with pytest.raises(EngineError, match="positions are"):
            Capture("site", SITE, positions)  # type: ignore[arg-type]


def test_numpy_integers_are_positions_too() -> None:
    check_edit(positions=(np.int64(3), np.int64(5)))
    edit = Edit(SITE, (np.int64(3), np.int64(5)), ONES)
    assert [type(position) for position in edit.positions] == [int, int]


def test_a_row_is_read_after_its_last_token_unless_it_says_otherwise() -> None:
    assert reads_of(Row((5, 6, 7)), 0) == (2,)
    assert reads_of(Row((5, 6, 7)), 10) == (12,)
    assert reads_of(Row((5, 6, 7), read=(11, 10)), 10) == (11, 10)


def test_a_row_can_be_cut_where_its_prefix_ends_and_keeps_its_positions() -> None:
    row = Row((5, 6, 7), (Edit(SITE, (2,), ONES),), read=(2,))
    assert row.from_position(2).tokens == (7,)
    assert row.from_position(2).edits is row.edits
    assert row.from_position(0) is row


def test_positions_are_absolute_so_those_of_a_prefix_are_refused_in_its_rows(anatomy: Anatomy) -> None:
    prefix, _ = run_prefix(anatomy, [Row((5, 6, 7))])
    one = torch.ones(HIDDEN)
    run_rows(anatomy, [Row((8, 9), (Edit(SITE, (4,), one),))], prefix=prefix)
    for position in (2, 5):
        with pytest.raises(EngineError, match="3 to 4"):
            run_rows(anatomy, [Row((8, 9), (Edit(SITE, (position,), one),))], prefix=prefix)
    with pytest.raises(EngineError, match="0 to 2"):
        run_prefix(anatomy, [Row((5, 6, 7), (Edit(SITE, (3,), one),))])


def test_a_padding_place_of_a_shorter_row_is_refused(anatomy: Anatomy) -> None:
    rows = [Row((5, 6, 7)), Row((8,), (Edit(SITE, (2,), torch.ones(HIDDEN)),))]
    for path in ("auto", "plain"):
        with pytest.raises(EngineError, match="row 1"):
            run(anatomy, rows, path=path)
