"""An injection study in the terminal: compact, with intervals, deaf to commands in a model's text."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from firsthand.report.injection_document import InjectionDocument
from firsthand.report.injection_terminal import print_injection
from firsthand.vocabulary import Verdict


def printed(document: InjectionDocument, *, width: int = 80, encoding: str = "utf-8", **options: bool) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    print_injection(document, Console(file=stream, width=width, **options))  # type: ignore[arg-type]
    stream.flush()
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("width", [60, 80, 120, 170])
def test_no_line_is_wider_than_the_terminal(injection: InjectionDocument, width: int) -> None:
    text = printed(injection, width=width)
    assert max(len(line) for line in text.splitlines()) <= width
    for word in ("anomaly-only", "public-inference", "insufficient", "no-access"):
        assert word in text


@pytest.mark.parametrize("width", [80, 160])
def test_scores_come_with_interval_units_and_chance(injection: InjectionDocument, width: int) -> None:
    text = printed(injection, width=width)
    for shown in ("+1.3 pts [−4.1, +6.7]", "24 concepts · 576 trials", "55.7% [49.7, 61.7]", "25.0%", "90% intervals"):
        assert shown in text


def test_the_best_of_the_grid_stands_beside_what_was_confirmed(injection: InjectionDocument) -> None:
    lines = printed(injection, width=160).splitlines()
    place = next(i for i, line in enumerate(lines) if "best of the grid, where it was found: +38.9 pts" in line)
    assert "chosen cell, where it was chosen:" in lines[place + 1]
    assert "the same, judged on other concepts: +14.4 pts [+8.1, +20.7]" in lines[place + 2]


def test_what_was_not_confirmed_is_said_so(injected: SimpleNamespace) -> None:
    base = injected.document()
    first = base.findings[0]
    selection = first.selection.model_copy(update={"confirmed": None})
    finding = first.model_copy(update={"selection": selection})
    assert "not confirmed" in printed(base.model_copy(update={"findings": (finding,)}))


def test_hostile_text_is_literal(injected: SimpleNamespace) -> None:
    text = printed(injected.hostile, width=200, force_terminal=True, no_color=True)
    assert "[bold red]x[/]" in text
    assert "⟨U+001B⟩[31m" in text
    assert "\x1b[31m" not in text
    assert "\u202e" not in text


def test_an_ascii_terminal_gets_ascii(injection: InjectionDocument) -> None:
    assert printed(injection, encoding="ascii").isascii()


def test_a_broken_instrument_prints_no_verdict(injected: SimpleNamespace) -> None:
    broken = injected.document(
        instrument_ok=False, instrument_failures=("An edit was not consumed.",), known_answers=()
    )
    text = printed(broken)
    assert "No verdict: the instrument is out of order." in text
    assert "An edit was not consumed." in text
    assert "38.9" not in text
    assert not any(verdict.value in text for verdict in Verdict)
