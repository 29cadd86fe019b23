"""Open Assistant trees: a root message with replies, and replies to these, prompter and assistant by turns."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from firsthand.counterfactual.sources.files import json_records
from firsthand.counterfactual.sources.found import Found, Refused
from firsthand.counterfactual.sources.making import made
from firsthand.counterfactual.sources.messages import said_in

Node = Mapping[str, Any]


def read(path: Path, *, paths: Literal["every", "root"] = "every") -> Iterator[Found]:
    """The prompts of a file of trees, one tree a line.

    Args:
        path: The file.
        paths: Every path from the root to a message of a prompter, or the root by itself.

    Raises:
        CounterfactualError: If the file cannot be read.
    """
    for place, record in json_records(path):
        if isinstance(record, Refused):
            yield record
            continue
        tree = str(record.get("message_tree_id") or place)
        root = record.get("prompt")
        if not isinstance(root, Mapping):
            yield Refused(place, "a tree without a root")
            continue
        for trail in _trails(root, deep=paths == "every"):
            where = f"tree {tree}, message {trail[-1].get('message_id', '?')}"
            if any(node.get("deleted") for node in trail):
                yield Refused(where, "a path with a deleted message")
            else:
                yield made(said_in(list(trail)), source=path.name, place=where, cluster=f"tree {tree}")


def _trails(root: Node, deep: bool) -> Iterator[tuple[Node, ...]]:
    """The paths that end in a prompter's message, in reading order; no reply is followed unless ``deep``."""
    waiting: list[tuple[Node, ...]] = [(root,)]
    while waiting:
        trail = waiting.pop()
        if trail[-1].get("role") != "assistant":
            yield trail
        if deep:
            replies = trail[-1].get("replies")
            below = reversed(replies) if isinstance(replies, list) else ()
            waiting += [(*trail, reply) for reply in below if isinstance(reply, Mapping)]
