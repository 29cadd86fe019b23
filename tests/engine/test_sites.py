"""Sites are named, in one spelling, and only those that a model has are taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.engine import Site, resid_mid, resid_post, resid_pre
from firsthand.engine.sites import Stream, check_site, parse_site
from firsthand.errors import EngineError


@given(st.builds(Site, st.integers(0, 200), st.sampled_from(Stream)))
def test_what_a_site_is_called_reads_back_as_the_same_site(site: Site) -> None:
    assert parse_site(str(site)) == site


def test_sites_are_called_by_their_place_and_block() -> None:
    assert [str(f(12)) for f in (resid_pre, resid_mid, resid_post)] == [
        "resid_pre[12]",
        "resid_mid[12]",
        "resid_post[12]",
    ]


@pytest.mark.parametrize(
    "text", ["resid_post", "resid_post[]", "resid_post[-1]", "resid_post[1.5]", "resid_post[1", "hidden[1]", "1", ""]
)
def test_anything_else_names_no_site(text: str) -> None:
    with pytest.raises(EngineError, match="does not name a site"):
        parse_site(text)


def test_the_stage_counts_the_blocks_that_lie_wholly_before_a_site() -> None:
    assert [resid_pre(3).stage, resid_mid(3).stage, resid_post(3).stage] == [3, 3, 4]


@pytest.mark.parametrize("layer", [4, -1, 1.5, "1"])
def test_a_layer_that_the_model_does_not_have_is_refused(layer: object) -> None:
    with pytest.raises(EngineError, match=r"An edit: there is no layer .*layers 0 to 3"):
        check_site("An edit", resid_pre(layer), 4)  # type: ignore[arg-type]


def test_numpy_integers_are_layers_too() -> None:
    check_site("An edit", resid_pre(np.int64(3)), 4)  # type: ignore[arg-type]
    assert resid_pre(np.int64(3)) == resid_pre(3)  # type: ignore[arg-type]
