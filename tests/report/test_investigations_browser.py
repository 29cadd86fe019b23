"""Pages of investigations in a real browser: silent, not wider than a phone, sorted and filtered."""

import shutil
from pathlib import Path

import investigated as planted
import pytest
from browsing import CHROMIUM, browse, console, framed

from firsthand.report.investigations_document import InvestigationsDocument
from firsthand.report.investigations_html import render_index, write_investigations

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on the path; install chromium or set CHROMIUM to its path"
)

USING = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="frame" src="report.html" style="width:{width}px;height:900px;border:0"></iframe>
<pre id="result"></pre>
<script>
document.getElementById("frame").addEventListener("load", (event) => {{
  const page = event.target.contentDocument, table = page.getElementById("index");
  const rows = () => [...table.tBodies[0].rows].filter((row) => row.offsetParent !== null);
  const seen = () => rows().map((row) => row.dataset.order);
  const told = () => page.getElementById("told").textContent;
  const choose = (element, value) => {{
    element.value = value;
    element.dispatchEvent(new Event("input", {{bubbles: true}}));
  }};
  const control = (name) => page.querySelector(`[data-filter="${{name}}"]`);
  const reset = () => page.getElementById("reset").click();
  const head = (name) => page.querySelector(`th[data-key="${{name}}"] button`);
  const result = {{ controls: !page.getElementById("controls").hidden, all: seen(), told: told() }};
  head("change").click(); result.down = seen(); result.aria = head("change").parentElement.getAttribute("aria-sort");
  head("change").click(); result.up = seen();
  reset(); result.reset = seen();
  const wanted = {{rating: "5", change: "80", score: "8", source: "=source 2", text: "WHY, 3?"}};
  for (const [name, value] of Object.entries(wanted)) {{
    choose(control(name), value); result[name] = seen(); result.told_some = told(); reset();
  }}
  choose(control("rating"), "5"); choose(control("source"), "=source 2"); result.both = seen();
  const button = head("rating"); button.focus();
  result.focus = page.activeElement === button && button.tagName === "BUTTON";
  document.getElementById("result").textContent = JSON.stringify(result);
}});
</script>"""


def test_sorting_and_filtering(tmp_path: Path) -> None:
    document = planted.many(9)
    write_investigations(document, tmp_path / "report.html")
    found = framed(tmp_path, 1280, USING)
    change = [abs(one.experiments[4].rate.yes - 26) for one in document.investigations]
    numbers = range(len(change))
    assert found["controls"]
    assert found["all"] == found["reset"] == [str(number) for number in numbers]
    assert found["told"] == "All 9 are shown."
    assert found["told_some"] == "1 of 9 are shown."
    assert found["down"] == [str(number) for number in sorted(numbers, key=lambda number: -change[number])]
    assert found["up"] == [str(number) for number in sorted(numbers, key=lambda number: change[number])]
    assert found["aria"] == "descending"
    assert found["rating"] == ["2", "5", "8"]
    assert found["change"] == [str(number) for number in numbers if change[number] >= 24]
    assert found["score"] == ["7", "8"]
    assert found["source"] == ["2", "7"]
    assert found["both"] == ["2"]
    assert found["text"] == ["3"]
    assert found["focus"]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("make", [planted.document, planted.hostile], ids=["planted", "hostile"])
def test_nothing_scrolls_sideways(make: object, tmp_path: Path, width: int) -> None:
    document: InvestigationsDocument = make()  # type: ignore[operator]
    write_investigations(document, tmp_path / "report.html")
    found = framed(tmp_path, width)
    assert found["scroll"] == width, found["wide"]
    assert found["wide"] == []


@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_of_one_investigation_fits_too(tmp_path: Path, width: int) -> None:
    written = write_investigations(planted.document(), tmp_path / "index.html", pages=True)
    shutil.copy(written[1], tmp_path / "report.html")
    found = framed(tmp_path, width)
    assert found["scroll"] == width, found["wide"]
    assert found["wide"] == []


def test_a_script_that_is_not_the_pages_own_does_not_run(tmp_path: Path) -> None:
    """Were anything left unescaped, the policy would still stop it."""
    page = render_index(planted.document()).replace("</main>", "<script>document.title = 'owned'</script></main>")
    (tmp_path / "bad.html").write_text(page, "utf-8")
    run = browse(tmp_path / "bad.html", tmp_path / "profile", "--dump-dom")
    assert "<title>owned" not in run.stdout
    assert any("Content Security Policy" in line for line in console(run))
    assert "2 are shown" in run.stdout
