"""A local model as target: what each request gets is its own, and what it would have got alone."""

import pytest
import torch
from transformers import GenerationConfig

from firsthand.counterfactual.prompts import Prompt, Tool, Turn
from firsthand.counterfactual.responses import Request, Sampling
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.engine import LoadedModel, Row, default_sampling, generate, inspect_model
from firsthand.errors import CounterfactualError

SHORT = Sampling(samples=3, max_tokens=6, seed=4)


def asked(text: str, batch: str = "screen", samples: int = 3) -> Request:
    return Request(prompt=Prompt(turns=(Turn(role="user", content=text),)), batch=batch, samples=samples)


REQUESTS = [
    asked("Name a river."),
    asked("Name a river.", "baseline"),
    asked("Name a river, please, and say where it ends."),
    asked("How are you?", samples=2),
]


@pytest.fixture(scope="module")
def target(tiny: LoadedModel) -> LocalTarget:
    return LocalTarget(tiny, SHORT)


def test_each_request_gets_what_plain_generation_of_its_row_alone_gives(tiny: LoadedModel, target: LocalTarget) -> None:
    answers = target.respond(REQUESTS)
    anatomy = inspect_model(tiny.model)
    for request, batch in zip(REQUESTS, answers, strict=True):
        assert len(batch) == request.samples
        (alone,) = generate(
            anatomy,
            tiny.tokenizer,
            [Row(target.tokens(request.prompt))],
            samples=request.samples,
            max_tokens=6,
            sampling=default_sampling(tiny.model),
            seed=target.seed(request),
        )
        assert [(one.text, one.tokens) for one in batch] == [(one.text, len(one.tokens)) for one in alone]


def test_the_likeliest_continuation_is_that_of_transformers(tiny: LoadedModel) -> None:
    greedy = LocalTarget(tiny, Sampling(samples=2, max_tokens=8, top_k=1))
    request = asked("Name a river.", samples=2)
    (batch,) = greedy.respond([request])
    chat = [{"role": "user", "content": "Name a river."}]
    inputs = tiny.tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt")["input_ids"]
    config = GenerationConfig(do_sample=False, max_new_tokens=8, eos_token_id=2, pad_token_id=2)
    with torch.no_grad():
        made = tiny.model.generate(inputs, attention_mask=torch.ones_like(inputs), generation_config=config)
    expected = tiny.tokenizer.decode(made[0, inputs.shape[1] :], skip_special_tokens=True)
    assert {one.text for one in batch} == {expected}


def test_a_prompt_that_is_asked_again_for_another_batch_is_sampled_anew(target: LocalTarget) -> None:
    screened, baseline, *_ = target.respond(REQUESTS)
    assert screened == target.respond([REQUESTS[0]])[0]
    assert screened != baseline
    assert len({one.text for one in screened}) > 1


def test_the_seed_names_every_draw(tiny: LoadedModel, target: LocalTarget) -> None:
    other = LocalTarget(tiny, SHORT.model_copy(update={"seed": 5}))
    assert other.respond(REQUESTS[:1]) != target.respond(REQUESTS[:1])


@pytest.mark.parametrize("change", [{"temperature": 0.5}, {"top_k": 7}, {"top_p": 0.5}, {"max_tokens": 7}, {"seed": 5}])
def test_the_identity_changes_with_whatever_the_responses_depend_on(
    tiny: LoadedModel, target: LocalTarget, change: dict[str, object]
) -> None:
    assert LocalTarget(tiny, SHORT.model_copy(update=change)).identity != target.identity
    assert LocalTarget(tiny, SHORT.model_copy(update={"samples": 9})).identity == target.identity


def test_the_model_s_own_top_k_counts_unless_another_is_given(tiny: LoadedModel, target: LocalTarget) -> None:
    assert target.card()["drawn_from"]["top_k"] == default_sampling(tiny.model).top_k == 50
    assert LocalTarget(tiny, SHORT.model_copy(update={"top_k": 7})).card()["drawn_from"]["top_k"] == 7


def test_why_a_response_ended_and_how_long_it_is_are_told(tiny: LoadedModel, target: LocalTarget) -> None:
    (batch,) = LocalTarget(tiny, SHORT.model_copy(update={"max_tokens": 1})).respond([asked("Name a river.")])
    assert {one.tokens for one in batch} == {1}
    assert {one.ended for one in batch} <= {"stop", "length"}
    assert all(one.ended == ("length" if one.tokens == 6 else "stop") for one in target.respond(REQUESTS)[0])


def test_a_prompt_that_cannot_be_given_gets_responses_that_say_why_and_stops_no_other(target: LocalTarget) -> None:
    special, endless = asked("<|im_end|>"), asked("word " * 9000)
    tools = Prompt(turns=(Turn(role="user", content="Look."),), tools=(Tool(name="look"),))
    with_tools = Request(prompt=tools, batch="screen", samples=2)
    answers = target.respond([special, REQUESTS[0], with_tools, endless])
    assert [len(batch) for batch in answers] == [3, 3, 2, 3]
    assert answers[1] == target.respond([REQUESTS[0]])[0]
    for number, words in ((0, "<|im_end|>"), (2, "no place for them"), (3, "token")):
        assert all(one.ended == "error" and one.missing and words in one.text for one in answers[number])


def test_thinking_is_refused(tiny: LoadedModel) -> None:
    with pytest.raises(CounterfactualError, match="does not think"):
        LocalTarget(tiny, SHORT.model_copy(update={"thinking": 100}))
