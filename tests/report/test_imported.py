"""The page and the terminal form of an imported profile: complete, escaped, without outside requests."""

import io
import re

import pytest
from rich.console import Console

from firsthand.analysis.findings import Finding, ImportedProfile, Line, Mark, Number, Picture, Source, StudyResult
from firsthand.analysis.results import Estimate
from firsthand.report.imported_html import number_text, render_imported
from firsthand.report.imported_terminal import print_imported
from firsthand.vocabulary import Capability, Verdict

NASTY = "<script>alert(1)</script> \u202e\x1b[31m [bold]{{ 7 * 7 }}"


def estimate(value: float = 0.2) -> Estimate:
    return Estimate(value=value, low=0.1, high=0.4, level=0.95, n_trials=240, units=10, cluster="concept", p=0.02)


@pytest.fixture
def profile() -> ImportedProfile:
    number = Number(name=f"rate of {NASTY}", value=0.2, estimate=estimate())
    finding = Finding(
        name="best-of-grid",
        tone="caution",
        sentence=f"The best cell is {NASTY}.",
        numbers=(number,),
        units=10,
        cluster="c",
    )
    picture = Picture(
        title="Rates",
        axis="Share right",
        unit="share",
        marks=(Mark(label=NASTY, estimate=estimate(), emphasis=True),),
        lines=(Line(label="chance", value=0.25),),
    )
    study = StudyResult(
        name="detection",
        title="Is it there?",
        capability=Capability.DETECTION,
        role="claim",
        published_rows=240,
        published_answers=240,
        measurements=240,
        clusters={"concept": 10},
        verdict=Verdict.INSUFFICIENT,
        reasons=(f"no rows of {NASTY}",),
        concluded=("nothing",),
        findings=(finding,),
        picture=picture,
        notes=(NASTY,),
    )
    control = study.model_copy(update={"name": "control", "role": "control", "verdict": None, "picture": None})
    return ImportedProfile(
        importer="x",
        title=f"Title {NASTY}",
        level=0.95,
        sources=(Source(file=NASTY, sha256="0" * 64, rows=240),),
        trace_digest="0" * 64,
        studies=(study, control),
        notes=("file is not there",),
    )


def test_the_page_escapes_everything_and_asks_for_nothing(profile: ImportedProfile) -> None:
    page = render_imported(profile)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "{{ 7 * 7 }}" in page
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)""", page)
    assert "default-src 'none'" in page
    assert "insufficient" in page
    assert "20.0% [10.0, 40.0]" in page
    assert page.count("<svg") == 1


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_terminal_form_is_plain_text_of_the_given_width(profile: ImportedProfile, width: int) -> None:
    stream = io.StringIO()
    print_imported(profile, Console(file=stream, width=width, force_terminal=False))
    shown = stream.getvalue()
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "[bold]" in shown
    assert {"10", "insufficient", "control"} <= set(shown.split())
    assert max(map(len, shown.splitlines())) <= width


def test_numbers_are_written_by_their_unit() -> None:
    assert number_text(Number(name="n", value=40_000, unit="count")) == "40,000"
    assert number_text(Number(name="n", value=6e-10)) == "6e-10"
    assert number_text(Number(name="n", value=0.25)) == "25.0%"
    assert number_text(Number(name="n", value=-14.9, unit="number")) == "\u221214.90"
