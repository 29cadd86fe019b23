"""Pages in a headless Chromium: what the console says, and what is seen at some width.

Headless Chromium has a least window width above a phone's, so narrow widths are measured in a frame of that width.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
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


def framed(folder: Path, width: int, harness: str = HARNESS) -> dict[str, object]:
    """What a harness finds of ``report.html`` in a folder, in a frame of some width."""
    path = folder / "harness.html"
    path.write_text(harness.format(width=width), "utf-8")
    run = browse(path, folder / "profile", "--dump-dom", width=max(width, 600))
    assert console(run) == []
    found = re.search(r'<pre id="result">(.+?)</pre>', run.stdout, re.DOTALL)
    assert found is not None, run.stderr[-2000:]
    result: dict[str, object] = json.loads(
        found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    )
    return result
