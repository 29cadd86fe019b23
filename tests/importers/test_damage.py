"""Published files, damaged in every way that comes to mind: judged as far as possible or refused, never a traceback."""

import json
import random
import re
from pathlib import Path

import pytest

from firsthand.analysis.imported_judging import judge_imported
from firsthand.errors import FirsthandError
from firsthand.importers.registry import make_importer

CELLS = ("", "nan", "True", "abc", "-1", "1e400", "0", "0.5", "None", "[1]", "\u202e", "=1+1", "FIRST", "yes")


def damaged_csv(lines: list[str], rng: random.Random) -> str:
    header, rows = (
        lines[0],
        [line for line in rng.sample(lines[1:], min(14, len(lines) - 1)) if line.count('"') % 2 == 0],
    )
    made = []
    for row in rows:
        cells = row.split(",")
        if rng.random() < 0.5:
            cells[rng.randrange(len(cells))] = rng.choice(CELLS)
        made.append(",".join(cells))
    if rng.random() < 0.2:
        names = header.split(",")
        names[rng.randrange(len(names))] = "renamed"
        header = ",".join(names)
    return "\n".join([header, *made])


def damaged_json(lines: list[str], rng: random.Random) -> str:
    made = []
    for line in rng.sample(lines, 30):
        value = json.loads(line)
        if rng.random() < 0.4:
            value[rng.choice(list(value))] = rng.choice([None, 1, -0.5, "x", True, [], {}, {"a": 1}])
        made.append(json.dumps(value))
    return "\n".join(made)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["hahami", "codebook_icl"])
def test_damage_is_survived_or_refused(published: Path, tmp_path: Path, kind: str, seed: int) -> None:
    rng = random.Random(f"{kind}{seed}")
    for path in (published / kind).iterdir():
        if path.suffix in (".csv", ".jsonl"):
            lines = path.read_text(encoding="utf-8").splitlines()
            text = damaged_csv(lines, rng) if path.suffix == ".csv" else damaged_json(lines, rng)
            (tmp_path / path.name).write_text(text, encoding="utf-8")
    try:
        results = judge_imported(make_importer(kind).read(tmp_path).studies)
    except FirsthandError:
        return
    for result in results:
        for finding in result.findings:
            assert not re.search(r"\bnan", finding.sentence), finding.sentence
