"""A finished study has every trace that its claim calls for."""

from pathlib import Path

import pytest

from firsthand.auditing.labels.traces import expected, traces_of
from firsthand.claims.labels import (
    BeliefClaim,
    BiofeedbackClaim,
    ConfidenceClaim,
    DirectMetaClaim,
    LabelsClaim,
    PredictionClaim,
)
from firsthand.errors import TraceError

DIRECT_META = DirectMetaClaim(models=("a", "b"), pairs_sha256="x", phrasings=("better",), phrasings_sha256="y")


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        (BiofeedbackClaim(data_sha256="x"), {"trace": 1}),
        (
            BiofeedbackClaim(data_sha256="x", readers=("a", "b"), regulated_after=20),
            {"trace": 1, "readers/*": 2, "regulation": 1},
        ),
        (BeliefClaim(data_sha256="x", reader="a"), {"trace": 1}),
        (ConfidenceClaim(data_sha256="x"), {"trace": 1}),
        (ConfidenceClaim(data_sha256="x", reader="a"), {"trace": 1, "reader-*": 1}),
        (PredictionClaim(data_sha256="x", readers=("a",)), {"trace": 1}),
        (DIRECT_META, {"trace/*": 2}),
    ],
)
def test_a_claim_says_which_traces_there_are(claim: LabelsClaim, found: dict[str, int]) -> None:
    assert expected(claim) == found


def test_every_trace_is_found_and_one_that_was_never_finished_is_missed(tmp_path: Path) -> None:
    for number in ("0", "1"):
        (tmp_path / "trace" / number / "units").mkdir(parents=True)
        (tmp_path / "trace" / number / "manifest.json").touch()
    assert [trace.folder.name for trace in traces_of(tmp_path, DIRECT_META)] == ["0", "1"]
    (tmp_path / "trace" / "1" / "manifest.json").unlink()
    with pytest.raises(TraceError, match=r"2 finished traces at .*; 1 are there"):
        traces_of(tmp_path, DIRECT_META)
