"""A column of a table holds prompts; which one is guessed openly."""

from pathlib import Path

import pytest

from firsthand.counterfactual.sources.table import read
from firsthand.errors import CounterfactualError

from .conftest import alterations, prompts, refusals, spoken


def table(folder: Path, text: str, name: str = "set.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def texts(found: list[object]) -> list[str]:
    return [spoken(one)[0][1] for one in prompts(found)]  # type: ignore[arg-type]


def test_cells_hold_commas_quotes_and_line_ends(tmp_path: Path) -> None:
    path = table(tmp_path, 'act,prompt\r\na,"one, ""two""\nthree"\r\nb,four\u2028five\r\n')
    assert texts(list(read(path))) == ['one, "two"\nthree', "four\u2028five"]
    assert [one.place for one in prompts(list(read(path)))] == ["row 1", "row 2"]


def test_the_guess_is_said_and_a_choice_is_not_second_guessed(tmp_path: Path) -> None:
    path = table(tmp_path, "Text,act,Prompt\na,b,c\n")
    assert alterations(list(read(path))) == [
        ("header", "column 'Prompt' taken for the prompts (other columns: Text, act)")
    ]
    found = list(read(path, column="act"))
    assert (texts(found), alterations(found)) == (["b"], [])


def test_the_only_column_is_the_column(tmp_path: Path) -> None:
    found = list(read(table(tmp_path, "whatever\nhello\n")))
    assert (texts(found), alterations(found)) == (["hello"], [])


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_are_seen_in_the_header(tmp_path: Path, separator: str) -> None:
    assert texts(list(read(table(tmp_path, f"act{separator}prompt\na{separator}b, c\n")))) == ["b, c"]


def test_a_mark_at_the_beginning_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert texts(list(read(table(tmp_path, "\ufeffprompt,act\na,b\n")))) == ["a"]


def test_no_column_that_could_be_meant_is_an_error_that_lists_them(tmp_path: Path) -> None:
    with pytest.raises(CounterfactualError, match=r"one of 'act', 'for_devs'"):
        list(read(table(tmp_path, "act,for_devs\na,b\n")))
    with pytest.raises(CounterfactualError, match="no columns that are called 'prompts'"):
        list(read(table(tmp_path, "prompt,act\na,b\n"), column="prompts"))
    with pytest.raises(CounterfactualError, match="holds no table"):
        list(read(table(tmp_path, "")))


def test_rows_that_do_not_fit_are_refused_and_the_others_read(tmp_path: Path) -> None:
    found = list(read(table(tmp_path, "act,prompt\na\n\na,b,c\na, \na,\udcff\na,good\n")))
    assert refusals(found) == [
        ("row 1", "a row with too few or too many cells"),
        ("row 2", "a row with too few or too many cells"),
        ("row 3", "a turn without text"),
        ("row 4", "text that is no Unicode"),
    ]
    assert texts(found) == ["good"]


def test_a_long_cell_is_read_and_the_limit_of_other_readers_is_left_alone(tmp_path: Path) -> None:
    import csv

    before = csv.field_size_limit()
    path = table(tmp_path, f"prompt\n{'x' * 300_000}\n")
    reading = iter(read(path))
    assert len(texts([next(reading)])[0]) == 300_000
    assert csv.field_size_limit() == before
