"""Work side by side, of which nothing is thrown away because something else went wrong."""

from collections.abc import Awaitable
from typing import TypeVar

import anyio

T = TypeVar("T")


async def side_by_side(*work: Awaitable[T]) -> list[T]:
    """Results in the order of the work.

    All of it goes on to its end before an error is raised: a call that is under way has been paid for, and what it
    gives is kept. Being cancelled cancels all of it.

    Raises:
        Exception: The first error, in the order of the work.
    """
    found: list[T | None] = [None] * len(work)
    errors: dict[int, Exception] = {}

    async def carry_out(number: int, one: Awaitable[T]) -> None:
        try:
            found[number] = await one
        except Exception as error:  # noqa: BLE001 - raised again below
            errors[number] = error

    async with anyio.create_task_group() as group:
        for number, one in enumerate(work):
            group.start_soon(carry_out, number, one)
    if errors:
        raise errors[min(errors)]
    return found  # type: ignore[return-value]
