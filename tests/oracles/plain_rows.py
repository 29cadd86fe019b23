"""Says a row in the words of the plain twin, and compares what a run returned with what the twin says."""

from collections.abc import Sequence

import torch
from plain_run import PlainEdit, PlainModel, PlainRead, plain_lifted, plain_run
from torch import Tensor

from firsthand.engine import Row, RunOutput

TOLERANCE = 2e-5
PLACES = {"resid_pre": "pre", "resid_mid": "mid", "resid_post": "post"}

Told = tuple[Tensor, dict[str, Tensor]]


def told_by_the_twin(twin: PlainModel, row: Row, continues: str = "several") -> Told:
    """A row by the twin: log-probabilities ``[reads, vocabulary]`` and readings ``[positions, hidden]`` by name.

    A row with lifted edits takes two passes, the second without them, if the model can continue a cache at all.
    """
    edits = [
        PlainEdit(e.site.layer, p, e.vector_H, str(e.operation), e.strength, PLACES[e.site.stream])
        for e in row.edits
        for p in e.positions
    ]
    reads = [PlainRead(c.site.layer, c.positions, PLACES[c.site.stream], c.when) for c in row.captures]
    ends = [e.until for e in row.edits if e.until is not None]
    if ends and continues != "not":
        one_by_one = continues == "one by one"
        logprobs_TV, found = plain_lifted(twin, row.tokens, min(ends), edits, reads, one_by_one=one_by_one)
    else:
        logprobs_TV, found = plain_run(twin, row.tokens, edits, reads)
    asked = list(row.read or (len(row.tokens) - 1,))
    return logprobs_TV[asked], dict(zip([c.name for c in row.captures], found, strict=True))


def assert_told(output: RunOutput, told: Sequence[Told], tolerance: float = TOLERANCE) -> None:
    """Everything that a run returned is what the twin says of its rows, in the order of the rows."""
    expected_RV = torch.cat([logprobs_RV for logprobs_RV, _ in told])
    assert output.logprobs_RV.shape == expected_RV.shape
    assert float((output.logprobs_RV - expected_RV).abs().max()) < tolerance
    assert len(output.captures) == len(told)
    for found, (_, readings) in zip(output.captures, told, strict=True):
        assert_read(found, readings, tolerance)


def assert_read(found: dict[str, Tensor], readings: dict[str, Tensor], tolerance: float = TOLERANCE) -> None:
    """Readings are those of the twin, to a part of the largest value of the residual stream."""
    assert set(found) == set(readings)
    for name, reading_PH in readings.items():
        assert found[name].shape == reading_PH.shape
        largest = max(1.0, float(reading_PH.abs().max()))
        assert float((found[name] - reading_PH).abs().max()) < tolerance * largest, name
