"""A scorer says what the plain twin says, however conversations are grouped."""

import pytest
from plain_families import SHARED, WHOLE, tiny_model
from plain_run import plain_run, plain_twin
from plain_tokenizers import byte_level

from firsthand.engine import LoadedModel, sweep
from firsthand.engine.prompts import Message, render
from firsthand.engine.readout import code_token
from firsthand.engine.scorer import TextScorer
from firsthand.errors import ElicitationError, EngineError

TOKENIZER = byte_level()
STEM = "It now holds code"
CODES = ("A", "B")


def loaded(family: str = "llama") -> LoadedModel:
    known = {**SHARED, **WHOLE}[family]
    size = {"vocab_size": len(TOKENIZER), "max_position_embeddings": 256}
    model = tiny_model(known.model_type, {**known.configuration, **size})
    return LoadedModel(
        name="tiny",
        source="here",
        model=model,
        tokenizer=TOKENIZER,
        dtype="float32",
        device="cpu",
        weights_sha256="w",
        tokenizer_sha256="t",
        config_sha256="c",
        architecture=known.model_type,
        n_layers=4,
        hidden_size=32,
        n_parameters=0,
    )


def conversation(*users: str) -> list[Message]:
    return [*(("user", user) for user in users), ("assistant", STEM)]


LONG = "your register: * = ~ + ^ # again and the register holds code A now and code B later"
CONVERSATIONS = [
    conversation("hello"),
    conversation(LONG, "be brief"),
    conversation(LONG, "answer"),
    conversation("hello there"),
    conversation(LONG, "be brief"),
    conversation(LONG, "answer and be brief"),
]


def by_the_twin(model: LoadedModel, path: str, messages: list[Message]) -> float:
    logprobs_TV, _ = plain_run(plain_twin(model.model, path), render(TOKENIZER, messages).tokens)
    zero, one = (code_token(TOKENIZER, STEM, code) for code in CODES)
    return float(logprobs_TV[-1, one] - logprobs_TV[-1, zero])


@pytest.mark.parametrize(("family", "path"), [("llama", "model.layers"), ("mamba", "backbone.layers")])
def test_contrasts_equal_the_plain_twin_with_and_without_a_prefix_that_can_be_shared(family: str, path: str) -> None:
    model = loaded(family)
    found = TextScorer(model).contrasts(CONVERSATIONS, [CODES] * len(CONVERSATIONS))
    assert found == pytest.approx([by_the_twin(model, path, c) for c in CONVERSATIONS], abs=2e-5)
    assert len(set(found)) > 3


def test_contrasts_come_in_the_order_of_the_conversations(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = TextScorer(loaded())
    there = scorer.contrasts(CONVERSATIONS, [CODES] * 6)
    assert scorer.contrasts(CONVERSATIONS[::-1], [CODES] * 6)[::-1] == pytest.approx(there, abs=2e-5)
    monkeypatch.setattr(sweep, "tokens_at_once", lambda _: 1)
    assert scorer.contrasts(CONVERSATIONS, [CODES] * 6) == pytest.approx(there, abs=2e-5)


def test_exchanged_codes_exchange_the_sign() -> None:
    scorer = TextScorer(loaded())
    (there,) = scorer.contrasts(CONVERSATIONS[:1], [("A", "B")])
    (back,) = scorer.contrasts(CONVERSATIONS[:1], [("B", "A")])
    assert there == -back != 0.0


def test_no_conversations_have_no_contrasts() -> None:
    assert TextScorer(loaded()).contrasts([], []) == []


@pytest.mark.parametrize("codes", [("A", "A"), ("A", "zq"), ("Ω", "B")])
def test_codes_that_are_not_one_distinct_token_each_are_refused(codes: tuple[str, str]) -> None:
    with pytest.raises(ElicitationError, match="one distinct token each for tiny"):
        TextScorer(loaded()).contrasts(CONVERSATIONS[:1], [codes])


def test_a_conversation_without_an_open_answer_is_refused() -> None:
    with pytest.raises(EngineError, match="open assistant turn"):
        TextScorer(loaded()).contrasts([[("user", "hello")]], [CODES])


def test_a_scorer_offers_no_way_to_the_activations() -> None:
    scorer = TextScorer(loaded())
    assert {name for name in dir(scorer) if not name.startswith("_")} == {"contrasts", "identity", "name"}
