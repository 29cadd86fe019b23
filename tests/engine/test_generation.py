"""Sampled text with edits: what plain generation gives, whatever else is in the batch."""

import pytest
import torch
from plain_families import HIDDEN, SHARED, VOCABULARY, WHOLE, tiny_model
from plain_tokenizers import words
from transformers import PreTrainedModel

from firsthand.engine import (
    Anatomy,
    Edit,
    Row,
    Sampling,
    Timing,
    generate,
    generation,
    inspect_model,
    opened,
    resid_post,
    run,
)
from firsthand.engine.generation import sequence_seed
from firsthand.errors import EngineError

TOKENIZER = words(VOCABULARY)
GREEDY = Sampling(greedy=True)
_GENERATOR = torch.Generator().manual_seed(5)
BEGIN = tuple(torch.randint(3, VOCABULARY, (20,), generator=_GENERATOR).tolist())
PROMPTS = [Row((*BEGIN, 5, 6)), Row((*BEGIN, 7)), Row((9, 10, 11)), Row((*BEGIN, 8, 9, 12))]
VECTOR = torch.randn(HIDDEN, generator=_GENERATOR) * 3
FAMILIES = {
    "llama": {},
    "mistral": {"head_dim": 8, "sliding_window": 5},
    "gemma2": {"head_dim": 8, "sliding_window": 5, "query_pre_attn_scalar": 8},
    "gpt2": {"n_embd": HIDDEN, "n_layer": 4, "n_head": 4, "n_positions": 64},
    "gpt_oss": {"head_dim": 8, "sliding_window": 5, "num_local_experts": 4, "num_experts_per_tok": 2},
    "bloom": {"n_layer": 4, "n_head": 4},
}


def endless(name: str) -> Anatomy:
    """A tiny model without an end token."""
    model = tiny_model(name, {**FAMILIES[name], "eos_token_id": None})
    model.generation_config.eos_token_id = None
    return inspect_model(model)


def plainly(anatomy: Anatomy, row: Row, steps: int) -> list[int]:
    """Greedy tokens by running the whole row again at every step, live edits written out by hand."""
    tokens = list(row.tokens)
    for _ in range(steps):
        edits = [
            Edit(e.site, (*e.positions, *range(len(row.tokens), len(tokens))), e.vector_H, e.operation, e.strength)
            if e.timing is Timing.LIVE
            else e
            for e in row.edits
        ]
        output = run(anatomy, [Row(tuple(tokens), tuple(e for e in edits if e.positions))], path="plain")
        tokens.append(int(output.logprobs_RV[0].argmax()))
    return tokens[len(row.tokens) :]


@pytest.fixture(autouse=True)
def _no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "stopper_for", _unending(generation.stopper_for))


def _unending(original):
    def make(model, tokenizer, **options):
        stopper = original(model, tokenizer, **options)
        stopper.eos_tokens = frozenset(model.generation_config.eos_token_id or ())
        return stopper

    return make


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("timing", [Timing.PREFILL, Timing.LIVE])
def test_greedy_text_under_edits_equals_running_the_whole_row_at_every_step(name: str, timing: Timing) -> None:
    anatomy = endless(name)
    edited = [Row(row.tokens, (Edit(resid_post(1), (len(row.tokens) - 1,), VECTOR, timing=timing),)) for row in PROMPTS]
    rows = [*PROMPTS, *edited]
    found = generate(anatomy, TOKENIZER, rows, samples=2, max_tokens=9, sampling=GREEDY)
    for row, samples in zip(rows, found, strict=True):
        wanted = plainly(anatomy, row, 9)
        assert [list(s.tokens) for s in samples] == [wanted, wanted]


@pytest.mark.parametrize("name", [*SHARED, *WHOLE])
def test_every_family_generates_under_live_edits_what_running_whole_rows_gives(name: str) -> None:
    model = {**SHARED, **WHOLE}[name].build()
    model.generation_config.eos_token_id = None
    anatomy = inspect_model(model)
    edit = Edit(resid_post(1), (18,), VECTOR, timing=Timing.LIVE)
    rows = [Row((*BEGIN, 5, 6), (edit,)), Row((*BEGIN, 7), (edit,)), PROMPTS[2]]
    found = generate(anatomy, TOKENIZER, rows, max_tokens=4, sampling=GREEDY)
    assert [list(one.tokens) for (one,) in found] == [plainly(anatomy, row, 4) for row in rows]


def test_an_edit_of_generated_tokens_only_leaves_the_first_of_them_alone() -> None:
    anatomy = endless("llama")
    live = Row(PROMPTS[0].tokens, (Edit(resid_post(1), (), VECTOR, timing=Timing.LIVE),))
    (clean,), (edited,) = generate(anatomy, TOKENIZER, [PROMPTS[0], live], max_tokens=6, sampling=GREEDY)
    assert clean.tokens[0] == edited.tokens[0]
    assert clean.tokens != edited.tokens
    assert list(edited.tokens) == plainly(anatomy, live, 6)


def test_a_prefill_edit_is_not_made_at_generated_tokens() -> None:
    anatomy = endless("llama")
    prompt = Row(PROMPTS[0].tokens, (Edit(resid_post(1), (3,), VECTOR),))
    live = Row(PROMPTS[0].tokens, (Edit(resid_post(1), (3,), VECTOR, timing=Timing.LIVE),))
    (once,), (always,) = generate(anatomy, TOKENIZER, [prompt, live], max_tokens=8, sampling=GREEDY)
    assert once.tokens != always.tokens


def test_a_row_says_the_same_alone_in_a_batch_and_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    anatomy = endless("llama")
    together = generate(anatomy, TOKENIZER, PROMPTS, samples=3, max_tokens=8, seed=4)
    backwards = generate(anatomy, TOKENIZER, PROMPTS[::-1], samples=3, max_tokens=8, seed=4)[::-1]
    alone = [generate(anatomy, TOKENIZER, [row], samples=3, max_tokens=8, seed=4)[0] for row in PROMPTS]
    monkeypatch.setattr(generation, "MOST_SEQUENCES", 2)
    in_pairs = generate(anatomy, TOKENIZER, PROMPTS, samples=3, max_tokens=8, seed=4)
    monkeypatch.setattr(generation, "can_share", lambda _: False)
    whole = generate(anatomy, TOKENIZER, PROMPTS, samples=3, max_tokens=8, seed=4)
    for other in (backwards, alone, in_pairs, whole):
        assert [[s.tokens for s in row] for row in other] == [[s.tokens for s in row] for row in together]
    assert len({s.tokens for s in together[0]}) == 3
    assert generate(anatomy, TOKENIZER, PROMPTS[:1], max_tokens=8, seed=5)[0][0].tokens != together[0][0].tokens


def test_sequences_end_at_different_times_without_disturbing_each_other() -> None:
    anatomy = endless("llama")
    free = generate(anatomy, TOKENIZER, PROMPTS, samples=2, max_tokens=10, seed=1)
    ends = [free[0][0].tokens[2], free[2][1].tokens[5]]
    anatomy.model.generation_config.eos_token_id = ends
    ended = []
    stopped = generate(anatomy, TOKENIZER, PROMPTS, samples=2, max_tokens=10, seed=1, advance=ended.append)
    flat = [s for row in stopped for s in row]
    for before, after in zip([s for row in free for s in row], flat, strict=True):
        cut = next((i + 1 for i, token in enumerate(before.tokens) if token in ends), 10)
        assert after.tokens == before.tokens[:cut]
        assert after.ended == ("eos" if after.tokens[-1] in ends else "length")
    assert stopped[0][0].ended == "eos"
    assert len({len(s.tokens) for s in flat}) > 1
    assert sum(ended) == 8


def test_text_never_holds_the_prompt_and_stops_at_a_stop_string() -> None:
    anatomy = endless("llama")
    (free,) = generate(anatomy, TOKENIZER, PROMPTS[:1], max_tokens=8, sampling=GREEDY)[0]
    said = free.text.split()
    assert free.text == TOKENIZER.decode([5, *free.tokens])[len(TOKENIZER.decode([5])) :]
    (cut,) = generate(anatomy, TOKENIZER, PROMPTS[:1], max_tokens=8, sampling=GREEDY, stop=said[3])[0]
    assert cut.ended == "stop"
    assert cut.text == free.text[: free.text.index(said[3])]


def test_the_log_probability_is_that_of_the_tokens_under_the_edited_model() -> None:
    anatomy = endless("llama")
    row = Row(PROMPTS[1].tokens, (Edit(resid_post(1), (4,), VECTOR),))
    (made,) = generate(anatomy, TOKENIZER, [row], max_tokens=6, seed=2)[0]
    start = len(row.tokens)
    whole = Row((*row.tokens, *made.tokens), row.edits, read=tuple(range(start - 1, start + 5)))
    logprobs = run(anatomy, [whole], path="plain").logprobs_RV
    wanted = sum(float(logprobs[i, token]) for i, token in enumerate(made.tokens))
    assert made.logprob == pytest.approx(wanted, abs=1e-4)


def test_memory_that_allows_few_tokens_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    anatomy = endless("llama")
    wanted = generate(anatomy, TOKENIZER, PROMPTS, samples=2, max_tokens=5, seed=3)
    monkeypatch.setattr(opened, "tokens_at_once", lambda _: 4)
    found = generate(anatomy, TOKENIZER, PROMPTS, samples=2, max_tokens=5, seed=3)
    assert [[s.tokens for s in row] for row in found] == [[s.tokens for s in row] for row in wanted]


def test_the_seed_of_a_sample_depends_on_prompt_and_number_alone() -> None:
    assert sequence_seed(0, (1, 2), 0) == sequence_seed(0, (1, 2), 0)
    different = {sequence_seed(s, t, n) for s in (0, 1) for t in ((1, 2), (1, 3)) for n in (0, 1)}
    assert len(different) == 8


def test_prompts_may_have_seeds_of_their_own_and_an_equal_prompt_is_then_sampled_anew() -> None:
    anatomy, rows, seeds = endless("llama"), [PROMPTS[0], PROMPTS[1], PROMPTS[0]], [4, 5, 6]
    together = generate(anatomy, TOKENIZER, rows, samples=3, max_tokens=8, seed=seeds)
    for row, seed, batch in zip(rows, seeds, together, strict=True):
        (alone,) = generate(anatomy, TOKENIZER, [row], samples=3, max_tokens=8, seed=seed)
        assert [s.tokens for s in alone] == [s.tokens for s in batch]
    assert [s.tokens for s in together[0]] != [s.tokens for s in together[2]]
    with pytest.raises(EngineError, match="3 prompts, but 2 seeds"):
        generate(anatomy, TOKENIZER, rows, max_tokens=8, seed=seeds[:2])


def test_what_cannot_be_generated_is_refused(shared_llama: PreTrainedModel) -> None:
    anatomy = inspect_model(shared_llama)
    with pytest.raises(EngineError, match="longer than the 64"):
        generate(anatomy, TOKENIZER, PROMPTS, max_tokens=60)
    with pytest.raises(EngineError, match="read at its end only"):
        generate(anatomy, TOKENIZER, [Row((5, 6), read=(0,))], max_tokens=4)
    with pytest.raises(EngineError, match="at most 0 tokens"):
        generate(anatomy, TOKENIZER, PROMPTS, max_tokens=0)
