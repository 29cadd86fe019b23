"""Importers by name, and users' own as ``package.module:Class``."""

import importlib
from collections.abc import Callable

from firsthand.importers.base import Importer, ImporterError

BUILT_IN: dict[str, tuple[str, str]] = {
    "codebook_icl": ("firsthand.importers.codebook_icl", "CodebookIcl"),
    "cot-hints": ("firsthand.importers.cot_hints", "CotHints"),
    "hahami": ("firsthand.importers.hahami", "Hahami"),
}
"""Module and class of each importer, by the name that a user gives."""


def make_importer(name: str) -> Importer:
    """The importer of that name.

    Args:
        name: One of :data:`BUILT_IN`, or ``package.module:Class`` for one of your own.

    Raises:
        ImporterError: The name is unknown, or the class cannot be loaded or is no importer.
    """
    if name in BUILT_IN:
        module, made = BUILT_IN[name]
        return _checked(name, getattr(importlib.import_module(module), made))
    if ":" not in name:
        raise ImporterError(
            f"There is no importer {name!r}.",
            f"Use one of {', '.join(sorted(BUILT_IN))}, or package.module:Class for your own.",
        )
    module_name, _, class_name = name.partition(":")
    try:
        make = getattr(importlib.import_module(module_name), class_name)
        return _checked(name, make)
    except ImporterError:
        raise
    except Exception as error:
        raise ImporterError(
            f"Importer {name!r} could not be loaded: {type(error).__name__}: {error}.",
            "Check that the module is importable from here and that the class takes no arguments.",
        ) from error


def _checked(name: str, make: Callable[[], object]) -> Importer:
    made = make()
    if not isinstance(made, Importer):
        raise ImporterError(
            f"{name!r} is no importer: it needs a `name`, a `title` and a method `read(folder)`.",
            "See firsthand.importers.base.Importer.",
        )
    return made


def kinds() -> dict[str, str]:
    """What each built-in importer reads, by name."""
    return {name: make_importer(name).title for name in sorted(BUILT_IN)}
