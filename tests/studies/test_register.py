"""The register study on a tiny random model: what is written where, in which order, and how it is taken up again."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from firsthand.claims import Claim, DesignSpec, StateSpec, default_claim
from firsthand.engine.loading import LoadedModel
from firsthand.errors import ClaimError, ElicitationError
from firsthand.progress import Silent
from firsthand.studies.cells import Cell
from firsthand.studies.register import CellScore, choose, run_confirmation, run_selection
from firsthand.studies.register_bench import Bench, prepare
from firsthand.studies.register_unit import UnitTables, run_unit
from firsthand.trials.canonical import digest
from firsthand.trials.design import plan_block
from firsthand.trials.freeze_log import read_log
from firsthand.trials.trace import PARTS, Trace
from firsthand.trials.verify import verify_trace
from firsthand.vocabulary import Capability, Kind, Subset

CELL = Cell(layer=1, dose=0.5)
ALL = (Capability.IDENTIFICATION, Capability.DETECTION, Capability.CONFIDENCE)


def small_claim(**changes: object) -> Claim:
    return default_claim(
        state=StateSpec(layers=(1,), doses=(0.5,)),
        design=DesignSpec(selection_blocks=2, confirmation_blocks=3),
        **changes,
    )


@pytest.fixture(scope="module")
def bench(tiny: LoadedModel) -> Bench:
    return prepare(tiny, small_claim())


@pytest.fixture(scope="module")
def unit(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> UnitTables:
    folder = tmp_path_factory.mktemp("unit")
    return run_unit(bench, plan_block(0, Subset.CONFIRMATION, 0), CELL, "u", folder, ALL)


def by_kind(unit: UnitTables, kind: Kind) -> pd.DataFrame:
    joined = unit.parts["sealed"].merge(unit.parts["readings"], on="trial_id")
    return joined[joined["kind"] == str(kind)]


def test_the_late_site_holds_the_post_state_and_the_early_site_the_pre_state(unit: UnitTables) -> None:
    joined = unit.parts["sealed"].merge(unit.parts["readings"], on="trial_id")
    assert ((joined["site_early"] > 0) == (joined["pre_state"] == 1)).all()
    assert ((joined["site_late"] > 0) == (joined["post_state"] == 1)).all()


def test_only_target_trials_change_the_state(unit: UnitTables) -> None:
    sealed = unit.parts["sealed"]
    assert (sealed["changed"] == (sealed["kind"] == "target")).all()
    assert (sealed["changed"] == (sealed["pre_state"] != sealed["post_state"])).all()


def test_every_kind_occurs_once_for_each_pre_state(unit: UnitTables) -> None:
    counts = unit.parts["sealed"].groupby(["kind", "pre_state"]).size()
    assert len(counts) == 2 * len(Kind)
    assert (counts == 1).all()


def test_a_sham_changes_nothing_and_a_target_does(unit: UnitTables) -> None:
    assert (by_kind(unit, Kind.SHAM)["impact_neutral"] < 1e-9).all()
    assert (by_kind(unit, Kind.TARGET)["impact_neutral"] > 1e-6).all()


def test_an_impact_control_has_the_impact_of_a_flip_and_leaves_the_state(unit: UnitTables) -> None:
    rows = by_kind(unit, Kind.IMPACT_CONTROL)
    reached = rows["impact_neutral"]
    matched = rows["impact_matched"].to_numpy(dtype=bool)
    assert matched.any()
    assert np.allclose(reached[matched], rows["impact_target"][matched], rtol=0.151)
    assert ((rows["site_late"] > 0) == (rows["pre_state"] == 1)).all()
    flip = 2.0 * rows["amplitude"]
    assert ((rows["impact_dose"] >= 0.999 * flip) & (rows["impact_dose"] <= 2.001 * flip)).all()


def test_impact_directions_differ_between_trials_and_have_no_part_of_the_registers(bench: Bench) -> None:
    from firsthand.states.register import orthogonal_direction

    first, second = (orthogonal_direction(bench.direction_H, "impact", 0, "c", 0, slot) for slot in (0, 1))
    assert abs(float(first @ bench.direction_H)) < 1e-12
    assert abs(float(first @ second)) < 0.9


def test_public_evidence_is_logged_frozen_before_the_assignment_and_holds_no_kind(bench: Bench, tmp_path: Path) -> None:
    made = run_unit(bench, plan_block(0, Subset.CONFIRMATION, 1), CELL, "u", tmp_path, ALL)
    events = read_log(tmp_path)
    assert [e["event"] for e in events] == ["frozen", "assigned"]
    assert events[0]["at"] <= events[1]["at"]
    assert events[0]["public_hash"] == digest(made.frozen["evidence"])
    text = json.dumps(made.frozen["evidence"])
    assert not any(f'"{kind}"' in text for kind in Kind)
    assert "post_state" not in text


def test_what_observers_are_shown_is_one_of_the_two_frozen_renderings(unit: UnitTables) -> None:
    kinds = unit.parts["sealed"].set_index("trial_id")["kind"]
    for frozen, (_, row) in zip(unit.frozen["evidence"], unit.parts["public"].iterrows(), strict=True):
        rendering = "anomalous" if kinds[row["trial_id"]] == "input_control" else "plain"
        assert json.loads(row["view"]) == frozen[rendering]


def test_no_two_trials_of_a_block_have_the_same_input(unit: UnitTables) -> None:
    texts = {json.dumps(json.loads(view)["turns"]) for view in unit.parts["public"]["view"]}
    assert len(texts) == len(unit.parts["public"])


def test_a_unit_is_the_same_to_the_byte_when_it_is_run_again(bench: Bench, tmp_path: Path) -> None:
    from firsthand.trials.trace import to_parquet

    plan = plan_block(0, Subset.CONFIRMATION, 2)
    one, two = (run_unit(bench, plan, CELL, "u", tmp_path / str(i), ALL) for i in range(2))
    for part in PARTS:
        assert to_parquet(one.parts[part]) == to_parquet(two.parts[part])


def test_a_run_stopped_between_units_ends_with_the_trace_of_one_never_stopped(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run_confirmation(bench, CELL, tmp_path / "whole", Silent(), "stage")
    calls = []

    def stops_at_the_second(*args: object) -> UnitTables:
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run_unit(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("firsthand.studies.register.run_unit", stops_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        run_confirmation(bench, CELL, tmp_path / "stopped", Silent(), "stage")
    monkeypatch.undo()
    resumed = run_confirmation(bench, CELL, tmp_path / "stopped", Silent(), "stage")
    assert resumed.content_digest() == whole.content_digest()
    for path in sorted((tmp_path / "whole").rglob("*.parquet")):
        other = tmp_path / "stopped" / path.relative_to(tmp_path / "whole")
        assert other.read_bytes() == path.read_bytes()
    assert verify_trace(resumed.folder, 0) == 3


def test_the_cell_with_the_strongest_dependence_is_chosen_whatever_its_sign(bench: Bench) -> None:
    scores = [
        CellScore(Cell(0, 0.5), 0.6, 0.7, 24),
        CellScore(Cell(1, 0.5), 0.3, 0.1, 24),
        CellScore(Cell(1, 1.0), 0.3, 0.1, 24),
    ]
    assert choose(bench, scores) == Cell(1, 0.5)


def test_selection_runs_the_grid_on_selection_blocks_only(tiny: LoadedModel, tmp_path: Path) -> None:
    claim = default_claim(
        state=StateSpec(layers=(0, 1), doses=(1.0,)), design=DesignSpec(selection_blocks=2, confirmation_blocks=2)
    )
    grid = prepare(tiny, claim)
    scores = run_selection(grid, tmp_path, Silent())
    assert [s.cell for s in scores] == [Cell(0, 1.0), Cell(1, 1.0)]
    assert set(Trace(tmp_path).read("sealed")["subset"]) == {"selection"}


def test_selection_and_confirmation_blocks_share_no_carrier(bench: Bench) -> None:
    from firsthand.studies.register_prompts import draw_texts

    def drawn(subset: Subset) -> set[str]:
        plans = [plan_block(0, subset, i) for i in range(24)]
        texts = [t for p in plans for t in draw_texts(bench.claim, p, bench.carriers, bench.choices, bench.letters)]
        return {t.block.intro for t in texts} | {t.block.carrier for t in texts}

    assert not drawn(Subset.SELECTION) & drawn(Subset.CONFIRMATION)


def test_every_confirmation_block_of_the_standard_claim_has_a_carrier_of_its_own(bench: Bench) -> None:
    from firsthand.studies.register_prompts import draw_texts

    plans = [plan_block(0, Subset.CONFIRMATION, i) for i in range(default_claim().design.confirmation_blocks)]
    first = [draw_texts(bench.claim, p, bench.carriers, bench.choices, bench.letters)[0] for p in plans]
    assert len({text.block.carrier for text in first}) == len(plans)


@pytest.mark.parametrize("layer", [3, 7])
def test_a_layer_from_which_nothing_can_reach_a_later_token_is_refused(tiny: LoadedModel, layer: int) -> None:
    with pytest.raises(ClaimError, match=f"names {layer}"):
        prepare(tiny, default_claim(state=StateSpec(layers=(layer,))))


def test_too_few_usable_codes_are_refused(tiny: LoadedModel) -> None:
    from firsthand.claims import ReportSpec

    with pytest.raises(ElicitationError, match="distinct codes"):
        prepare(tiny, default_claim(report=ReportSpec(code_letters="KM")))
