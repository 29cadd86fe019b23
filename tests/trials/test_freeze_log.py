"""The log keeps every whole line, survives a kill in the middle of one, and is read in its order."""

from pathlib import Path

import pytest

from firsthand.errors import TraceError
from firsthand.trials.freeze_log import NAME, log_event, read_log


def events(folder: Path) -> list[tuple[str, str]]:
    return [(event["unit"], event["event"]) for event in read_log(folder)]


def test_events_are_read_in_order_with_their_times(tmp_path: Path) -> None:
    for unit in ("a", "b"):
        log_event(tmp_path / "run", unit, "frozen", "h")
        log_event(tmp_path / "run", unit, "assigned", "h")
    assert events(tmp_path / "run") == [("a", "frozen"), ("a", "assigned"), ("b", "frozen"), ("b", "assigned")]
    times = [event["at"] for event in read_log(tmp_path / "run")]
    assert times == sorted(times)


def test_no_log_is_an_empty_log(tmp_path: Path) -> None:
    assert read_log(tmp_path) == []


@pytest.mark.parametrize("kept", [1, 20, 60])
def test_a_torn_last_line_is_left_out_and_the_next_event_is_whole(tmp_path: Path, kept: int) -> None:
    log_event(tmp_path, "a", "frozen", "h")
    log_event(tmp_path, "a", "assigned", "h")
    path = tmp_path / NAME
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:kept])
    assert events(tmp_path) == [("a", "frozen")]
    log_event(tmp_path, "b", "frozen", "h")
    assert events(tmp_path) == [("a", "frozen"), ("b", "frozen")]


def test_a_whole_line_without_its_line_feed_is_kept(tmp_path: Path) -> None:
    log_event(tmp_path, "a", "frozen", "h")
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    log_event(tmp_path, "a", "assigned", "h")
    assert events(tmp_path) == [("a", "frozen"), ("a", "assigned")]


@pytest.mark.parametrize(
    "line", [b"7", b"[1]", b'{"unit": "a"}', b"\xff\xfe\x00", b'{"unit":1,"event":1,"public_hash":1,"at":1}']
)
def test_lines_that_are_no_events_are_left_out(tmp_path: Path, line: bytes) -> None:
    (tmp_path / NAME).write_bytes(line + b"\n")
    log_event(tmp_path, "a", "frozen", "h")
    assert events(tmp_path) == [("a", "frozen")]


def test_a_log_that_cannot_be_written_or_read_is_named(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises(TraceError, match=NAME):
        log_event(tmp_path, "a", "frozen", "h")
    with pytest.raises(TraceError, match="could not be read"):
        read_log(tmp_path)
