"""How responses are drawn, in the words of Inspect's providers."""

from collections.abc import Mapping
from json import JSONDecodeError
from typing import Any, Final
from urllib.parse import urlsplit

from inspect_ai.model import GenerateConfig, Model, get_model

from firsthand.counterfactual.inspecting.failing import reason_of
from firsthand.counterfactual.inspecting.reaching import tell_when_reached
from firsthand.counterfactual.responses import Sampling
from firsthand.errors import CounterfactualError

_TAKE_TOP_K: Final = ("firsthand", "anthropic", "google", "hf", "together", "bedrock", "sagemaker", "mockllm", "nnterp")
"""Providers of Inspect that hand ``top_k`` on."""
_TAKE_IT_IN_THE_BODY: Final = ("openai-api", "vllm", "sglang", "ollama", "llama-cpp-python")
"""Servers that know ``top_k`` as an extension of OpenAI's protocol."""


def model_of(model: str | Model, arguments: Mapping[str, Any]) -> Model:
    """A model of Inspect, with a client of its own.

    Raises:
        CounterfactualError: If it cannot be had.
    """
    made = model if isinstance(model, Model) else _made(model, arguments)
    # Limits of connections are kept for a whole process by this key, and two event loops must not wait for one limit.
    key = f"{made.api.connection_key()} of the target {id(made)}"
    made.api.connection_key = lambda: key  # type: ignore[method-assign]
    passing = made.api.should_retry
    # An answer that is no JSON was cut on its way; Inspect would take that for the end.
    made.api.should_retry = lambda ex: isinstance(ex, JSONDecodeError) or passing(ex)  # type: ignore[method-assign]
    tell_when_reached(made.api)
    return made


def _made(model: str, arguments: Mapping[str, Any]) -> Model:
    if model.startswith("firsthand/"):
        import firsthand.counterfactual.inspecting.registry  # noqa: F401  works from a checkout that is not installed
    try:
        # Not a shared one: another event loop may be using that.
        return get_model(model, memoize=False, **arguments)
    except Exception as error:
        problem = reason_of(error)
        raise CounterfactualError(
            f"The model {model!r} cannot be had: {problem}", "Check its name, and the provider's key and address."
        ) from error


def settings_of(name: str, sampling: Sampling) -> GenerateConfig:
    """Sampling as settings of Inspect.

    Raises:
        CounterfactualError: If the provider takes no ``top_k`` and one is wanted.
    """
    provider = name.partition("/")[0]
    config = GenerateConfig(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens + sampling.thinking,
        reasoning_tokens=sampling.thinking or None,
    )
    if provider == "firsthand":
        config.reasoning_effort = None if sampling.thinking else "none"
    if sampling.top_k is not None:
        if provider in _TAKE_TOP_K:
            config.top_k = sampling.top_k
        elif provider in _TAKE_IT_IN_THE_BODY:
            config.extra_body = {"top_k": sampling.top_k}
        else:
            raise CounterfactualError(
                f"Inspect's provider {provider} does not hand top_k on, so responses would be drawn from another "
                "distribution than the one asked for.",
                "Leave top_k out.",
            )
    return config


def address_of(base_url: str | None) -> str:
    """Where the model is served, without what may be secret in an address."""
    if not base_url:
        return ""
    parts = urlsplit(base_url)
    return f"{parts.hostname or ''}:{parts.port or ''}{parts.path}" if parts.scheme.startswith("http") else base_url
