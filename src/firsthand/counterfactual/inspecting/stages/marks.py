"""Special tokens of the local models that read quoted texts."""

from functools import lru_cache
from typing import Final

from firsthand.counterfactual.inspecting.stages.settings import ROLES, StagesSettings

_LOCAL: Final = "firsthand/"
_SHORTEST: Final = 3
"""Shorter ones, such as a line feed that some tokenizers list among their added tokens, are ordinary text."""


def marks_of(settings: StagesSettings) -> tuple[str, ...]:
    """Special tokens of all local models of a run, in order. Those of models elsewhere are not known.

    Raises:
        ModelError: If a model cannot be loaded.
    """
    local = [one for one in map(settings.playing, ROLES) if one.model.startswith(_LOCAL)]
    found = {
        mark
        for one in local
        for mark in _marks(one.model.removeprefix(_LOCAL), tuple(sorted((k, str(v)) for k, v in one.arguments.items())))
    }
    return tuple(sorted(found))


@lru_cache(maxsize=16)
def _marks(name: str, arguments: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    from firsthand.counterfactual.inspecting.serving import Settings, served

    tokenizer = served(Settings(name, **dict(arguments))).loaded.tokenizer
    listed = {*tokenizer.all_special_tokens, *tokenizer.get_added_vocab()}
    return tuple(sorted(one for one in listed if len(one.strip()) >= _SHORTEST))
