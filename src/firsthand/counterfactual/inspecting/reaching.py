"""Whether what a model gave came from its provider, or was kept from another time: only the first says it is there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

_REACHED: ContextVar[list[bool] | None] = ContextVar("_REACHED", default=None)
_TELLS: Final = "_firsthand_tells"


def tell_when_reached(api: Any) -> None:
    """Let Inspect's provider tell when it is called; Inspect does not call it for what is in its cache."""
    if getattr(api, _TELLS, False):
        return
    generate = api.generate

    async def telling(*arguments: Any, **named: Any) -> Any:
        calls = _REACHED.get()
        if calls is not None:
            calls.append(True)
        return await generate(*arguments, **named)

    api.generate = telling
    setattr(api, _TELLS, True)


@contextmanager
def watched(api: Any) -> Iterator[Callable[[], bool]]:
    """Watch one call; what is yielded says whether the provider was called. One that cannot tell counts as called."""
    calls: list[bool] = []
    token = _REACHED.set(calls)
    try:
        yield lambda: bool(calls) or not getattr(api, _TELLS, False)
    finally:
        _REACHED.reset(token)
