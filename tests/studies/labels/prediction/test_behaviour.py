"""What a model answers is greedy, the same in any batch, and a letter only where a letter is the likeliest token."""

import numpy as np
import pytest
import torch

from firsthand.engine import Anatomy, LoadedModel
from firsthand.engine.prompts import render
from firsthand.studies.labels.prediction import behaviour as behaviour_module
from firsthand.studies.labels.prediction.behaviour import answers_of, behaviour_rows, behaviours, draws_of, plain
from firsthand.studies.labels.prediction.prompts import Prompt

PROMPTS = [Prompt(f"Say something about {word}.", "g", begin="It is") for word in ("rain", "iron", "bees")]


def test_an_answer_is_the_first_line_of_the_likeliest_tokens(tiny: LoadedModel, anatomy: Anatomy) -> None:
    found = behaviours(tiny, anatomy, [plain(one) for one in PROMPTS], [False] * 3, longest=4)
    for one, got in zip(PROMPTS, found, strict=True):
        tokens = list(render(tiny.tokenizer, plain(one)).tokens)
        before = len(tokens)
        for step in range(4):
            with torch.no_grad():
                logits = tiny.model(torch.tensor([tokens])).logits[0, -1]
            if step == 0:
                probabilities = torch.softmax(logits.double(), -1)
                assert got.entropy == pytest.approx(float(-(probabilities * probabilities.log()).sum()), abs=1e-4)
            tokens.append(int(logits.argmax()))
        text = tiny.tokenizer.decode(tokens[before:]).split("\n")[0].strip()
        assert got.answer.text in (text, text.replace("\ufffd", "").strip())
    alone = behaviours(tiny, anatomy, [plain(PROMPTS[1])], [False], longest=4)[0]
    assert alone.answer == found[1].answer


@pytest.mark.parametrize("likeliest", ["letter", "word"])
def test_a_letter_is_chosen_only_where_it_is_the_likeliest_token(likeliest: str) -> None:
    logprobs = torch.log_softmax(torch.tensor([0.0, 3.0, 1.0, 0.0, 5.0 if likeliest == "word" else 0.0]), -1).double()
    chosen, coverage = behaviour_module._chosen(logprobs, (0, 1, 2, 3))
    assert chosen == (1 if likeliest == "letter" else None)
    assert coverage == pytest.approx(float(logprobs[:4].exp().sum()))


def test_rows_give_back_the_answers_and_the_draws(tiny: LoadedModel, anatomy: Anatomy) -> None:
    exam = Prompt("Which?\nA. a\nB. b\nC. c\nD. d", "g", options=True)
    table = behaviour_rows(tiny, anatomy, [*PROMPTS, exam], longest=3, draws=2, seed=1)
    again = behaviour_rows(tiny, anatomy, [*PROMPTS, exam], longest=3, draws=2, seed=1)
    assert answers_of(table.sample(frac=1.0, random_state=0)) == answers_of(table)
    assert [len(each) for each in draws_of(table)] == [2] * 4
    assert draws_of(table) == draws_of(again)
    assert np.isnan(table["letters"][:3]).all()
    assert 0 < table["letters"][3] < 1
