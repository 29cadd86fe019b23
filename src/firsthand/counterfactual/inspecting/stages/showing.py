"""Edits as other models are shown them: what was, what is, and what became of each turn."""

import json

from firsthand.counterfactual.edits import changes, turn_changes
from firsthand.counterfactual.inspecting.stages.calling import Calls
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.quoting import quoted

_AROUND = 60


def shown_changes(before: Prompt, after: Prompt, calls: Calls, what: str) -> str:
    """The difference of two prompts, word by word, as data.

    Every piece is written as a JSON string, so that nothing in a prompt can pass for a line of the difference.
    """
    lines: list[str] = []
    for old, new in turn_changes(before, after):
        if old is None and new is not None:
            lines.append(f"a turn of the {new.role} came: {_written(new)}")
        elif new is None and old is not None:
            lines.append(f"a turn of the {old.role} went: {_written(old)}")
        elif old is not None and new is not None and old != new:
            lines.append(f"in a turn of the {old.role}" + ("" if old.role == new.role else f", now of the {new.role}"))
            lines += [f"  {_piece(kind, text)}" for kind, text in changes(_text(old), _text(new))]
    return quoted("\n".join(lines), calls.fence, what, calls.settings.lengths.turn)


def _text(turn: Turn) -> str:
    return turn.content + "".join(f"\n(calls {call.name} with {call.arguments})" for call in turn.calls)


def _written(turn: Turn) -> str:
    return json.dumps(_text(turn), ensure_ascii=False)


def _piece(kind: str, text: str) -> str:
    if kind == "same" and len(text) > 2 * _AROUND + 20:
        text = f"{text[:_AROUND]} … {text[-_AROUND:]}"
    return f"{kind}: {json.dumps(text, ensure_ascii=False)}"
