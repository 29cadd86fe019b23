"""Claims of which a predictor answers otherwise than its baseline; the arithmetic of the paper's Tables 5 and 6."""

import numpy as np
import pytest
from predictions_plain import drawn, panel

from firsthand.analysis.predictions.flips import flips
from firsthand.analysis.predictions.results import FlipRow
from firsthand.analysis.predictions.scores import scored
from firsthand.analysis.predictions.uplift import uplift


def test_flips_are_what_counting_gives() -> None:
    truth, codes, first, second = drawn(0)
    found = flips(panel(truth, codes, base=second, tool=first), "tool", "base")
    for row in found.rows:
        rows = [
            (a, b)
            for t, a, b in zip(truth, second, first, strict=True)
            if (t == 1) == row.label and a != 0.5 and b != 0.5
        ]
        changed = [(a, b) for a, b in rows if (a > 0.5) != (b > 0.5)]
        towards_no = sum(b < 0.5 for _, b in changed)
        assert row.claims == len(rows)
        assert (row.to_no_effect, row.to_effect) == (towards_no, len(changed) - towards_no)
        assert row.wrong == (towards_no if row.label else len(changed) - towards_no)
        assert row.right + row.wrong == len(changed)
        assert row.flipped is not None
        assert row.flipped.value == pytest.approx(len(changed) / len(rows))


def test_a_tie_and_an_invalid_answer_are_no_flip() -> None:
    truth = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    before, after = np.array([0.9, 0.5, 0.9, 0.1, np.nan]), np.array([0.1, 0.1, np.nan, 0.1, 0.9])
    true, false = flips(panel(truth, base=before, tool=after), "tool", "base").rows
    assert (true.claims, true.left_out, true.to_no_effect, true.wrong) == (1, 2, 1, 1)
    assert (false.claims, false.left_out, false.flipped) == (1, 1, None) or false.flipped is not None
    assert false.to_effect == 0


@pytest.mark.parametrize(
    ("tool", "true", "false"),
    [("AO", (0.11, 0.67), (0.09, 0.63)), ("NLA", (0.16, 0.82), (0.10, 0.84)), ("SAE", (0.13, 0.76), (0.08, 0.71))],
)
def test_flips_of_the_papers_table_six_are_counted_as_there(
    tool: str, true: tuple[float, float], false: tuple[float, float]
) -> None:
    """682 claims are true and 612 false; before, 73% and 74% of the answers are right."""
    parts = [_answers(682, 0.73, true, 1.0), _answers(612, 0.74, false, 0.0)]
    truth = np.concatenate([np.full(len(before), label) for before, _, label in parts])
    before, after = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    rows = flips(panel(truth, base=before, tool=after), "tool", "base").rows
    for row, (share, towards_no) in zip(rows, (true, false), strict=True):
        assert row.flipped is not None
        assert row.towards_no_effect is not None
        assert row.flipped.value == pytest.approx(share, abs=0.005)  # published in whole percent
        assert row.towards_no_effect.value == pytest.approx(towards_no, abs=0.01)
    if tool == "NLA":  # the paper: 73% to 63% of the true claims, and 74% to 81% of the false ones
        assert [_percent(row) for row in rows] == [(73, 63), (74, 81)]


def test_differences_of_the_papers_table_five_are_those_of_its_table_four() -> None:
    """Areas are .814 for the transcript alone and .808 with the autoencoder: the starred difference is -.006."""
    truth = np.repeat([1.0, 0.0], 500)
    # Answers of two values have an area of 1/2 + (TPR - FPR) / 2.
    alone, with_tool = (np.concatenate([_first(yes), _first(500 - yes)]) for yes in (407, 404))
    made = panel(truth, alone=alone, tool=with_tool)
    found = uplift(made, "tool", "alone")
    assert found.auroc is not None
    assert round(found.auroc.value, 3) == -0.006
    assert [round(one.auroc.value, 3) for name in ("alone", "tool") if (one := scored(made, name, "tools")).auroc] == [
        0.814,
        0.808,
    ]


def _first(yes: int) -> np.ndarray:
    return np.where(np.arange(500) < yes, 0.8, 0.2)


def _answers(
    count: int, right: float, flipped: tuple[float, float], label: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Answers before and after, of which so many are right before, and so many change, this way."""
    says_yes = round(count * (right if label == 1.0 else 1 - right))
    before = np.concatenate([np.full(says_yes, 0.9), np.full(count - says_yes, 0.1)])
    changed = round(count * flipped[0])
    to_no = round(changed * flipped[1])
    after = before.copy()
    after[:to_no] = 0.1
    after[says_yes : says_yes + changed - to_no] = 0.9
    return before, after, label


def _percent(row: FlipRow) -> tuple[int, int]:
    assert row.before is not None
    assert row.after is not None
    return round(100 * row.before.value), round(100 * row.after.value)
