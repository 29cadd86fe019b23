"""JSON patches (RFC 6902) of a list of messages, as far as transcripts use them."""

import copy
from typing import Any

from firsthand.counterfactual.sources.found import Unusable


def patched(messages: list[Any], patch: object) -> list[Any]:
    """The messages after a patch.

    Args:
        messages: The messages; they are left as they are.
        patch: Operations ``add``, ``remove`` and ``replace``, as a list. Paths begin at the list of messages, or at an
            object that holds it as ``messages``.

    Raises:
        Unusable: If an operation is another, or leads nowhere.
    """
    if not isinstance(patch, list):
        raise Unusable("a patch that cannot be made", "it is no list")
    holder: dict[str, Any] = {"messages": copy.deepcopy(messages)}
    for change in patch:
        try:
            _make(holder, change["op"], str(change["path"]), change.get("value"))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise Unusable("a patch that cannot be made", f"{type(error).__name__}: {error}"[:100]) from None
    found = holder["messages"]
    if not isinstance(found, list) or not all(isinstance(message, dict) for message in found):
        raise Unusable("a patch that leaves no messages")
    return found


def _make(holder: dict[str, Any], operation: str, path: str, value: Any) -> None:
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
    if not steps or steps[0] != "messages":
        steps = ["messages", *steps]
    at: Any = holder
    for step in steps[:-1]:
        at = at[_index(at, step)] if isinstance(at, list) else at[step]
    last = steps[-1]
    if operation not in ("add", "remove", "replace"):
        raise ValueError(f"operation {operation}")
    if not isinstance(at, list):
        if operation != "add":
            del at[last]
        if operation != "remove":
            at[last] = value
    elif operation == "add":
        at.insert(len(at) if last == "-" else _index(at, last, beyond=True), value)
    elif operation == "remove":
        del at[_index(at, last)]
    else:
        at[_index(at, last)] = value


def _index(at: list[Any], step: str, beyond: bool = False) -> int:
    place = int(step)
    if not 0 <= place < len(at) + beyond:
        raise IndexError(f"no place {step}")
    return place
