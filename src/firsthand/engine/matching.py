"""Doses of other directions that change the output as much as a given one does.

A control direction of equal norm is not a control of equal impact. Here the dose of each direction is solved so that a
stated measure of change reaches a target within a tolerance; a direction that does not reach it is marked, with what it
reached.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firsthand.engine.anatomy import Anatomy
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
    return _change(output, measure).double().numpy()


def match_directions(
    anatomy: Anatomy,
    row: Row,
    edits: Sequence[Edit],
    target: Sequence[float | Edit],
    *,
    measure: Measure = "kl",
    tolerance: float = 0.05,
    max_rounds: int = 12,
) -> Match:
    """Solve the strength of each of some edits, all of them together in every round.

    Tokens before the first that is edited are computed once, not in every round, where the model can share them.

    Args:
        anatomy: The model's parts.
        row: The row, with whatever edits it has anyway.
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
    if len(row.read) > 1 or not edits:
        raise EngineError("Impact is matched at one place of one row, for at least one edit.", "Correct the row.")
    start = 0
    if can_share(anatomy) and measure != "displacement":
        others = [one for one in target if isinstance(one, Edit)]
        start = min(at for edit in (*row.edits, *edits, *others) for at in edit.positions)
    prefix = run_prefix(anatomy, [Row(row.tokens[:start])])[0] if start else None

    def measured(rows: Sequence[Row]) -> RunOutput:
        asked = [_measured(anatomy, one, measure) for one in rows]
        if prefix is None:
            return run(anatomy, asked)
        return run_rows(
            anatomy, [one.from_position(start) for one in asked], prefix=prefix, prefix_rows=[0] * len(asked)
        )

    def impacts_of(made: Sequence[Edit]) -> NDArray[np.float64]:
        rows = [row, *(replace(row, edits=(*row.edits, edit)) for edit in made)]
        return _change(measured(rows), measure).double().numpy()

    def impact(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
        return impacts_of([replace(edit, strength=float(s)) for edit, s in zip(edits, strengths, strict=True)])

    goals = [impacts_of([one])[0] if isinstance(one, Edit) else one for one in target]
    return match_impact(impact, np.asarray(goals), np.asarray([e.strength for e in edits]), tolerance, max_rounds)


def _measured(anatomy: Anatomy, row: Row, measure: Measure) -> Row:
    if measure != "displacement":
        return row
    place = reads_of(row, 0)
    return Row(row.tokens, row.edits, (Capture(_AT_END, resid_post(anatomy.n_layers - 1), place),), row.read)


def _change(output: RunOutput, measure: Measure) -> Tensor:
    if measure == "displacement":
        states_RH = torch.stack([captures[_AT_END][0] for captures in output.captures])
        norms: Tensor = torch.linalg.vector_norm(states_RH[1:] - states_RH[:1], dim=1)
        return norms
    clean_1V, edited_RV = output.logprobs_RV[:1], output.logprobs_RV[1:]
    if measure == "entropy":
        return (entropy(edited_RV) - entropy(clean_1V)).abs()
    return kl_divergence(clean_1V.expand_as(edited_RV), edited_RV)
