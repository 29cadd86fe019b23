"""Published data where it is there, and small tables of the same form that need no data."""

import csv
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from firsthand.analysis.findings import Finding, StudyResult
from firsthand.analysis.imported_judging import judge_imported
from firsthand.importers.registry import make_importer

DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[3] / "shared" / "data"))
Rows = Sequence[Mapping[str, object]]


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder of published injection results."""
    folder = DATA / "injection_results"
    if not folder.is_dir():
        pytest.skip(f"published data is not in {DATA}; set FIRSTHAND_DATA to run against it")
    return folder


def judged(kind: str, folder: Path) -> dict[str, StudyResult]:
    return {result.name: result for result in judge_imported(make_importer(kind).read(folder).studies)}


@pytest.fixture(scope="session")
def hahami(published: Path) -> dict[str, StudyResult]:
    return judged("hahami", published / "hahami")


@pytest.fixture(scope="session")
def codebook(published: Path) -> dict[str, StudyResult]:
    return judged("codebook_icl", published / "codebook_icl")


def finding(result: StudyResult, name: str) -> Finding:
    return next(found for found in result.findings if found.name == name)


def value(result: StudyResult, name: str, number: str) -> float:
    return next(item.value for item in finding(result, name).numbers if item.name == number)


@pytest.fixture
def write_csv(tmp_path: Path) -> Callable[[str, Rows], Path]:
    def write(name: str, rows: Rows) -> Path:
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as handle:
            writer = csv.DictWriter(handle, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return tmp_path

    return write


def detection_rows(concepts: int = 4, layers: int = 2) -> list[dict[str, object]]:
    """A small table in the form of output_anthropic_reproduce.csv; every third answer is a success."""
    return [
        {
            "concept": f"c{concept}",
            "vec_type": "avg",
            "layer": layer,
            "coeff": 4.0,
            "coherence_judge": True,
            "affirmative_response_judge": (concept + layer) % 3 == 0,
            "affirmative_response_followed_by_correct_identification_judge": (concept + layer) % 3 == 0,
            "response": f"text {concept} {layer}",
        }
        for concept in range(concepts)
        for layer in range(layers)
    ]


def place_rows(concepts: int = 4) -> list[dict[str, object]]:
    """A small table in the form of output_localization_10sent.csv."""
    return [
        {
            "concept": f"c{concept}",
            "vec_type": "avg",
            "layer": layer,
            "coeff": 5.0,
            "num_sentences": 10,
            "correct_predictions": 40 + concept if layer == 1 else 10,
            "total_predictions": 100,
            "chance_level": 0.1,
        }
        for concept in range(concepts)
        for layer in (1, 2)
    ]


@pytest.fixture(scope="session")
def hints_folder() -> Path:
    """The folder of the published chain-of-thought hints study."""
    folder = DATA / "transcripts" / "cot_hints"
    if not folder.is_dir():
        pytest.skip(f"published data is not in {DATA}; set FIRSTHAND_DATA to run against it")
    return folder


@pytest.fixture(scope="session")
def hints(hints_folder: Path) -> dict[str, StudyResult]:
    return judged("cot-hints", hints_folder)


def first_run_rows(models: int = 3, questions: int = 4) -> list[dict[str, object]]:
    """Small trials in the form of all_results.json: B is right, A is hinted at and given by every other question."""
    return [
        {
            "model": f"m{model}",
            "condition": f"{instruction}_{kind}",
            "system_type": instruction,
            "hint_type": kind,
            "question_id": f"q{question}",
            "correct_answer": "B",
            "hint_answer": "A",
            "extracted_answer": "AB"[question % 2],
            "used_hint": question % 2 == 0,
            "acknowledged": model == 0,
            "followup_saw": True,
            "followup_influenced": False,
            "category": "USED_ADMITTED" if model == 0 else "USED_SILENT",
            "is_faithful": model == 0,
            "hidden_knowledge": False,
            "timestamp": "2025-01-01T00:00:00",
        }
        for model in range(models)
        for question in range(questions)
        for instruction in ("baseline", "monitoring")
        for kind in ("metadata", "sycophancy")
    ]


def second_run_rows(experiment: str, models: int = 3, questions: int = 4) -> list[dict[str, object]]:
    """Small trials in the form of exp1_control (no hint), exp3_hints_baseline and exp4_hints_explicit."""
    control, asked = experiment == "exp1_control", experiment == "exp3_hints_baseline"
    rows: list[dict[str, object]] = []
    for model in range(models):
        for question in range(questions):
            for kind in ("none",) if control else ("metadata", "expert"):
                row: dict[str, object] = {
                    "experiment": experiment,
                    "model": f"maker/m{model}",
                    "condition": "baseline" if asked else "explicit_ack",
                    "hint_type": kind,
                    "question_id": f"q{question}",
                    "hint_answer": None if control else "A",
                    "correct_answer": "B",
                    "extracted_answer": "B" if control else "A",
                    "is_correct": control,
                    "acknowledged": not control or question == 0,
                    "response": "There are no hints here. **B) Paris**" if control else "I see a hint. **A) London**",
                    "timestamp": "2025-01-01T00:00:00",
                }
                if asked:
                    row |= {"used_hint": True, "followup_saw": True, "followup_influenced": model == 0}
                    row |= {"hidden_knowledge": False, "followup_response": "Yes, I did."}
                else:
                    row["false_positive"] = row["acknowledged"] if control else None
                rows.append(row)
    return rows


@pytest.fixture
def write_json(tmp_path: Path) -> Callable[[str, object], Path]:
    def write(name: str, value: object) -> Path:
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
        return tmp_path

    return write
