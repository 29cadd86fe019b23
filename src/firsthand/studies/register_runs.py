"""Asks questions of a block of trials: shared prefixes with the early edit, continuations with the late one.

This is the only place of the study that touches activations. A question is an :class:`Ask`; all asks of a call run
together. The late span is written by one of two edits, *base* (what the register held) and *overwrite* (what the
intervention path writes); a sham goes through the overwrite path and writes the same value, so its sums are the same
to the bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firsthand.engine import Capture, Edit, Prefix, run_prefix, run_rows
from firsthand.engine.prompts import Rendered, common_prefix_length
from firsthand.errors import EngineError
from firsthand.states.register import sign
from firsthand.studies.register_bench import Bench, Cell
from firsthand.studies.register_prompts import TrialText, render_report
from firsthand.vocabulary import Capability


@dataclass(frozen=True)
class Push:
    """A second direction that is added at the late span, with its dose in absolute units."""

    direction_H: NDArray[np.float64]
    dose: float


@dataclass(frozen=True)
class Ask:
    """One question to one trial.

    Attributes:
        slot: The trial.
        rendered: The whole conversation up to the answer's stem.
        state: What the late span holds; ``None`` where the conversation has no late span.
        overwrite: Whether the late span is written through the intervention's path.
        push: A further direction at the late span.
    """

    slot: int
    rendered: Rendered
    state: int | None = None
    overwrite: bool = False
    push: Push | None = None


@dataclass(frozen=True)
class Reply:
    """What came back for one ask: log-probabilities ``[vocabulary]`` and named readings ``[hidden]``."""

    logprobs_V: Tensor
    readings: dict[str, Tensor]


class BlockRuns:
    """The runs of one block at one cell: computes prefixes once and continues them any number of times."""

    def __init__(self, bench: Bench, cell: Cell, texts: Sequence[TrialText], states: Sequence[int]) -> None:
        self.bench, self.cell, self.texts = bench, cell, texts
        self.amplitude = bench.amplitude(cell)
        self.vector_H = torch.tensor(bench.direction_H * self.amplitude, dtype=torch.float32)
        self.firsts = [self.render(text, text.first()) for text in texts]
        self.shared = [self._shared_length(i) for i in range(len(texts))]
        self.early: list[float] = [float("nan")] * len(texts)
        self.places: dict[int, tuple[Prefix, int]] = {}
        for length in sorted(set(self.shared)):
            self._compute_prefix([i for i, n in enumerate(self.shared) if n == length], length, states)

    def render(self, text: TrialText, messages: Sequence[tuple[str, str]]) -> Rendered:
        """Render a conversation of a trial with its register spans."""
        return render_report(self.bench.loaded.tokenizer, text, messages)

    def _shared_length(self, slot: int) -> int:
        text = self.texts[slot]
        reports = [
            self.render(text, text.report(capability, option, anomalous)).tokens
            for option in text.block.choice.options
            for capability in (Capability.IDENTIFICATION, Capability.DETECTION)
            for anomalous in (False, True)
        ]
        unrelated = [
            self.render(text, text.unrelated(option, anomalous)).tokens
            for option in text.block.choice.options
            for anomalous in (False, True)
        ]
        length = common_prefix_length([self.firsts[slot].tokens, *reports, *unrelated])
        if length <= max(self.firsts[slot].spans[0]):
            raise EngineError(
                f"Trial {text.trial_id}: its conversations part before the end of the register's early span.",
                "The model's chat template rewrites earlier turns; use a model whose template does not.",
            )
        return length

    def _compute_prefix(self, slots: Sequence[int], length: int, states: Sequence[int]) -> None:
        spans = tuple(self.firsts[i].spans[0] for i in slots)
        delta = torch.stack([sign(states[i]) * self.vector_H for i in slots])
        prefix, readings = run_prefix(
            self.bench.loaded.model,
            self.bench.anatomy,
            [self.firsts[i].tokens[:length] for i in slots],
            [Edit(self.cell.layer, spans, delta)],
            [Capture("site", self.cell.layer, spans)],
        )
        for row, slot in enumerate(slots):
            self.places[slot] = (prefix, row)
            self.early[slot] = self.along(readings["site"][row])

    def along(self, hidden_H: Tensor) -> float:
        """A reading's component along the register's direction, in units of the dose."""
        direction = torch.tensor(self.bench.direction_H, dtype=torch.float64)
        return float(hidden_H.double() @ direction) / self.amplitude

    def ask(self, asks: Sequence[Ask]) -> list[Reply]:
        """Run all asks, grouped by the prefix that they continue, and return the replies in their order.

        Raises:
            EngineError: If a conversation does not begin with its trial's prefix.
        """
        replies: dict[int, Reply] = {}
        for prefix in {id(self.places[a.slot][0]): self.places[a.slot][0] for a in asks}.values():
            members = [i for i, a in enumerate(asks) if self.places[a.slot][0] is prefix]
            replies.update(zip(members, self._run(prefix, [asks[i] for i in members]), strict=True))
        return [replies[i] for i in range(len(asks))]

    def _run(self, prefix: Prefix, asks: Sequence[Ask]) -> list[Reply]:
        for a in asks:
            if a.rendered.tokens[: prefix.length] != self.firsts[a.slot].tokens[: prefix.length]:
                raise EngineError(
                    f"Trial {self.texts[a.slot].trial_id}: a conversation does not begin with its shared prefix.",
                    "The model's chat template rewrites earlier turns; use a model whose template does not.",
                )
        late = [a.rendered.spans[1] if a.state is not None else () for a in asks]
        captures = [
            Capture(f"report:{layer}", layer, tuple((len(a.rendered.tokens) - 1,) for a in asks))
            for layer in self.bench.read_layers
        ]
        if all(late):
            captures.append(Capture("site", self.cell.layer, tuple(late)))
        output = run_rows(
            self.bench.loaded.model,
            self.bench.anatomy,
            [a.rendered.tokens[prefix.length :] for a in asks],
            self._edits(asks, late),
            captures,
            prefix=prefix,
            prefix_rows=[self.places[a.slot][1] for a in asks],
        )
        return [
            Reply(output.logprobs_RV[row], {name: value[row] for name, value in output.captures.items()})
            for row in range(len(asks))
        ]

    def _edits(self, asks: Sequence[Ask], late: Sequence[tuple[int, ...]]) -> list[Edit]:
        """The edits of a batch; the base and the overwrite path are two edits of the same form."""
        edits = []
        written = torch.stack([sign(a.state or 0) * self.vector_H for a in asks])
        for path in (False, True):
            positions = tuple(span if a.overwrite is path else () for a, span in zip(asks, late, strict=True))
            if any(positions):
                edits.append(Edit(self.cell.layer, positions, written))
        if any(a.push for a in asks):
            none = torch.zeros_like(self.vector_H)
            pushes = [none if a.push is None else _tensor(a.push) for a in asks]
            positions = tuple(span if a.push else () for a, span in zip(asks, late, strict=True))
            edits.append(Edit(self.cell.layer, positions, torch.stack(pushes)))
        return edits


def _tensor(push: Push) -> Tensor:
    return torch.tensor(push.direction_H * push.dose, dtype=torch.float32)
