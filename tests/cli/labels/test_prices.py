"""What a dry run tells of time, of what was left out, and of the data."""

import pytest

from firsthand.cli.labels.prices import left_out, print_price, speed, time_of


def test_short_times_are_told_in_seconds_and_long_ones_in_minutes() -> None:
    assert time_of(0.2) == "1 second"
    assert time_of(89) == "89 seconds"
    assert time_of(600) == "10 minutes"
    assert speed(1234.5, 120) == "This machine does 1,234 tokens a second: about 2 minutes."


def test_what_was_left_out_is_counted_by_reason() -> None:
    assert left_out({"empty": 1200, "too long": 0, "duplicate": 3}) == "1,200 empty, 3 duplicate"
    assert left_out({}) == "none"


def test_a_price_ends_with_the_hash_that_a_claim_needs(capsys: pytest.CaptureFixture[str]) -> None:
    print_price(["Much."], {"empty": 2}, "ab" * 32)
    told = " ".join(capsys.readouterr().out.split())
    assert told == f"Much. Left out of the data: 2 empty. Data SHA-256: {'ab' * 32}"
