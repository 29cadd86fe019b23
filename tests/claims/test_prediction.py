"""A claim of self-prediction holds what could be chosen after seeing data, and refuses what cannot be run."""

from typing import Any

import pytest
from pydantic import ValidationError

from firsthand.claims.freeze import Bindings, FrozenLabels, read_frozen, write_frozen
from firsthand.claims.labels import PredictionClaim

BOUND = Bindings(weights_sha256="a", tokenizer_sha256="b", config_sha256="c", package_version="0")


def test_a_frozen_claim_is_read_back_as_what_it_was(tmp_path: Any) -> None:
    frozen = FrozenLabels.of(PredictionClaim(data_sha256="0" * 64, readers=("gemma3-270m",)), BOUND)
    write_frozen(tmp_path / "claim.json", frozen)
    assert read_frozen(tmp_path / "claim.json", FrozenLabels) == frozen


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"properties": ()}, "properties"),
        ({"properties": ("length", "length")}, "length"),
        ({"examples": ()}, "examples"),
        ({"examples": (0, 90)}, "90"),
        ({"examples": (0, 2)}, "of fewer than 4"),
        ({"readers": ("smollm2",)}, "the model itself"),
        ({"analysis": {"clusters": ["experiment"]}}, "experiment"),
        ({"judged": 5}, "judged"),
    ],
)
def test_what_cannot_be_run_is_refused(fields: dict[str, Any], word: str) -> None:
    with pytest.raises(ValidationError, match=word):
        PredictionClaim(data_sha256="0" * 64, **fields)
