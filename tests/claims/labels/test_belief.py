"""Claims about belief dominance hold every choice, and those that could not be run are refused."""

from typing import Any

import pytest

from firsthand.claims import Bindings
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.labels import BeliefClaim


def claim(**changes: Any) -> BeliefClaim:
    return BeliefClaim.model_validate({"data_sha256": "0" * 64, **changes})


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"layers": ()}, "at least one value"),
        ({"layers": (1, 1)}, "more than once"),
        ({"kinds": ()}, "at least one kind"),
        ({"reading_stem": "about nothing"}, "once, after a space"),
        ({"reading_stem": "about{state}"}, "once, after a space"),
        ({"records": 10, "folds": 11}, "more than the 10 records"),
        ({"folds": 4, "rounds": 2}, "is 8, which is no multiple of 3.*4 folds and 3 rounds"),
        ({"reader": "smollm2"}, "the model itself"),
        ({"steering": {"doses": ()}}, "at least one value"),
        ({"analysis": {"clusters": ("item",)}}, "use subject and experiment"),
        ({"records": 5}, "greater than or equal to 9"),
        ({"per_record": "two"}, "one.*all"),
    ],
)
def test_claims_that_could_not_be_run_are_refused(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        claim(**changes)


def test_a_frozen_claim_says_which_study_it_is_of_and_comes_back_the_same() -> None:
    bindings = Bindings(weights_sha256="a", tokenizer_sha256="b", config_sha256="c", package_version="1")
    frozen = FrozenLabels.of(claim(steering=None), bindings)
    again = FrozenLabels.model_validate_json(frozen.model_dump_json())
    assert isinstance(again.claim, BeliefClaim)
    again.check()
    assert again.claim.kinds == claim().kinds
    assert FrozenLabels.of(claim(clustered="all"), bindings).sha256 != frozen.sha256
