"""States are taken from one run and put in their place in another."""

import pytest
import torch
from plain_families import HIDDEN, VOCABULARY

from firsthand.engine import Anatomy, Edit, Row, patched, resid_mid, resid_post, resid_pre, run, states_of
from firsthand.errors import EngineError

_GENERATOR = torch.Generator().manual_seed(8)
SOURCE, OTHER, TARGET = (tuple(torch.randint(3, VOCABULARY, (n,), generator=_GENERATOR).tolist()) for n in (12, 7, 22))
SITES = [site(layer) for layer in range(4) for site in (resid_pre, resid_mid, resid_post)]


def test_every_site_and_position_of_every_row_is_taken_in_order(anatomy: Anatomy) -> None:
    states = states_of(anatomy, [Row(SOURCE), Row(OTHER)], SITES, [(2, 5), (6,)])
    assert [(s.row, s.site, s.position) for s in states] == [
        (row, site, place) for row, places in ((0, (2, 5)), (1, (6,))) for site in SITES for place in places
    ]
    assert all(tuple(s.vector_H.shape) == (HIDDEN,) for s in states)


def test_a_row_patched_with_its_own_states_stays_as_it_is(anatomy: Anatomy) -> None:
    states = states_of(anatomy, [Row(TARGET)], SITES, [(18,)])
    found = run(anatomy, patched(Row(TARGET), states, (18,))).logprobs_RV
    clean = run(anatomy, [Row(TARGET)], path="plain").logprobs_RV
    assert float((found - clean).abs().max()) < 2e-5


def test_a_target_that_agrees_with_the_source_so_far_becomes_the_source(anatomy: Anatomy) -> None:
    """With equal tokens before and after, replacing the input of the first block replaces the token itself."""
    other = (*TARGET[:18], TARGET[18] + 1, *TARGET[19:])
    (state,) = states_of(anatomy, [Row(other)], [resid_pre(0)], [(18,)])
    found = run(anatomy, patched(Row(TARGET), [state], (18,))).logprobs_RV
    assert float((found - run(anatomy, [Row(other)]).logprobs_RV).abs().max()) < 2e-5


def test_states_can_be_put_elsewhere_after_the_targets_own_edits(anatomy: Anatomy) -> None:
    own = Edit(resid_post(0), (3,), torch.ones(HIDDEN))
    (state,) = states_of(anatomy, [Row(SOURCE)], [resid_post(2)], [(4,)])
    (row,) = patched(Row(TARGET, (own,)), [state], (18, 19), resid_pre(1))
    assert row.edits[0] is own
    assert (row.edits[1].site, row.edits[1].positions) == (resid_pre(1), (18, 19))
    clean, found = run(anatomy, [Row(TARGET), row]).logprobs_RV
    assert float((clean - found).abs().max()) > 1e-3


def test_a_source_without_positions_is_refused(anatomy: Anatomy) -> None:
    with pytest.raises(EngineError, match="2 sources"):
        states_of(anatomy, [Row(SOURCE), Row(OTHER)], SITES, [(1,)])
