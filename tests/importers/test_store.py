"""Trace and profile on disk, importers by name, and one of a user's own."""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from firsthand.analysis.findings import ImportedProfile, Source
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.errors import AnalysisError, TraceError
from firsthand.importers.base import Imported, ImporterError
from firsthand.importers.importing import import_study
from firsthand.importers.registry import make_importer
from firsthand.importers.store import read_trace
from firsthand.vocabulary import Capability, Kind, Verdict

from .conftest import Rows, detection_rows, place_rows

WriteCsv = Callable[[str, Rows], Path]


def test_the_same_files_give_the_same_bytes(write_csv: WriteCsv, tmp_path: Path) -> None:
    folder = write_csv("output_anthropic_reproduce.csv", detection_rows())
    first, second = (import_study(make_importer("hahami"), folder, tmp_path / name) for name in ("a", "b"))
    assert first == second
    files = [path.relative_to(tmp_path / "a") for path in sorted((tmp_path / "a").rglob("*")) if path.is_file()]
    assert {path.as_posix() for path in files} == {
        "findings.csv",
        "profile.json",
        "trace/detection.parquet",
        "trace/manifest.json",
    }
    for path in files:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()


def test_the_trace_reads_back_and_a_changed_file_is_named(write_csv: WriteCsv, tmp_path: Path) -> None:
    folder = write_csv("output_anthropic_reproduce.csv", detection_rows())
    profile = import_study(make_importer("hahami"), folder, tmp_path / "a")
    table = read_trace(tmp_path / "a")["detection"]
    assert len(table) == profile.studies[0].measurements == 8
    assert {"trial_id", "concept", "layer", "repeats", "identical", "correct", "kind"} <= set(table)
    manifest = json.loads((tmp_path / "a" / "trace" / "manifest.json").read_text())
    assert manifest["studies"]["detection"]["clusters"] == ["concept"]
    assert manifest["sources"][0]["file"] == "output_anthropic_reproduce.csv"
    (tmp_path / "a" / "trace" / "detection.parquet").write_bytes(b"other")
    with pytest.raises(TraceError, match=r"detection\.parquet"):
        read_trace(tmp_path / "a")


def test_an_import_over_an_older_one_leaves_no_stale_table(write_csv: WriteCsv, tmp_path: Path) -> None:
    folder = write_csv("output_anthropic_reproduce.csv", detection_rows())
    import_study(make_importer("hahami"), folder, tmp_path / "a")
    (tmp_path / "a" / "trace" / "mine.parquet").write_bytes(b"not listed, so not ours")
    (folder / "output_anthropic_reproduce.csv").unlink()
    write_csv("output_localization_10sent.csv", place_rows())
    import_study(make_importer("hahami"), folder, tmp_path / "a")
    names = {path.name for path in (tmp_path / "a" / "trace").iterdir()}
    assert names == {"localization-10sent.parquet", "manifest.json", "mine.parquet"}


def test_the_json_is_the_profile_and_the_table_holds_every_number(write_csv: WriteCsv, tmp_path: Path) -> None:
    folder = write_csv("output_localization_10sent.csv", place_rows())
    profile = import_study(make_importer("hahami"), folder, tmp_path / "a")
    assert ImportedProfile.model_validate_json((tmp_path / "a" / "profile.json").read_text()) == profile
    rows = list(csv.DictReader((tmp_path / "a" / "findings.csv").open()))
    assert len(rows) == sum(max(len(f.numbers), 1) for study in profile.studies for f in study.findings)


def test_an_audit_is_not_overwritten_and_a_missing_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "claim.frozen.json").write_text("{}")
    with pytest.raises(ImporterError, match="holds an audit"):
        import_study(make_importer("hahami"), tmp_path, tmp_path / "run")
    with pytest.raises(ImporterError, match="does not exist"):
        import_study(make_importer("hahami"), tmp_path / "nowhere", tmp_path / "out")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ImporterError, match="is a file"):
        import_study(make_importer("hahami"), tmp_path / "file", tmp_path / "out")
    with pytest.raises(ImporterError, match="is a file"):
        import_study(make_importer("hahami"), tmp_path, tmp_path / "file")


def test_an_unknown_importer_names_those_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImporterError, match="There is no importer 'petri'") as caught:
        make_importer("petri")
    assert "codebook_icl, cot-hints, hahami" in caught.value.remedy
    (tmp_path / "mine_broken.py").write_text("class Half:\n    name = 'half'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ImporterError, match="is no importer"):
        make_importer("mine_broken:Half")
    with pytest.raises(ImporterError, match="could not be loaded"):
        make_importer("mine_broken:Nothing")


class Own:
    """What a user might write: a detection table with every control and an observer."""

    name = "own"
    title = "My trials"

    def read(self, folder: Path) -> Imported:
        rows = []
        for block in range(24):
            for kind in Kind:
                yes = kind is Kind.TARGET
                rows.append(
                    {
                        "trial_id": f"{block}-{kind}",
                        "repeats": 1,
                        "identical": True,
                        "kind": kind.value,
                        "block": f"b{block}",
                        "truth": "yes" if yes else "no",
                        "answer": "yes" if yes else "no",
                        "correct": 1.0,
                        "observer:outsider": 0.5,
                    }
                )
        table = pd.DataFrame(rows)
        quiet = table[table["kind"].isin(["baseline", "target"])].copy()
        quiet["trial_id"] += "-control"
        quiet["answer"], quiet["contrast"] = "no", -5.0
        quiet["dose"] = quiet["kind"].map({"baseline": 0.0, "target": 1.0})
        common = {"capability": Capability.DETECTION, "clusters": ("block",), "options": ("yes", "no")}
        claim = ImportedStudy(name="mine", title="Was it changed?", table=table, published_rows=len(table), **common)
        control = ImportedStudy(
            name="control", title="Another question", table=quiet, control=True, dose="dose", cells=("dose",), **common
        )
        return Imported((claim, control), (Source(file="none", sha256="0" * 64, rows=len(table)),))


def test_a_users_own_table_with_all_controls_and_an_observer_can_be_privileged(tmp_path: Path) -> None:
    sys.modules["own_importer"] = sys.modules[__name__]
    profile = import_study(make_importer("own_importer:Own"), tmp_path, tmp_path / "out")
    result = profile.studies[0]
    assert result.verdict is Verdict.PRIVILEGED, result.reasons
    assert profile.studies[1].verdict is None


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"clusters": ()}, "names no cluster columns"),
        ({"clusters": ("nothing",)}, "lacks the columns: nothing"),
        ({"table": pd.DataFrame({"trial_id": [], "repeats": [], "identical": [], "kind": [], "block": []})}, "no rows"),
    ],
)
def test_a_study_that_cannot_be_judged_is_refused(change: dict[str, object], word: str) -> None:
    table = Own().read(Path()).studies[0].table
    given = {"name": "x", "title": "x", "capability": Capability.DETECTION, "table": table, "clusters": ("block",)}
    with pytest.raises(AnalysisError, match=word):
        ImportedStudy(**{**given, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("column", "bad", "word"),
    [("kind", "odd", "unknown kinds: odd"), ("correct", 2.0, "outside 0 to 1"), ("block", None, "empty values")],
)
def test_impossible_values_are_refused(column: str, bad: object, word: str) -> None:
    table = Own().read(Path()).studies[0].table.copy()
    table[column] = table[column].astype(object)
    table.loc[3, column] = bad
    with pytest.raises(AnalysisError, match=word):
        ImportedStudy(name="x", title="x", capability=Capability.DETECTION, table=table, clusters=("block",))
