"""The page of an injection study: complete, escaped, without requests, and silent when the instrument is broken."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from markupsafe import Markup
from page_reading import Page, check_page, flat

from firsthand.report import formats, svg
from firsthand.report.injection_document import InjectionDocument
from firsthand.report.injection_html import render_injection, write_injection_html
from firsthand.report.injection_words import INJECTION
from firsthand.vocabulary import Capability, Verdict


@pytest.fixture
def no_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the drawings out, where a test reads only words."""
    monkeypatch.setattr(svg, "render", lambda *_, **__: Markup('<svg class="chart"></svg>'))


def test_the_page_is_well_formed_and_asks_for_nothing(injection: InjectionDocument) -> None:
    page = render_injection(injection)
    check_page(page)
    assert len(page.encode()) < 1_500_000


def test_hostile_text_is_shown_and_never_run(injected: SimpleNamespace) -> None:
    page = render_injection(injected.hostile)
    parsed = Page(page)
    assert not parsed.stack
    assert not parsed.tags & {"script", "img"}
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7 * 7 }}" in page
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", page)
    page.encode("utf-8")


@pytest.mark.usefixtures("no_charts")
def test_every_finding_is_told_with_its_verdict_its_score_and_what_that_rests_on(injection: InjectionDocument) -> None:
    page = render_injection(injection)
    text = flat(page)
    for finding in injection.findings:
        assert f'id="{finding.name}"' in page
        assert finding.asked in text
        for result in finding.results:
            unit = INJECTION.metric(result.capability, result.chance).unit
            assert result.score is not None
            shown = formats.estimate_text(result.score, unit)
            assert f"{shown}, chance {formats.number(result.chance, unit)} · 24 concepts · 576 trials" in text
            assert INJECTION.wording(result.verdict, result.capability).sentence in text
            assert all(reason in text for reason in result.reasons)


@pytest.mark.usefixtures("no_charts")
def test_what_would_have_been_claimed_stands_beside_what_was_confirmed(injection: InjectionDocument) -> None:
    text = flat(render_injection(injection))
    assert "Best of 120 cells, where it was found: what would have been claimed +38.9 pts [+26.9, +50.9]" in text
    assert "The chosen cell, on concepts that did not choose it +14.4 pts [+8.1, +20.7]" in text
    assert "layer 12, dose 2, conversation" in text
    assert "layer 9, dose 2, instruction" in text


@pytest.mark.usefixtures("no_charts")
def test_rates_of_the_matrix_come_with_interval_spread_and_units(injection: InjectionDocument) -> None:
    text = flat(render_injection(injection))
    row = injection.finding("detection-3").matrices[0].rows[0]
    shown = " ".join(
        f"{formats.estimate_text(share, formats.Unit.PERCENT)} ± {100 * spread:.1f}"
        for share, spread in zip(row.shares, row.spread, strict=True)
    )
    assert f"{row.label} (target) {shown} 1.5% 95.1% 0.00 1.93 24 concepts · 576 trials" in text


@pytest.mark.usefixtures("no_charts")
def test_no_estimate_stands_without_its_interval(injection: InjectionDocument) -> None:
    page = render_injection(injection)
    cells = re.findall(r'<span class="num big">([^<]+)</span>(.{0,60})', page)
    assert len(cells) > 30
    assert all(re.match(r'<span class="num(?: iv rest)?">\[', after) for _, after in cells)


@pytest.mark.usefixtures("no_charts")
def test_observers_arms_readers_and_calibration_are_in_the_tables(injection: InjectionDocument) -> None:
    text = flat(render_injection(injection))
    assert "most abstract sentence 22.8% [16.8, 28.8]" in text
    assert "probe where the report is made 96.2% [94.2, 98.2]" in text
    assert "wire at the site of the injection 100.0% [100.0, 100.0]" in text
    assert "d′ 0.37 [0.23, 0.51], c −0.15 [−0.24, −0.06]" in text
    assert "Equivalence within ±15.0 pts shown (p = 0.004)" in text
    assert "not tested: the probe was not shown to be sensitive" in text
    assert "Brier score (0 is perfect) 0.25 [0.24, 0.26]" in text


@pytest.mark.usefixtures("no_charts")
def test_transfer_published_rates_limits_and_commands_are_there(injection: InjectionDocument) -> None:
    text = flat(render_injection(injection))
    assert "other layers Other layers than those that chose. 58.0% [52.0, 64.0]" in text
    assert injection.published_sources[0] in text
    assert injection.limits[0] in text
    assert injection.reproduce[1] in text
    assert injection.notes[0] in text


def test_conditions_with_equal_numbers_are_drawn_once(injected: SimpleNamespace) -> None:
    base = injected.document()
    first = base.finding("detection-3")
    equal = tuple(first.results[0].model_copy(update={"condition": result.condition}) for result in first.results)
    page = render_injection(base.model_copy(update={"findings": (first.model_copy(update={"results": equal}),)}))
    assert page.count("<strong>The report against each observer</strong>") == 1
    assert "Y withheld and Y shown" in flat(page)


@pytest.mark.usefixtures("no_charts")
@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("capability", Capability)
def test_every_verdict_is_worded_for_an_injection(verdict: Verdict, capability: Capability) -> None:
    words = INJECTION.wording(verdict, capability)
    assert words.title
    assert words.not_meaning
    for word in ("overwritten", "flipped", "hidden state", "{"):
        assert word not in words.title + words.sentence + INJECTION.question(capability)


@pytest.mark.usefixtures("no_charts")
def test_a_broken_instrument_shows_no_verdict_and_says_why(injected: SimpleNamespace) -> None:
    document = injected.document(
        instrument_ok=False, instrument_failures=("An edit was not consumed.",), known_answers=()
    )
    page = render_injection(document)
    text = flat(page)
    assert "No verdict: the instrument is out of order" in text
    assert "An edit was not consumed." in text
    assert not any(verdict.value in page for verdict in Verdict)
    assert "38.9" not in page
    assert "<svg" not in page
    assert "What may not be concluded" in text


@pytest.mark.usefixtures("no_charts")
def test_a_failed_known_answer_is_named(injected: SimpleNamespace) -> None:
    known = injected.document().known_answers
    failed = known[0].model_copy(update={"obtained": Verdict.INSUFFICIENT, "passed": False})
    page = flat(render_injection(injected.document(instrument_ok=False, known_answers=(failed, *known[1:]))))
    assert "wire, detection: expected privileged, got insufficient" in page


@pytest.mark.usefixtures("no_charts")
def test_a_bare_document_is_a_page_too(injected: SimpleNamespace) -> None:
    empty = {"transfer": (), "published": (), "published_sources": (), "known_answers": (), "notes": ()}
    page = render_injection(injected.document(findings=(), limits=(), reproduce=(), **empty))
    assert not Page(page).stack
    assert "x-transfer" not in page


def test_the_page_is_written_whole(injection: InjectionDocument, tmp_path: Path) -> None:
    path = write_injection_html(injection, tmp_path / "deep" / "report.html")
    assert path.read_text("utf-8").endswith("</html>")
    assert [entry.name for entry in path.parent.iterdir()] == ["report.html"]
