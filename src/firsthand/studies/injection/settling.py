"""What has to be measured before trials can be run: matched strengths, and the streams that are swapped in.

All that some trials need is measured together, in few long passes, since a short pass costs as much as one of a hundred
tokens.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Final

from torch import Tensor

from firsthand.engine import Capture, Edit, Operation, Row, resid_post, run
from firsthand.engine.matching import match_directions
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Arm, Like, Span, edit
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.trials import Trial

LEAST_IMPACT: Final = 1e-5
"""Least KL divergence, in nats, that counts as an impact at all: below it a matched control has nothing to match."""


def settled(bench: InjectionBench, trials: Sequence[Trial]) -> list[Trial]:
    """The trials with every strength matched and every swap filled in.

    A direction without content gets the strength at which it moves the answer to an unrelated question as much as the
    target does; where none is found it keeps the nearest, unmatched. Several questions in the same cell need the same
    one, so it is remembered in ``bench.matches``.

    Args:
        bench: What is fixed.
        trials: Trials as the questions list them.

    Raises:
        EngineError: If an edit cannot be made.
    """
    match(bench, trials)
    streams = _streams(bench, trials)
    return [_settled(bench, trial, streams) for trial in trials]


def _settled(bench: InjectionBench, trial: Trial, streams: dict[Hashable, Tensor]) -> Trial:
    if trial.like is not None and trial.cell is not None:
        strength, found = bench.matches[_key(trial, trial.cell, trial.like)]
        edits = tuple(replace(one, strength=strength) for one in trial.edits)
        return replace(trial, edits=edits, matched=found, like=None)
    if trial.source is not None and trial.cell is not None:
        stream_TH = streams[trial.cell.layer, trial.source.tokens]
        return replace(trial, edits=_replacing(trial.prompt.span, stream_TH, trial.cell), source=None)
    return trial


_Asked = tuple[Trial, Cell, Like]


def match(bench: InjectionBench, trials: Sequence[Trial]) -> None:
    """Solve the strengths that are not known yet: those of a cell, timing and framing together.

    Args:
        bench: What is fixed, where the strengths are remembered.
        trials: Trials as the questions list them.

    Raises:
        EngineError: If an edit cannot be made.
    """
    classes: dict[Hashable, dict[Hashable, _Asked]] = {}
    for trial in trials:
        if trial.like is None or trial.cell is None:
            continue
        key = _key(trial, trial.cell, trial.like)
        if key not in bench.matches:
            kind = trial.cell, trial.timing, trial.like.prompt.draft.framing
            classes.setdefault(kind, {}).setdefault(key, (trial, trial.cell, trial.like))
    for new in classes.values():
        _solve(bench, new)


def _solve(bench: InjectionBench, new: dict[Hashable, _Asked]) -> None:
    rows = {like.prompt.tokens: Row(like.prompt.tokens) for _, _, like in new.values()}
    free, target = (
        [
            edit(arm, bench, cell, trial.concept, like.prompt, like.span, timing=trial.timing)[0]
            for trial, cell, like in new.values()
        ]
        for arm in (Arm.CONTENT_FREE, Arm.TARGET)
    )
    found = match_directions(
        bench.anatomy,
        [rows[like.prompt.tokens] for _, _, like in new.values()],
        free,
        target,
        tolerance=bench.claim.analysis.impact_tolerance,
    )
    for key, dose, impact, matched in zip(new, found.dose, found.impact, found.matched, strict=True):
        bench.matches[key] = float(dose), bool(matched) and float(impact) >= LEAST_IMPACT


def _key(trial: Trial, cell: Cell, like: Like) -> Hashable:
    return cell, trial.concept, trial.timing, like.prompt.tokens, like.span


def _streams(bench: InjectionBench, trials: Sequence[Trial]) -> dict[Hashable, Tensor]:
    """The stream of each conversation that is to be put in the place of another's, ``[tokens, hidden]``."""
    wanted = {
        (trial.cell.layer, trial.source.tokens): trial.source.span
        for trial in trials
        if trial.source is not None and trial.cell is not None
    }
    if not wanted:
        return {}
    rows = [
        Row(tokens, captures=(Capture("stream", resid_post(layer), span),)) for (layer, tokens), span in wanted.items()
    ]
    found = run(bench.anatomy, rows, reduce=lambda logprobs, _: logprobs[:, :1]).captures
    return {key: reading["stream"] for key, reading in zip(wanted, found, strict=True)}


def _replacing(span: Span, stream_TH: Tensor, cell: Cell) -> tuple[Edit, ...]:
    pairs = zip(span, stream_TH, strict=True)
    return tuple(Edit(resid_post(cell.layer), (at,), state_H, Operation.REPLACE, 1.0) for at, state_H in pairs)
