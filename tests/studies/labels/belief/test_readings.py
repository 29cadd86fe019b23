"""What states hold is what one plain run after another finds, a state, a layer and a token at a time."""

from dataclasses import replace

import pytest
import torch
from plain_rows import told_by_the_twin
from plain_run import PlainModel, plain_twin

from firsthand.claims.labels import BeliefClaim
from firsthand.engine import Capture, Edit, LoadedModel, Operation, Row, resid_post
from firsthand.engine.prompts import render
from firsthand.errors import ElicitationError, EngineError
from firsthand.studies.labels.belief.bench import Bench
from firsthand.studies.labels.belief.readings import Item, Push, answers, read_items, target_of
from firsthand.studies.labels.belief.records import occurs


@pytest.fixture(scope="module")
def twin(tiny: LoadedModel) -> PlainModel:
    return plain_twin(tiny.model, "model.layers", "self_attn")


def written_on(
    tiny: LoadedModel,
    twin: PlainModel,
    tokens: tuple[int, ...],
    edits: tuple[Edit, ...],
    most: int,
    live: tuple[Push, ...],
) -> tuple[int, ...]:
    """The likeliest next tokens, each from a whole run of its own; ``live`` is added at every one of them."""
    made: tuple[int, ...] = ()
    while len(made) < most and (not made or made[-1] != tiny.tokenizer.eos_token_id):
        here = tuple(range(len(tokens), len(tokens) + len(made)))
        more = tuple(push.edit(here) for push in live if here)
        logprobs, _ = told_by_the_twin(twin, Row((*tokens, *made), (*edits, *more)))
        made = (*made, int(logprobs[0].argmax()))
    return made


def text_of(tiny: LoadedModel, tokens: tuple[int, ...]) -> str:
    kept = [token for token in tokens if token != tiny.tokenizer.eos_token_id]
    return str(tiny.tokenizer.decode(kept, skip_special_tokens=True))


@pytest.mark.parametrize("pushed", [False, True])
def test_batched_readings_are_those_of_the_plain_twin(
    tiny: LoadedModel, bench: Bench, twin: PlainModel, pushed: bool
) -> None:
    layers, items, most = (0, 2, 3), bench.items[:3], 3
    claim = bench.claim.model_copy(update={"answer_tokens": most})
    vector_H = torch.randn(32, generator=torch.Generator().manual_seed(5))
    pushes = tuple((Push(resid_post(1), vector_H, 0.5 + i),) if pushed else () for i in range(len(items)))
    frames = read_items(tiny, bench.anatomy, bench.target, items, layers, claim, pushes)
    for item, some, rows in zip(items, pushes, frames, strict=True):
        prompt = render(tiny.tokenizer, [("user", item.text), ("assistant", item.fact.prompt)]).tokens
        at_end = tuple(push.edit((len(prompt) - 1,)) for push in some)
        said = written_on(tiny, twin, prompt, at_end, most, some)
        said = tuple(token for token in said if token != tiny.tokenizer.eos_token_id)
        places = tuple(range(len(prompt), len(prompt) + len(said)))
        everywhere = tuple(push.edit((len(prompt) - 1, *places)) for push in some)
        assert len(rows) == len(layers) * len(said)
        for layer in layers:
            capture = Capture("state", resid_post(layer), places)
            _, read = told_by_the_twin(twin, Row((*prompt, *said), everywhere, (capture,)))
            for token, state_H in enumerate(read["state"]):
                edit = Edit(resid_post(layer), (bench.target.place,), state_H.float(), Operation.REPLACE)
                plain = text_of(tiny, written_on(tiny, twin, bench.target.tokens, (edit,), claim.reading_tokens, ()))
                row = rows[(rows["layer"] == layer) & (rows["token"] == token)].iloc[0]
                assert row["made"][0].strip() == plain.strip()
                assert row["holds_counter"] == float(occurs(item.fact.counter, plain))


def test_the_placeholder_is_the_one_token_that_is_replaced(tiny: LoadedModel, claim: BeliefClaim) -> None:
    target = target_of(tiny.tokenizer, claim)
    assert tiny.tokenizer.decode([target.tokens[target.place]]).strip() == "x"
    last = target_of(tiny.tokenizer, claim.model_copy(update={"reading_stem": "Let me talk about {state}"}))
    assert last.place == len(last.tokens) - 1
    merged = claim.model_copy(update={"reading_stem": "Let me talk about {state}ylophones"})
    with pytest.raises((ElicitationError, EngineError), match="token"):
        target_of(tiny.tokenizer, merged)


def test_evidence_stands_in_the_users_turn_and_the_answer_begins_with_the_sentence(
    tiny: LoadedModel, bench: Bench
) -> None:
    item = bench.items[0]
    (given,) = answers(tiny, bench.anatomy, [item], 2)
    text = tiny.tokenizer.decode(list(given.prompt))
    user, _, assistant = text.partition("<|im_start|>assistant\n")
    assert item.text in user.partition("<|im_start|>user\n")[2]
    assert assistant == item.fact.prompt


def test_several_readings_of_a_state_hold_what_any_of_them_holds(tiny: LoadedModel, bench: Bench) -> None:
    claim = bench.claim.model_copy(update={"reading_samples": 3, "answer_tokens": 1})
    (rows,) = read_items(tiny, bench.anatomy, bench.target, bench.items[:1], (1,), claim)
    assert len(rows["made"].iloc[0]) == 3
    word = next(word for word in " ".join(rows["made"].iloc[0]).split() if word.isalpha())
    fact = replace(bench.items[0].fact, counter=word)
    (again,) = read_items(tiny, bench.anatomy, bench.target, [replace(bench.items[0], fact=fact)], (1,), claim)
    assert again["holds_counter"].iloc[0] == 1.0


def test_an_answer_without_tokens_is_said_to_be_none(
    tiny: LoadedModel, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = frozenset(range(len(tiny.tokenizer)))
    monkeypatch.setattr("firsthand.studies.labels.belief.readings.end_tokens", lambda *_: every)
    frames = read_items(tiny, bench.anatomy, bench.target, bench.items[:2], (1,), bench.claim)
    assert [rows["token"].tolist() for rows in frames] == [[-1], [-1]]


def test_items_of_the_claim_have_a_number_each(bench: Bench) -> None:
    assert [item.number for item in bench.items] == list(range(len(bench.items)))
    assert all(isinstance(item, Item) for item in bench.items)
