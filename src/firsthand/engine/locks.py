"""One pass at a time on one model: hooks and the choice of attention belong to the model, not to a thread."""

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

_LOCKS: "weakref.WeakKeyDictionary[nn.Module, threading.RLock]" = weakref.WeakKeyDictionary()
_GUARD = threading.Lock()


@contextmanager
def held(model: nn.Module) -> Iterator[None]:
    """Wait until no other thread runs this model, and keep others waiting."""
    with _GUARD:
        lock = _LOCKS.setdefault(model, threading.RLock())
    with lock:
        yield
