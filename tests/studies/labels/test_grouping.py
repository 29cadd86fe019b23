"""Contrast pairs stay together, and so does whatever holds the same text."""

from firsthand.studies.labels.grouping import groups_of


def alike(groups: list[int]) -> list[list[int]]:
    return [[i for i, other in enumerate(groups) if other == group] for group in dict.fromkeys(groups)]


def test_consecutive_texts_that_share_half_of_their_words_are_one_group() -> None:
    texts = [
        "I thanked the old baker for his bread.",
        "I robbed the old baker of his bread!",
        "We went home early.",
        "My cat sleeps all day.",
        "my cat sleeps in the neighbour's soup all day",
    ]
    assert alike(groups_of(texts)) == [[0, 1], [2], [3, 4]]


def test_half_is_enough_and_less_is_not() -> None:
    assert alike(groups_of(["a b c d", "a b x y"])) == [[0, 1]]
    assert alike(groups_of(["a b c d e", "a b x y z"])) == [[0], [1]]


def test_texts_apart_are_not_compared_and_an_empty_one_parts_its_neighbours() -> None:
    assert alike(groups_of(["a b c", "x y z", "a b c d"])) == [[0], [1], [2]]
    assert alike(groups_of(["a b c", "", "a b c d"])) == [[0], [1], [2]]


def test_groups_that_hold_the_same_text_become_one() -> None:
    """The twins of a text are near each other, wherever the file has them."""
    texts = ["a b c", "a b d", "x y z", "a b c", "a b e", "x y w q r s"]
    assert alike(groups_of(texts)) == [[0, 1, 3, 4], [2], [5]]
    assert alike(groups_of(["s", "t", "t", "u", "u", "s"], ["1", "2", "3", "4", "2", "5"])) == [[0, 5], [1, 2, 3, 4]]


def test_named_groups_are_taken_as_they_are_and_a_text_without_one_stands_alone() -> None:
    assert alike(groups_of(["a b", "a b c", "q", "r", "s"], ["g", "h", None, "g", None])) == [[0, 3], [1], [2], [4]]
