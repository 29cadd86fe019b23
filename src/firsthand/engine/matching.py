"""Doses of other directions that change the output as much as a given one does.

A control direction of equal norm is not a control of equal impact. Here the dose of each direction is solved so that a
stated measure of change reaches a target within a tolerance; a direction that does not reach it is marked, with what it
reached.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.chunks import chunked, tokens_at_once
from firsthand.engine.edits import Capture, Edit, Row, reads_of
from firsthand.engine.impact import Match, match_impact
from firsthand.engine.readout import entropy, kl_divergence
from firsthand.engine.session import RunOutput, run_prefix, run_rows
from firsthand.engine.sharing import can_share
from firsthand.engine.sites import resid_post
from firsthand.engine.sweep import run
from firsthand.errors import EngineError

Measure: TypeAlias = Literal["kl", "entropy", "displacement"]
"""``kl``: KL divergence of the edited next-token distribution from the clean one, in nats. ``entropy``: absolute
change of its entropy, in nats. ``displacement``: norm of the change of the last block's output at the reading place."""

_AT_END = "at the end"


def impacts(anatomy: Anatomy, clean: Row, edited: Sequence[Row], measure: Measure = "kl") -> NDArray[np.float64]:
    """How much each of some edited rows changes what a clean row gives, ``[rows]``.

    Args:
        anatomy: The model's parts.
        clean: The row without the edits.
        edited: The same tokens with edits.
        measure: What is measured, where the row is read.

    Raises:
        EngineError: If rows are read at several places, or an edited row has other tokens.
    """
    if len(clean.read) > 1 or any(row.tokens != clean.tokens or row.read != clean.read for row in edited):
        raise EngineError(
            "Impact is measured at one place of rows with the same tokens.", "Give the same tokens and 'read' to all."
        )
    output = run(anatomy, [_measured(anatomy, row, measure) for row in (clean, *edited)])
    read = _of_output(output, measure)
    return _apart(read[:1].expand_as(read[1:]), read[1:], measure).double().numpy()


def match_directions(
    anatomy: Anatomy,
    row: Row | Sequence[Row],
    edits: Sequence[Edit],
    target: Sequence[float | Edit],
    *,
    measure: Measure = "kl",
    tolerance: float = 0.05,
    max_rounds: int = 12,
) -> Match:
    """Solve the strength of each of some edits, all that are not solved yet together in every round.

    Tokens before the first that is edited are computed once, not in every round, where the model can share them.

    Args:
        anatomy: The model's parts.
        row: The row, with whatever edits it has anyway; or one for each edit.
        edits: One edit for each direction, its strength the first one tried.
        target: The impact that each is to have, or another edit whose impact that is.
        measure: What is matched.
        tolerance: Largest relative error that counts as matched.
        max_rounds: Most rounds.

    Returns:
        For each edit the strength, the impact reached, and whether it is within the tolerance.

    Raises:
        EngineError: If the edits cannot be made, or shapes differ.
    """
    rows = [row] * len(edits) if isinstance(row, Row) else list(row)
    if not edits or not len(rows) == len(edits) == len(target) or any(len(one.read) > 1 for one in rows):
        raise EngineError(
            f"Impact is matched at one place of a row: {len(rows)} rows, {len(edits)} edits, {len(target)} targets.",
            "Give at least one edit, a target for each, and one row for all of them or one for each.",
        )
    bases = _Bases(anatomy, rows, edits, target, measure)
    known = np.full((2, len(edits)), np.nan)

    def impact(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
        new = [int(i) for i in np.flatnonzero(known[0] != strengths)]
        made = [replace(edits[i], strength=float(strengths[i])) for i in new]
        known[:, new] = strengths[new], bases.impacts(new, made)
        return np.array(known[1])

    goals = np.array([np.nan if isinstance(one, Edit) else one for one in target], dtype=float)
    asked = {i: one for i, one in enumerate(target) if isinstance(one, Edit)}
    goals[list(asked)] = bases.impacts(list(asked), list(asked.values()))
    return match_impact(impact, goals, np.asarray([e.strength for e in edits]), tolerance, max_rounds)


class _Bases:
    """Rows on which impacts are measured, each computed once without the edit: its beginning, and its output."""

    def __init__(
        self,
        anatomy: Anatomy,
        rows: Sequence[Row],
        edits: Sequence[Edit],
        target: Sequence[float | Edit],
        measure: Measure,
    ) -> None:
        self.anatomy, self.measure = anatomy, measure
        self.rows = list({id(row): row for row in rows}.values())
        number = {id(row): i for i, row in enumerate(self.rows)}
        self.homes = [number[id(row)] for row in rows]
        self.starts = [len(row.tokens) for row in self.rows]
        for home, edit, goal in zip(self.homes, edits, target, strict=True):
            made = (*self.rows[home].edits, edit, *([goal] if isinstance(goal, Edit) else []))
            self.starts[home] = min([self.starts[home], *(at for one in made for at in one.positions)])
        sharing = can_share(anatomy) and measure != "displacement" and min(self.starts) > 0
        begun = [Row(row.tokens[:start]) for row, start in zip(self.rows, self.starts, strict=True)]
        self.prefix = run_prefix(anatomy, begun)[0] if sharing else None
        self.clean = self._read(range(len(self.rows)), self.rows, lambda read, _: read)

    def impacts(self, numbers: Sequence[int], edits: Sequence[Edit]) -> NDArray[np.float64]:
        """The impact of one edit on each of some rows."""
        if not numbers:
            return np.zeros(0)
        homes = [self.homes[i] for i in numbers]
        rows = [replace(self.rows[h], edits=(*self.rows[h].edits, edit)) for h, edit in zip(homes, edits, strict=True)]
        return self._read(homes, rows, lambda read, own: _apart(self.clean[own], read, self.measure)).double().numpy()

    def _read(self, homes: Sequence[int], rows: Sequence[Row], keep: Callable[[Tensor, list[int]], Tensor]) -> Tensor:
        """What is kept of what is measured after each row, in passes that memory allows."""
        asked = [_measured(self.anatomy, row, self.measure) for row in rows]
        pairs = list(zip(homes, asked, strict=True))
        found = []
        for chunk in chunked(
            pairs, lambda pair: len(pair[1].tokens) - self.starts[pair[0]], tokens_at_once(self.anatomy)
        ):
            own, some = [home for home, _ in chunk], [row for _, row in chunk]
            if self.prefix is None:
                output = run(self.anatomy, some)
            else:
                some = [row.from_position(self.starts[home]) for home, row in chunk]
                output = run_rows(self.anatomy, some, prefix=self.prefix, prefix_rows=own)
            found.append(keep(_of_output(output, self.measure), own))
        return torch.cat(found)


def _measured(anatomy: Anatomy, row: Row, measure: Measure) -> Row:
    if measure != "displacement":
        return row
    place = reads_of(row, 0)
    return Row(row.tokens, row.edits, (Capture(_AT_END, resid_post(anatomy.n_layers - 1), place),), row.read)


def _of_output(output: RunOutput, measure: Measure) -> Tensor:
    """What an impact is a change of: the states at the end, or the distributions."""
    if measure == "displacement":
        return torch.stack([captures[_AT_END][0] for captures in output.captures])
    return output.logprobs_RV


def _apart(clean: Tensor, edited: Tensor, measure: Measure) -> Tensor:
    """How far each edited row is from its clean one, ``[rows]``."""
    if measure == "displacement":
        norms: Tensor = torch.linalg.vector_norm(edited - clean, dim=1)
        return norms
    if measure == "entropy":
        return (entropy(edited) - entropy(clean)).abs()
    return kl_divergence(clean, edited)
