import sys
from pathlib import Path

import pytest

from firsthand.counterfactual.edits import Drop, Edit, Insert, Operation, Replace, Rewrite
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.segments import reordered, replaced, segmented, sequences, walk
from firsthand.counterfactual.surface import columns_of, kind_of, surface_of

sys.path.insert(0, str(Path(__file__).parent))
from claim_parts import claim, edit, rate

START = Prompt(
    turns=(
        Turn(role="system", content="Be brief."),
        Turn(role="user", content="Tell Ada about rivers, please.\n\n- milk\n- eggs\n- bread"),
    )
)


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        (Replace(turn=1, find=" about rivers"), "deletion"),
        (Rewrite(turn=1, content="Tell Ada about rivers.\n\n- milk\n- eggs"), "deletion"),
        (Replace(turn=1, find="rivers", text="lakes"), "substitution"),
        (Replace(turn=1, find="Ada", text="Marlow"), "neutral substitution"),
        (Replace(turn=1, find=", please.", text=", please!"), "substitution"),
        (Replace(turn=1, find=", please.", text=", please"), "deletion"),
        (Rewrite(turn=1, content="Hello."), "neutral substitution"),
        (Replace(turn=1, find="rivers", text="old rivers"), "addition"),
        (Drop(turn=0), "turn left out"),
        (Insert(turn=2, role="user", content="Go on."), "turn put in"),
    ],
    ids=str,
)
def test_the_kind_of_an_edit_is_what_becomes_of_the_text(operation: Operation, kind: str) -> None:
    assert kind_of(START, edit(operation)) == kind


def test_edits_of_the_search_have_their_kinds() -> None:
    roots = segmented(START)
    (run,) = sequences(roots)
    assert kind_of(START, reordered(START, run, "first to last")) == "reordering"
    name = next(one for one in walk(roots) if one.kind == "name")
    assert kind_of(START, replaced(START, [name], 1)) == "neutral substitution"
    assert kind_of(START, replaced(START, [roots[1]], 0)) == "neutral substitution"


def test_the_surface_does_not_depend_on_what_the_edit_did() -> None:
    assert surface_of(claim(3, label=True)) == surface_of(claim(3, label=False))


def test_sizes_places_and_rates_are_read_off() -> None:
    one = claim(1, prompt=START, edit=Edit(operations=(Replace(turn=1, find=" about rivers"),)), baseline=rate(12))
    found = surface_of(one)
    assert (found.gone, found.new, found.places, found.role) == (len(" about rivers"), 0, 1, "user")
    assert found.position == pytest.approx((9 + 8) / START.characters, abs=0.02)
    assert (found.baseline, found.direction, found.words) == (0.4, "up", 4)


def test_cells_part_at_one_half_and_hold_sizes_within_a_factor_of_four() -> None:
    low, high = (surface_of(claim(1, baseline=rate(yes))) for yes in (14, 15))
    assert low.cell != high.cell
    assert (low.direction, high.direction) == ("up", "down")
    sizes = [
        surface_of(
            claim(
                1,
                prompt=Prompt(turns=(Turn(role="user", content=f"{'x' * n} go"),)),
                edit=edit(Replace(turn=0, find="x" * n)),
            )
        )
        for n in (4, 15, 16)
    ]
    assert sizes[0].cell == sizes[1].cell != sizes[2].cell


def test_columns_are_numbers_one_for_each_claim() -> None:
    found = columns_of([surface_of(claim(n)) for n in range(5)])
    assert {len(column) for column in found.values()} == {5}
    assert found["kind: deletion"].tolist() == [1.0] * 5
    assert columns_of([])["size"].tolist() == []
