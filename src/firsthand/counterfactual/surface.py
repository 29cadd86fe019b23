"""What can be seen of a claim without reading its prompt and without the model: its surface.

The kind and size of the edit, where it stands, how it is worded and how often the behaviour occurs to begin with. None
of it depends on what the edit did. A set in which these tell true claims from false ones can be answered without
knowing anything of the model, so sets are matched on them (:mod:`~firsthand.counterfactual.matching`), and what they
still tell is measured (:mod:`firsthand.analysis.floor`).
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from firsthand.analysis.inference import FloatArray
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.edits import Change, Drop, Edit, Insert
from firsthand.counterfactual.factors import by_turn, spans
from firsthand.counterfactual.neutral import takes_away
from firsthand.counterfactual.prompts import Prompt

EditKind: TypeAlias = Literal[
    "deletion", "neutral substitution", "substitution", "addition", "reordering", "turn left out", "turn put in"
]
KINDS: Final[tuple[EditKind, ...]] = (
    "deletion",
    "neutral substitution",
    "substitution",
    "addition",
    "reordering",
    "turn left out",
    "turn put in",
)
ROLES: Final = ("system", "user", "assistant", "tool")
RATES: Final = (0.3, 0.5, 0.7, 0.9)
"""Baseline rates at which bins part. At one half the way parts in which a rate has room for a change of 50 points."""
SIZE_BASE: Final = 4.0
"""By what factor sizes of one bin may differ."""


@dataclass(frozen=True)
class Surface:
    """The surface of a claim.

    Attributes:
        kind: What kind of edit it is, by what becomes of the text.
        gone: Characters that went.
        new: Characters that came.
        places: How many places changed.
        position: Where in the prompt's text the first of them stands, from 0 to 1.
        role: In whose turn it stands.
        baseline: How often the behaviour occurs on the prompt as it is, from 0 to 1.
        words: Words of the edit's description.
    """

    kind: EditKind
    gone: int
    new: int
    places: int
    position: float
    role: str
    baseline: float
    words: int

    @property
    def size(self) -> int:
        """Characters that went or came."""
        return self.gone + self.new

    @property
    def direction(self) -> Literal["down", "up"]:
        """The way in which the rate has more room to move. A claim names none: this is all that is known beforehand."""
        return "down" if self.baseline >= 0.5 else "up"

    @property
    def cell(self) -> tuple[EditKind, int, int, str]:
        """What claims that are matched have in common: kind, bin of the size, bin of the baseline, direction."""
        size = int(math.log(max(1, self.size), SIZE_BASE) + 1e-9)
        return self.kind, size, sum(self.baseline >= edge for edge in RATES), self.direction


def surface_of(claim: Claim) -> Surface:
    """The surface of a claim."""
    pieces = by_turn(claim.prompt, claim.edit)
    role, position = _place(claim.prompt, claim.edited)
    return Surface(
        kind=_kind(claim.prompt, claim.edit, pieces),
        gone=len(_text(pieces, "gone")),
        new=len(_text(pieces, "new")),
        places=sum(len(spans(found)) for found in pieces),
        position=position,
        role=role,
        baseline=0.5 if claim.baseline.share is None else claim.baseline.share,
        words=len(claim.intervention.split()),
    )


def kind_of(prompt: Prompt, edit: Edit) -> EditKind:
    """What kind of edit it is, by what becomes of the text, whichever way it is written."""
    return _kind(prompt, edit, by_turn(prompt, edit))


def table_of(claims: Sequence[Claim]) -> FloatArray:
    """What a predictor may use of some claims ``[claims, columns]``."""
    return np.column_stack(list(columns_of([surface_of(claim) for claim in claims]).values()))


def columns_of(surfaces: Sequence[Surface]) -> dict[str, FloatArray]:
    """Numbers that a predictor may use ``[claims]``, by name: lengths as logarithms, kinds and roles as 0 or 1."""
    found: dict[str, FloatArray] = {
        "size": _log([one.size for one in surfaces]),
        "gone": _log([one.gone for one in surfaces]),
        "new": _log([one.new for one in surfaces]),
        "places": _log([one.places for one in surfaces]),
        "wording": _log([one.words for one in surfaces]),
        "position": np.array([one.position for one in surfaces]),
        "baseline": np.array([one.baseline for one in surfaces]),
        "down": np.array([float(one.direction == "down") for one in surfaces]),
    }
    found |= {f"kind: {kind}": np.array([float(one.kind == kind) for one in surfaces]) for kind in KINDS}
    return found | {f"in: {role}": np.array([float(one.role == role) for one in surfaces]) for role in ROLES}


def _kind(prompt: Prompt, edit: Edit, pieces: Sequence[Sequence[Change]]) -> EditKind:
    if all(isinstance(one, Drop) for one in edit.operations):
        return "turn left out"
    if all(isinstance(one, Insert) for one in edit.operations):
        return "turn put in"
    texts = {what: _text(pieces, what) for what in ("gone", "new")}
    gone, new = (Counter(re.findall(r"\w+", text)) for text in texts.values())
    if gone and gone == new:
        return "reordering"
    if not new and (gone or not texts["new"].strip()):
        return "deletion"
    if not gone and (new or not texts["gone"].strip()):
        return "addition"
    return "neutral substitution" if takes_away(edit) else "substitution"


def _text(pieces: Sequence[Sequence[Change]], what: str) -> str:
    return "".join(text for found in pieces for kind, text in found if kind == what)


def _log(lengths: Sequence[int]) -> FloatArray:
    return np.log1p(np.array(lengths, np.float64))


def _place(before: Prompt, after: Prompt) -> tuple[str, float]:
    """In whose turn the first change stands, and where in the prompt's text, from 0 to 1."""
    passed = 0
    for one, other in zip(before.turns, after.turns, strict=False):
        if one != other:
            pairs = enumerate(zip(one.content, other.content, strict=False))
            same = next((n for n, (a, b) in pairs if a != b), min(len(one.content), len(other.content)))
            return one.role, (passed + same) / max(1, before.characters)
        passed += len(one.content)
    return before.turns[-1].role, 1.0
