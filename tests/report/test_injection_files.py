"""Exported files: figures that are pictures, tables that read back equal, JSON that is the document."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from firsthand.report.files import ReportError
from firsthand.report.injection_document import InjectionDocument
from firsthand.report.injection_figures import figures_of
from firsthand.report.injection_files import export, read_json, write_json
from firsthand.report.injection_tables import tables_of

ESTIMATE = ("", "_low", "_high", "_level", "_trials", "_units", "_cluster", "_p")


@pytest.fixture(scope="module")
def trials() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "trial_id": ["a", "b", "c"],
            "contrast": [0.1, np.nan, 1 / 3],
            "residual": [[0.5, 1.25], [], [3.0]],
            "said": ['comma, "quote"\nline', "", "ä·\u202e"],
        },
        index=[5, 6, 7],
    )


@pytest.fixture
def folder(injection: InjectionDocument, trials: pd.DataFrame, tmp_path: Path) -> Path:
    written = export(injection, tmp_path, {"trials": trials})
    assert sorted(written) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    return tmp_path


def test_every_figure_of_the_page_is_a_whole_svg_and_png(injection: InjectionDocument, folder: Path) -> None:
    names = [drawing.name for drawing in figures_of(injection)]
    assert len(names) == len(set(names)) > 20
    assert {path.stem for path in (folder / "figures").iterdir()} == set(names)
    for name in names:
        root = ElementTree.fromstring((folder / "figures" / f"{name}.svg").read_text("utf-8"))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(root.iter("{http://www.w3.org/2000/svg}text"))) > 3
        png = (folder / "figures" / f"{name}.png").read_bytes()
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        assert png.endswith(b"IEND\xaeB`\x82")
        assert int.from_bytes(png[16:20], "big") > 600


def test_tables_read_back_equal(injection: InjectionDocument, folder: Path) -> None:
    own = tables_of(injection)
    assert set(own) == {
        *("results", "kinds", "observers", "controls", "arms", "readers", "reliability"),
        *("selection", "grids", "matrices", "pictures", "transfer", "published", "known_answers"),
    }
    for name, table in own.items():
        parquet = pd.read_parquet(folder / "data" / f"{name}.parquet")
        csv = pd.read_csv(folder / "data" / f"{name}.csv", float_precision="round_trip")
        assert list(parquet.columns) == list(csv.columns) == list(table.columns)
        for column in table.columns:
            for expected, first, second in zip(table[column], parquet[column], csv[column], strict=True):
                assert same(expected, first), (name, column)
                assert same(expected, json.loads(second) if isinstance(expected, list) else second), (name, column)


def same(expected: object, found: object) -> bool:
    if isinstance(expected, list):
        return expected == list(found)  # type: ignore[call-overload]
    if expected is None or expected != expected or expected == "":
        return found is None or found != found or found == ""
    return bool(expected == found)


def test_a_further_table_is_written_as_it_is(trials: pd.DataFrame, folder: Path) -> None:
    parquet = pd.read_parquet(folder / "data" / "trials.parquet")
    csv = pd.read_csv(folder / "data" / "trials.csv", float_precision="round_trip", keep_default_na=False)
    assert [list(one) for one in parquet["residual"]] == list(trials["residual"])
    assert csv["residual"].map(json.loads).tolist() == list(trials["residual"])
    assert csv["said"].tolist() == parquet["said"].tolist() == list(trials["said"])
    assert csv["contrast"].tolist() == ["0.1", "", str(1 / 3)]


def test_every_estimate_of_a_table_has_its_interval_and_units(injection: InjectionDocument) -> None:
    for name, table in tables_of(injection).items():
        estimates = [column.removesuffix("_low") for column in table.columns if column.endswith("_low")]
        for column in estimates:
            assert {f"{column}{end}" for end in ESTIMATE} <= set(table.columns), name


def test_the_chosen_cell_and_the_best_of_the_grid_are_marked(injection: InjectionDocument) -> None:
    grids = tables_of(injection)["grids"]
    chosen, best = grids[grids["chosen"]], grids[grids["best_of_grid"]]
    assert chosen[["setting", "layer", "dose"]].to_numpy().tolist() == [["instruction", 9, 2.0]]
    assert best[["setting", "layer", "dose"]].to_numpy().tolist() == [["conversation", 12, 2.0]]
    assert best["rise"].item() == grids["rise"].max()


@pytest.mark.parametrize("name", ["grids", "a/b", "", "..", "-x"])
def test_a_table_needs_a_name_of_its_own(injection: InjectionDocument, tmp_path: Path, name: str) -> None:
    with pytest.raises(ReportError, match="cannot be exported under the name"):
        export(injection, tmp_path, {name: pd.DataFrame({"x": [1]})})
    assert not list(tmp_path.iterdir())


def test_a_column_of_mixed_kinds_is_refused_by_name(injection: InjectionDocument, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="The table 'odd' could not be written"):
        export(injection, tmp_path, {"odd": pd.DataFrame({"x": [1, "a"]})})


def test_hostile_text_is_exported_whole(injected: SimpleNamespace, tmp_path: Path) -> None:
    export(injected.hostile, tmp_path, {"odd": pd.DataFrame({"said": ["\ud800", "b"]}, dtype=object)})
    assert pd.read_parquet(tmp_path / "data" / "odd.parquet")["said"].tolist() == ["⟨U+D800⟩", "b"]
    for path in (tmp_path / "figures").glob("*.svg"):
        assert "<script" not in path.read_text("utf-8")


def test_a_broken_instrument_exports_no_figure_and_no_result(injected: SimpleNamespace, tmp_path: Path) -> None:
    broken = injected.document(instrument_ok=False, instrument_failures=("An edit was not consumed.",))
    export(broken, tmp_path, {})
    assert not (tmp_path / "figures").exists()
    names = {path.stem for path in (tmp_path / "data").iterdir()}
    assert "grids" in names
    assert not names & {"results", "observers", "arms", "kinds"}


def test_json_round_trip(injection: InjectionDocument, tmp_path: Path) -> None:
    assert read_json(write_json(injection, tmp_path / "study.json")) == injection


@pytest.mark.parametrize("text", ["{}", "nonsense"])
def test_what_is_no_document_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "study.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ReportError, match="is not an injection document"):
        read_json(path)
    with pytest.raises(ReportError, match="could not be read"):
        read_json(tmp_path / "none.json")
