"""Runs trials together, and reads their answers exactly."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
from torch import Tensor, empty, float64, split, stack, tensor

from firsthand.engine import Capture, Row, resid_post, run
from firsthand.engine.readout import divergence_and_entropy
from firsthand.errors import ElicitationError
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Span
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.settling import settled
from firsthand.studies.injection.trials import Sensor, Trial, described

MOST_KEPT: Final = 250_000_000
"""Numbers of distributions that are kept at once: a gigabyte."""
CHUNK: Final = 64
"""Distributions that are compared at once, in double precision."""


def run_trials(bench: InjectionBench, trials: Sequence[Trial]) -> pd.DataFrame:
    """Run trials and read their answers exactly.

    Args:
        bench: What is fixed.
        trials: The trials; for every prompt a clean one is among them.

    Returns:
        The columns of :mod:`firsthand.studies.injection.trials`, in the order of the trials; those of the readings
        where a trial has any.

    Raises:
        ElicitationError: If an answer is not one token of this model, or a prompt has no clean trial.
        EngineError: If a trial cannot be run.
    """
    trials = settled(bench, trials)
    clean = _clean(trials)
    tokens = [[_single(answer, trial) for answer in trial.prompt.answers] for trial in trials]
    rows = [Row(t.prompt.tokens, t.edits, tuple(_captures(bench, t))) for t in trials]
    width = max(map(len, tokens))
    values, captures = _values(bench, rows, clean, [[*t, *([t[0]] * (width - len(t)))] for t in tokens])
    table = pd.DataFrame([_as_row(t, v, width) for t, v in zip(trials, values, strict=True)])
    if all(trial.reading is None for trial in trials):
        return table
    site, added = _sites(bench, trials, clean, captures)
    residual = [None if t.reading is None else c["report"][0].numpy() for t, c in zip(trials, captures, strict=True)]
    columns = {"site": site, "added": added, "residual": residual}
    return table.assign(**{name: pd.Series(values, dtype=object) for name, values in columns.items()})


def _values(
    bench: InjectionBench, rows: Sequence[Row], clean: Sequence[int], tokens: Sequence[Sequence[int]]
) -> tuple[np.ndarray, list[dict[str, Tensor]]]:
    """For each row the log-probabilities of its answers, whether one of them is the likeliest token, KL and entropy.

    Where all distributions fit into memory, every prompt is run once; otherwise the clean ones are run first.
    """
    bases = sorted(set(clean))
    base_of = {number: i for i, number in enumerate(bases)}
    small = len(rows) * bench.anatomy.model.config.get_text_config(decoder=True).vocab_size <= MOST_KEPT

    def measured(logprobs_RV: Tensor, owners: Sequence[int], first: Tensor) -> Tensor:
        found = empty(len(owners), len(tokens[0]) + 3, dtype=float64)
        by_base: dict[int, list[int]] = {}
        for place, owner in enumerate(owners):
            by_base.setdefault(base_of[clean[owner]], []).append(place)
        for base, places in by_base.items():
            for some in split(tensor(places), CHUNK):
                full = logprobs_RV[some.to(logprobs_RV.device)].double().cpu()
                answers = full.gather(1, tensor([list(tokens[owners[i]]) for i in some.tolist()]))
                named = (answers.amax(1) == full.amax(1)).double()
                found[some] = stack([*answers.T, named, *divergence_and_entropy(first[base], full)], 1)
        return found

    if small:
        whole = run(bench.anatomy, rows)
        every = measured(whole.logprobs_RV, range(len(rows)), whole.logprobs_RV[bases])
        return every.numpy(), whole.captures
    first = run(bench.anatomy, [replace(rows[i], captures=()) for i in bases]).logprobs_RV
    output = run(bench.anatomy, rows, reduce=lambda logprobs, owners: measured(logprobs, owners, first))
    return output.logprobs_RV.numpy(), output.captures


def report_layer(bench: InjectionBench, layer: int) -> int:
    """Where probes read the stream at the report: two thirds up, or higher.

    A vector that is added to earlier tokens reaches the last one a block later. The layer lies above the next one of
    the grid too, so that a probe can be met with injections there.
    """
    depth = bench.anatomy.n_layers
    above = min((other for other in bench.layers if other > layer), default=layer)
    return min(max(2 * depth // 3, above + 1), depth - 1)


def _clean(trials: Sequence[Trial]) -> list[int]:
    """For each trial the number of the unedited one with the same tokens."""
    found = {trial.prompt.tokens: i for i, trial in enumerate(trials) if not trial.edits}
    missing = [trial.trial_id for trial in trials if trial.prompt.tokens not in found]
    if missing:
        raise ElicitationError(f"{missing[0]} has no clean trial to compare with.", "Add one for each prompt.")
    return [found[trial.prompt.tokens] for trial in trials]


def _captures(bench: InjectionBench, trial: Trial) -> Iterator[Capture]:
    if trial.reading is None:
        return
    for span in dict.fromkeys(span for span, _ in trial.sensors):
        yield Capture(_name(span), resid_post(trial.reading.layer), span)
    yield Capture("report", resid_post(report_layer(bench, trial.reading.layer)), (len(trial.prompt.tokens) - 1,))


def _name(span: Span) -> str:
    return f"{span[0]}-{span[-1]}"


def _sites(
    bench: InjectionBench, trials: Sequence[Trial], clean: Sequence[int], captures: Sequence[dict[str, Tensor]]
) -> tuple[list[list[float]], list[list[float]]]:
    """What was added at the sensors beyond the clean trial: along their vectors, and in length; 1 is the target's."""

    def sensed(number: int, sensor: Sensor, cell: Cell) -> tuple[float, float]:
        span, concept = sensor
        vector, strength = bench.vector(concept, cell.layer), bench.strength(cell)
        change = captures[number][_name(span)].mean(0) - captures[clean[number]][_name(span)].mean(0)
        along = float(change @ vector) / (float(vector.square().sum()) * strength)
        return along, float(change.norm() / (vector.norm() * strength))

    both = [
        [] if trial.reading is None else [sensed(i, sensor, trial.reading) for sensor in trial.sensors]
        for i, trial in enumerate(trials)
    ]
    return [[a for a, _ in one] for one in both], [[b for _, b in one] for one in both]


def _as_row(trial: Trial, values: np.ndarray, width: int) -> dict[str, object]:
    draft = trial.prompt.draft
    answers = values[: len(draft.labels)]
    best = int(answers.argmax())
    valid = bool(values[width]) and np.count_nonzero(answers == answers[best]) == 1
    return described(trial) | {
        "impact_kl": float(values[width + 1]),
        "entropy": float(values[width + 2]),
        "answer": draft.meanings[best] if valid else None,
        "surface": draft.labels[best] if valid else None,
        "logprobs": [float(v) for v in answers],
        "coverage": float(np.exp(answers).sum()),
    }


def _single(answer: tuple[int, ...], trial: Trial) -> int:
    if len(answer) != 1:
        raise ElicitationError(
            f"An answer of the wording {trial.prompt.draft.wording!r} is {len(answer)} tokens for this model.",
            "Use another style of labels.",
        )
    return answer[0]
