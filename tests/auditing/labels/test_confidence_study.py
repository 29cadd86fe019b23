"""A confidence study of the tiny model, from claim to document."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from firsthand.auditing.labels.confidence_meta_d import meta_d_of
from firsthand.auditing.labels.confidence_observers import Public
from firsthand.auditing.labels.confidence_study import ConfidenceRun, confidence, spec_of
from firsthand.claims.claim import AnalysisSpec
from firsthand.claims.labels import ConfidenceClaim
from firsthand.engine import LoadedModel
from firsthand.errors import AnalysisError, ElicitationError, LabelsError
from firsthand.report.labels_document import LabelsDocument
from firsthand.studies.labels.confidence.questions import MultipleChoice, Questions, digest_of, read_questions
from firsthand.studies.labels.confidence.scores import answers_of
from firsthand.trials.files import read_json
from firsthand.vocabulary import Verdict

WORDS = ("river", "cat", "letter", "window", "doctor", "song", "garden", "train", "lake", "road", "bell", "stone")


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Questions:
    folder = tmp_path_factory.mktemp("questions")
    for number, word in enumerate(WORDS):
        lines = [f"Which {word} is number {i}?,{i}0,{i}1,{i}2,{i}3,{'ABCD'[i % 4]}" for i in range(4)]
        (folder / f"{word}_{number}_test.csv").write_text("\n".join(lines) + "\n")
    return read_questions(folder)


def _small(tiny: LoadedModel, questions: Questions) -> ConfidenceClaim:
    """A study of few questions with one report."""
    return ConfidenceClaim(
        model=tiny.name,
        data_sha256=digest_of(questions),
        questions=20,
        pairs=0,
        layers=(0,),
        reports=("true",),
        analysis=AnalysisSpec(clusters=("question", "subject"), bootstrap_draws=300),
    )


@pytest.fixture(scope="module")
def make(questions: Questions, tiny: LoadedModel) -> Callable[[Path], ConfidenceRun]:
    claim = ConfidenceClaim(
        model=tiny.name,
        data_sha256=digest_of(questions),
        questions=48,
        pairs=4,
        layers=(0, 2),
        reports=("true", "know"),
        analysis=AnalysisSpec(clusters=("question", "subject"), bootstrap_draws=300),
    )
    return lambda folder: confidence(claim, questions, tiny, folder, name="towns", reproduce=["again"])


@pytest.fixture(scope="module")
def done(make: Callable[[Path], ConfidenceRun], tmp_path_factory: pytest.TempPathFactory) -> ConfidenceRun:
    return make(tmp_path_factory.mktemp("confidence") / "run")


def test_a_study_ends_in_a_document_with_every_report_judged_under_both_conditions(done: ConfidenceRun) -> None:
    document = LabelsDocument.model_validate(read_json(done.folder / "result.json"))
    assert document.study == "confidence"
    assert document.instrument_ok, document.failed_checks
    assert [f.name for f in document.findings] == ["true", "know", "frames", "answers", "two-options"]
    for finding in document.findings[:2]:
        assert [str(r.condition) for r in finding.results] == ["y_withheld", "y_shown"]
        assert finding.prompt is not None
        assert finding.prompt.endswith(("Answer:", "Reply:"))
    assert len(document.known_answers) == 8
    for finding in document.findings[:2]:
        assert [grid.name for grid in finding.grids] == ["calibration", "asked"]
        assert {reader.where for result in finding.results for reader in result.readers} == {"site", "report"}
    assert document.data.used["questions"] == 48
    assert document.reproduce == ("again",)
    assert "state" in done.rows
    assert "state" not in done.table


def test_a_random_model_s_answers_are_invalid_and_nothing_is_said_of_its_confidence(done: ConfidenceRun) -> None:
    for finding in done.document.findings[:2]:
        assert {str(r.verdict) for r in finding.results} == {"insufficient"}


def test_a_unit_that_was_deleted_comes_back_with_the_same_bytes(
    done: ConfidenceRun, make: Callable[[Path], ConfidenceRun]
) -> None:
    trace = done.folder / "trace"
    unit = "questions.00008"
    parts = [trace / part / f"{unit}.parquet" for part in ("public", "sealed", "reports", "readings")]
    before = [part.read_bytes() for part in parts]
    for path in (*parts, trace / "units" / f"{unit}.json"):
        path.unlink()
    others = {path: path.stat().st_mtime_ns for path in (trace / "units").iterdir()}
    again = make(done.folder)
    assert [part.read_bytes() for part in parts] == before
    assert {path: path.stat().st_mtime_ns for path in others} == others
    assert [f.results for f in again.document.findings] == [f.results for f in done.document.findings]


def test_the_public_part_of_the_trace_does_not_tell_which_option_is_right(done: ConfidenceRun) -> None:
    public = pd.read_parquet(done.folder / "trace" / "public" / "questions.00000.parquet")
    assert not {"right", "proposed", "logprobs"} & set(public.columns)


def test_other_questions_than_the_claim_s_and_a_reader_of_the_same_weights_are_refused(
    questions: Questions, tiny: LoadedModel, tmp_path: Path
) -> None:
    claim = ConfidenceClaim(model=tiny.name, data_sha256="0" * 64, questions=20, pairs=0)
    with pytest.raises(LabelsError, match="not those"):
        confidence(claim, questions, tiny, tmp_path / "a")
    same = claim.model_copy(update={"data_sha256": digest_of(questions), "reader": "a copy", "reports": ("true",)})
    with pytest.raises(LabelsError, match="same model"):
        confidence(same, questions, tiny, tmp_path / "b", reader=tiny)


@pytest.mark.parametrize(("subjects", "units"), [(3, ("question",)), (5, ("question", "subject"))])
def test_subjects_stay_the_units_from_five_on_and_notes_say_what_few_of_them_mean(
    questions: Questions, subjects: int, units: tuple[str, ...]
) -> None:
    few = tuple(q for q in questions.items if q.subject in questions.subjects[:subjects])
    nothing = np.zeros((len(few), 2), np.float32)
    public = Public(few, pd.DataFrame({"question": [q.key for q in few]}), nothing, nothing, {})
    spec, notes = spec_of(ConfidenceClaim(data_sha256="0" * 64), public)
    assert spec.clusters == units
    assert f"{subjects} subjects" in notes[0]
    assert len(set(public.groups.tolist())) == len(few)
    many = Public(questions.items, pd.DataFrame({"question": [q.key for q in questions.items]}), nothing, nothing, {})
    assert spec_of(ConfidenceClaim(data_sha256="0" * 64), many)[1] == []


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No reporters of known answer, which take most of the time."""
    monkeypatch.setattr("firsthand.auditing.labels.confidence_document.known_answers", lambda *_: [])


@pytest.mark.usefixtures("unchecked")
def test_a_study_over_four_subjects_concludes_nothing(tiny: LoadedModel, questions: Questions, tmp_path: Path) -> None:
    few = Questions(tuple(q for q in questions.items if q.subject in questions.subjects[:4]), {})
    more = [MultipleChoice(f"x{i}", f"Which is {i}?", ("p", "q", "r"), i % 3, few.items[i].subject) for i in range(8)]
    few = Questions((*few.items, *more), {})
    document = confidence(_small(tiny, few), few, tiny, tmp_path / "run").document
    for result in document.findings[0].results:
        assert result.verdict is Verdict.INSUFFICIENT
        assert any("4 are too few" in reason for reason in result.reasons)


@pytest.mark.usefixtures("unchecked")
def test_a_reader_that_cannot_be_asked_is_left_out_with_a_note(
    tiny: LoadedModel, questions: Questions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> pd.DataFrame:
        raise ElicitationError("Two replies are the same tokens for this model.", "Use another model.")

    monkeypatch.setattr("firsthand.auditing.labels.confidence_study.reader_rows", refuse)
    claim = _small(tiny, questions).model_copy(update={"reader": "deaf"})
    deaf = replace(tiny, name="deaf", weights_sha256="f" * 64)
    document = confidence(claim, questions, tiny, tmp_path / "run", reader=deaf).document
    assert any("deaf could not be asked" in note and "same tokens" in note for note in document.notes)
    assert len(document.models) == 1
    assert len(list((tmp_path / "run").glob("reader-*/manifest.json"))) == 1


def test_answers_keep_the_order_of_the_questions(done: ConfidenceRun) -> None:
    answers = answers_of(done.rows)
    assert list(answers["question"]) == list(dict.fromkeys(done.rows["question"]))
    assert len(answers) == 48


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"orders": 3}, "even"),
        ({"pairs": 300}, "more than the 200"),
        ({"reader": "smollm2"}, "another model"),
        ({"reports": ("true", "true")}, "more than once"),
        ({"analysis": AnalysisSpec(clusters=("block",))}, "question and subject"),
    ],
)
def test_a_claim_that_cannot_be_run_is_refused(fields: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ConfidenceClaim.model_validate({"data_sha256": "0" * 64, **fields})


def test_meta_d_of_choices_between_two_is_that_of_their_confidence() -> None:
    rng = np.random.default_rng(0)
    count = 300
    stimulus = np.tile([0, 1], count // 2)
    evidence = rng.normal((stimulus - 0.5) * 1.5, 1.0)
    choices = pd.DataFrame(
        {
            "question": np.repeat(np.arange(count // 2), 2),
            "subject": np.repeat(np.arange(count // 2) % 30, 2),
            "order": np.tile([0, 1], count // 2),
            "stimulus": stimulus,
            "response": (evidence > 0).astype(int),
            "confidence": np.abs(evidence) / 10,
            "valid": True,
        }
    )
    spec = AnalysisSpec(clusters=("question", "subject"))
    found = meta_d_of(choices, spec)
    assert found.ratio is not None
    assert found.difference is not None
    assert found.meta_d is not None
    assert found.difference.low(0.05) < 0 < found.difference.high(0.05)
    assert {found.meta_d.widest(0.05).units} <= {150, 30}
    with pytest.raises(AnalysisError, match="valid"):
        meta_d_of(choices.assign(valid=False), spec)
