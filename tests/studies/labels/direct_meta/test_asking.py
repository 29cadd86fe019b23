"""Questions about many texts, run as a tree, equal prompts that are run whole."""

import numpy as np
import pytest
import torch

from firsthand.engine import Anatomy, LoadedModel, inspect_model
from firsthand.studies.labels.direct_meta.asking import ask, shared_lengths, tokens_run

RNG = np.random.default_rng(0)


def prompts(texts: int = 5, questions: int = 3) -> list[list[tuple[int, ...]]]:
    """A beginning, texts of different lengths, and questions of different lengths."""

    def draw(length: int) -> tuple[int, ...]:
        return tuple(int(t) for t in RNG.integers(10, 200, length))

    begin, asked = draw(6), [(q, *draw(2 + q)) for q in range(questions)]
    return [
        [(*begin, *(300 + t, *text), *question) for question in asked]
        for t, text in enumerate(map(draw, range(2, texts + 2)))
    ]


def plain(loaded: LoadedModel, tokens: tuple[int, ...]) -> torch.Tensor:
    with torch.no_grad():
        logits = loaded.model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0, -1]
    return torch.log_softmax(logits, -1)


def test_every_distribution_is_that_of_the_whole_prompt(tiny: LoadedModel, anatomy: Anatomy) -> None:
    asked, steps = prompts(), []
    said = ask(anatomy, asked, lambda logprobs_V, t, q: logprobs_V, steps.append)
    assert said.shape[:2] == (5, 3)
    assert sum(steps) == 15
    for row, found in zip(asked, said, strict=True):
        for tokens, logprobs_V in zip(row, found, strict=True):
            assert logprobs_V.numpy() == pytest.approx(plain(tiny, tokens).numpy(), abs=2e-4)


def test_models_that_cannot_share_give_the_same(family: LoadedModel) -> None:
    asked = [[tuple(t % 250 for t in tokens) for tokens in row] for row in prompts(3, 2)]
    said = ask(inspect_model(family.model), asked, lambda logprobs_V, t, q: logprobs_V)
    for row, found in zip(asked, said, strict=True):
        for tokens, logprobs_V in zip(row, found, strict=True):
            assert logprobs_V.numpy() == pytest.approx(plain(family, tokens).numpy(), abs=2e-4)


def test_what_is_read_knows_its_text_and_question(anatomy: Anatomy) -> None:
    for asked in (prompts(4, 3), prompts(4, 1)):
        said = ask(anatomy, asked, lambda logprobs_V, t, q: torch.tensor([t, q]))
        assert said.tolist() == [[[t, q] for q in range(len(asked[0]))] for t in range(4)]


def test_texts_are_counted_once_and_questions_each_time() -> None:
    asked = prompts(5, 3)
    begin, lengths = shared_lengths(asked)
    assert begin == 6
    assert lengths == tuple(6 + 1 + n for n in range(2, 7))
    assert tokens_run(asked) == 6 + sum(n - 6 for n in lengths) + 5 * (3 + 4 + 5)
