"""Inspect's provider ``firsthand/NAME``: a local model, asked through the engine by any task of Inspect.

Weights are loaded at the first request and once a process. Requests that arrive together run together. A request's seed
decides its text, whatever else is in the batch. Settings that the engine does not carry out are refused, not ignored.
"""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import sniffio
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelCall,
    ModelCost,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    StopReason,
    TopLogprob,
    set_model_info,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from firsthand.counterfactual.inspecting.asking import KEY, Asked
from firsthand.counterfactual.inspecting.chat import Chat, rendered
from firsthand.counterfactual.inspecting.placing import placed
from firsthand.counterfactual.inspecting.replies import read_reply
from firsthand.counterfactual.inspecting.serving import Job, Outcome, Served, Settings, context_of, served
from firsthand.engine import Generated, Row, Sampling, candidate_tokens, default_sampling
from firsthand.errors import CounterfactualError

_SETTINGS: Final = ("device", "dtype", "revision")
_MAX_TOKENS: Final = 2048
"""Longest text where a request does not say: Inspect's own default for local models."""
_REFUSED: Final = ("best_of", "frequency_penalty", "presence_penalty", "logit_bias", "response_schema", "modalities")
_REFUSED_TOO: Final = ("prompt_logprobs", "fallback_models")
_FREE: Final = ModelCost(input=0, output=0, input_cache_write=0, input_cache_read=0)


class FirsthandAPI(ModelAPI):
    """A local model.

    Args:
        model_name: A bundled name, a folder, a GGUF file or a Hugging Face id.
        base_url: Must not be given: the model is on this machine.
        api_key: Not used. Inspect gives one when it looks a model up.
        config: Default settings of requests.
        **model_args: ``device``, ``dtype`` and ``revision``, as for :func:`firsthand.engine.load`.

    Raises:
        ModelError: If the name cannot be that of a model.
        CounterfactualError: If an argument is not known.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  as Inspect has it; it is not changed
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, None, None, [], config)
        unknown = [*sorted(set(model_args) - set(_SETTINGS)), *(["base_url"] if base_url else [])]
        if unknown:
            raise CounterfactualError(
                f"firsthand/{model_name} does not know {', '.join(unknown)}.", f"Give {', '.join(_SETTINGS)} alone."
            )
        self.settings = Settings(model_name, **model_args)
        # Inspect makes a provider a second time to look up a model's size, and to cut conversations down to it.
        self._tell(context_of(model_name))
        # Inspect's cache knows a model by its name, and leaves its arguments out: what they change goes where it looks.
        self.base_url = f"engine:{self.settings.dtype}:{self.settings.revision or ''}:{_written(model_name)}"

    @property
    def identity(self) -> str:
        """What answers depend on besides requests: weights, tokenizer, configuration and precision. Loads the model."""
        return served(self.settings).identity

    def canonical_name(self) -> str:
        """The full name, so that a model is never taken for a hosted one of a similar name."""
        return f"firsthand/{self.model_name}"

    def connection_key(self) -> str:
        """Requests to one model are counted together."""
        return ":".join(str(part) for part in self.settings)

    def max_connections(self) -> int:
        """Requests that are in the queue at once."""
        return 128

    def max_tokens(self) -> int | None:
        """Longest text where a request does not say."""
        return _MAX_TOKENS

    def force_reasoning_history(self) -> Any:
        """Earlier thinking is left out, as chat templates do."""
        return "none"

    async def count_text_tokens(self, text: str) -> int:
        """Tokens of a text, by the model's own tokenizer."""
        return len(await self.tokenize(text))

    async def tokenize(self, text: str) -> list[int]:
        """Tokens of a text, without special ones."""
        return [int(t) for t in (await self._served()).loaded.tokenizer.encode(text, add_special_tokens=False)]

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput | tuple[ModelOutput | Exception, ModelCall]:
        """Answer one request.

        Raises:
            CounterfactualError: If it asks for what is not known, or not carried out.
            EngineError: If it cannot be carried out exactly.
        """
        _refuse(config)
        asked = Asked.of(config.extra_body)
        one = await self._served()
        tools = [] if tool_choice == "none" else tools
        chat = rendered(one.loaded.tokenizer, input, tools, _thinking(config))
        wanted = config.max_tokens or _MAX_TOKENS
        room = wanted if one.context is None else min(wanted, one.context - len(chat.tokens))
        if room < 1:
            text = f"The prompt has {len(chat.tokens)} tokens, and the model can take {one.context}."
            return ModelOutput.from_content(self.canonical_name(), text, stop_reason="model_length")
        job = _job(one, chat, asked, config, room)
        outcome = await _waited(one, job)
        request = {"prompt": chat.text, "seed": job.seed, "config": config.model_dump(exclude_none=True)}
        output = self._output(chat, tools, asked, job, outcome, room < wanted)
        return output, ModelCall.create(request, output.metadata)

    async def _served(self) -> Served:
        one = await anyio.to_thread.run_sync(served, self.settings)
        self._tell(one.context)
        return one

    def _tell(self, context: int | None) -> None:
        info = ModelInfo(organization="local", model=self.model_name, context_length=context, cost=_FREE)
        set_model_info(self.canonical_name(), info)

    def _output(
        self, chat: Chat, tools: list[ToolInfo], asked: Asked, job: Job, outcome: Outcome, clipped: bool
    ) -> ModelOutput:
        choices = []
        for number, one in enumerate(outcome.generated):
            reply = read_reply(one.text, tools, one.seed, chat.text)
            content: str | list[Content] = reply.text
            if reply.reasoning is not None:
                content = [ContentReasoning(reasoning=reply.reasoning), ContentText(text=reply.text)]
            message = ChatMessageAssistant(
                content=content,
                model=self.canonical_name(),
                source="generate",
                tool_calls=list(reply.calls) or None,
            )
            reason = _reason(one, bool(reply.calls), clipped)
            logprobs = _logprobs(served(self.settings), outcome, number) if outcome.steps else None
            choices.append(ChatCompletionChoice(message=message, stop_reason=reason, logprobs=logprobs))
        if not choices:
            message = ChatMessageAssistant(content="", model=self.canonical_name(), source="generate")
            choices.append(ChatCompletionChoice(message=message, stop_reason="stop"))
        written = sum(len(one.tokens) for one in outcome.generated)
        read = len(chat.tokens)
        return ModelOutput(
            model=self.canonical_name(),
            choices=choices,
            usage=ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written),
            metadata={KEY: _metadata(asked, job, outcome)},
        )


def _job(one: Served, chat: Chat, asked: Asked, config: GenerateConfig, room: int) -> Job:
    tokenizer = one.loaded.tokenizer
    alternatives = config.top_logprobs or 0 if config.logprobs else None
    return Job(
        row=Row(chat.tokens, placed(asked.edits, chat, one.anatomy.hidden_size)),
        samples=(config.num_choices or 1) if asked.sample else 0,
        max_tokens=room,
        sampling=_sampling(one, config),
        # Without a seed, a request that is repeated is drawn anew; the log tells which seed it was.
        seed=secrets.randbits(31) if config.seed is None else config.seed,
        stop=tuple(config.stop_seqs or ()),
        candidates=tuple(candidate_tokens(tokenizer, chat.text, asked.candidates)) if asked.candidates else (),
        alternatives=alternatives if asked.sample else None,
    )


def _sampling(one: Served, config: GenerateConfig) -> Sampling:
    """The model's own settings, with those of the request in their place."""
    own = default_sampling(one.loaded.model)
    if config.temperature == 0:
        return Sampling(repetition_penalty=own.repetition_penalty, greedy=True)
    given = {name: getattr(config, name) for name in ("temperature", "top_p", "top_k")}
    return replace(own, **{name: value for name, value in given.items() if value is not None})


async def _waited(one: Served, job: Job) -> Outcome:
    future = one.queue.submit(job)
    if sniffio.current_async_library() == "asyncio":
        return await asyncio.wrap_future(future)
    return await anyio.to_thread.run_sync(future.result, abandon_on_cancel=True)


def _refuse(config: GenerateConfig) -> None:
    set_to = {name: getattr(config, name, None) for name in (*_REFUSED, *_REFUSED_TOO)}
    given = [name for name, value in set_to.items() if value]
    if given:
        raise CounterfactualError(
            f"firsthand/ does not carry out {', '.join(given)}, and does not ignore it.", "Leave it out."
        )


def _thinking(config: GenerateConfig) -> bool | None:
    if config.reasoning_effort is not None:
        return config.reasoning_effort != "none"
    return None if config.reasoning_tokens is None else config.reasoning_tokens > 0


def _reason(one: Generated, calls: bool, clipped: bool) -> StopReason:
    if one.ended == "length":
        return "model_length" if clipped else "max_tokens"
    return "tool_calls" if calls else "stop"


def _logprobs(one: Served, outcome: Outcome, number: int) -> Logprobs:
    def read(token: int) -> str:
        return str(one.loaded.tokenizer.decode([token], clean_up_tokenization_spaces=False))

    return Logprobs(
        content=[
            Logprob(
                token=read(step.token),
                logprob=step.logprob,
                top_logprobs=[TopLogprob(token=read(t), logprob=v) for t, v in step.likeliest] or None,
            )
            for step in outcome.steps[number]
        ]
    )


def _metadata(asked: Asked, job: Job, outcome: Outcome) -> Mapping[str, Any]:
    found: dict[str, Any] = {
        "seed": job.seed,
        "tokens": [len(one.tokens) for one in outcome.generated],
        "logprob": [one.logprob for one in outcome.generated],
        "edits": len(job.row.edits),
    }
    if outcome.coverage is not None:
        scored = zip(asked.candidates, outcome.logprobs, strict=True)
        found["candidates"] = [{"text": text, "logprob": logprob} for text, logprob in scored]
        found["coverage"] = outcome.coverage
    return found


def _written(name: str) -> str:
    """Sizes and times of a local model's files: new weights in an old place are another model."""
    path = Path(name).expanduser()
    files = sorted(path.glob("*.safetensors")) if path.is_dir() else [path] if path.is_file() else []
    return ",".join(f"{file.name}/{file.stat().st_size}/{file.stat().st_mtime_ns}" for file in files)
