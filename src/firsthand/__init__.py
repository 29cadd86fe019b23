"""Does what a model says about itself carry anything that the best outside observer could not have said?

The public interface; everything else may move. Heavy libraries are imported when a name is first used.
"""

from typing import TYPE_CHECKING, Any

from firsthand.version import __version__

if TYPE_CHECKING:
    from firsthand.auditing.audit import Run, audit, freeze
    from firsthand.auditing.rescore import rescore
    from firsthand.claims import Claim, FrozenClaim, default_claim
    from firsthand.engine.loading import LoadedModel, load
    from firsthand.errors import FirsthandError

_HOMES = {
    "Claim": "firsthand.claims",
    "FirsthandError": "firsthand.errors",
    "FrozenClaim": "firsthand.claims",
    "LoadedModel": "firsthand.engine.loading",
    "Run": "firsthand.auditing.audit",
    "audit": "firsthand.auditing.audit",
    "default_claim": "firsthand.claims",
    "freeze": "firsthand.auditing.audit",
    "load": "firsthand.engine.loading",
    "rescore": "firsthand.auditing.rescore",
}

__all__ = [
    "Claim",
    "FirsthandError",
    "FrozenClaim",
    "LoadedModel",
    "Run",
    "__version__",
    "audit",
    "default_claim",
    "freeze",
    "load",
    "rescore",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module 'firsthand' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
