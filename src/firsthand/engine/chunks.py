"""How many tokens a pass takes, from what memory allows, and what happens when that was too many."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import torch

from firsthand.engine.anatomy import Anatomy
from firsthand.errors import EngineError

T = TypeVar("T")

MOST_ON_CPU: Final = 2048
"""Tokens in a pass on a CPU. More gain nothing: products are at their full rate, and activations leave the cache."""
MOST_ON_GPU: Final = 65_536
MOST_KEPT_ON_CPU: Final = 1 << 29
"""Bytes of keys and values that are kept at one time on a CPU."""
_SHARE: Final = 0.4


def tokens_at_once(anatomy: Anatomy) -> int:
    """Tokens that fit into a pass: at most what is useful, at least one row's."""
    model = anatomy.model
    most = MOST_ON_CPU if model.device.type == "cpu" else MOST_ON_GPU
    free = free_bytes(model.device)
    return most if free is None else max(1, min(most, int(_SHARE * free) // _bytes_per_token(anatomy)))


def slots_at_once(anatomy: Anatomy) -> int:
    """Tokens of all rows together whose keys and values may be kept at one time."""
    config = anatomy.model.config.get_text_config(decoder=True)
    heads: Any = getattr(config, "num_key_value_heads", None) or getattr(config, "num_attention_heads", 1)
    heads = max(heads) if isinstance(heads, list) else heads
    width = getattr(config, "head_dim", None) or anatomy.hidden_size // max(1, config.num_attention_heads)
    slot = 2 * anatomy.n_layers * int(heads) * int(width) * int(anatomy.model.dtype.itemsize)
    free = free_bytes(anatomy.model.device)
    most = MOST_KEPT_ON_CPU if anatomy.model.device.type == "cpu" else free or MOST_KEPT_ON_CPU
    return max(1, int(min(most, _SHARE * (free or most))) // slot)


def _bytes_per_token(anatomy: Anatomy) -> int:
    """What a token needs at the widest point of a block, plus room for its attention scores and its share of logits."""
    config = anatomy.model.config.get_text_config(decoder=True)
    inner = int(getattr(config, "intermediate_size", None) or 4 * anatomy.hidden_size)
    vocabulary = len(anatomy.model.get_input_embeddings().weight)
    return (8 * anatomy.hidden_size + 4 * inner) * int(anatomy.model.dtype.itemsize) + 4 * vocabulary


def free_bytes(device: torch.device) -> int | None:
    """Memory that is free where the model lies, or ``None`` where that cannot be told."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    found = [value for value in (_available_to_the_machine(), _available_to_the_group()) if value is not None]
    return min(found, default=None)


def _available_to_the_machine() -> int | None:
    """What Linux says could be had without swapping, page cache included; elsewhere the free pages."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pass
    try:
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError):  # not every system counts its pages
        return None


def _available_to_the_group() -> int | None:
    """What a container's limit leaves, if there is one."""
    group = Path("/sys/fs/cgroup")
    try:
        return int((group / "memory.max").read_text()) - int((group / "memory.current").read_text())
    except (OSError, ValueError):  # no such limit, or "max"
        return None


def chunked(items: Sequence[T], size: Callable[[T], float], budget: float) -> list[list[T]]:
    """Items in order, in chunks whose sizes add up to at most the budget (an item alone may exceed it)."""
    chunks: list[list[T]] = []
    room = 0.0
    for item in items:
        if chunks and size(item) <= room:
            chunks[-1].append(item)
        else:
            chunks.append([item])
            room = budget
        room -= size(item)
    return chunks


def halving(items: Sequence[T], work: Callable[[Sequence[T]], None]) -> None:
    """Do some work on all items at once; where memory does not suffice, on each half of them.

    The work must leave nothing behind when it fails.

    Raises:
        EngineError: If memory does not suffice for a single item.
    """
    try:
        work(items)
        return
    except (torch.OutOfMemoryError, MemoryError) as error:
        failed: BaseException = error
    except RuntimeError as error:
        if "can't allocate memory" not in str(error) and "out of memory" not in str(error):
            raise
        failed = error
    if len(items) == 1:
        raise EngineError(
            f"Memory does not suffice for a single row: {failed}",
            "Use shorter rows, a smaller model or lower precision.",
        ) from failed
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    middle = len(items) // 2
    halving(items[:middle], work)
    halving(items[middle:], work)
