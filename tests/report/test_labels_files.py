"""Exported files of a label study: whole pictures, tables that read back equal, JSON that is the document."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from firsthand.report.files import ReportError
from firsthand.report.labels_document import LabelsDocument
from firsthand.report.labels_figures import figures_of
from firsthand.report.labels_files import export, read_json, write_json
from firsthand.report.labels_tables import tables_of


@pytest.fixture
def folder(labels: LabelsDocument, tmp_path: Path) -> Path:
    written = export(labels, tmp_path, {"trials": pd.DataFrame({"trial_id": ["a"], "logprobs": [[-0.1, -2.0]]})})
    assert sorted(written) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    return tmp_path


def test_every_figure_of_the_page_is_a_whole_svg_and_png(labels: LabelsDocument, folder: Path) -> None:
    names = [drawing.name for drawing in figures_of(labels)]
    assert len(names) == len(set(names))
    assert {"probe-curve-shots", "probe-curve-layers", "alike-picture-1", "published-1"} < set(names)
    assert {path.stem for path in (folder / "figures").iterdir()} == set(names)
    for name in names:
        root = ElementTree.fromstring((folder / "figures" / f"{name}.svg").read_text("utf-8"))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert (folder / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_curve_names_its_lines_and_axes(folder: Path) -> None:
    root = ElementTree.fromstring((folder / "figures" / "probe-curve-shots.svg").read_text("utf-8"))
    words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"report", "label of the data", "reader: gemma3-270m", "Right answers", "chance, 50.0%"} <= words


def test_tables_read_back_equal(labels: LabelsDocument, folder: Path) -> None:
    own = tables_of(labels)
    assert {"results", "observers", "arms", "readers", "curves", "grids", "pictures", "published", "data"} <= set(own)
    for name, table in own.items():
        parquet = pd.read_parquet(folder / "data" / f"{name}.parquet")
        csv = pd.read_csv(folder / "data" / f"{name}.csv", float_precision="round_trip")
        assert list(parquet.columns) == list(csv.columns) == list(table.columns)
        assert len(parquet) == len(csv) == len(table)
    curves = pd.read_csv(folder / "data" / "curves.csv")
    row = curves[(curves["curve"] == "shots") & (curves["series"] == "report") & (curves["finding"] == "probe")].iloc[
        -1
    ]
    assert (row["x"], row["value"], row["value_units"], row["value_cluster"]) == (45, 0.67, 24, "concept")


def test_a_grid_is_a_table_of_its_cells(labels: LabelsDocument) -> None:
    grids = tables_of(labels)["grids"]
    assert grids[["row", "column"]].drop_duplicates().shape[0] == 5
    assert grids.set_index(["row", "column"]).loc[("SmolLM2", "Remark"), "text"] == "answers by place"
    assert grids["value"].isna().sum() == 1


def test_what_was_left_out_is_a_table(labels: LabelsDocument) -> None:
    data = tables_of(labels)["data"]
    assert data[data["what"] == "left out"].set_index("name")["items"].to_dict() == labels.data.dropped


def test_hostile_text_is_exported_whole(labelled: SimpleNamespace, tmp_path: Path) -> None:
    export(labelled.hostile, tmp_path, {})
    for path in (tmp_path / "figures").glob("*.svg"):
        assert "<script" not in path.read_text("utf-8")


def test_a_broken_instrument_exports_no_figure_and_no_result(labelled: SimpleNamespace, tmp_path: Path) -> None:
    export(labelled.document(instrument_ok=False, instrument_failures=("A wire was cut.",)), tmp_path, {})
    assert not (tmp_path / "figures").exists()
    assert not {path.stem for path in (tmp_path / "data").iterdir()} & {"results", "observers", "arms", "kinds"}


def test_json_round_trip(labels: LabelsDocument, tmp_path: Path) -> None:
    assert read_json(write_json(labels, tmp_path / "study.json")) == labels


@pytest.mark.parametrize("text", ["{}", "nonsense", json.dumps({"schema_version": 2})])
def test_what_is_no_document_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "study.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ReportError, match="is not a labels document"):
        read_json(path)
    with pytest.raises(ReportError, match="could not be read"):
        read_json(tmp_path / "none.json")
