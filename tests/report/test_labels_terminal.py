"""A label study in the terminal: compact, with intervals, deaf to commands in a model's or a file's text."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from firsthand.report.labels_document import LabelsDocument
from firsthand.report.labels_terminal import print_labels
from firsthand.vocabulary import Verdict


def printed(document: LabelsDocument, *, width: int = 80, encoding: str = "utf-8", **options: bool) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    print_labels(document, Console(file=stream, width=width, **options))  # type: ignore[arg-type]
    stream.flush()
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_no_line_is_wider_than_the_terminal(labels: LabelsDocument, width: int) -> None:
    text = printed(labels, width=width)
    assert max(len(line) for line in text.splitlines()) <= width
    for word in ("public-inference", "no-access", "insufficient"):
        assert word in text


@pytest.mark.parametrize("width", [80, 160])
def test_score_and_strongest_observer_come_with_intervals_units_and_chance(labels: LabelsDocument, width: int) -> None:
    text = printed(labels, width=width)
    for shown in (
        "67.1% [61.1, 73.1]",
        "24 concepts · 576 trials",
        "reader: gemma3-270m",
        "74.0% [68.0, 80.0]",
        "90% intervals",
        "chance is 50.0%, 0.00, 0.50",
    ):
        assert shown in text


def test_what_was_used_and_what_was_left_out_is_told_and_zeros_are_not(labels: LabelsDocument) -> None:
    lines = printed(labels, width=120).splitlines()
    assert "Left out 3 duplicate, 1,412 too long" in lines
    assert any(line.startswith("Data     cm_test.csv (900 to fit the axes, 600") for line in lines)
    assert "Model    smollm2, beside gemma3-270m" in lines


def test_reasons_and_notes_are_told_and_what_is_only_shown_is_said_so(labels: LabelsDocument) -> None:
    text = " ".join(printed(labels, width=120).split())
    assert "accuracy 0.671, interval 0.611 to 0.731, against 0.50" in text
    assert "The probe is right on 71% of held-out texts." in text
    assert "shown, not judged" in text
    assert "float16 was not examined." in text


def test_a_document_without_findings_says_so(labelled: SimpleNamespace) -> None:
    assert "Nothing was judged." in printed(labelled.document(findings=()))


def test_hostile_text_is_literal(labelled: SimpleNamespace) -> None:
    text = printed(labelled.hostile, width=200, force_terminal=True, no_color=True)
    assert "[bold red]x[/]" in text
    assert "⟨U+001B⟩[31m" in text
    assert "\x1b[31m" not in text
    assert "\u202e" not in text


def test_an_ascii_terminal_gets_ascii(labels: LabelsDocument) -> None:
    assert printed(labels, encoding="ascii").isascii()


def test_long_names_are_cut_or_folded(labelled: SimpleNamespace) -> None:
    assert max(len(line) for line in printed(labelled.long, width=80).splitlines()) <= 80


def test_a_broken_instrument_prints_no_verdict(labelled: SimpleNamespace) -> None:
    broken = labelled.document(instrument_ok=False, instrument_failures=("A wire was cut.",), known_answers=())
    text = printed(broken)
    assert "No verdict: the instrument is out of order." in text
    assert "A wire was cut." in text
    assert "67.1" not in text
    assert not any(verdict.value in text for verdict in Verdict)
