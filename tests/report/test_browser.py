"""The page in a real browser: silent console, no sideways scrolling, filters that work.

Headless Chromium has a least window width above a phone's, so narrow widths are measured in a frame of that width.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from firsthand.report import AuditDocument, write_html
from firsthand.report.injection_document import InjectionDocument
from firsthand.report.injection_html import write_injection_html
from firsthand.report.labels_document import LabelsDocument
from firsthand.report.labels_html import write_labels_html

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on the path; install chromium or set CHROMIUM to its path"
)

HARNESS = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="frame" src="report.html" style="width:{width}px;height:900px;border:0"></iframe>
<pre id="result"></pre>
<script>
document.getElementById("frame").addEventListener("load", (event) => {{
  const inner = event.target.contentDocument, root = inner.documentElement;
  inner.querySelectorAll("details").forEach((item) => {{ item.open = true; }});
  const seen = () => [...inner.querySelectorAll(".trial")].filter((item) => item.offsetParent !== null).length;
  const result = {{
    client: root.clientWidth, scroll: root.scrollWidth, all: seen(),
    wide: [...inner.querySelectorAll("main *, header *")]
      .filter((item) => !item.closest(".scroll, .steps, .text, svg"))
      .filter((item) => item.getBoundingClientRect().right > {width} + 1)
      .map((item) => item.tagName + "." + item.className),
    text: Math.min(...[...inner.querySelectorAll("svg.chart text")]
      .filter((item) => item.getBBox().width > 0)
      .map((item) => parseFloat(item.getAttribute("font-size")) *
        Math.hypot(item.getScreenCTM().a, item.getScreenCTM().b))),
    h1: inner.querySelector("h1").textContent,
  }};
  const one = inner.querySelector("#only-target");
  if (one) {{ one.click(); result.target = seen(); }}
  document.getElementById("result").textContent = JSON.stringify(result);
}});
</script>"""


def browse(page: Path, profile: Path, *options: str, width: int = 1280) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM is not None
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        "--v=0",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
        "--disable-dev-shm-usage",
        "--allow-file-access-from-files",
        f"--user-data-dir={profile}",
        f"--window-size={width},900",
        "--virtual-time-budget=4000",
        *options,
        page.as_uri(),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def console(run: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in run.stderr.splitlines() if "CONSOLE" in line]


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
    harness = folder / "harness.html"
    harness.write_text(HARNESS.format(width=width), "utf-8")
    run = browse(harness, folder / "profile", "--dump-dom", width=max(width, 600))
    assert console(run) == []
    found = re.search(r'<pre id="result">(.+?)</pre>', run.stdout, re.DOTALL)
    assert found is not None, run.stderr[-2000:]
    result: dict[str, object] = json.loads(
        found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    )
    return result


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
