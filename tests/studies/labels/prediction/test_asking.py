"""Letters are read exactly over the whole vocabulary, in both orders, and what is no letter is invalid."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from firsthand.engine import Anatomy, LoadedModel
from firsthand.errors import ElicitationError
from firsthand.studies.labels.prediction import asking
from firsthand.studies.labels.prediction.asking import Asked, Layout, replies, usable_letters


def scripted(monkeypatch: pytest.MonkeyPatch, logits: Sequence[Sequence[float]]) -> None:
    """Lets the engine return these distributions, one a row."""

    def run(_: Any, rows: Sequence[Any], *, reduce: Callable[..., torch.Tensor], advance: Any) -> Any:
        kept = reduce(torch.log_softmax(torch.tensor(logits), -1), list(range(len(rows))))
        return SimpleNamespace(logprobs_RV=kept)

    monkeypatch.setattr(asking, "run", run)


def both(*pairs: tuple[int, int]) -> list[list[Asked]]:
    return [[Asked((0,), pair), Asked((0,), pair[::-1])] for pair in pairs]


def test_replies_are_those_of_a_plain_pass(tiny: LoadedModel, anatomy: Anatomy) -> None:
    layout = Layout(tiny.tokenizer, "The letter would be", ("F", "K"))
    orders = (("F", "K"), ("K", "F"))
    asked = [[layout(f"Prompt {i}: what is it, {' or '.join(o)}?", o) for o in orders] for i in range(5)]
    found = replies(tiny, anatomy, asked)
    for number, forms in enumerate(asked):
        told = []
        for form in forms:
            with torch.no_grad():
                full_V = torch.log_softmax(tiny.model(torch.tensor([form.tokens])).logits[0, -1].double(), -1)
            own = full_V[list(form.labels)]
            told.append((own - own.logsumexp(0)).numpy())
        np.testing.assert_allclose(found.logprobs_NC[number], np.mean(told, axis=0), atol=2e-5)
    assert np.isnan(found.answer_N).all()  # a random model's likeliest token is no letter
    assert np.isfinite(found.choice_N).all()


def test_a_leaning_towards_a_letter_cancels_out_and_what_is_left_is_what_the_classes_get(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Letter 0 is liked by 3 nats whatever it means; class 1 is liked by 1 nat on the first question only.
    scripted(monkeypatch, [[3.0, 1.0, -9.0], [4.0, 0.0, -9.0], [3.0, 0.0, -9.0], [3.0, 0.0, -9.0]])
    found = replies(None, None, both((0, 1), (0, 1)))  # type: ignore[arg-type]
    assert found.answer_N[0] == 1.0
    assert np.isnan(found.answer_N[1])
    np.testing.assert_allclose(found.logprobs_NC[0, 1] - found.logprobs_NC[0, 0], 1.0, atol=1e-6)


def test_a_reply_that_is_no_letter_in_one_order_is_invalid_and_still_has_a_likelier_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripted(monkeypatch, [[2.0, 0.0, -9.0], [0.0, 2.0, 5.0]])
    found = replies(None, None, both((0, 1)))  # type: ignore[arg-type]
    assert np.isnan(found.answer_N[0])
    assert found.choice_N[0] == 0.0
    assert 0.4 < found.coverage_N[0] < 0.6


def test_letters_are_those_that_are_one_token_of_their_own(tiny: LoadedModel) -> None:
    assert usable_letters(tiny.tokenizer, ["The letter would be"], ("F", "K", "Kxqzv")) == ("F", "K")
    with pytest.raises(ElicitationError, match="not one token each"):
        Layout(tiny.tokenizer, "The letter would be", ("F", "Kxqzv"))("Well?", ("F", "Kxqzv"))


def test_a_question_names_the_token_of_every_class(tiny: LoadedModel) -> None:
    layout = Layout(tiny.tokenizer, "The letter would be", ("F", "K"))
    found = layout("Well?", ("K", "F"))
    assert [tiny.tokenizer.decode([token]) for token in found.labels] == [" K", " F"]
    assert tiny.tokenizer.decode(found.tokens).endswith("The letter would be")
