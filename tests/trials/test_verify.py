"""Whoever changes a stored trace, and mends every hash on the way, is still found out."""

import json
from collections.abc import Callable

import pandas as pd
import pytest

from firsthand.errors import TraceError
from firsthand.trials.canonical import digest
from firsthand.trials.files import sha256_file
from firsthand.trials.freeze_log import NAME
from firsthand.trials.trace import Trace, to_parquet
from firsthand.trials.verify import verify_trace


def rehash(trace: Trace) -> None:
    """What a careful forger does: entries and manifest are made to agree with the changed files."""
    entries = sorted((trace.folder / "units").iterdir())
    for path in [*entries, trace.folder / "manifest.json"]:
        value = json.loads(path.read_text())
        for name in value["files"]:
            value["files"][name]["sha256"] = sha256_file(trace.folder / name)
        path.write_text(json.dumps(value))


def change_table(trace: Trace, part: str, change: Callable[[pd.DataFrame], object]) -> None:
    path = trace.folder / part / "c0000.parquet"
    table = pd.read_parquet(path)
    change(table)
    path.write_bytes(to_parquet(table))
    rehash(trace)


def change_frozen(trace: Trace, change: Callable[[dict], object]) -> dict:
    path = trace.folder / "frozen" / "c0000.json"
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))
    rehash(trace)
    return value


def lines_of(trace: Trace) -> list[str]:
    return (trace.folder / NAME).read_text().splitlines()


def write_lines(trace: Trace, lines: list[str]) -> None:
    (trace.folder / NAME).write_text("".join(line + "\n" for line in lines))


def refused(trace: Trace, seed: int, match: str) -> None:
    with pytest.raises(TraceError, match=match) as caught:
        verify_trace(trace.folder, seed)
    assert caught.value.remedy


def test_an_honest_trace_passes(trace: Trace, seed: int) -> None:
    assert verify_trace(trace.folder, seed) == 2
    rehash(trace)
    assert verify_trace(trace.folder, seed) == 2


def test_an_altered_shard_is_caught(trace: Trace, seed: int) -> None:
    path = trace.folder / "reports" / "c0001.parquet"
    path.write_bytes(path.read_bytes() + b"x")
    refused(trace, seed, "truncated or altered")


def test_another_seed_is_caught(trace: Trace, seed: int) -> None:
    refused(trace, seed + 1, "hidden assignment")


def test_edited_evidence_is_caught_by_the_log(trace: Trace, seed: int) -> None:
    change_frozen(trace, lambda value: value["evidence"][0]["plain"]["features"].update(cue=0.0))
    refused(trace, seed, "does not show its evidence")


def test_edited_evidence_with_an_edited_log_is_caught_by_the_assignment(trace: Trace, seed: int) -> None:
    before = digest(json.loads((trace.folder / "frozen" / "c0000.json").read_text())["evidence"])
    value = change_frozen(trace, lambda value: value["evidence"][0]["plain"]["features"].update(cue=0.0))
    write_lines(trace, [line.replace(before, digest(value["evidence"])) for line in lines_of(trace)])
    refused(trace, seed, "hidden assignment")


def swap(column: str) -> Callable[[pd.DataFrame], None]:
    def change(table: pd.DataFrame) -> None:
        values = list(table[column])
        other = next(i for i, value in enumerate(values) if value != values[0])
        values[0], values[other] = values[other], values[0]
        table[column] = values

    return change


@pytest.mark.parametrize(
    ("part", "column", "match"),
    [
        ("sealed", "kind", "hidden assignment"),
        ("sealed", "pre_state", "a state is not"),
        ("sealed", "post_state", "a state is not"),
        ("sealed", "changed", "a state is not"),
        ("sealed", "trial_id", "a state is not"),
        ("public", "view", "what observers were shown"),
        ("public", "trial_id", "what observers were shown"),
    ],
)
def test_swapped_values_are_caught(trace: Trace, seed: int, part: str, column: str, match: str) -> None:
    change_table(trace, part, swap(column))
    refused(trace, seed, match)


def test_a_view_that_was_edited_after_freezing_is_caught(trace: Trace, seed: int) -> None:
    def hint(table: pd.DataFrame) -> None:
        table["view"] = [view.replace("The cue says", "The cue falsely says") for view in table["view"]]

    change_table(trace, "public", hint)
    refused(trace, seed, "what observers were shown")


def test_a_dropped_trial_is_caught(trace: Trace, seed: int) -> None:
    change_table(trace, "sealed", lambda table: table.drop(index=9, inplace=True))
    refused(trace, seed, "hidden assignment")


@pytest.mark.parametrize("dropped", [0, 1])
def test_a_missing_event_is_caught(trace: Trace, seed: int, dropped: int) -> None:
    lines = lines_of(trace)
    del lines[dropped]
    write_lines(trace, lines)
    refused(trace, seed, "Unit c0000: the log does not show")


def test_a_missing_log_is_caught(trace: Trace, seed: int) -> None:
    (trace.folder / NAME).unlink()
    refused(trace, seed, "the log does not show")


def test_events_in_reverse_order_are_caught(trace: Trace, seed: int) -> None:
    first, second, *rest = lines_of(trace)
    write_lines(trace, [second, first, *rest])
    refused(trace, seed, "the log does not show")


def test_times_in_reverse_order_are_caught(trace: Trace, seed: int) -> None:
    first, *rest = lines_of(trace)
    event = json.loads(first)
    write_lines(trace, [json.dumps({**event, "at": event["at"].replace("20", "21", 1)}), *rest])
    refused(trace, seed, "the log does not show")


def test_a_unit_that_was_run_again_after_a_kill_passes(trace: Trace, seed: int) -> None:
    first, second, *rest = lines_of(trace)
    write_lines(trace, [first, first, second, first, second, *rest])
    assert verify_trace(trace.folder, seed) == 2


@pytest.mark.parametrize("key", ["evidence", "subset", "index", "kinds"])
def test_frozen_evidence_of_another_form_is_refused(trace: Trace, seed: int, key: str) -> None:
    change_frozen(trace, lambda value: value.pop(key))
    refused(trace, seed, "does not have the form of a trace")
    change_frozen(trace, lambda value: value.update({key: "odd"}))
    refused(trace, seed, "form of a trace|does not show")
