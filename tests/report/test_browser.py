"""The page in a real browser: silent console, no sideways scrolling, filters that work."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from browsing import CHROMIUM, browse, console, framed

from firsthand.report import AuditDocument, write_html
from firsthand.report.injection_document import InjectionDocument
from firsthand.report.injection_html import write_injection_html
from firsthand.report.labels_document import LabelsDocument
from firsthand.report.labels_html import write_labels_html

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on the path; install chromium or set CHROMIUM to its path"
)


def written(document: AuditDocument | InjectionDocument | LabelsDocument, path: Path) -> Path:
    if isinstance(document, LabelsDocument):
        return write_labels_html(document, path)
    return (
        write_injection_html(document, path) if isinstance(document, InjectionDocument) else write_html(document, path)
    )


def measured(
    document: AuditDocument | InjectionDocument | LabelsDocument, folder: Path, width: int
) -> dict[str, object]:
    written(document, folder / "report.html")
    return framed(folder, width)


@pytest.fixture
def awkward(make: SimpleNamespace) -> AuditDocument:
    """Long unbroken names everywhere, and hostile text."""
    long = "package.module_" * 12 + ":Observer"
    base = make.document(trials=make.trials("y" * 3000 + "\n" + make.hostile))
    results = tuple(
        result.model_copy(
            update={
                "reasons": (long, make.hostile),
                "observers": tuple(row.model_copy(update={"name": long}) for row in result.observers),
            }
        )
        for result in make.all_results()
    )
    model = base.model.model_copy(update={"name": long})
    known = tuple(item.model_copy(update={"reporter": long[:60]}) for item in base.known_answers)
    return base.model_copy(update={"model": model, "profile": make.profile(*results), "known_answers": known})


def test_the_console_check_can_fail(tmp_path: Path) -> None:
    page = tmp_path / "noisy.html"
    page.write_text("<!doctype html><title>x</title><script>console.error('boom')</script>", "utf-8")
    assert any("boom" in line for line in console(browse(page, tmp_path / "profile", "--dump-dom")))


@pytest.mark.parametrize("width", [1280, 390])
def test_page_is_silent_and_draws(document: AuditDocument, tmp_path: Path, width: int) -> None:
    page = write_html(document, tmp_path / "report.html")
    picture = tmp_path / f"report-{width}.png"
    run = browse(page, tmp_path / "profile", f"--screenshot={picture}", width=width)
    assert console(run) == []
    assert picture.stat().st_size > 20_000


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_scrolls_sideways_and_filters_work(document: AuditDocument, tmp_path: Path, width: int) -> None:
    result = measured(document, tmp_path, width)
    assert result["client"] == width
    assert result["scroll"] == width, result["wide"]
    assert result["wide"] == []
    assert result["text"] >= 9.5, "chart text is too small to read"  # type: ignore[operator]
    assert (result["all"], result["target"]) == (15, 3)


def test_awkward_text_does_not_widen_a_phone(awkward: AuditDocument, tmp_path: Path) -> None:
    result = measured(awkward, tmp_path, 390)
    assert result["scroll"] == 390, result["wide"]
    assert result["wide"] == []
    assert result["h1"] == awkward.claim.title


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("study", ["injection", "labels"])
def test_a_study_fits_a_phone_and_a_desk(
    request: pytest.FixtureRequest, study: str, tmp_path: Path, width: int
) -> None:
    result = measured(request.getfixturevalue(study), tmp_path, width)
    assert result["scroll"] == width, result["wide"]
    assert result["wide"] == []
    assert result["text"] >= 9.5, "chart text is too small to read"  # type: ignore[operator]


@pytest.mark.parametrize("builders", ["injected", "labelled"])
def test_awkward_text_in_a_study_does_not_widen_a_phone(
    request: pytest.FixtureRequest, builders: str, tmp_path: Path
) -> None:
    result = measured(request.getfixturevalue(builders).long, tmp_path, 390)
    assert result["scroll"] == 390, result["wide"]
    assert result["wide"] == []
