"""A belief study ends in one document, goes on where it stopped, and says so where nothing can be judged."""

import json
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest

from firsthand.auditing.labels import belief_learning, belief_study
from firsthand.auditing.labels.belief_known import TWO_BLOCKS, UNEXAMINED
from firsthand.auditing.labels.belief_study import belief
from firsthand.claims.labels import BeliefClaim
from firsthand.engine import LoadedModel
from firsthand.errors import ClaimError, LabelsError
from firsthand.progress import Silent
from firsthand.report.labels_document import LabelsDocument
from firsthand.studies.labels.belief import readings
from firsthand.studies.labels.belief.records import Fact, Facts, data_hash

CITIES = ("Oslo", "Lima", "Cairo", "Delhi", "Quito", "Tunis", "Perth", "Milan")
FACTS = Facts(
    tuple(
        Fact(f"The seat of firm {chr(65 + i)} is in", f"firm {chr(65 + i)}", CITIES[i % 8], CITIES[(i + 1 + i % 3) % 8])
        for i in range(20)
    ),
    {"repeated sentence": 2},
)


def claim(tiny_folder: Path, **changes: object) -> BeliefClaim:
    small = {
        "model": str(tiny_folder),
        "data_sha256": data_hash(FACTS),
        "records": 18,
        "known": False,
        "shots": 6,
        "rounds": 1,
        "answer_tokens": 4,
        "reading_tokens": 3,
        "layers": (0, 2),
        "splits": 3,
        "steering": {"records": 2, "doses": [0.5]},
        "analysis": {"clusters": ("subject", "experiment"), "bootstrap_draws": 200},
    }
    return BeliefClaim.model_validate({**small, **changes})


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Observers that choose nothing: what is chosen by them has tests of its own."""
    monkeypatch.setattr(belief_learning, "STRENGTHS", (0.02,))
    monkeypatch.setattr(belief_learning, "TREES", 10)


@pytest.fixture
def _telling(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random model's texts hold no city; here what a text holds is drawn from the text itself."""
    monkeypatch.setattr(readings, "occurs", lambda entity, text: crc32(f"{entity}/{text}".encode()) % 3 == 0)


@pytest.mark.usefixtures("_telling")
def test_a_study_gives_every_finding_and_a_deleted_unit_comes_back_the_same(
    tiny: LoadedModel, tiny_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    done = belief(claim(tiny_folder), FACTS, tiny, folder, reproduce=["again"])
    document = LabelsDocument.model_validate(json.loads((folder / "result.json").read_text()))
    assert document == done.document
    assert [finding.name for finding in document.findings] == ["report", "entities", "dominance", "steering"]
    assert document.data.used == {"facts in the file": 20, "records": 18, "answers": 18}
    assert document.reproduce == ("again",)
    assert {item.reporter for item in document.known_answers} == {
        "public label",
        "strongest observer",
        "lot",
        "wire",
        TWO_BLOCKS,
    }
    assert UNEXAMINED not in document.notes
    told = set(done.ran.reports)
    for name in ("everything public, trees", "visible answer: layer 0", "visible answer: everything public"):
        assert {f"observer {name}, the same shots", f"observer {name}, all records for shots"} <= told
    report, entities, dominance, steering = document.findings
    assert report.prompt is not None
    assert set(done.tables) == {"trials", "answers", "states", "steered"}
    assert {"the model's report", "labels drawn by lot"} < {name for name, _ in report.grids[0].rows}
    assert any("layer 0 of base and counter" in name for name, _ in entities.grids[0].rows)
    assert len(dominance.curves[0].series[0].points) == 2
    assert len(steering.grids[0].rows) == 3
    assert any("does not show that the model monitors" in note for note in steering.notes)
    units = sorted((folder / "trace" / "units").iterdir())
    before = {path: path.read_bytes() for path in units}
    for gone in ("item.0003", "experiment.001", "steered.000"):
        (folder / "trace" / "units" / f"{gone}.json").unlink()
    belief(claim(tiny_folder), FACTS, tiny, folder, reproduce=["again"])
    assert {path: path.read_bytes() for path in units} == before


def test_where_no_clusters_can_be_made_the_document_says_so_and_gives_no_verdict_but_insufficient(
    tiny: LoadedModel, tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readings, "occurs", lambda entity, text: False)
    document = belief(claim(tiny_folder, shows="answer"), FACTS, tiny, tmp_path / "run").document
    (result,) = document.findings[0].results
    assert result.verdict == "insufficient"
    assert "take only 1 different values" in result.reasons[0]
    assert document.instrument_ok
    assert UNEXAMINED in document.notes
    assert document.findings[1].notes == ("On no split could three clusters be made.",)
    assert [finding.name for finding in document.findings] == ["report", "entities", "dominance"]


@pytest.mark.usefixtures("_telling")
def test_another_language_model_is_held_against_the_report_and_the_model_itself_is_none(
    tiny: LoadedModel, tiny_folder: Path, tmp_path: Path
) -> None:
    named = claim(tiny_folder, reader="another", steering=None)
    with pytest.raises(LabelsError, match="is the model itself"):
        belief(named, FACTS, tiny, tmp_path / "one", reader=replace(tiny, name="another"))
    other = replace(tiny, name="another", weights_sha256="f" * 64)
    done = belief(named, FACTS, tiny, tmp_path / "two", reader=other)
    assert [card.name for card in done.document.models] == [tiny.name, "another"]
    rows = done.ran.reports[done.ran.reports["arm"] == "target"]
    valid = rows["answer"].notna()
    given = rows["observer reader: another"]
    assert given.notna().all()
    assert given[valid].tolist() == rows["answer"][valid].tolist()  # the same weights in the same conversations
    assert rows["coverage of reader: another"].tolist() == pytest.approx(rows["coverage"].tolist())
    assert rows["observer reader: another, its states of the prompts"].notna().all()
    report = done.document.findings[0]
    assert "reader: another, its states of the prompts" in {name for name, _ in report.grids[0].rows}
    assert any("of the probability of another" in note for note in report.notes)
    assert len(list((tmp_path / "two" / "models").iterdir())) == 1
    with pytest.raises(ClaimError, match="begun with another another"):
        belief(named, FACTS, tiny, tmp_path / "two", reader=replace(other, weights_sha256="e" * 64))


def test_a_reader_is_loaded_where_the_model_is_and_not_where_its_parts_are_listed(
    tiny: LoadedModel, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def loads(name: str, *, device: str, dtype: str) -> LoadedModel:
        asked.append(device)
        return replace(tiny, name=name, weights_sha256="f" * 64)

    monkeypatch.setattr(belief_study, "load", loads)
    spread = replace(tiny, device="auto (cuda:0, cuda:1)")
    named = claim(tiny_folder, reader="another")
    assert belief_study._reader(named, spread, None, Silent()) is not None
    assert asked == ["auto"]
