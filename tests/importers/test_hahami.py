"""The figures of the injection study, and what its profile says without being asked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from firsthand.analysis.findings import StudyResult
from firsthand.importers.base import ImporterError
from firsthand.importers.registry import make_importer
from firsthand.vocabulary import Verdict

from .conftest import Rows, detection_rows, finding, judged, place_rows, value

Profile = dict[str, StudyResult]


def test_the_detection_file_beside_its_best_cell(hahami: Profile) -> None:
    result = hahami["detection"]
    assert (value(result, "whole-file", "right"), value(result, "whole-file", "measurements")) == (8, 240)
    assert value(result, "best-of-grid", "rate of the best cell") == pytest.approx(0.2)
    assert value(result, "best-of-grid", "cells") == 24
    assert "layer 15, coeff 9, vec_type avg" in finding(result, "best-of-grid").sentence
    assert "2 of 10 (20.0%): that is what would have been claimed" in finding(result, "best-of-grid").sentence
    assert value(result, "best-of-grid", "probability that the best of equal cells reaches it") > 0.5
    assert finding(result, "no-uninjected-rows").tone == "gap"
    assert result.verdict is Verdict.INSUFFICIENT
    assert "no rows without injection: no false-alarm rate" in result.reasons
    assert any("affirmative shift" in reason for reason in result.reasons)


def test_strength_has_three_truths_of_four_and_cells_with_one(hahami: Profile) -> None:
    result = hahami["strength"]
    assert value(result, "whole-file", "right") == 47
    assert value(result, "best-of-grid", "rate of the best cell") == pytest.approx(0.7)
    assert "Only 3 of the 4 possible answers occur as truth" in finding(result, "chance").sentence
    assert value(result, "chance", "accuracy of the best constant answer") == pytest.approx(1 / 3)
    assert value(result, "chance", "accuracy of the same answers without the state") < 0.25
    assert value(result, "one-truth-cells", "cells with one true answer") == 24
    assert result.verdict is Verdict.INSUFFICIENT


def test_the_control_question_shows_an_affirmative_shift(hahami: Profile) -> None:
    result = hahami["control-question"]
    assert result.verdict is None
    assert value(result, "yes-on-control-question", "yes without injection") == 0
    assert value(result, "yes-on-control-question", "yes in the cell with most") == 4
    assert value(result, "yes-on-control-question", "rows of that cell") == 20
    assert "layer 9, coeff 6; layer 9, coeff 8" in finding(result, "yes-on-control-question").sentence
    assert value(result, "affirmative-shift", "mean contrast without injection") == pytest.approx(-14.9, abs=0.05)
    assert value(result, "affirmative-shift", "highest mean contrast of a cell") == pytest.approx(-0.4, abs=0.05)
    assert value(result, "repeats", "distinct measurements among them") == 1


def test_fifty_identical_answers_are_one(hahami: Profile) -> None:
    result = hahami["layer"]
    assert (result.published_answers, result.measurements) == (40_000, 800)
    assert value(result, "repeats", "rows all wrong") == 524
    assert value(result, "repeats", "rows all right") == 276
    assert value(result, "whole-file", "rate over the whole file") == pytest.approx(0.345)
    assert value(result, "chance", "chance as stated in the file") == pytest.approx(1 / 3)
    assert value(result, "chance", "accuracy of the best constant answer") == pytest.approx(0.4)
    assert finding(result, "repeats").cluster == "concept"
    assert finding(result, "repeats").units == 10


def test_localisation_holds_and_is_still_not_privileged(hahami: Profile) -> None:
    result = hahami["localization-10sent-sweep2"]
    assert "layer 2, coeff 5" in finding(result, "best-of-grid").sentence
    assert value(result, "best-of-grid", "rate of the best cell") == pytest.approx(0.878, abs=5e-4)
    fair = next(n.estimate for n in finding(result, "best-of-grid").numbers if n.name.startswith("rate in the cell"))
    assert fair is not None
    assert fair.low > 0.1
    assert (fair.cluster, fair.units) == ("concept", 10)
    assert result.verdict is Verdict.INSUFFICIENT
    assert any("a question with the same answers that is not about the model itself" in r for r in result.reasons)
    assert any("the answers follow what was done, by whatever route" in line for line in result.concluded)


def test_relative_strength_is_position_bias(hahami: Profile) -> None:
    result = hahami["relative-strength"]
    assert (value(result, "order", "right"), value(result, "order", "answers")) == (1704, 3600)
    assert value(result, "order", "share of SECOND") == pytest.approx(0.967, abs=5e-4)
    assert value(result, "order", "best cell, balanced over order") == pytest.approx(0.525)
    assert value(result, "order", "cells of one order that are perfect") == 72
    assert {number.name for number in finding(result, "signal-detection").numbers} == {"d prime", "criterion c"}
    assert "wrong sign" in finding(result, "signed-contrast").sentence
    assert result.verdict is Verdict.INSUFFICIENT


def test_every_interval_names_its_independent_units(hahami: Profile) -> None:
    for result in hahami.values():
        for found in result.findings:
            for number in found.numbers:
                if number.estimate is not None:
                    assert number.estimate.cluster == "concept"
                    assert number.estimate.units == 10
                    assert number.estimate.low <= number.value <= number.estimate.high


def test_one_file_is_enough_and_the_others_are_named(write_csv: Callable[[str, Rows], Path]) -> None:
    folder = write_csv("output_anthropic_reproduce.csv", detection_rows())
    imported = make_importer("hahami").read(folder)
    assert [study.name for study in imported.studies] == ["detection"]
    assert any("output_relative_strength.csv is not there" in note for note in imported.notes)
    result = judged("hahami", folder)["detection"]
    assert not any("affirmative shift" in reason for reason in result.reasons)
    assert "its own control is missing: an unrelated yes/no question under the same injections" in result.reasons


def test_a_judge_that_contradicts_itself_is_noticed(write_csv: Callable[[str, Rows], Path]) -> None:
    rows = detection_rows()
    rows[0]["affirmative_response_judge"] = False
    result = judged("hahami", write_csv("output_anthropic_reproduce.csv", rows))["detection"]
    assert value(result, "contradiction", "successes without the answer that they need") == 1


def test_a_broken_file_does_not_take_the_others_with_it(write_csv: Callable[[str, Rows], Path]) -> None:
    folder = write_csv("output_localization_10sent.csv", place_rows())
    (folder / "output_localization_5sent.csv").write_text("concept,layer\nDust,2\n")
    (folder / "output_anthropic_reproduce.csv").write_text("")
    (folder / "mine.csv").write_text("a\n1\n")
    imported = make_importer("hahami").read(folder)
    assert [study.name for study in imported.studies] == ["localization-10sent"]
    notes = " ".join(imported.notes)
    assert "output_localization_5sent.csv lacks the columns: vec_type, coeff" in notes
    assert "output_anthropic_reproduce.csv is empty" in notes
    assert "unknown files are left out: mine.csv" in notes


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"correct_predictions": 200}, "more right answers than answers"),
        ({"total_predictions": 0}, "more right answers than answers, or none at all"),
    ],
)
def test_impossible_counts_are_refused(
    write_csv: Callable[[str, Rows], Path], change: dict[str, object], word: str
) -> None:
    rows = place_rows()
    rows[2].update(change)
    with pytest.raises(ImporterError, match=word):
        make_importer("hahami").read(write_csv("output_localization_10sent.csv", rows))


def test_one_concept_only_gets_no_interval(write_csv: Callable[[str, Rows], Path]) -> None:
    result = judged("hahami", write_csv("output_localization_10sent.csv", place_rows(concepts=1)))[
        "localization-10sent"
    ]
    assert value(result, "whole-file", "rate over the whole file") == pytest.approx(0.25)
    assert all(number.estimate is None for number in finding(result, "whole-file").numbers)
    assert result.verdict is Verdict.INSUFFICIENT


def test_a_wrong_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImporterError, match="none of this study's files"):
        make_importer("hahami").read(tmp_path)
