"""``kill -9`` of the command at random moments: it goes on to the same end, and asks for no answer that it has again.

The models are in a process of their own behind HTTP, which counts requests by everything that is posted. A request that
was under way when the command was killed may come again, so there are at most as many repetitions as kills and
connections; ``FIRSTHAND_KILLS=10`` kills ten times.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_server import KEY
from running_world import prompts

from firsthand.report.investigations_files import read_json
from firsthand.trials.randomness import stream

KILLS = int(os.environ.get("FIRSTHAND_KILLS", "3"))
CONNECTIONS = 4
HERE = Path(__file__).parent
SETTINGS = """
roles:
  target: {{model: openai-api/local/world, base_url: "{url}", billed: false}}
  investigator: {{model: openai-api/local/world, base_url: "{url}", billed: false}}
sampling: {{samples: 10}}
effort: light
connections: {connections}
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "LOCAL_API_KEY": KEY, "COLUMNS": "200"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Address and log of a server in a process of its own."""
    script, place, log = HERE.parents[2] / "servers" / "world_server.py", tmp_path / "url", tmp_path / "log"
    process = subprocess.Popen([sys.executable, str(script), str(place), str(log), "0.01"], env=environment())
    try:
        while not place.exists():
            assert process.poll() is None
            time.sleep(0.05)
        yield place.read_text(), log
    finally:
        process.kill()
        process.wait()


def requests(log: Path) -> Counter[str]:
    return Counter(line.split()[1] for line in log.read_text().splitlines() if line.startswith("begin "))


@pytest.mark.timeout(1800)
def test_killed_at_random_moments_the_command_ends_the_same_and_pays_for_no_answer_twice(
    tmp_path: Path, server: tuple[str, Path]
) -> None:
    url, log = server
    given, settings = tmp_path / "prompts.jsonl", tmp_path / "settings.yaml"
    given.write_text("".join(json.dumps({"prompt": one.user_text}) + "\n" for one in prompts(2)))
    settings.write_text(SETTINGS.format(url=url, connections=CONNECTIONS))
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for folder in (whole, broken):  # the same fences, so that requests can be compared
        folder.mkdir()
        (folder / "fence.key").write_bytes(b"k" * 32)
    words = ["investigate", "agents", str(given), "--settings", str(settings), "--display", "none"]
    draw = stream("kills of the command", KILLS)
    moments = zip(draw.uniform(0.01, 0.97, KILLS), draw.uniform(0.0, 0.3, KILLS), strict=True)
    pairs = [f"{share}+{later}" for share, later in moments]
    done = subprocess.run(
        [sys.executable, str(HERE / "killed_agents.py"), str(tmp_path), str(log), json.dumps(words), *pairs],
        env=environment(),
        capture_output=True,
        check=False,
    )
    out = [path.read_text()[-2_000:] for path in tmp_path.glob("*.out")]
    assert done.returncode == 0, (done.returncode, done.stderr.decode()[-2_000:], out)

    expected, made = requests(tmp_path / "whole.log"), requests(tmp_path / "broken.log")
    repeated = made - expected
    told = json.loads((tmp_path / "told.json").read_text())
    print(f"{told} {expected.total()} requests whole, {made.total()} with kills, {repeated.total()} repeated")
    assert told["kills"] == KILLS
    assert set(made) == set(expected)
    assert not expected - made
    assert repeated.total() <= KILLS * CONNECTIONS
    first, second = (read_json(folder / "result.json") for folder in (whole, broken))
    fields = ("target", "investigations", "claims", "account", "funnel", "label_errors", "costs", "stopped", "notes")
    for field in fields:
        assert getattr(first, field) == getattr(second, field), field
    assert first.claims
    assert not first.stopped
