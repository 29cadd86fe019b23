"""Calls without Inspect's machinery: replies are taken from a list or made by a function."""

from collections.abc import Callable
from typing import Any

from inspect_ai.model import ModelOutput

from firsthand.counterfactual.inspecting.stages.calling import CallRefused, Calls, Standing
from firsthand.counterfactual.inspecting.stages.settings import RoleModel, StagesSettings
from firsthand.counterfactual.quoting import Fence


class FakedCalls(Calls):
    """Calls whose replies are given; a text stands for a call that was refused, with its reason."""

    def __init__(self, reply: Callable[..., ModelOutput | str] | list[ModelOutput | str], **settings: Any) -> None:
        roles = {"target": RoleModel(model="planted/world"), "investigator": RoleModel(model="planted/world")}
        super().__init__(
            StagesSettings(folder="nowhere", roles=roles, **settings), Fence(b"k" * 32), Standing(), "stage", "sample"
        )
        self.reply = reply
        self.asked: list[tuple[str, list[Any], str]] = []

    async def generate(self, role, messages, place, *, tools=(), config=None, several=False):  # type: ignore[no-untyped-def]
        self.asked.append((role, messages, place))
        reply = self.reply.pop(0) if isinstance(self.reply, list) else self.reply(role, messages, list(tools), config)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            raise CallRefused(reply, 400)
        return reply
