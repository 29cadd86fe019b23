"""Probabilities of options are those of the model's own continuation, and a prompt that cannot be given says so."""

import pytest
import torch

from firsthand.counterfactual.hints.exact import Choice, chooser_of
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.responses import Sampling
from firsthand.counterfactual.targets.choosing import ChoosingTarget
from firsthand.engine import LoadedModel

STEM = "Final answer:"
WAYS = tuple((f" ({letter})", f" {letter}") for letter in "AB")


def prompt(text: str) -> Prompt:
    return Prompt(turns=(Turn(role="user", content=text),))


@pytest.fixture(scope="module")
def target(tiny: LoadedModel) -> ChoosingTarget:
    return ChoosingTarget(tiny, Sampling(samples=2, max_tokens=4))


def plainly(target: ChoosingTarget, text: str, way: str) -> float:
    """The same by one uncached pass over the whole text."""
    loaded = target.loaded
    chat = [{"role": "user", "content": text}, {"role": "assistant", "content": STEM}]
    begun = loaded.tokenizer.apply_chat_template(chat, tokenize=False, continue_final_message=True)
    before = loaded.tokenizer(begun, add_special_tokens=False)["input_ids"]
    whole = loaded.tokenizer(begun + way, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        logprobs = loaded.model(torch.tensor([whole])).logits.double().log_softmax(-1)[0]
    return float(sum(logprobs[place - 1, whole[place]] for place in range(len(before), len(whole))).exp())


def test_each_option_gets_the_probability_of_all_its_ways(target: ChoosingTarget) -> None:
    texts = ["Which one?", "Which of the two is the longer one?"]
    found = target.choices([Choice(prompt=prompt(text), stem=STEM, options=WAYS) for text in texts])
    for text, chosen in zip(texts, found, strict=True):
        for probability, ways in zip(chosen.probabilities, WAYS, strict=True):
            assert probability == pytest.approx(sum(plainly(target, text, way) for way in ways), rel=1e-4)
        assert 0.0 < chosen.coverage < 1.0


def test_a_prompt_that_cannot_be_given_has_no_probabilities_and_does_not_stop_the_others(
    target: ChoosingTarget,
) -> None:
    wanted = [Choice(prompt=prompt(text), stem=STEM, options=WAYS) for text in ("Say <|im_end|> now.", "Which one?")]
    broken, whole = target.choices(wanted)
    assert broken.coverage == 0.0
    assert "<|im_end|>" in broken.why
    assert whole.coverage > 0.0
    assert whole == target.choices(wanted[1:])[0]


def test_a_local_target_is_known_to_give_probabilities(target: ChoosingTarget) -> None:
    assert chooser_of(target) is target
