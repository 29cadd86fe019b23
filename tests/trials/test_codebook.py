"""Codes carry no meaning of their own: letters, mapping and order of mention are all drawn anew."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import ElicitationError
from firsthand.trials.codebook import Codes, draw_codebook
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability

LETTERS = "EJMOQSUVYZ"
ASKED = (Capability.IDENTIFICATION, Capability.DETECTION, Capability.CONFIDENCE)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_no_code_occurs_twice_in_a_block(seed: int, index: int) -> None:
    book = draw_codebook(LETTERS, ASKED, index, stream(seed))
    codes = [code for capability in ASKED for code in book[capability].pair]
    assert len(set(codes)) == 6
    assert set(codes) <= set(LETTERS)


def test_this_codebook_never_changes() -> None:
    assert draw_codebook(LETTERS, ASKED[:2], 0, stream("codebook")) == {
        Capability.IDENTIFICATION: Codes("E", "S", one_first=False),
        Capability.DETECTION: Codes("M", "U", one_first=True),
    }


def test_each_class_is_mentioned_first_in_half_of_the_blocks() -> None:
    for i, capability in enumerate(ASKED):
        first = [draw_codebook(LETTERS, ASKED, index, stream(index))[capability].order[0] for index in range(10)]
        assert first == [(index + i) % 2 for index in range(10)]


def test_every_letter_stands_for_either_class_equally_often() -> None:
    books = [draw_codebook(LETTERS, ASKED, index, stream("fair", index)) for index in range(3000)]
    for of_class in (0, 1):
        counts = Counter(book[Capability.IDENTIFICATION].pair[of_class] for book in books)
        assert set(counts) == set(LETTERS)
        assert all(abs(n - 300) < 5 * 300**0.5 for n in counts.values())


def test_the_order_in_which_letters_are_given_and_repeats_do_not_matter() -> None:
    assert draw_codebook("ZYXWVU", ASKED, 0, stream(1)) == draw_codebook("UUVWXYZZ", ASKED, 0, stream(1))


def test_too_few_letters_are_refused_and_repeats_do_not_count() -> None:
    with pytest.raises(ElicitationError, match=r"6 distinct codes are needed.*only 2.*report.code_letters"):
        draw_codebook("AAABBB", ASKED, 0, stream(0))
