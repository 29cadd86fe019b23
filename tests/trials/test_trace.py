"""A trace is whole, resumable to the byte, and refuses to be read when a file of it is not what was written."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from firsthand.errors import TraceError
from firsthand.trials import trace as module
from firsthand.trials.trace import PARTS, Trace, to_parquet

Tables = tuple[dict[str, pd.DataFrame], dict[str, object]]
Writer = Callable[[Path, int], str]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but the log of wall-clock times."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "freeze-log.jsonl")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_two_runs_give_the_same_bytes(tmp_path: Path, block_writer: Writer) -> None:
    for name in ("one", "two"):
        units = [block_writer(tmp_path / name, index) for index in (0, 1)]
        Trace(tmp_path / name).finish(units, {"subset": "confirmation"})
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert Trace(tmp_path / "one").content_digest() == Trace(tmp_path / "two").content_digest()


@pytest.mark.parametrize("fatal", range(1, 7))
def test_a_run_killed_between_any_two_files_ends_with_the_same_bytes(
    tmp_path: Path, trace: Trace, block_writer: Writer, monkeypatch: pytest.MonkeyPatch, fatal: int
) -> None:
    """A unit is six files; the process dies while the ``fatal``-th is renamed."""
    real, count = Path.replace, 0

    def dying(self: Path, target: Path) -> Path:
        nonlocal count
        count += 1
        if count == fatal:
            raise SystemExit
        return real(self, target)

    folder = tmp_path / "killed"
    first = block_writer(folder, 0)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", dying)
        with pytest.raises(SystemExit):
            block_writer(folder, 1)
    resumed = Trace(folder)
    assert resumed.unit_done(first)
    assert not resumed.unit_done("c0001")
    with pytest.raises(TraceError, match="1 units are not finished, the first is c0001"):
        resumed.finish([first, "c0001"], {})
    resumed.finish([first, block_writer(folder, 1)], {"subset": "confirmation"})
    assert contents(folder) == contents(trace.folder)


def test_the_entry_of_a_unit_is_written_last(tmp_path: Path, tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    real = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, target: (written.append(target.parent.name), real(self, target)))
    Trace(tmp_path).write_unit("u", *tables)
    assert written == [*PARTS, "frozen", "units"]


def alter(path: Path, how: str) -> None:
    whole = path.read_bytes()
    if how == "missing":
        path.unlink()
    else:
        path.write_bytes(whole[: len(whole) // 2] if how == "truncated" else whole[:-1] + bytes([whole[-1] ^ 1]))


@pytest.mark.parametrize("how", ["missing", "truncated", "altered"])
@pytest.mark.parametrize("part", [*PARTS, "frozen"])
def test_a_shard_that_is_not_what_was_written_is_refused(trace: Trace, part: str, how: str) -> None:
    path = trace.folder / part / f"c0000.{'json' if part == 'frozen' else 'parquet'}"
    alter(path, how)
    with pytest.raises(TraceError, match=r"truncated or altered.*c0000.*run the audit again"):
        trace.manifest()
    with pytest.raises(TraceError, match=r"c0000.*(altered|removed) after it was written.*delete"):
        trace.unit_done("c0000")
    assert trace.unit_done("c0001")
    if part != "frozen" and how != "altered":
        with pytest.raises(TraceError, match="is damaged"):
            trace.read(part)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", "7", '{"format": 1}', '{"format": 1, "files": [], "units": []}', '{"format":1,"files":{"a":3}}'],
)
def test_a_damaged_manifest_or_entry_is_refused(trace: Trace, content: str) -> None:
    for path in (trace.folder / "manifest.json", trace.folder / "units" / "c0000.json"):
        path.write_text(content)
    for use in (trace.manifest, trace.content_digest, lambda: trace.read("public"), lambda: trace.unit_done("c0000")):
        with pytest.raises(TraceError, match="damaged"):
            use()


def test_an_unfinished_trace_and_another_format_are_refused(trace: Trace, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"manifest\.json does not exist"):
        Trace(tmp_path / "nothing").manifest()
    path = trace.folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    with pytest.raises(TraceError, match="trace format 99"):
        trace.manifest()


def test_parts_are_read_in_the_manifests_order(trace: Trace) -> None:
    assert list(dict.fromkeys(trace.read("public")["block"])) == ["c0000", "c0001"]
    trace.finish(["c0001", "c0000"], {})
    for part in PARTS:
        assert [i[:5] for i in trace.read(part)["trial_id"]] == ["c0001"] * 10 + ["c0000"] * 10
    assert list(trace.read_units("public", ["c0000"])["block"].unique()) == ["c0000"]


def test_values_survive_storage(trace: Trace, tables: Tables) -> None:
    for part, table in tables[0].items():
        read = trace.read_units(part, ["c0000"])
        assert repr(read.to_dict("list")) == repr(table.to_dict("list"))


def test_public_and_sealed_columns_are_in_separate_files(trace: Trace) -> None:
    assert set(trace.read("public")) == {"trial_id", "block", "view"}
    assert {"kind", "pre_state", "post_state"} <= set(trace.read("sealed"))


def test_a_table_without_trials_is_refused(tmp_path: Path, tables: Tables) -> None:
    parts, frozen = tables
    parts["reports"] = parts["reports"].drop(columns="trial_id")
    with pytest.raises(TraceError, match="no trial_id"):
        Trace(tmp_path).write_unit("u", parts, frozen)
    assert not Trace(tmp_path).unit_done("u")


def test_bytes_of_a_table_do_not_depend_on_its_index() -> None:
    table = pd.DataFrame({"trial_id": ["a", "b"], "x": [1.0, 2.0]})
    assert to_parquet(table) == to_parquet(table.set_axis([7, 9]))


def test_leftovers_of_a_kill_are_gone_when_the_trace_is_finished(trace: Trace) -> None:
    leftover = trace.folder / "public" / ".c0000.parquet.123.tmp"
    leftover.write_bytes(b"half")
    trace.finish(["c0000", "c0001"], {})
    assert not leftover.exists()
    assert module.FORMAT == 1
