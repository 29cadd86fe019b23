"""A local server in place of a provider, and Inspect kept to the test's own folders and off the network."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "servers"))
sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from openai_server import KEY, Server

if TYPE_CHECKING:
    from inspect_ai.model import Model

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai", reason="Inspect is not installed; pip install 'firsthand[investigate]'")
    # As the entry point does where the package is installed.
    import firsthand.counterfactual.inspecting.registry  # noqa: F401

    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "inspect-cache"))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Starts servers, which are stopped at the end."""
    running: list[Server] = []

    def start(**settings: Any) -> Server:
        running.append(Server(**settings).__enter__())
        return running[-1]

    yield start
    for server in running:
        server.__exit__()


@pytest.fixture
def model_at() -> "Callable[..., Model]":
    """Inspect's client of a server, which repeats calls at once instead of after seconds."""
    from inspect_ai.model import get_model
    from tenacity import wait_fixed

    def make(server: Server, *, sdk_retries: int = 0, wait: float = 0.01) -> "Model":
        model = get_model("openai-api/local/scripted", base_url=server.url, memoize=False, max_retries=sdk_retries)
        model.api.retry_wait = lambda: wait_fixed(wait)  # type: ignore[method-assign]
        return model

    return make
