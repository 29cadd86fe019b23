"""Labelled texts are cleaned, counted and split without parting what belongs together; anything else is refused."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.engine import LoadedModel
from firsthand.errors import LabelsError
from firsthand.studies.labels.examples import Examples, read_examples, split

DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[3].parent / "shared" / "data"))
WORDS = ["amber", "birch", "cedar", "daisy", "elder", "ferns", "grass", "holly", "irises", "juniper"]


def saved(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "set.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def plain(count: int = 10, **more: Any) -> list[dict[str, Any]]:
    return [{"text": WORDS[i], "label": i % 2, **more} for i in range(count)]


def made(lengths: list[int]) -> Examples:
    groups = [g for g, length in enumerate(lengths) for _ in range(length)]
    texts = tuple(f"text {i}" for i in range(len(groups)))
    return Examples(texts, tuple(i % 2 for i in range(len(groups))), tuple(groups), ("0", "1"), {})


def test_what_cannot_be_used_is_left_out_and_counted_by_reason(tmp_path: Path, tiny: LoadedModel) -> None:
    rows = plain()
    rows += [{"text": text, "label": 1} for text in ("", "   ", WORDS[1], f" {WORDS[3]}\n")]
    rows += [{"text": "open", "label": None}, {"text": WORDS[0], "label": 1}]
    rows += [{"text": "word " * 9, "label": 1}, {"text": "so <|im_end|> it ends", "label": 0}]
    found = read_examples(saved(tmp_path, rows), tokenizer=tiny.tokenizer, longest=8, least=5)
    assert found.texts == tuple(WORDS[1:])
    assert found.labels == tuple(i % 2 for i in range(1, 10))
    assert found.dropped == {
        "contradictory": 2,
        "empty": 2,
        "duplicate": 2,
        "unlabelled": 1,
        "too long": 1,
        "special tokens": 1,
    }


@pytest.mark.parametrize(
    ("labels", "options", "classes"),
    [
        ([0, 1], {}, ("0", "1")),
        (["1.0", "0.0"], {}, ("0", "1")),
        ([True, False], {}, ("False", "True")),
        (["wrong", "fine"], {}, ("fine", "wrong")),
        (["wrong", "fine"], {"positive": "fine"}, ("wrong", "fine")),
        ([10, 9], {}, ("9", "10")),
        (["a", "b", "c"], {"positive": "b"}, ("a or c", "b")),
    ],
)
def test_labels_become_zero_and_one_in_an_order_that_is_told(
    tmp_path: Path, labels: list[Any], options: dict[str, str], classes: tuple[str, str]
) -> None:
    rows = [{"text": word, "label": labels[i % len(labels)]} for i, word in enumerate(WORDS)]
    found = read_examples(saved(tmp_path, rows), **options)
    assert found.classes == classes
    for i, label in enumerate(found.labels):
        given_name = str(labels[i % len(labels)]).removesuffix(".0")
        assert (given_name == classes[1]) is (label == 1)


def test_columns_are_guessed_from_common_names_or_named(tmp_path: Path) -> None:
    rows = [{"id": i, "Sentence": WORDS[i], "class": i % 2, "note": f"{i} notes"} for i in range(10)]
    path = saved(tmp_path, rows)
    assert read_examples(path).texts == tuple(WORDS)
    assert read_examples(path, text="note").texts[1] == "1 notes"


def test_a_column_of_groups_overrules_what_the_texts_look_like(tmp_path: Path) -> None:
    rows = [{"text": f"much the same text {i}", "label": i % 2, "pair": i // 2} for i in range(10)]
    path = saved(tmp_path, rows)
    assert len(set(read_examples(path).groups)) == 1
    assert read_examples(path, group="pair").groups == (0, 0, 1, 1, 2, 2, 3, 3, 4, 4)


REFUSED: list[tuple[str, list[dict[str, Any]], dict[str, Any], str]] = [
    ("one class", [r | {"label": 1} for r in plain()], {}, "only the labels '1'; two classes"),
    ("one class named", [r | {"label": 1} for r in plain()], {"positive": "1"}, "two classes are needed"),
    ("three classes", [r | {"label": i % 3} for i, r in enumerate(plain())], {}, "has the labels '0', '1', '2'"),
    ("many classes", [r | {"label": i} for i, r in enumerate(plain())], {}, "and 4 more"),
    ("no such class", plain(), {"positive": "2"}, "No label of .* is '2'; there are: '0', '1'"),
    ("no labels", [r | {"label": None} for r in plain()], {}, "only the labels none"),
    ("no texts", [r | {"text": ""} for r in plain()], {}, "only the labels none"),
    ("no column of texts", [{"words": w, "label": 0} for w in WORDS], {}, "known to hold texts; it has: words, label"),
    ("no column of labels", [{"text": w, "mark": 0} for w in WORDS], {}, "known to hold labels; it has: text, mark"),
    ("another column", plain(), {"text": "body"}, "no column 'body'; it has: text, label"),
    ("another group", plain(), {"group": "pair"}, "no column 'pair'"),
    ("one column for both", plain(), {"text": "label"}, "cannot hold both"),
    ("too few", plain(4), {}, r"4 usable examples of 4 rows \(left out: none\)"),
    ("too few left", [*plain(8), *plain(8)], {}, r"8 usable examples of 16 rows \(left out: 8 duplicate\)"),
    (
        "one class left",
        [*({"text": w, "label": 1} for w in WORDS), {"text": "z", "label": 1}, {"text": "z", "label": 0}],
        {},
        "All usable examples .* class '1'",
    ),
]


@pytest.mark.parametrize(("rows", "options", "problem"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_a_malformed_set_is_refused_with_what_is_wrong(
    tmp_path: Path, rows: list[dict[str, Any]], options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(LabelsError, match=problem) as caught:
        read_examples(saved(tmp_path, rows), **options)
    assert caught.value.remedy


def test_a_column_that_holds_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    pd.DataFrame([r | {"text": [1, 2]} for r in plain()]).to_json(path, orient="records")
    with pytest.raises(LabelsError, match=r"The text in row 1 .* is a list"):
        read_examples(path)


def test_a_length_in_tokens_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabelsError, match="Without a tokenizer"):
        read_examples(saved(tmp_path, plain()), longest=9)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=4, max_size=25), st.integers(0, 99), st.data())
def test_parts_have_their_sizes_and_no_group_is_parted(lengths: list[int], seed: int, data: st.DataObject) -> None:
    examples = made(lengths)
    sizes = {"fit": data.draw(st.integers(1, len(examples))), "test": data.draw(st.integers(1, len(examples)))}
    try:
        parts = split(examples, sizes, seed)
    except LabelsError as error:
        assert "do not give the parts" in error.problem  # noqa: PT017
        return
    assert {name: len(part) for name, part in parts.items()} == sizes
    whole = Counter(examples.groups)
    for part in parts.values():
        assert all(count == whole[group] for group, count in Counter(part.groups).items())
        for text, label, group in zip(part.texts, part.labels, part.groups, strict=True):
            i = examples.texts.index(text)
            assert (label, group) == (examples.labels[i], examples.groups[i])
    assert not set(parts["fit"].groups) & set(parts["test"].groups)


def test_a_size_is_met_wherever_whole_groups_can_meet_it() -> None:
    """Taking groups as they come would often end one short: once the three is taken, no pair makes it four."""
    for seed in range(30):
        part = split(made([3, 2, 2]), {"part": 4}, seed)["part"]
        assert sorted(part.groups) == [1, 1, 2, 2]


def test_the_same_seed_gives_the_same_parts_and_another_one_others() -> None:
    examples = made([2] * 20)
    first, again, other = (split(examples, {"a": 10, "b": 10}, seed) for seed in (1, 1, 2))
    assert first == again
    assert first["a"].texts != other["a"].texts


def test_every_group_is_drawn_about_equally_often() -> None:
    examples = made([2, 1] * 10)
    counts = Counter(g for seed in range(300) for g in set(split(examples, {"a": 15}, seed)["a"].groups))
    assert min(counts.values()) > 100
    assert max(counts.values()) < 200


@pytest.mark.parametrize(
    ("lengths", "sizes", "most"),
    [
        ([1] * 10, {"fit": 9, "test": 6}, "fit 9, test 1"),
        ([2] * 5, {"fit": 5}, "fit 4"),
        ([5, 5], {"fit": 4, "test": 5}, "fit 0, test 5"),
    ],
)
def test_impossible_sizes_are_refused_with_the_largest_that_can_be_drawn(
    lengths: list[int], sizes: dict[str, int], most: str
) -> None:
    with pytest.raises(LabelsError, match="do not give the parts") as caught:
        split(made(lengths), sizes, 0)
    assert most in caught.value.remedy


def test_a_part_without_a_size_is_refused() -> None:
    for sizes in ({}, {"fit": 0}):
        with pytest.raises(LabelsError, match="not to be drawn"):
            split(made([1] * 4), sizes, 0)


def test_a_text_in_two_parts_is_refused_whatever_its_groups_say() -> None:
    twice = Examples(("a", "a"), (0, 1), (0, 1), ("0", "1"), {})
    with pytest.raises(LabelsError, match="'a' would be in the parts"):
        split(twice, {"fit": 1, "test": 1}, 0)


@pytest.mark.skipif(not (DATA / "ethics").exists(), reason=f"{DATA}/ethics is not there")
def test_the_short_texts_of_ethics_come_in_pairs_of_both_labels(tiny: LoadedModel) -> None:
    found = read_examples(DATA / "ethics" / "cm_test.csv", tokenizer=tiny.tokenizer, longest=64)
    assert 1900 < len(found) < 2300
    assert found.classes == ("0", "1")
    sizes = Counter(Counter(found.groups).values())
    assert sizes[2] > 700
    assert max(sizes) <= 6
    parts = split(found, {"fit": 900, "test": 600}, 0)
    assert not set(parts["fit"].texts) & set(parts["test"].texts)
    assert all(0.35 < sum(part.labels) / len(part) < 0.6 for part in parts.values())
