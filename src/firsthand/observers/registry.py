"""Observers by name, and users' own as ``package.module:Class``."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import ObserverError
from firsthand.observers.base import Observer, Past, TextModel
from firsthand.observers.table import TableObserver
from firsthand.observers.text_classifier import TextClassifier
from firsthand.observers.third_person import ThirdPersonObserver
from firsthand.trials.public import PublicView
from firsthand.vocabulary import Capability

BUILT_IN = ("table", "text_classifier", "third_person", "sibling")


def make_observer(name: str, models: Mapping[str, TextModel]) -> Observer:
    """The observer of that name.

    Args:
        name: One of :data:`BUILT_IN`, or ``package.module:Class`` for an observer class of your own.
        models: Text-only models by observer name (``third_person``, ``sibling``).

    Returns:
        A new observer.

    Raises:
        ObserverError: If the name is unknown, the class cannot be loaded or is no observer, or the observer needs
            a model that is not there.
    """
    if name == "table":
        return TableObserver()
    if name == "text_classifier":
        return TextClassifier()
    if name in ("third_person", "sibling"):
        if name not in models:
            raise ObserverError(f"Observer {name!r} needs a model, and none is loaded.", "Give one, or leave it out.")
        return ThirdPersonObserver(models[name], name)
    if ":" not in name:
        raise ObserverError(
            f"There is no observer {name!r}.",
            f"Use one of {', '.join(BUILT_IN)}, or package.module:Class for your own.",
        )
    return _load(name)


def _load(name: str) -> Observer:
    module_name, _, class_name = name.partition(":")
    try:
        make = getattr(importlib.import_module(module_name), class_name)
        made = make()
    except Exception as error:
        raise ObserverError(
            f"Observer {name!r} could not be loaded: {type(error).__name__}: {error}.",
            "Check that the module is importable from here and that the class takes no arguments.",
        ) from error
    if not isinstance(made, Observer):
        raise ObserverError(
            f"{name!r} is no observer: it needs a `name` and a method `observe(capability, past, views)`.",
            "See firsthand.observers.base.Observer.",
        )
    return _NewEachTime(made.name, make)


class _NewEachTime:
    """A user's observer, made anew for every fold, so that what it learned from one fold is gone at the next."""

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        self.name = name
        self._make = make

    def observe(self, capability: Capability, past: Past, views: Sequence[PublicView]) -> NDArray[np.float64]:
        """What a new instance says."""
        return np.asarray(self._make().observe(capability, past, views))
