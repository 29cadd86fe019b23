"""The figures of the codebook study, with its published crossed interval reproduced to the last digit."""

import json
from pathlib import Path

import pytest

from firsthand.analysis.findings import Number, StudyResult
from firsthand.importers.base import ImporterError
from firsthand.importers.registry import make_importer
from firsthand.vocabulary import Verdict

from .conftest import finding, judged, value

Profile = dict[str, StudyResult]


def number(result: StudyResult, name: str, wanted: str) -> Number:
    return next(item for item in finding(result, name).numbers if item.name == wanted)


@pytest.mark.parametrize(("arm", "expected"), [("target", 0.8906), ("random", 0.6580), ("shuffled", 0.6597)])
def test_arms(codebook: Profile, arm: str, expected: float) -> None:
    assert value(codebook["codebook-confirm"], "arms", f"accuracy, {arm}") == pytest.approx(expected, abs=5e-5)


def test_the_published_crossed_intervals_are_reproduced(codebook: Profile, published: Path) -> None:
    said = json.loads((published / "codebook_icl" / "codebook_icl_confirm_v2_summary.json").read_text())
    result = codebook["codebook-confirm"]
    assert "all 64,350 listed" in finding(result, "arms").sentence
    pairs = [(number(result, "arms", f"accuracy, {arm}"), said["arms"][arm]["correct"]) for arm in ("target", "random")]
    pairs += [
        (number(result, "against-controls", f"lead over {arm}"), said["contrasts"][f"target_minus_{arm}"]["correct"])
        for arm in ("random", "shuffled")
    ]
    pairs += [
        (number(result, "twin-pairs", f"pairs right, {arm}"), said["query_twins"][arm]["both_correct"])
        for arm in ("target", "random", "shuffled", "test_only")
    ]
    for found, expected in pairs:
        assert found.estimate is not None
        assert found.value == pytest.approx(expected["value"])
        assert [found.estimate.low, found.estimate.high] == pytest.approx(expected["ci95"])


def test_twin_pairs_and_arms_that_cannot_fail(codebook: Profile) -> None:
    result = codebook["codebook-confirm"]
    assert value(result, "twin-pairs", "pairs right, target") == pytest.approx(0.7812, abs=5e-5)
    assert value(result, "twin-pairs", "pairs right, test_only") == pytest.approx(0.0347, abs=5e-5)
    assert "no evidence: clean (0.500), test_only (0.500)" in finding(result, "arms").sentence
    assert value(result, "prompt-bound", "best score of any observer of the prompt") == 0.5


def test_the_verdict_says_what_is_missing(codebook: Profile) -> None:
    result = codebook["codebook-confirm"]
    assert result.verdict is Verdict.INSUFFICIENT
    assert any("sham, input_control, impact_control" in reason for reason in result.reasons)
    assert any("more than the 50.0% that any observer of the prompt could reach" in line for line in result.concluded)


def test_training_seeds(codebook: Profile) -> None:
    result = codebook["trained-reporter"]
    runs = [value(result, "training-runs", f"pairs right, seed {seed}") for seed in range(4)]
    assert runs == pytest.approx([1.0, 0.8333, 1.0, 0.875], abs=5e-5)
    assert value(result, "training-runs", "pairs right, mean") == pytest.approx(0.927, abs=5e-4)
    assert value(result, "training-runs", "rows right") == pytest.approx(0.96, abs=5e-3)
    assert value(result, "unscored-by-design", "published rows without a right answer") == 4 * 72
    assert finding(result, "fixed-labels").tone == "caution"


def test_the_untrained_model_counts_once_for_four_seeds(codebook: Profile) -> None:
    assert codebook["trained-reporter"].published_rows == 4 * 504
    assert codebook["trained-reporter"].measurements == 1311
    assert codebook["codebook-confirm"].measurements == 4 * 576 + 36


def confirm_rows(concepts: int = 3, carriers: int = 2) -> list[dict[str, object]]:
    rows = []
    for concept in range(concepts):
        for carrier in range(carriers):
            for mapping in (0, 1):
                for sign in (-1, 1):
                    label = "QK"[(sign > 0) ^ mapping]
                    rows.append(
                        {
                            "concept": f"c{concept}",
                            "carrier_id": carrier,
                            "cell_id": f"m{mapping}q{sign:+d}",
                            "correct_label": label,
                            "query_sign": sign,
                            "prompt_sha256": f"p{carrier}{mapping}",
                            "condition_scores": {
                                "target": {
                                    "correct": True,
                                    "predicted_label": label,
                                    "direction_sha256": f"d{concept}",
                                },
                                "random": {
                                    "correct": sign > 0,
                                    "predicted_label": "Q",
                                    "direction_sha256": f"r{concept}",
                                },
                            },
                        }
                    )
    return rows


def write(folder: Path, rows: list[dict[str, object]]) -> Path:
    lines = [json.dumps(row) for row in rows]
    (folder / "codebook_icl_confirm_v2_raw.jsonl").write_text("\n".join(lines))
    return folder


def test_missing_arms_and_seeds_are_said_and_the_rest_is_judged(tmp_path: Path) -> None:
    imported = make_importer("codebook_icl").read(write(tmp_path, confirm_rows()))
    assert any("no file of a training seed" in note for note in imported.notes)
    assert any("arm shuffled has no scores" in note for note in imported.studies[0].notes)
    result = judged("codebook_icl", tmp_path)["codebook-confirm"]
    assert value(result, "against-controls", "lead over random") == pytest.approx(0.5)


def test_broken_lines_are_counted_and_left_out(tmp_path: Path) -> None:
    write(tmp_path, confirm_rows())
    path = tmp_path / "codebook_icl_confirm_v2_raw.jsonl"
    path.write_text(path.read_text() + '\n{"half": \n[1, 2]\n')
    study = make_importer("codebook_icl").read(tmp_path).studies[0]
    assert study.published_rows == 24
    assert any("2 lines are no JSON objects" in note and "line 25" in note for note in study.notes)


def test_a_wrong_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImporterError, match="holds neither"):
        make_importer("codebook_icl").read(tmp_path)
