"""One answer nearly throughout is a constant, overall or within blocks; an answer that is always right is none."""

import numpy as np
import pytest

from firsthand.analysis.constancy import constant_choice, constant_within_blocks

BLOCKS, EACH, OPTIONS = 24, 10, 5
ROWS = BLOCKS * EACH
BLOCK = np.repeat(np.arange(BLOCKS), EACH)
TRUTH = np.tile(np.arange(OPTIONS), ROWS // OPTIONS)
RARELY = np.where(np.arange(ROWS) % 60 == 0, 1 + np.arange(ROWS) // 60, 0)


@pytest.mark.parametrize("truth", [TRUTH, BLOCK % OPTIONS, RARELY], ids=["varying", "one a block", "nearly always one"])
def test_an_answer_that_is_always_right_is_no_constant(truth: np.ndarray) -> None:
    assert constant_choice(truth.astype(float), truth, BLOCK) is None


def test_one_option_nearly_always_is_a_constant_whatever_is_true() -> None:
    found = constant_choice(RARELY.astype(float), TRUTH, BLOCK)
    assert found is not None
    assert "98.3% of the valid answers are option 0" in found


def test_one_answer_in_most_blocks_counts_only_where_truths_vary() -> None:
    answer = (BLOCK % OPTIONS).astype(float)
    assert constant_choice(answer, TRUTH, BLOCK) == "in 24 of 24 blocks every valid answer is the same"
    assert constant_choice(answer, (BLOCK + 1) % OPTIONS, BLOCK) is None
    half = np.where(BLOCK < BLOCKS // 2, answer, TRUTH)
    assert constant_choice(half, TRUTH, BLOCK) is None
    most = np.where(BLOCK <= BLOCKS // 2, answer, TRUTH)
    assert constant_choice(most, TRUTH, BLOCK) == "in 13 of 24 blocks every valid answer is the same"


def test_blocks_of_one_answer_and_no_answers_at_all_are_no_constant() -> None:
    assert constant_within_blocks(np.arange(4), {"answer": np.zeros(4)}) is None
    assert constant_choice(np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)) is None
