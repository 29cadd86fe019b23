"""Silence while Transformers and the hub client work: their bars and warnings would break our own progress.

Everything that is changed is put back, also after an exception.
"""

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import transformers.modeling_gguf_pytorch_utils as gguf_legacy
from huggingface_hub.utils import logging as hub_logging
from huggingface_hub.utils.tqdm import (
    are_progress_bars_disabled,
    disable_progress_bars,
    enable_progress_bars,
)
from transformers.utils import logging as transformers_logging

Progress = Callable[[str], None]


def ignore(message: str) -> None:
    """A progress callback that says nothing."""


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Transformers, the hub client and Python warnings silent for the length of a block."""
    verbosity = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    hub_verbosity = hub_logging.get_verbosity()
    hub_bars = not are_progress_bars_disabled()
    transformers_logging.set_verbosity(logging.CRITICAL)
    transformers_logging.disable_progress_bar()
    hub_logging.set_verbosity(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        hub_logging.set_verbosity(hub_verbosity)
        if bars:
            transformers_logging.enable_progress_bar()
        if hub_bars:
            enable_progress_bars()
        else:
            disable_progress_bars()


@contextmanager
def dequantising_progress(progress: Progress) -> Iterator[None]:
    """Send the progress of Transformers' GGUF reader, which draws its own bar, to ``progress``."""

    def counted(tensors: Iterable[Any], **_options: Any) -> Iterator[Any]:
        items = list(tensors)
        step = max(1, len(items) // 4)
        for done, item in enumerate(items):
            if done % step == 0:
                progress(f"Dequantising tensors: {done} of {len(items)}")
            yield item

    original = gguf_legacy.tqdm
    gguf_legacy.tqdm = counted
    try:
        yield
    finally:
        gguf_legacy.tqdm = original
