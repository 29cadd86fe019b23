"""The page of a label study: complete, escaped, without requests, and silent when the instrument is broken."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from markupsafe import Markup
from page_reading import check_page, flat

from firsthand.report import formats, svg
from firsthand.report.labels_document import LabelsDocument
from firsthand.report.labels_html import render_labels, write_labels_html
from firsthand.report.labels_words import LABELS
from firsthand.vocabulary import Capability, Verdict


@pytest.fixture
def no_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the drawings out, where a test reads only words."""
    monkeypatch.setattr(svg, "render", lambda *_, **__: Markup('<svg class="chart"></svg>'))


def test_the_page_is_well_formed_and_asks_for_nothing(labels: LabelsDocument) -> None:
    page = render_labels(labels)
    check_page(page)
    assert len(page.encode()) < 1_000_000


def test_hostile_text_is_shown_and_never_run(labelled: SimpleNamespace) -> None:
    page = render_labels(labelled.hostile)
    check_page(page)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7 * 7 }}" in page
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", page)
    page.encode("utf-8")


@pytest.mark.usefixtures("no_charts")
def test_every_finding_is_told_with_its_verdict_its_score_and_what_that_rests_on(labels: LabelsDocument) -> None:
    page = render_labels(labels)
    text = flat(page)
    for finding in labels.findings:
        assert f'id="{finding.name}"' in page
        assert finding.asked in text
        for result in finding.results:
            measure = LABELS.metric(result.capability, result.chance)
            assert result.score is not None
            shown = formats.estimate_text(result.score, measure.unit)
            chance = formats.number(result.chance, measure.unit)
            assert f"{measure.name} {shown}, chance {chance} · 24 concepts · 576 trials · Y withheld" in text
            assert LABELS.wording(result.verdict, result.capability).sentence in text
            assert all(reason in text for reason in result.reasons)


@pytest.mark.usefixtures("no_charts")
def test_a_curve_is_a_table_too_with_intervals_and_units(labels: LabelsDocument) -> None:
    text = flat(render_labels(labels))
    for series in labels.findings[0].curves[0].series:
        for point in series.points:
            found = formats.estimate_text(point.estimate, formats.Unit.PERCENT)
            assert f"{series.name} {point.x:g} {found} 24 concepts · 576 trials" in text


@pytest.mark.usefixtures("no_charts")
def test_a_grid_shows_numbers_with_intervals_texts_and_gaps(labels: LabelsDocument) -> None:
    text = flat(render_labels(labels))
    assert "Brackets hold 90% intervals. Spearman correlations over pairs." in text
    assert "SmolLM2 0.18 [0.01, 0.35] 24 concepts · 576 trials" in text
    assert "answers by place" in text
    assert "0.13 [−0.05, 0.31] 24 concepts · 576 trials —" in text


@pytest.mark.usefixtures("no_charts")
def test_what_was_left_out_of_the_data_is_counted(labels: LabelsDocument) -> None:
    text = flat(render_labels(labels))
    assert "Left out: too long 1 412" in text
    assert "Left out: duplicate 3" in text
    assert "Used: to fit the axes 900" in text
    assert "acceptable · wrong" in text


@pytest.mark.usefixtures("no_charts")
def test_limits_sources_commands_models_and_prompt_are_there(labels: LabelsDocument) -> None:
    text = flat(render_labels(labels))
    for line in (*labels.limits, *labels.published_sources, *labels.reproduce, *labels.notes):
        assert line in text
    for card in labels.models:
        assert f"{card.name} ({card.architecture}" in text
    assert "<|im_start|>system Every sentence here" in text
    assert "All 2 checks with a known answer came out as they must" in text


@pytest.mark.usefixtures("no_charts")
def test_a_study_without_known_answers_says_so(labelled: SimpleNamespace) -> None:
    text = flat(render_labels(labelled.document(known_answers=())))
    assert "The instrument was not examined." in text


@pytest.mark.usefixtures("no_charts")
def test_published_words_without_figures_stand_alone(labelled: SimpleNamespace) -> None:
    text = flat(render_labels(labelled.document(published=())))
    assert "Beside published figures" in text
    assert "Beside published figures" not in flat(render_labels(labelled.document(published=(), published_sources=())))


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("capability", Capability)
def test_every_verdict_is_worded_for_a_state_that_occurs_by_itself(verdict: Verdict, capability: Capability) -> None:
    words = LABELS.wording(verdict, capability)
    assert 10 < len(words.title) < 60
    for word in ("overwritten", "covert", "hidden state", "injected", "{"):
        assert word not in words.title + words.sentence + words.not_meaning + LABELS.question(capability)


@pytest.mark.parametrize("capability", Capability)
def test_no_two_verdicts_read_alike(capability: Capability) -> None:
    assert len({LABELS.wording(verdict, capability).title for verdict in Verdict}) == len(Verdict)
    assert len({LABELS.wording(verdict, capability).sentence for verdict in Verdict}) == len(Verdict)


@pytest.mark.usefixtures("no_charts")
def test_a_broken_instrument_shows_no_verdict_and_says_why(labelled: SimpleNamespace) -> None:
    document = labelled.document(instrument_ok=False, instrument_failures=("A wire was cut.",), known_answers=())
    page = render_labels(document)
    text = flat(page)
    assert "No verdict: the instrument is out of order" in text
    assert "A wire was cut." in text
    assert not any(verdict.value in page for verdict in Verdict)
    assert "67.1" not in page
    assert "<svg" not in page
    assert "Beside published figures" not in text
    assert "What may not be concluded" in text


@pytest.mark.usefixtures("no_charts")
def test_a_failed_known_answer_is_named(labelled: SimpleNamespace) -> None:
    known = labelled.document().known_answers
    failed = known[1].model_copy(update={"obtained": Verdict.PRIVILEGED, "passed": False})
    page = flat(render_labels(labelled.document(instrument_ok=False, known_answers=(known[0], failed))))
    assert "lot, probe, identification: expected insufficient, got privileged" in page


def test_a_bare_document_is_a_page_too(labelled: SimpleNamespace) -> None:
    empty = {"published": (), "published_sources": (), "known_answers": (), "notes": (), "limits": (), "reproduce": ()}
    page = render_labels(labelled.document(findings=(), **empty))
    check_page(page)
    assert "Nothing was asked, so nothing is said." in page
    assert 'id="x-published"' not in page


def test_the_page_is_written_whole(labels: LabelsDocument, tmp_path: Path) -> None:
    path = write_labels_html(labels, tmp_path / "deep" / "report.html")
    assert path.read_text("utf-8").endswith("</html>")
    assert [entry.name for entry in path.parent.iterdir()] == ["report.html"]
