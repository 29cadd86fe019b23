"""The terminal table: narrow, wide, without colour, without Unicode, and with hostile text."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from firsthand.report import AuditDocument, print_profile
from firsthand.vocabulary import Verdict


def printed(shown: object, *, width: int = 80, encoding: str = "utf-8", **options: object) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=stream, width=width, **options)  # type: ignore[arg-type]
    print_profile(shown, console)  # type: ignore[arg-type]
    stream.flush()
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("width", [60, 80, 120, 170])
def test_no_line_is_wider_than_the_terminal(document: AuditDocument, width: int) -> None:
    text = printed(document, width=width)
    assert max(len(line) for line in text.splitlines()) <= width
    for word in ("public-inference", "anomaly-only", "insufficient"):
        assert word in text


@pytest.mark.parametrize("width", [80, 160])
def test_numbers_come_with_interval_and_units(document: AuditDocument, width: int) -> None:
    text = printed(document, width=width)
    assert "67.1% [61.1, 73.1]" in text
    assert "24 blocks · 240 trials" in text
    assert "input only" in text
    assert "90% intervals" in text
    assert "The gap to 'input only'" in text


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_is_printed(make: SimpleNamespace, verdict: Verdict) -> None:
    assert verdict.value in printed(make.profile(make.result(verdict=verdict)))


def test_hostile_text_is_literal(make: SimpleNamespace) -> None:
    text = printed(
        make.profile(make.result(observer=make.hostile, reason=make.hostile)),
        width=200,
        force_terminal=True,
        no_color=True,
    )
    assert "[bold red]x[/]" in text
    assert "⟨U+001B⟩[31m" in text
    assert "\x1b[31m" not in text
    assert "\u202e" not in text


def test_without_colour_nothing_is_coloured(document: AuditDocument, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = printed(document, force_terminal=True)
    assert "\x1b[3" not in text
    assert "\x1b[9" not in text


def test_an_ascii_terminal_gets_ascii(document: AuditDocument) -> None:
    text = printed(document, encoding="ascii")
    assert text.isascii()
    assert "[-4.6, +6.4]" in text


def test_a_broken_instrument_prints_no_verdict(make: SimpleNamespace) -> None:
    broken = make.document(instrument_ok=False, instrument_failures=("An edit was not consumed.",), known_answers=())
    text = printed(broken)
    assert "No verdict: the instrument is out of order." in text
    assert "An edit was not consumed." in text
    assert not any(verdict.value in text for verdict in Verdict)
