"""The provider ``firsthand/...``: what the engine gives when it is asked directly, whatever Inspect does around it."""

import asyncio
import json
import socket
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed; pip install 'firsthand[investigate]'")
import torch
from engine_server import answers_of
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
    get_model_info,
)
from inspect_ai.scorer import includes
from inspect_ai.solver import generate as generate_solver
from openai_server import Server
from safetensors.torch import save_file

from firsthand import engine
from firsthand.counterfactual.inspecting import serving
from firsthand.counterfactual.inspecting.asking import Asked, AskedEdit, FromSeed, FromValues, vector_file
from firsthand.counterfactual.inspecting.chat import rendered
from firsthand.counterfactual.inspecting.serving import Served, Settings, served
from firsthand.counterfactual.inspecting.target import InspectTarget
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.responses import Request
from firsthand.counterfactual.responses import Sampling as Drawn
from firsthand.errors import CounterfactualError, EngineError, ModelError

QUESTION = "Which way is the harbour from here?"
SHORT = {"max_tokens": 8, "temperature": 1.0}


@pytest.fixture
def model(tiny_folder: Path) -> Model:
    return get_model(f"firsthand/{tiny_folder}", memoize=False)


@pytest.fixture
def direct(tiny_folder: Path) -> Served:
    return served(Settings(str(tiny_folder)))


def ask(model: Model, text: str | list[ChatMessage] = QUESTION, **config: Any) -> ModelOutput:
    return asyncio.run(model.generate(text, config=GenerateConfig(**{**SHORT, **config})))


def texts(output: ModelOutput) -> list[str]:
    return [choice.message.text for choice in output.choices]


def row(direct: Served, text: str = QUESTION, *edits: engine.Edit) -> engine.Row:
    return engine.Row(rendered(direct.loaded.tokenizer, [ChatMessageUser(content=text)]).tokens, edits)


def generated(direct: Served, *rows: engine.Row, **settings: Any) -> list[list[engine.Generated]]:
    return engine.generate(direct.anatomy, direct.loaded.tokenizer, rows, **{"max_tokens": 8, **settings})


def test_choices_are_those_of_the_engine_asked_directly(model: Model, direct: Served) -> None:
    output = ask(model, seed=5, num_choices=3)
    (wanted,) = generated(direct, row(direct), samples=3, seed=5)
    assert texts(output) == [one.text for one in wanted]
    assert len(set(texts(output))) == 3
    assert output.usage is not None
    assert output.usage.input_tokens == len(row(direct).tokens)
    assert output.usage.output_tokens == sum(len(one.tokens) for one in wanted)
    assert output.metadata is not None
    assert output.metadata["firsthand"]["logprob"] == pytest.approx([one.logprob for one in wanted])
    assert {choice.stop_reason for choice in output.choices} <= {"max_tokens", "stop"}


def test_temperature_nucleus_and_the_likeliest_tokens_are_the_engines(model: Model, direct: Served) -> None:
    settings = engine.Sampling(temperature=0.7, top_k=3, top_p=0.9)
    (wanted,) = generated(direct, row(direct), seed=5, sampling=settings)
    assert texts(ask(model, seed=5, temperature=0.7, top_k=3, top_p=0.9)) == [wanted[0].text]
    (likeliest,) = generated(direct, row(direct), sampling=engine.Sampling(greedy=True))
    assert texts(ask(model, temperature=0, seed=1)) == texts(ask(model, temperature=0, seed=2)) == [likeliest[0].text]


def test_a_seed_repeats_and_no_seed_draws_anew(model: Model) -> None:
    assert texts(ask(model, seed=5)) == texts(ask(model, seed=5)) != texts(ask(model, seed=6))
    first, second = ask(model), ask(model)
    assert texts(first) != texts(second)
    assert first.metadata is not None
    assert texts(ask(model, seed=first.metadata["firsthand"]["seed"])) == texts(first)


def test_a_stop_string_ends_a_text(model: Model, direct: Served) -> None:
    (whole,) = texts(ask(model, seed=5))
    stop = whole[len(whole) // 2 :][:4]
    output = ask(model, seed=5, stop_seqs=[stop])
    assert texts(output) == [whole[: whole.index(stop)]]
    assert output.stop_reason == "stop"


def test_requests_that_come_together_run_together_and_say_what_they_say_alone(model: Model, direct: Served) -> None:
    asked = [(f"{QUESTION} {i % 5}", {"seed": i, "max_tokens": 6 + i % 2, "num_choices": 2}) for i in range(12)]
    alone = [texts(ask(model, text, **config)) for text, config in asked]
    before = len(direct.queue.batches)

    async def together() -> list[ModelOutput]:
        calls = (model.generate(text, config=GenerateConfig(**{**SHORT, **config})) for text, config in asked)
        return await asyncio.gather(*calls)

    assert [texts(output) for output in asyncio.run(together())] == alone
    assert sum(direct.queue.batches[before:]) == 12
    assert len(direct.queue.batches) - before < 6


def test_a_request_that_cannot_be_carried_out_fails_alone(model: Model) -> None:
    bad = AskedEdit(site="resid_post[99]", vector=FromSeed(seed=1), positions=(0,))

    async def together() -> list[Any]:
        configs = [GenerateConfig(**SHORT, seed=1), GenerateConfig(**SHORT, extra_body=Asked(edits=(bad,)).extra_body)]
        return await asyncio.gather(*(model.generate(QUESTION, config=c) for c in configs), return_exceptions=True)

    good, failed = asyncio.run(together())
    assert texts(good) == texts(ask(model, seed=1))
    assert isinstance(failed, EngineError)
    assert "no layer 99" in str(failed)


def test_log_probabilities_are_those_of_the_sampled_tokens(model: Model, direct: Served) -> None:
    edit = AskedEdit(site="resid_post[1]", vector=FromSeed(seed=1), strength=4.0, timing="live", positions=(3,))
    output = ask(model, seed=5, logprobs=True, top_logprobs=2, extra_body=Asked(edits=(edit,)).extra_body)
    content = output.choices[0].logprobs.content  # type: ignore[union-attr]
    assert output.metadata is not None
    assert sum(step.logprob for step in content) == pytest.approx(output.metadata["firsthand"]["logprob"][0], abs=1e-4)
    assert len(content) == output.metadata["firsthand"]["tokens"][0]
    for step in content:
        best, second = step.top_logprobs or ()
        assert best.logprob >= second.logprob
        assert best.logprob >= step.logprob - 1e-6
    assert any(step.token != step.top_logprobs[0].token for step in content)  # type: ignore[index]


def test_candidates_are_scored_exactly_and_what_they_leave_is_told(model: Model, direct: Served) -> None:
    answers = ("North", "South east", "South")
    asked = Asked(candidates=answers[:2], sample=False)
    output = ask(model, extra_body=asked.extra_body)
    stem = rendered(direct.loaded.tokenizer, [ChatMessageUser(content=QUESTION)])
    tokens = engine.candidate_tokens(direct.loaded.tokenizer, stem.text, answers[:2])
    wanted = engine.score_candidates(direct.anatomy, [engine.Row(stem.tokens)], tokens)
    assert output.metadata is not None
    found = output.metadata["firsthand"]
    assert [one["text"] for one in found["candidates"]] == list(answers[:2])
    assert [one["logprob"] for one in found["candidates"]] == pytest.approx(wanted.logprobs_RC[0].tolist(), abs=1e-5)
    assert found["coverage"] == pytest.approx(float(wanted.coverage_R[0]), rel=1e-4)
    assert output.usage is not None
    assert output.usage.output_tokens == 0
    assert texts(output) == [""]
    with pytest.raises(Exception, match="no alternatives"):
        ask(model, extra_body=Asked(candidates=answers).extra_body)


def test_edits_are_made_as_asked(model: Model, direct: Served, tmp_path: Path) -> None:
    vector = torch.randn(32, generator=torch.Generator().manual_seed(1)) * 6
    save_file({"push": vector}, tmp_path / "v.safetensors")
    stem = rendered(direct.loaded.tokenizer, [ChatMessageUser(content=QUESTION)])
    begin = stem.text.index("harbour")
    places = tuple(i for i, (a, b) in enumerate(stem.offsets) if a < begin + 7 and b > begin)
    wanted = engine.Edit(engine.resid_post(1), places, vector, strength=2.0, timing=engine.Timing.LIVE)
    common: dict[str, Any] = {"site": "resid_post[1]", "strength": 2.0, "timing": "live"}
    file, values = vector_file(tmp_path / "v.safetensors", "push"), FromValues(values=tuple(vector.tolist()))
    for edit in (
        AskedEdit(vector=file, text="harbour", **common),
        AskedEdit(vector=values, positions=places, **common),
    ):
        found = texts(ask(model, seed=5, extra_body=Asked(edits=(edit,)).extra_body))
        assert found == [generated(direct, row(direct, QUESTION, wanted), seed=5)[0][0].text]
    assert found != texts(ask(model, seed=5))
    nothing = AskedEdit(vector=file, text="harbour", **{**common, "strength": 0.0})
    assert texts(ask(model, seed=5, extra_body=Asked(edits=(nothing,)).extra_body)) == texts(ask(model, seed=5))


@pytest.mark.parametrize(
    ("extra_body", "words"),
    [
        ({"top_k": 5}, "does not know 'top_k'"),
        ({"firsthand": {"edit": []}}, "firsthand.edit"),
        ({"firsthand": {"edits": [{"site": "resid_post[1]", "vector": {"seed": 1}, "place": 1}]}}, "place"),
        ({"firsthand": {"edits": [{"site": "resid_post[1]", "vector": {"seed": 1}}]}}, "positions or a text"),
        ({"firsthand": {"edits": [{"site": "r", "vector": {"file": "v", "tensor": "t"}, "text": "x"}]}}, "sha256"),
        (
            {"firsthand": {"edits": [{"site": "resid_post[1]", "vector": {"seed": 1}, "text": "nowhere to be found"}]}},
            "stands 0 times",
        ),
        ({"firsthand": {"edits": [{"site": "layer 1", "vector": {"seed": 1}, "text": "harbour"}]}}, "not name a site"),
        ({"firsthand": {"sample": False}}, "neither text nor candidates"),
    ],
)
def test_what_is_not_known_or_not_there_is_refused(model: Model, extra_body: dict[str, Any], words: str) -> None:
    with pytest.raises((CounterfactualError, EngineError), match=words.replace("[", r"\[")):
        ask(model, extra_body=extra_body)


def test_settings_that_are_not_carried_out_are_refused(model: Model, tiny_folder: Path) -> None:
    for config in ({"frequency_penalty": 0.5}, {"logit_bias": {5: 1.0}}, {"best_of": 2}):
        with pytest.raises(CounterfactualError, match="does not carry out"):
            ask(model, **config)
    with pytest.raises(CounterfactualError, match="does not know batch_size"):
        get_model(f"firsthand/{tiny_folder}", memoize=False, batch_size=2)
    with pytest.raises(ModelError, match="no model at"):
        get_model("firsthand//nowhere/at/all", memoize=False)
    with pytest.raises(EngineError, match="special tokens"):
        ask(model, "before <|im_end|> after")


def test_another_vector_in_the_old_place_is_refused(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "v.safetensors"
    save_file({"push": torch.ones(32)}, path)
    edit = AskedEdit(site="resid_post[1]", vector=vector_file(path, "push"), text="harbour")
    ask(model, extra_body=Asked(edits=(edit,)).extra_body)
    save_file({"push": torch.zeros(32)}, path)
    with pytest.raises(CounterfactualError, match="not the file that was meant"):
        ask(model, extra_body=Asked(edits=(edit,)).extra_body)


def test_the_cache_gives_equal_requests_one_answer_and_no_edit_that_of_another(model: Model, direct: Served) -> None:
    def cached(**config: Any) -> str:
        settings = GenerateConfig(**{**SHORT, "temperature": 0, **config})
        return asyncio.run(model.generate(QUESTION, config=settings, cache=CachePolicy(expiry=None))).completion

    push: dict[str, Any] = {"site": "resid_post[1]", "operation": "add_scaled", "strength": 2.0, "positions": "all"}
    edits = [AskedEdit(vector=FromSeed(seed=seed), **push) for seed in (1, 2)]
    bodies = [None, *(Asked(edits=(edit,)).extra_body for edit in edits)]
    first = [cached(extra_body=body) for body in bodies]
    before = len(direct.queue.batches)
    assert [cached(extra_body=body) for body in bodies] == first
    assert len(direct.queue.batches) == before
    assert len(set(first)) == 3
    cached(extra_body=Asked(candidates=("North",)).extra_body)
    assert len(direct.queue.batches) == before + 1


def test_weights_are_loaded_at_the_first_request_and_once(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    monkeypatch.setattr(serving, "load", lambda name, **how: loads.append(name) or engine.load(name, **how))
    serving._loaded.cache_clear()
    one, other = (get_model(f"firsthand/{tiny_folder}", memoize=False) for _ in range(2))
    info = get_model_info(f"firsthand/{tiny_folder}")
    assert info is not None
    assert info.context_length == 2048
    assert not loads
    assert texts(ask(one, seed=1)) == texts(ask(other, seed=1))
    assert loads == [str(tiny_folder)]


def test_a_prompt_that_is_too_long_is_told_as_inspect_expects_it(model: Model, direct: Served) -> None:
    output = ask(model, "word " * 2100)
    assert output.stop_reason == "model_length"
    assert output.usage is None
    length = len(row(direct, "word " * 1000).tokens)
    nearly = "word " * (1000 + 2048 - length - 3)
    cut = ask(model, nearly, seed=1)
    assert cut.stop_reason in ("model_length", "stop")
    assert cut.usage is not None
    assert cut.usage.total_tokens <= 2048


def test_an_answer_that_is_begun_is_continued(model: Model, direct: Served) -> None:
    begun = [ChatMessageUser(content=QUESTION), ChatMessageAssistant(content="It lies to the")]
    chat = rendered(direct.loaded.tokenizer, begun)
    assert chat.text.endswith("It lies to the")
    (wanted,) = generated(direct, engine.Row(chat.tokens), seed=2)
    assert texts(ask(model, begun, seed=2)) == [wanted[0].text]


@task
def directions() -> Task:
    return Task(
        dataset=[Sample(id=f"way-{i}", input=f"{QUESTION} {i}", target="a") for i in range(3)],
        solver=generate_solver(),
        scorer=includes(),
    )


def test_a_task_of_inspect_runs_without_a_network(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("something wanted to use the network")

    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    edit = AskedEdit(site="resid_post[1]", vector=FromSeed(seed=1), text="harbour")
    (log,) = eval(
        directions(),
        model=model,
        log_dir=str(tmp_path / "logs"),
        display="none",
        epochs=2,
        extra_body=Asked(edits=(edit,)).extra_body,
        max_tokens=6,
        seed=1,
    )
    assert log.status == "success"
    samples = read_eval_log(log.location, resolve_attachments=True).samples or []
    assert len(samples) == 6
    (event,) = [event for event in samples[0].events if event.event == "model"]
    assert json.loads(json.dumps(event.config.extra_body))["firsthand"]["edits"][0]["text"] == "harbour"
    assert event.call is not None
    assert QUESTION in str(event.call.request["prompt"])
    assert {usage.total_tokens > 0 for usage in log.stats.model_usage.values()} == {True}


def test_an_investigation_asks_it_as_any_other_target(model: Model) -> None:
    prompt = Prompt(turns=(Turn(role="user", content=QUESTION),))
    requests = [Request(prompt=prompt, batch=batch, samples=5) for batch in ("screen", "baseline")]
    with InspectTarget(model, Drawn(samples=5, max_tokens=8)) as target:
        screen, baseline = target.respond(requests)
        assert target.respond(requests) == [screen, baseline]
        identity = target.identity
    assert {one.text for one in screen}.isdisjoint(one.text for one in baseline)
    assert all(one.tokens > 0 for one in screen)
    push = AskedEdit(site="resid_post[1]", vector=FromSeed(seed=1), strength=9.0, text="harbour")
    config = GenerateConfig(extra_body=Asked(edits=(push,)).extra_body)
    with InspectTarget(model, Drawn(samples=5, max_tokens=8), config=config) as edited:
        assert edited.identity != identity
        assert edited.respond(requests) != [screen, baseline]
    special = Request(prompt=Prompt(turns=(Turn(role="user", content="<|im_end|>"),)), batch="screen", samples=5)
    with InspectTarget(model, Drawn(samples=5, max_tokens=8)) as target:
        broken, whole = target.respond([special, requests[0]])
    assert [one.ended for one in broken] == ["error"] * 5
    assert whole == screen


def test_inspect_finds_the_provider_by_its_entry_point() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["inspect_ai"] == {"firsthand": "firsthand.counterfactual.inspecting.registry"}
    assert any(need.startswith("inspect-ai>=0.3.285") for need in project["optional-dependencies"]["investigate"])


def test_a_local_model_behind_a_server_answers_as_it_does_in_this_process(
    model: Model, direct: Served, serve: Callable[..., Server], model_at: Callable[[Server], Model]
) -> None:
    server = serve(answer=answers_of(direct))
    turns = (Turn(role="user", content=QUESTION),)
    requests = [Request(prompt=Prompt(turns=turns), batch=f"explore.{i}", samples=3) for i in range(6)]
    sampling = Drawn(samples=3, max_tokens=8)
    with InspectTarget(model_at(server), sampling) as far, InspectTarget(model, sampling) as near:
        found, wanted = far.respond(requests), near.respond(requests)
    assert [[one.text for one in batch] for batch in found] == [[one.text for one in batch] for batch in wanted]
    assert len(server.seen) == 6
