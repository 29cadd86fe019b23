"""Pairs: our own are minimal and many; a user's are read, counted and refused for what is wrong with them."""

import json
from collections import Counter
from pathlib import Path

import pytest

from firsthand.errors import LabelsError
from firsthand.studies.labels.direct_meta.pairs import (
    Pair,
    built_in,
    digest_of,
    items_of,
    read_pairs,
    seen_of_pairs,
    sides,
)

HEADER = "good,bad,phenomenon\n"


def written(tmp_path: Path, text: str, name: str = "mine.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_built_in_pairs_are_many_over_many_phenomena() -> None:
    counts = Counter(pair.phenomenon for pair in built_in())
    assert len(built_in()) >= 120
    assert len(counts) >= 9
    assert min(counts.values()) >= 12


def test_no_string_is_there_twice_and_every_key_is_its_own() -> None:
    pairs = built_in()
    strings = [text for pair in pairs for text in (pair.good, pair.bad)]
    assert len(set(strings)) == 2 * len(pairs)
    assert len({pair.key for pair in pairs}) == len(pairs)


@pytest.mark.parametrize("pair", built_in(), ids=lambda pair: pair.key)
def test_a_built_in_pair_differs_in_few_words_and_reads_as_a_sentence(pair: Pair) -> None:
    good, bad = Counter(pair.good.lower().split()), Counter(pair.bad.lower().split())
    assert (good - bad).total() <= 2
    assert (bad - good).total() <= 3
    for text in (pair.good, pair.bad):
        assert text[0].isupper()
        assert text[-1] in ".?"
        assert text == " ".join(text.split())
        assert not set(text) & set("[]|{}()")


def test_the_acceptable_string_is_not_told_by_its_length() -> None:
    longer = Counter((len(p.good) > len(p.bad)) - (len(p.good) < len(p.bad)) for p in built_in())
    assert 0.3 < longer[1] / (longer[1] + longer[-1]) < 0.7


def test_sides_of_a_text_may_be_empty_and_change_in_several_places() -> None:
    assert sides("She listened [to|] the radio.") == ("She listened to the radio.", "She listened the radio.")
    assert sides("[A|B] and [c|d].") == ("A and c.", "B and d.")


@pytest.mark.parametrize("text", ["No place.", "The [keys are lost.", "A [b|c] and d] e.", "A [b|c] | d."])
def test_a_text_that_is_no_pair_is_refused(text: str) -> None:
    with pytest.raises(LabelsError, match="is no pair"):
        sides(text)


def test_a_users_csv_is_read_with_quotes_commas_and_newlines(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + '"He said, ""go"".","He said, ""goes"".",quotes\n"One\nline.","Two  lines.",\n')
    found = read_pairs(path)
    assert found.pairs == (
        Pair("row-1", 'He said, "go".', 'He said, "goes".', "quotes"),
        Pair("row-2", "One line.", "Two lines.", "unnamed"),
    )
    assert found.respaced == 2
    assert found.dropped == {}


def test_json_lines_need_no_phenomenon_and_may_hold_further_fields(tmp_path: Path) -> None:
    rows = [{"good": "A.", "bad": "B.", "source": 3}, {"good": "C.", "bad": "D.", "phenomenon": "x"}]
    found = read_pairs(written(tmp_path, "\n".join(map(json.dumps, rows)), "mine.jsonl"))
    assert [(pair.good, pair.phenomenon) for pair in found.pairs] == [("A.", "unnamed"), ("C.", "x")]


def test_rows_that_cannot_be_used_are_left_out_and_counted(tmp_path: Path) -> None:
    found = read_pairs(written(tmp_path, HEADER + "A.,B.,\nA.,B.,\nC., C.,\n,D.,\nE.,  ,\nF.,G.,\n"))
    assert [pair.key for pair in found.pairs] == ["row-1", "row-6"]
    assert found.dropped == {"there already": 1, "with two equal strings": 1, "with an empty string": 2}


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("good,worse\nA.,B.\n", "mine.csv", "has no column bad; it has good, worse"),
        ("right,wrong\nA.,B.\n", "mine.csv", "has no column good or bad"),
        (HEADER + "A.,B.,x\nB.,A.,x\n", "mine.csv", "row 2 calls 'B.' better than 'A.', row-1 the reverse"),
        (HEADER + "A.,A.,x\n,B.,\n", "mine.csv", "no pair that can be used: 1 with two equal strings, 1 with an empty"),
        (HEADER, "mine.csv", "holds no rows"),
        (HEADER + "A.,B.,x,y\n", "mine.csv", "4 fields where the header has 3"),
        ('{"good": 1, "bad": "B."}', "mine.jsonl", "row 1: good is 1, which is no text"),
        ('{"good": ', "mine.jsonl", "line 1 is not JSON"),
        ("A.,B.", "mine.txt", "no file of a known kind"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, name: str, message: str) -> None:
    with pytest.raises(LabelsError, match=message):
        read_pairs(written(tmp_path, text, name))


def test_the_fingerprint_of_pairs_changes_with_any_of_them() -> None:
    pairs = built_in()[:3]
    assert digest_of(pairs) == digest_of(list(pairs))
    assert digest_of(pairs) != digest_of(pairs[::-1])
    assert digest_of(pairs) != digest_of([*pairs[:2], Pair(pairs[2].key, pairs[2].bad, pairs[2].good, "x")])


def test_pairs_that_share_a_string_are_one_item_also_through_others() -> None:
    texts = [("A.", "B."), ("C.", "D."), ("B.", "E."), ("F.", "D."), ("G.", "H.")]
    pairs = [Pair(f"row-{n}", good, bad, "x") for n, (good, bad) in enumerate(texts)]
    assert items_of(pairs) == {"row-0": "row-0", "row-1": "row-1", "row-2": "row-0", "row-3": "row-1", "row-4": "row-4"}
    assert len(set(items_of(built_in()).values())) == len(built_in())


def test_anybody_sees_by_how_much_the_better_string_is_longer() -> None:
    seen = seen_of_pairs([Pair("a", "A cat sat.", "A cats.", "x")]).iloc[0]
    assert (seen["characters"], seen["words"], seen["item"]) == (3, 1, "a")
