"""Answers of several tokens get exactly the probability that running each token by token gives them."""

import pytest
import torch
from plain_families import HIDDEN, VOCABULARY, tiny_model
from plain_tokenizers import byte_level

from firsthand.engine import (
    Anatomy,
    Capture,
    Edit,
    Row,
    Timing,
    candidate_tokens,
    inspect_model,
    resid_post,
    run,
    score_candidates,
)
from firsthand.errors import ElicitationError, EngineError

_GENERATOR = torch.Generator().manual_seed(3)
BEGIN = tuple(torch.randint(3, VOCABULARY, (20,), generator=_GENERATOR).tolist())
VECTOR = torch.randn(HIDDEN, generator=_GENERATOR) * 2
CANDIDATES = [(10,), (11, 12), (11, 13, 14), (15, 16), (11, 13, 17)]
FAMILIES = {
    "llama": {},
    "mistral": {"head_dim": 8, "sliding_window": 5},
    "bloom": {"n_layer": 4, "n_head": 4},
}


def rows(timing: Timing) -> list[Row]:
    edited = [
        Row((*BEGIN, last), (Edit(resid_post(1), (len(BEGIN),), VECTOR, strength=float(last), timing=timing),))
        for last in (1, 2, 3)
    ]
    return [*edited, Row((*BEGIN, 4)), Row((5, 6))]


def one_by_one(anatomy: Anatomy, row: Row, candidate: tuple[int, ...]) -> float:
    total = 0.0
    for n, token in enumerate(candidate):
        edits = [
            Edit(e.site, (*e.positions, *range(len(row.tokens), len(row.tokens) + n)), e.vector_H, strength=e.strength)
            if e.timing is Timing.LIVE
            else e
            for e in row.edits
        ]
        whole = Row((*row.tokens, *candidate[:n]), tuple(edits))
        total += float(run(anatomy, [whole], path="plain").logprobs_RV[0, token])
    return total


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("timing", [Timing.PREFILL, Timing.LIVE])
def test_every_candidate_gets_the_sum_of_its_tokens_log_probabilities(name: str, timing: Timing) -> None:
    anatomy = inspect_model(tiny_model(name, FAMILIES[name]))
    asked = rows(timing)
    scores = score_candidates(anatomy, asked, CANDIDATES)
    wanted = torch.tensor([[one_by_one(anatomy, row, c) for c in CANDIDATES] for row in asked])
    assert float((scores.logprobs_RC - wanted).abs().max()) < 2e-5
    assert torch.allclose(scores.coverage_R, wanted.double().exp().sum(1), atol=1e-6)
    assert torch.allclose(scores.shares.sum(1), torch.ones(len(asked), dtype=torch.float64))


def test_candidates_of_one_token_need_one_distribution_a_row(anatomy: Anatomy) -> None:
    scores = score_candidates(anatomy, rows(Timing.PREFILL), [(10,), (11,)])
    wanted = run(anatomy, rows(Timing.PREFILL), path="plain").logprobs_RV[:, [10, 11]]
    assert float((scores.logprobs_RC - wanted).abs().max()) < 2e-5


def test_what_falls_short_of_the_candidates_is_left_to_the_invalid(anatomy: Anatomy) -> None:
    every = score_candidates(anatomy, [Row(BEGIN)], [(token,) for token in range(VOCABULARY)])
    some = score_candidates(anatomy, [Row(BEGIN)], [(3,), (4,)])
    assert float(every.coverage_R[0]) == pytest.approx(1.0, abs=1e-6)
    assert float(some.coverage_R[0]) < 0.9


@pytest.mark.parametrize("candidates", [[], [()], [(1,), (1, 2)], [(3,), (3,)]])
def test_candidates_that_are_no_alternatives_are_refused(anatomy: Anatomy, candidates: list[tuple[int, ...]]) -> None:
    with pytest.raises(ElicitationError):
        score_candidates(anatomy, [Row(BEGIN)], candidates)


def test_rows_with_readings_or_without_room_are_refused(anatomy: Anatomy) -> None:
    with pytest.raises(EngineError, match="read at its end only"):
        score_candidates(anatomy, [Row(BEGIN, captures=(Capture("x", resid_post(0), (1,)),))], [(1,)])
    with pytest.raises(EngineError, match="longer than the 64"):
        score_candidates(anatomy, [Row(tuple(range(3, 66)))], [(1, 2, 3)])


def test_answers_become_the_tokens_that_continue_the_stem() -> None:
    tokenizer = byte_level()
    yes, now = candidate_tokens(tokenizer, "It holds", [" code A", " now"])
    assert tokenizer.decode(yes) == " code A"
    assert tokenizer.decode(now) == " now"


def test_an_answer_that_merges_with_its_stem_is_refused() -> None:
    with pytest.raises(ElicitationError, match="no tokens of its own"):
        candidate_tokens(byte_level(), "the regis", ["ter"])
    with pytest.raises(ElicitationError, match="no tokens of its own"):
        candidate_tokens(byte_level(), "It holds ", ["code A"])  # the space belongs to the word after it
    with pytest.raises(ElicitationError, match="no tokens of its own"):
        candidate_tokens(byte_level(), "It holds", [""])
