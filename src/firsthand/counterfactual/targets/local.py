"""A local model as target: many prompts and samples side by side, over the engine's own generation.

What a response says depends on its prompt, the request's batch, its number and the sampling, not on what is asked with
it (to rounding). A prompt that the model cannot be given (special tokens in a text, tools without a template for them,
no room for the answer) gets responses that say why; it never stops the others.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Request, Response, Sampling
from firsthand.counterfactual.targets.rendering import PLAIN_STOP, opened
from firsthand.engine import Generated, LoadedModel, Row, default_sampling, generate, inspect_model
from firsthand.engine.chunks import halving
from firsthand.engine.session import check_whole_rows
from firsthand.errors import CounterfactualError, EngineError, FirsthandError
from firsthand.trials.canonical import digest

_ENDED: Final = {"eos": "stop", "stop": "stop", "length": "length"}


class LocalTarget:
    """Answers prompts with a model in this process.

    Args:
        loaded: The model.
        sampling: How responses are drawn; ``top_p`` and ``top_k`` that are not given are the model's own, with whatever
            else its generation configuration sets but the temperature.

    Raises:
        CounterfactualError: If the model is to think first.
        EngineError: If its generation configuration asks for what is not carried out here.
    """

    def __init__(self, loaded: LoadedModel, sampling: Sampling) -> None:
        if sampling.thinking:
            raise CounterfactualError(
                "A local target answers at once and does not think first.", "Leave thinking out, or use a server."
            )
        self.loaded, self.sampling = loaded, sampling
        self._anatomy = inspect_model(loaded.model)
        named = {"top_p": sampling.top_p, "top_k": sampling.top_k}
        given = {name: value for name, value in named.items() if value is not None}
        self._drawn = replace(default_sampling(loaded.model), temperature=sampling.temperature, **given)  # type: ignore[arg-type]
        self._stop = () if loaded.tokenizer.chat_template is not None else PLAIN_STOP

    @property
    def identity(self) -> str:
        """Hash of everything that responses depend on besides the request; the model's name is not among it."""
        return f"local {digest(self._depends_on())}"

    def card(self) -> dict[str, Any]:
        """What was asked and how, for a reader."""
        return {**self.loaded.card(), "drawn_from": asdict(self._drawn), **self.sampling.model_dump(mode="json")}

    def tokens(self, prompt: Prompt) -> tuple[int, ...]:
        """Tokens of a prompt with the assistant's turn open.

        Raises:
            CounterfactualError: If the model cannot be given this prompt.
        """
        try:
            tokens = opened(self.loaded.tokenizer, prompt)
            check_whole_rows(self._anatomy, [Row(tokens)], further=self.sampling.max_tokens)
        except EngineError as error:
            raise CounterfactualError(error.problem, error.remedy) from error
        return tokens

    def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
        """Responses to each request, drawn side by side; a prompt that cannot be given gets ``error`` responses."""
        found: dict[int, list[Response]] = {}
        able: dict[int, tuple[int, ...]] = {}
        for number, request in enumerate(requests):
            try:
                able[number] = self.tokens(request.prompt)
            except FirsthandError as error:
                found[number] = [Response(text=error.problem, ended="error")] * request.samples
        for samples in sorted({requests[number].samples for number in able}):
            numbers = [number for number in able if requests[number].samples == samples]

            def work(some: Sequence[int], samples: int = samples) -> None:
                found.update(zip(some, self._drawn_for(requests, some, able, samples), strict=True))

            halving(numbers, work)
        return [found[number] for number in range(len(requests))]

    def _drawn_for(
        self, requests: Sequence[Request], numbers: Sequence[int], tokens: dict[int, tuple[int, ...]], samples: int
    ) -> list[list[Response]]:
        batches = generate(
            self._anatomy,
            self.loaded.tokenizer,
            [Row(tokens[number]) for number in numbers],
            samples=samples,
            max_tokens=self.sampling.max_tokens,
            sampling=self._drawn,
            seed=[self.seed(requests[number]) for number in numbers],
            stop=self._stop,
        )
        return [[_response(one) for one in batch] for batch in batches]

    def seed(self, request: Request) -> int:
        """The seed of a request's draws, from which and from the prompt's tokens each sample's seed is derived."""
        return int(digest([self.sampling.seed, request.batch])[:15], 16)

    def _depends_on(self) -> list[object]:
        loaded = self.loaded
        weights = [loaded.weights_sha256, loaded.tokenizer_sha256, loaded.config_sha256, loaded.dtype]
        return [*weights, asdict(self._drawn), self.sampling.max_tokens, self.sampling.seed]


def _response(one: Generated) -> Response:
    return Response(text=one.text, ended=_ENDED[one.ended], tokens=len(one.tokens))
