"""Investigations in the terminal: account, changes with intervals and n, labels, costs, deaf to commands in texts."""

import io

import investigated as planted
import pytest
from rich.console import Console

from firsthand.report.investigations_document import InvestigationsDocument
from firsthand.report.investigations_terminal import SHOWN, print_investigations


def printed(document: InvestigationsDocument, *, width: int = 100, encoding: str = "utf-8", **options: bool) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=stream, width=width, **options)  # type: ignore[arg-type]
    print_investigations(document, console, ["runs/x/report.html"])
    stream.flush()
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("width", [60, 80, 120, 160])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    text = printed(planted.document(), width=width)
    assert max(len(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("width", [80, 160])
def test_rates_changes_counts_and_status_are_told(width: int) -> None:
    text = " ".join(printed(planted.document(), width=width).split())
    for line in (
        "86.7% → 6.7%",
        "26 of 30, 2 of 30",
        "40.0% → 36.7%",
        "12 of 30, 11 of 30, exploration",
        "95% intervals",
    ):
        assert line in text
    assert "−80.0 pts [−89.4," in text


def test_account_labels_costs_and_files_are_told() -> None:
    text = printed(planted.document(), width=140)
    for line in (
        "Prompts  12",
        "prepared: 10 (left out: 1 too short, 1 same beginning)",
        "Claims   1 true, 1 false",
        "true claims: 0.4% [0.0%, 2.0%] of 1 labels are likely wrong",
        "Cost     $0.715 and what is unknown, 490 calls, 509,000 tokens",
        "classify, classifier, someone/new: unknown (420 calls",
        "no price is known for someone/new",
        "Stopped  The budget of money is used up: $2.00 of $2.00.",
        "Written  runs/x/report.html",
    ):
        assert line in text
    assert "too long" not in text


def test_of_many_the_largest_changes_are_listed_and_the_rest_counted() -> None:
    text = printed(planted.many(SHOWN + 10), width=140)
    assert text.count("“Why, ") == SHOWN
    assert f"The {SHOWN} with the largest changes of {SHOWN + 10} are listed." in text


def test_nothing_investigated_says_so() -> None:
    empty = {"investigations": (), "claims": (), "samples": (), "traces": {}, "account": {"began": 0}}
    text = printed(planted.document(**empty))
    assert "Nothing was investigated." in text
    assert "Claims   none" in text


def test_hostile_text_is_literal() -> None:
    text = printed(planted.hostile(), width=200, force_terminal=True, no_color=True)
    assert "[bold red]x[/]" in text
    assert "\x1b[31m" not in text
    assert "\u202e" not in text
    assert "\x00" not in text


def test_a_terminal_without_unicode_gets_ascii() -> None:
    text = printed(planted.document(), encoding="ascii")
    assert "86.7% -> 6.7%" in text
