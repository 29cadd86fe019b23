"""Exported files of investigations: whole pictures, tables that read back equal and count what the document counts."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import investigated as planted
import pandas as pd
import pytest

from firsthand.report.investigations_document import InvestigationsDocument
from firsthand.report.investigations_figures import FIGURES, drawn_by_default, figures_of
from firsthand.report.investigations_files import export
from firsthand.report.investigations_tables import tables_of


@pytest.fixture(scope="module")
def document() -> InvestigationsDocument:
    return planted.document()


@pytest.fixture(scope="module")
def folder(document: InvestigationsDocument, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported")
    written = export(
        document, path, {"responses": pd.DataFrame({"text": ["a"]})}, figures=[document.investigations[0].id]
    )
    assert sorted(written) == sorted(found for found in path.rglob("*") if found.is_file())
    return path


def test_a_figure_is_a_whole_svg_and_png_with_every_rate(document: InvestigationsDocument, folder: Path) -> None:
    name = f"investigation-{document.investigations[0].id}"
    assert {path.name for path in (folder / "figures").iterdir()} == {f"{name}.svg", f"{name}.png"}
    root = ElementTree.fromstring((folder / "figures" / f"{name}.svg").read_text("utf-8"))
    words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"87%, 26 of 30", "3%, 1 of 30", "96%, 27 of 28, 2 invalid", "none valid, 30 invalid"} <= words
    assert (folder / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_the_figure_tells_the_same_as_a_table(document: InvestigationsDocument) -> None:
    drawing = figures_of(document)[0]
    assert [row[1] for row in drawing.rows] == ["baseline", *["exploration"] * 4, *["confirmation"] * 2]
    assert drawing.rows[5][2:] == ("6.7% (2 of 30)", "[1.8%, 21.3%]", "−80.0 pts [−89.4, −58.0]", "0")


def test_without_names_only_the_largest_changes_are_drawn() -> None:
    document = planted.many(FIGURES + 5)
    chosen = drawn_by_default(document)
    assert len(chosen) == FIGURES
    sizes = {one.id: abs(one.experiments[4].rate.yes - 26) for one in document.investigations}
    assert min(sizes[name] for name in chosen) >= max(size for name, size in sizes.items() if name not in chosen)


def test_tables_read_back_equal(document: InvestigationsDocument, folder: Path) -> None:
    own = tables_of(document)
    assert set(own) == {"investigations", "experiments", "claims", "account", "funnel", "label_errors", "costs"}
    for name, table in own.items():
        parquet = pd.read_parquet(folder / "data" / f"{name}.parquet")
        csv = pd.read_csv(folder / "data" / f"{name}.csv")
        assert list(parquet.columns) == list(csv.columns) == list(table.columns)
        assert len(parquet) == len(csv) == len(table)


def test_experiments_count_what_was_counted(document: InvestigationsDocument) -> None:
    table = tables_of(document)["experiments"].set_index(["investigation", "experiment"])
    for one in document.investigations:
        assert table.loc[(one.id, 0), "rate_yes"] == one.baseline.yes
        for experiment in one.experiments:
            row = table.loc[(one.id, experiment.number)]
            assert (row["rate_yes"], row["rate_no"], row["rate_invalid"]) == tuple(
                experiment.rate.model_dump().values()
            )
            assert row["stage"] == experiment.stage
    assert pd.isna(table.loc[(document.investigations[0].id, 4), "rate"])


def test_an_unknown_cost_is_empty_and_never_zero(document: InvestigationsDocument, folder: Path) -> None:
    costs = pd.read_csv(folder / "data" / "costs.csv").set_index("model")
    assert pd.isna(costs.loc["someone/new", "money"])
    assert costs.loc["anthropic/claude-opus-4-6", "money"] == pytest.approx(0.715)


def test_the_account_sums_to_what_began(document: InvestigationsDocument) -> None:
    table = tables_of(document)["account"]
    dropped = table.loc[table["reason"] != "", "count"].sum()
    assert dropped + document.account.kept == document.account.began == 12


def test_hostile_text_can_be_exported(tmp_path: Path) -> None:
    document = planted.hostile()
    for path in export(document, tmp_path):
        if path.suffix == ".svg":
            ElementTree.fromstring(path.read_text("utf-8"))
            assert "<script" not in path.read_text("utf-8")
    assert len(pd.read_parquet(tmp_path / "data" / "experiments.parquet")) == 6
