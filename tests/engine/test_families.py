"""Every family agrees with the plain twin on every path, or is refused with a reason: nothing in between.

Each family runs the same rows: every operation, while the prompt is read and lifted, in rows of equal tokens (which a
run starts in the middle of the model) and in rows of different lengths on different beginnings, some edited themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pytest
import torch
from plain_families import DEPTH, HIDDEN, REFUSED, SHARED, VOCABULARY, WHOLE, Family, tiny_model
from plain_rows import Told, assert_read, assert_told, told_by_the_twin
from plain_run import PlainModel, plain_run, plain_twin

from firsthand.engine import (
    Anatomy,
    Capture,
    Edit,
    Operation,
    Row,
    Site,
    Timing,
    inspect_model,
    resid_mid,
    resid_post,
    resid_pre,
    run,
    run_prefix,
    run_rows,
)
from firsthand.engine.sharing import can_share, refusal_to_share
from firsthand.errors import EngineError

_GENERATOR = torch.Generator().manual_seed(7)


def tokens(length: int) -> tuple[int, ...]:
    return tuple(torch.randint(3, 94, (length,), generator=_GENERATOR).tolist())


def vector() -> torch.Tensor:
    return torch.randn(HIDDEN, generator=_GENERATOR)


# Beginnings are longer than every window; the second and third are edited themselves.
BEGINNINGS = (
    Row(tokens(9)),
    Row(
        tokens(7),
        (Edit(resid_post(1), (2, 3), vector()),),
        (Capture("begin", resid_post(2), (3, 6)), Capture("unmoved", resid_post(1), (3,), "before")),
    ),
    Row(
        tokens(9),
        (Edit(resid_pre(2), (8,), vector(), Operation.REPLACE), Edit(resid_post(0), (0,), vector())),
        (Capture("begin", resid_pre(2), (8,)),),
    ),
)
SAME_END = tokens(5)
SITES = (resid_pre(2), resid_post(1), resid_post(DEPTH - 1), resid_pre(0), resid_post(2), resid_pre(1))
"""The last block's output is edited at the token that is read, for no later token would notice."""
STRENGTHS = {Operation.ADD: 1.3, Operation.ADD_SCALED: -0.7, Operation.REPLACE: 1.0, Operation.PROJECT_OUT: 0.8}
KINDS = [(operation, timing) for operation in Operation for timing in (Timing.PREFILL, Timing.LIFTED)]


def edited(beginning: Row, end: Sequence[int], site: Site, operation: Operation, timing: Timing) -> Row:
    """A whole row with one edit of its own, after its beginning."""
    start = len(beginning.tokens)
    last = start + len(end) - 1
    lifted = timing is Timing.LIFTED
    places = (start, start + 1) if lifted else (start, last)
    own = Edit(site, places, vector(), operation, STRENGTHS[operation], timing, until=start + 2 if lifted else None)
    return Row(
        (*beginning.tokens, *end),
        (*beginning.edits, own),
        (Capture("own", site, places), Capture("was", site, places, "before"), Capture("end", resid_post(2), (last,))),
        read=(last, last - 1) if len(end) > 3 else (),
    )


EQUAL = [edited(BEGINNINGS[0], SAME_END, SITES[i % 6], *kind) for i, kind in enumerate(KINDS)]
HOMES = [2, 0, 1, 1, 0, 2, 1, 2]
MIXED = [
    edited(BEGINNINGS[HOMES[i]], tokens(3 + i % 4), SITES[(i + 2 * (i % 2 == 0)) % 6], *kind)
    for i, kind in enumerate(KINDS)
]
ROWS = [*EQUAL, *MIXED, Row(BEGINNINGS[0].tokens), Row(tokens(1))]


@dataclass(frozen=True)
class Subject:
    name: str
    family: Family
    anatomy: Anatomy
    twin: PlainModel

    @cached_property
    def told(self) -> list[Told]:
        return [told_by_the_twin(self.twin, row, self.family.continues) for row in ROWS]


@pytest.fixture(scope="module", params=[*SHARED, *WHOLE])
def subject(request: pytest.FixtureRequest) -> Subject:
    family = {**SHARED, **WHOLE}[request.param]
    model = family.build()
    return Subject(
        request.param,
        family,
        inspect_model(model),
        plain_twin(model, family.path, family.middle, family.factor),
    )


def test_the_blocks_are_found_where_they_are(subject: Subject) -> None:
    anatomy = subject.anatomy
    assert (anatomy.path, anatomy.n_layers, anatomy.hidden_size) == (subject.family.path, DEPTH, HIDDEN)


def test_attention_is_shared_or_the_reason_is_given(subject: Subject) -> None:
    reason = refusal_to_share(subject.anatomy)
    assert bool(reason) is bool(subject.family.unshared)
    assert subject.family.unshared in reason
    if reason:
        with pytest.raises(EngineError, match=f"{subject.anatomy.name} cannot share"):
            run(subject.anatomy, ROWS[:1], path="shared")


def test_rows_run_whole_equal_the_plain_twin(subject: Subject) -> None:
    assert_told(run(subject.anatomy, ROWS, path="plain"), subject.told)


def test_rows_that_share_what_they_can_equal_the_plain_twin(subject: Subject) -> None:
    path = "shared" if can_share(subject.anatomy) else "auto"
    assert_told(run(subject.anatomy, ROWS, path=path), subject.told)


def test_rows_of_equal_tokens_that_start_in_the_middle_equal_the_plain_twin(subject: Subject) -> None:
    rows = [row for row in ROWS[: len(EQUAL)] if min(edit.site.stage for edit in row.edits) > 0]
    assert len({row.edits[-1].operation for row in rows}) == len(Operation)
    told = [subject.told[ROWS.index(row)] for row in rows]
    assert_told(run(subject.anatomy, rows), told)


def test_rows_on_edited_prefixes_of_different_lengths_equal_the_plain_twin(subject: Subject) -> None:
    prefix, readings = run_prefix(subject.anatomy, BEGINNINGS)
    starts = [prefix.lengths[home] for home in HOMES]
    ends = [
        replace(row, tokens=row.tokens[start:], edits=row.edits[-1:]) for row, start in zip(MIXED, starts, strict=True)
    ]
    told = subject.told[len(EQUAL) : len(EQUAL) + len(MIXED)]
    first = run_rows(subject.anatomy, ends, prefix=prefix, prefix_rows=HOMES)
    assert_told(first, told)
    for beginning, found in zip(BEGINNINGS, readings, strict=True):
        assert_read(found, told_by_the_twin(subject.twin, beginning)[1])
    again = run_rows(subject.anatomy, ends, prefix=prefix, prefix_rows=HOMES)
    assert torch.equal(first.logprobs_RV, again.logprobs_RV)
    assert all(torch.equal(a[k], b[k]) for a, b in zip(first.captures, again.captures, strict=True) for k in a)


def test_the_middle_of_a_block_is_edited_as_in_the_plain_twin_or_refused(subject: Subject) -> None:
    rows = [edited(BEGINNINGS[1], SAME_END, resid_mid(1 + i % 2), *kind) for i, kind in enumerate(KINDS)]
    if not subject.family.middle:
        with pytest.raises(EngineError, match=r"no resid_mid\[1\]"):
            run(subject.anatomy, rows[:1])
        return
    told = [told_by_the_twin(subject.twin, row, subject.family.continues) for row in rows]
    assert_told(run(subject.anatomy, rows), told)
    assert_told(run(subject.anatomy, rows, path="plain"), told)


@pytest.mark.parametrize("family", REFUSED)
def test_a_family_that_edits_would_miss_is_refused_by_name(family: str) -> None:
    model_type, configuration, reason = REFUSED[family]
    model = tiny_model(model_type, configuration)
    with pytest.raises(EngineError, match=reason) as caught:
        inspect_model(model)
    assert type(model).__name__ in str(caught.value)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_every_edit_of_these_rows_matters() -> None:
    twin = plain_twin(SHARED["llama"].build(), "model.layers")
    for row in [*EQUAL, *MIXED]:
        logprobs_EV, _ = told_by_the_twin(twin, row)
        clean, _ = told_by_the_twin(twin, replace(row, edits=row.edits[:-1]))
        assert float((logprobs_EV - clean).abs().max()) > 0.01


def test_the_twin_without_a_change_is_the_model_itself() -> None:
    model = SHARED["llama"].build()
    logprobs_TV, _ = plain_run(plain_twin(model, "model.layers"), (5, 6, 7))
    with torch.no_grad():
        own = torch.log_softmax(model(input_ids=torch.tensor([[5, 6, 7]])).logits[0].double(), -1)
    assert float((logprobs_TV - own).abs().max()) < 2e-5
    assert logprobs_TV.shape == (3, VOCABULARY)
