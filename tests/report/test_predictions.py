"""The report of predictions: one document; page, terminal and tables are renderings of it, and nothing in them acts."""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))

import numpy as np
from predictions_plain import drawn, table

from firsthand.analysis.predictions import Panel, judged_predictions
from firsthand.analysis.predictions.wordings import Worded, wording_effect
from firsthand.report.files import ReportError
from firsthand.report.predictions_document import ClaimsCard, PredictionsDocument, PredictorCard
from firsthand.report.predictions_files import export, read_json, write_json
from firsthand.report.predictions_html import render_predictions
from firsthand.report.predictions_terminal import print_predictions

HOSTILE = "<script>alert(1)</script>\u202e[red]\x1b[31m"
NAMES = {"floor": "floor", "base": "base", HOSTILE: "observer", "mute": "observer"}


@pytest.fixture(scope="module")
def document() -> PredictionsDocument:
    truth, codes, first, second = drawn(0)
    mute = np.where(np.arange(len(truth)) % 3 > 0, np.nan, first)
    said = {"floor": np.full(len(truth), 0.5), "base": second, HOSTILE: first, "mute": mute}
    rows = table(truth, codes, 0.8, **said).assign(source=HOSTILE, concreteness=np.nan, filtered=False)
    rows["source"] = np.where(rows["claim"].str[1:].astype(int) < 60, HOSTILE, "plain")
    panel = Panel.of(rows)
    odds = np.column_stack([first, second])
    worded = Worded(("a", HOSTILE), (0, 0), (True, False), odds, np.ones(odds.shape))
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return PredictionsDocument(
        claims=ClaimsCard(
            name=HOSTILE, sha256="0" * 64, claims=120, true=60, dropped={HOSTILE: 3}, targets=(HOSTILE,), drawn=2
        ),
        predictors=tuple(
            PredictorCard(
                name=name, kind=kind, identity="x", asked=HOSTILE, model={HOSTILE: HOSTILE}, invalid={HOSTILE: 2}
            )
            for name, kind in NAMES.items()
        ),
        results=judged_predictions(
            panel,
            NAMES,
            baseline="base",
            wordings=[wording_effect(panel, HOSTILE, worded)],
            beside={HOSTILE: "mute", "mute": "base"},
        ),
        prompt=HOSTILE,
        package_version="0",
        started=now,
        finished=now,
        limits=(HOSTILE,),
        reproduce=(HOSTILE,),
        notes=(HOSTILE,),
    )


def test_a_document_comes_back_from_its_file_as_it_was(document: PredictionsDocument, tmp_path: Path) -> None:
    write_json(document, tmp_path / "result.json")
    assert read_json(tmp_path / "result.json") == document
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ReportError, match="a document of predictions"):
        read_json(tmp_path / "other.json")


def test_the_page_runs_nothing_asks_for_nothing_and_hides_nothing(document: PredictionsDocument) -> None:
    page = render_predictions(document)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert not re.findall(r"(?:src|href)=\"https?:", page)
    assert 'http-equiv="Content-Security-Policy"' in page


def test_the_page_shows_every_number_with_its_interval_and_what_is_wrong_with_it(document: PredictionsDocument) -> None:
    page = render_predictions(document)
    for one in document.results.predictors:
        if one.auroc is not None:
            assert f"{one.auroc.value:.2f}" in page
    assert "insufficient" in page  # two thirds of one predictor's answers are invalid
    assert "constant" in page
    assert "chosen by base" in page
    assert page.count("<svg") >= 3


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_terminal_obeys_nothing_and_names_what_is_wrong(document: PredictionsDocument, width: int) -> None:
    console = Console(width=width, record=True, force_terminal=False, file=open("/dev/null", "w"))  # noqa: SIM115
    print_predictions(document, console, ["there/report.html"])
    text = console.export_text()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "floor is constant" in " ".join(text.split())
    assert "mute is insufficient" in " ".join(text.split())
    assert "there/report.html" in text
    assert all(len(line) <= width for line in text.splitlines())


def test_figures_and_tables_are_written_for_others_to_use(document: PredictionsDocument, tmp_path: Path) -> None:
    files = export(document, tmp_path, {"predictions": pd.DataFrame({"claim": ["a"], "note": [HOSTILE]})})
    names = {one.relative_to(tmp_path).as_posix() for one in files}
    assert {"figures/auroc.svg", "figures/over-floors.png", "data/scores.csv", "data/predictions.parquet"} <= names
    scores = pd.read_parquet(tmp_path / "data" / "scores.parquet").set_index("predictor")
    found = {one.name: one for one in document.results.predictors}
    assert found["base"].auroc is not None
    assert scores.loc["base", "auroc"] == pytest.approx(found["base"].auroc.value)
    assert scores.loc["base", "auroc_units"] == 40
    flips = pd.read_csv(tmp_path / "data" / "flips.csv")
    assert set(flips["label"]) == {True, False}
