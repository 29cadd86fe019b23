"""A stored trace is judged again by further observers; the gap is versioned and nothing is run again."""

import shutil
import sys
from pathlib import Path

import pytest

from firsthand.auditing.audit import Run
from firsthand.auditing.rescore import rescore
from firsthand.errors import InstrumentError, ObserverError, TraceError
from firsthand.trials.files import read_json, write_json
from firsthand.vocabulary import Verdict

OBSERVERS = """
import json
from pathlib import Path
import numpy as np

class Coin:
    name = "coin"
    def observe(self, capability, past, views):
        return np.full(len(views), 0.5)

class Broken:
    name = "broken"
    def observe(self, capability, past, views):
        raise ValueError("no idea")
"""


@pytest.fixture
def run(tiny_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(tiny_run.folder, folder)
    (tmp_path / "my_observers.py").write_text(OBSERVERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("my_observers", None)
    return folder


def test_a_users_observer_is_asked_and_versions_count_up(run: Path) -> None:
    made = [rescore(run, ["my_observers:Coin"]) for _ in range(2)]
    assert [m.path.name for m in made] == ["001.json", "002.json"]
    assert made[0].profile == made[1].profile
    names = {row.name for result in made[0].profile.results for row in result.observers}
    assert "my_observers:Coin" in names
    assert "third_person" in names
    assert "my_observers:Coin" in read_json(made[0].path)["observers"]


def test_an_observer_that_fails_is_named(run: Path) -> None:
    with pytest.raises(ObserverError, match="no idea"):
        rescore(run, ["my_observers:Broken"])


def test_an_altered_trace_is_refused(run: Path) -> None:
    shard = next((run / "trace" / "sealed").glob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-20])
    with pytest.raises(TraceError, match=r"truncated or altered"):
        rescore(run, ["my_observers:Coin"])


def test_an_unfinished_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no finished run"):
        rescore(tmp_path, ["table"])


def test_an_observer_that_knows_the_state_is_recorded_and_nothing_is_privileged(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = f"""
import pandas as pd
class Thief:
    name = "thief"
    def observe(self, capability, past, views):
        import numpy as np, pathlib
        parts = sorted(pathlib.Path({str(run / "trace" / "sealed")!r}).glob("*.parquet"))
        sealed = pd.concat(map(pd.read_parquet, parts)).set_index("trial_id")
        column = "changed" if capability == "detection" else "post_state"
        return np.array([float(sealed.loc[v.trial_id, column]) for v in views])
"""
    (tmp_path / "thieves.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    made = rescore(run, ["thieves:Thief"])
    profile = made.profile
    assert "thieves:Thief" in read_json(made.path)["observers"]
    assert Verdict.PRIVILEGED not in {r.verdict for r in profile.results}


def test_a_run_whose_instrument_was_out_of_order_is_not_judged_again(run: Path) -> None:
    result = read_json(run / "result.json")
    write_json(run / "result.json", {**result, "instrument_ok": False})
    with pytest.raises(InstrumentError, match="out of order"):
        rescore(run, ["table"])
