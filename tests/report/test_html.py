"""The page as text: complete, escaped, without requests, and silent when the instrument is broken."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from markupsafe import Markup
from page_reading import Page

from firsthand.report import AuditDocument, ReportError, render_html, svg, write_html
from firsthand.report.words import wording
from firsthand.vocabulary import Capability, Condition, Verdict


def flat(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).replace("\u00a0", " ").split())


@pytest.fixture
def no_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the drawings out, where a test reads only words."""
    monkeypatch.setattr(svg, "render", lambda *_, **__: Markup('<svg class="chart"></svg>'))


@pytest.fixture
def hostile(make: SimpleNamespace) -> AuditDocument:
    text = make.hostile
    base = make.document()
    result = make.result(observer=text, reason=text)
    answer = (
        base.trials[0].answers[0].model_copy(update={"code": text, "meaning": text, "truth": text, "question": text})
    )
    trial = base.trials[0].model_copy(
        update={
            "prompt": text,
            "visible_answer": text,
            "codes": {text: text},
            "truth": {text: text},
            "trial_id": text,
            "block": text,
            "answers": (answer,),
        }
    )
    known = base.known_answers[0].model_copy(update={"reporter": text, "description": text, "reasons": (text,)})
    return base.model_copy(
        update={
            "claim": base.claim.model_copy(update={"title": text.replace("\ud800", "")}),
            "model": base.model.model_copy(update={"name": text, "architecture": text}),
            "profile": make.profile(result),
            "trials": (trial,),
            "known_answers": (known,),
            "limits": (text,),
            "reproduce": (text,),
            "notes": (text,),
            "claim_hash": text,
            "selection": base.selection.model_copy(update={"criterion": text}),
        }
    )


def test_the_page_is_well_formed_and_asks_for_nothing(document: AuditDocument) -> None:
    page = render_html(document)
    parsed = Page(page)
    assert not parsed.stack
    assert len(parsed.ids) == len(set(parsed.ids))
    assert parsed.loads == ["data:,"]
    assert all(anchor.startswith("#") and anchor[1:] in parsed.ids for anchor in parsed.anchors)
    assert set(parsed.refers) <= set(parsed.ids)
    assert not parsed.tags & {"script", "iframe", "object", "embed", "form", "base", "img"}
    assert not parsed.handlers
    assert "http://" not in page
    assert "https://" not in page
    assert not re.search(r"url\(|@import", page)
    assert "default-src 'none'" in page
    assert '<html lang="en">' in page
    assert len(page.encode()) < 1_500_000


def test_hostile_text_is_shown_and_never_run(hostile: AuditDocument) -> None:
    page = render_html(hostile)
    parsed = Page(page)
    assert not parsed.stack
    assert not parsed.tags & {"script", "img"}
    assert not parsed.handlers
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7 * 7 }}" in page
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", page)
    assert "⟨U+202E⟩" in page
    page.encode("utf-8")


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("capability", [Capability.IDENTIFICATION, Capability.DETECTION, Capability.CONFIDENCE])
@pytest.mark.usefixtures("no_charts")
def test_every_verdict_is_said_in_words(make: SimpleNamespace, verdict: Verdict, capability: Capability) -> None:
    results = [make.result(capability, condition, verdict) for condition in Condition]
    text = flat(render_html(make.document(profile=make.profile(*results), trials=(), known_answers=())))
    words = wording(verdict, capability)
    assert text.count(words.sentence) == 1
    assert words.title in text
    assert words.not_meaning in text
    assert "Same verdict whether or not observers see the visible answer" in text


@pytest.mark.usefixtures("no_charts")
def test_conditions_that_differ_are_told_apart(make: SimpleNamespace) -> None:
    results = (
        make.result(condition=Condition.Y_WITHHELD, verdict=Verdict.PRIVILEGED),
        make.result(condition=Condition.Y_SHOWN, verdict=Verdict.PUBLIC_INFERENCE),
    )
    text = flat(render_html(make.document(profile=make.profile(*results))))
    assert wording(Verdict.PRIVILEGED, Capability.IDENTIFICATION).sentence in text
    assert wording(Verdict.PUBLIC_INFERENCE, Capability.IDENTIFICATION).sentence in text
    assert "Same verdict" not in text


@pytest.mark.usefixtures("no_charts")
def test_equal_numbers_are_shown_once(make: SimpleNamespace) -> None:
    one = make.result()
    both = make.profile(one, one.model_copy(update={"condition": Condition.Y_SHOWN}))
    text = flat(render_html(make.document(profile=both)))
    assert text.count("Both conditions, with equal numbers") == 1


def test_every_estimate_comes_with_interval_and_units(make: SimpleNamespace) -> None:
    text = flat(render_html(make.document(trials=(), known_answers=())))
    for number in ("67.1%", "+0.9 pts", "69.4%", "99.5%"):
        places = [match.end() for match in re.finditer(re.escape(number), text)]
        assert places
    shown = r"(?:[+\u2212]?\d+\.\d+(?:%| pts)?) \[[+\u2212]?\d+\.\d+, [+\u2212]?\d+\.\d+\]"
    assert len(re.findall(shown, text)) > 40
    assert len(re.findall(r"24 blocks · \d+ trials", text)) > 40
    assert "90% intervals" in text


@pytest.mark.usefixtures("no_charts")
def test_a_broken_instrument_gives_no_verdict(make: SimpleNamespace) -> None:
    failed = make.known()[0].model_copy(update={"passed": False, "obtained": Verdict.INSUFFICIENT})
    page = render_html(make.document(instrument_ok=False, known_answers=(failed,)))
    text = flat(page)
    assert "No verdict: the instrument is out of order" in text
    assert "wire, identification: expected privileged, got insufficient" in text
    assert 'id="verdicts"' not in page
    assert 'id="evidence"' not in page
    for verdict in Verdict:
        for capability in Capability:
            assert wording(verdict, capability).sentence not in text


def test_sparse_documents_render(make: SimpleNamespace) -> None:
    bare = make.result().model_copy(
        update={
            "score": None,
            "target_score": None,
            "observers": (),
            "kinds": (),
            "readers": (),
            "reasons": (),
            "equivalence": None,
            "contrast": None,
            "score_worst_case": None,
            "score_best_case": None,
        }
    )
    page = render_html(
        make.document(
            profile=make.profile(bare),
            trials=(),
            known_answers=(),
            selection=None,
            freeze_log=(),
            observers_not_run=(),
            limits=(),
            reproduce=(),
        )
    )
    assert "not scored" in page
    Page(page)


@pytest.mark.usefixtures("no_charts")
def test_many_long_trials_do_not_swell_the_page(make: SimpleNamespace) -> None:
    page = render_html(make.document(trials=make.trials("x" * 90_000) * 20))
    assert len(page.encode()) < 1_500_000
    assert "of 300 sampled trials are shown" in page
    assert "Cut after 20000 characters of 90000" in page


def test_writing_is_whole_or_not_at_all(document: AuditDocument, tmp_path: Path) -> None:
    target = tmp_path / "deep" / "report.html"
    assert write_html(document, target) == target
    assert target.read_text("utf-8") == render_html(document)
    blocked = tmp_path / "taken"
    blocked.mkdir()
    with pytest.raises(ReportError, match="could not be written"):
        write_html(document, blocked)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_rendering_is_repeatable(document: AuditDocument) -> None:
    assert render_html(document) == render_html(document)


def test_numbers_that_are_not_known_do_not_break_the_page(make: SimpleNamespace) -> None:
    unknown = make.estimate(float("nan")).model_copy(update={"low": float("-inf"), "high": float("inf")})
    base = make.result(Capability.DETECTION)
    rows = tuple(row.model_copy(update={"score": unknown, "gap": unknown}) for row in base.observers)
    result = base.model_copy(update={"score": unknown, "observers": rows, "gap": None})
    page = render_html(make.document(profile=make.profile(result)))
    Page(page)
    assert "n/a" in page
    assert "NaN" not in page
