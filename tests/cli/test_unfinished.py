"""A folder whose run did not finish is told by the command that makes such runs."""

from pathlib import Path

import pytest
from commands import Command, assert_refused

from firsthand.report.training_document import MARKER


@pytest.mark.parametrize(
    ("file", "command"),
    [("investigations.jsonl", "investigate"), ("predictions.jsonl", "predict"), (MARKER, "train")],
)
def test_what_did_not_finish_is_gone_on_with_by_its_own_command(
    firsthand: Command, tmp_path: Path, file: str, command: str
) -> None:
    (tmp_path / file).write_text("{}\n")
    done = firsthand("report", tmp_path, "--out", tmp_path / "page.html")
    assert_refused(done, "holds no finished run", f"`firsthand {command}`")
    assert "labels" not in done.err
