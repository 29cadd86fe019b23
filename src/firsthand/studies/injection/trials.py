"""Trials of every question of the injection study: what they are, how they are run, and what comes back.

A question (see :mod:`firsthand.studies.injection.questions`) lists :class:`Trial` objects; :func:`run_trials` runs them
together, so that the engine can share what they have in common, and returns one row a trial with the columns below.

=============  ====================================================================================================
``trial_id``   unique name
``task``       what was asked (:class:`~firsthand.studies.injection.drafts.Task`)
``wording``    name of the wording; ``voice`` its cluster, ``framing`` its framing
``order``      meanings of the answers in the order of the text, joined by ``|``
``detail``     what else was drawn, e.g. the sentences
``lead``       whether the text before everything else is ``neutral`` or a ``push``
``text``       the prompt
``arm``        what was done; ``kind`` its trial kind, empty where it has none
``concept``    the concept; ``layer`` and ``dose`` the cell, -1 and 0 where nothing is added at any
``timing``     when the edit acts
``truth``      the meaning that is right; empty where none is
``impact_kl``  KL divergence from the clean distribution of the same prompt, in nats; ``entropy`` of this one
``matched``    whether a direction without content has the target's impact; NaN in other arms
``answer``     meaning of the answer; ``None`` if it is invalid: some other token is likelier, or two answers tie
``surface``    its label
``logprobs``   log-probability of every answer, in the order of the text
``coverage``   their probability together
``site``       components along the vectors that the trial names, beyond those of the clean trial, in target doses
``added``      length of the change of the stream at the same places, in target doses, whatever its direction
``residual``   the stream where the report is made, two thirds up, where it is read
=============  ====================================================================================================
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
from torch import Tensor, cat, split, stack, tensor

from firsthand.engine import Capture, Edit, Row, resid_post, run
from firsthand.engine.readout import entropy, kl_divergence
from firsthand.errors import ElicitationError
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import KINDS, Arm, Span
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.prompts import Prompt
from firsthand.vocabulary import Timing

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "public": ("task", "wording", "voice", "framing", "order", "detail", "lead", "text"),
    "sealed": ("arm", "kind", "concept", "layer", "dose", "timing", "truth", "impact_kl", "matched"),
    "reports": (
        *("answer", "surface", "logprobs", "coverage", "entropy"),
        *("said", "named", "percentile", "rank"),
        *("report", "given", "confidence", "rating", "unedited"),
    ),
    "readings": ("site", "added", "residual"),
}
"""Columns of each part of the trace, beside ``trial_id``. The second and third line of the reports belong to naming and
confidence (see the modules of :mod:`firsthand.studies.injection.questions`)."""

MOST_KEPT: Final = 250_000_000
"""Numbers of distributions that are kept at once: a gigabyte."""
CHUNK: Final = 64
"""Distributions that are compared at once, in double precision."""

Sensor = tuple[Span, str]
"""Where the stream is read, and along which concept's vector."""


@dataclass(frozen=True, eq=False)
class Trial:
    """One prompt in one arm.

    Attributes:
        concept: The concept.
        arm: What is done.
        prompt: The conversation.
        edits: The edits.
        cell: Layer and dose; ``None`` where nothing is added at any.
        truth: The meaning that is right.
        name: What tells it from other trials of the same concept, task, wording, cell and arm.
        matched: Whether a direction without content has the target's impact.
        timing: When the edit acts.
        sensors: What a wire reads: at most so many numbers as there are answers.
        probed: Whether the stream is kept where the report is made.
    """

    concept: str
    arm: Arm
    prompt: Prompt
    edits: tuple[Edit, ...] = ()
    cell: Cell | None = None
    truth: str = ""
    name: str = ""
    matched: bool | None = None
    timing: Timing = Timing.PREFILL
    sensors: tuple[Sensor, ...] = ()
    probed: bool = False

    @property
    def trial_id(self) -> str:
        """Unique name within a study's question."""
        draft = self.prompt.draft
        where = "-" if self.cell is None else self.cell.name
        parts = (self.concept, draft.task, draft.wording, "|".join(draft.meanings), self.name, self.timing, where)
        return "/".join((*map(str, parts), str(self.arm)))


def run_trials(bench: InjectionBench, trials: Sequence[Trial], reading: Cell | None = None) -> pd.DataFrame:
    """Run trials and read their answers exactly.

    Args:
        bench: What is fixed.
        trials: The trials; for every prompt a clean one is among them.
        reading: The cell at whose layer wires read, in whose doses; needed where a trial names sensors or is probed.

    Returns:
        The columns above.

    Raises:
        ElicitationError: If an answer is not one token of this model, or a prompt has no clean trial.
        EngineError: If a trial cannot be run.
    """
    clean = _clean(trials)
    tokens = [[_single(answer, trial) for answer in trial.prompt.answers] for trial in trials]
    upper = None if reading is None else report_layer(bench, reading.layer)
    rows = [Row(t.prompt.tokens, t.edits, tuple(_captures(t, reading, upper))) for t in trials]
    width = max(map(len, tokens))
    values, captures = _values(bench, rows, clean, [[*t, *([t[0]] * (width - len(t)))] for t in tokens])
    table = pd.DataFrame([_as_row(t, v, width) for t, v in zip(trials, values, strict=True)])
    if reading is None:
        return table
    site, added = _sites(bench, trials, clean, captures, reading)
    residual = [c["report"][0].numpy() if t.probed else None for t, c in zip(trials, captures, strict=True)]
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
        parts = []
        for own, full_RV in zip(_chunks(owners), split(logprobs_RV, CHUNK), strict=True):
            full = full_RV.double().cpu()
            answers = full.gather(1, tensor([list(tokens[i]) for i in own]))
            named = (answers.amax(1) == full.amax(1)).double()
            apart = kl_divergence(first[[base_of[clean[i]] for i in own]], full)
            parts.append(stack([*answers.T, named, apart, entropy(full)], 1))
        return cat(parts)

    if small:
        whole = run(bench.anatomy, rows)
        every = measured(whole.logprobs_RV, range(len(rows)), whole.logprobs_RV[bases])
        return every.numpy(), whole.captures
    first = run(bench.anatomy, [replace(rows[i], captures=()) for i in bases]).logprobs_RV
    output = run(bench.anatomy, rows, reduce=lambda logprobs, owners: measured(logprobs, owners, first))
    return output.logprobs_RV.numpy(), output.captures


def _chunks(owners: Sequence[int]) -> list[Sequence[int]]:
    return [owners[i : i + CHUNK] for i in range(0, len(owners), CHUNK)]


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


def _captures(trial: Trial, reading: Cell | None, upper: int | None) -> Iterator[Capture]:
    if reading is None or upper is None:
        return
    for span in dict.fromkeys(span for span, _ in trial.sensors):
        yield Capture(_name(span), resid_post(reading.layer), span)
    if trial.probed:
        yield Capture("report", resid_post(upper), (len(trial.prompt.tokens) - 1,))


def _name(span: Span) -> str:
    return f"{span[0]}-{span[-1]}"


def _sites(
    bench: InjectionBench,
    trials: Sequence[Trial],
    clean: Sequence[int],
    captures: Sequence[dict[str, Tensor]],
    cell: Cell,
) -> tuple[list[list[float]], list[list[float]]]:
    """What was added at the sensors beyond the clean trial: along their vectors, and in length; 1 is the target's."""
    strength = bench.strength(cell)

    def sensed(number: int, sensor: Sensor) -> tuple[float, float]:
        span, concept = sensor
        vector = bench.vector(concept, cell.layer)
        change = captures[number][_name(span)].mean(0) - captures[clean[number]][_name(span)].mean(0)
        along = float(change @ vector) / (float(vector.square().sum()) * strength)
        return along, float(change.norm() / (vector.norm() * strength))

    both = [[sensed(i, sensor) for sensor in trial.sensors] for i, trial in enumerate(trials)]
    return [[a for a, _ in one] for one in both], [[b for _, b in one] for one in both]


def described(trial: Trial) -> dict[str, object]:
    """What is known of a trial before it is run."""
    draft, cell = trial.prompt.draft, trial.cell
    return {
        "trial_id": trial.trial_id,
        "task": str(draft.task),
        "wording": draft.wording,
        "voice": draft.cluster,
        "framing": str(draft.framing),
        "order": "|".join(draft.meanings),
        "detail": draft.detail,
        "lead": draft.lead,
        "text": trial.prompt.text,
        "arm": str(trial.arm),
        "kind": str(KINDS[trial.arm]) if trial.arm in KINDS else "",
        "concept": trial.concept,
        "layer": -1 if cell is None else cell.layer,
        "dose": 0.0 if cell is None else cell.dose,
        "timing": str(trial.timing),
        "truth": trial.truth,
        "matched": np.nan if trial.matched is None else float(trial.matched),
    }


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
