"""Asks questions of a block of trials: prefixes with the early edit, then with the late one, then the questions.

This is the only place of the study that touches activations. A question is an :class:`Ask`; all asks of a call run
together. Tokens are computed once at each of three levels: what a trial has in common up to its second exchange (with
the early edit), the second exchange up to the register's late span (with the late edit, one for each thing that is
written there), and the question. The late span is written by one of two edits, *base* (what the register held) and
*overwrite* (what the intervention path writes); a sham goes through the overwrite path and writes the same value.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firsthand.engine import Capture, Edit, Prefix, Row, resid_post, run_prefix, run_rows
from firsthand.engine.chunks import chunked, tokens_at_once
from firsthand.engine.prompts import Message, Rendered, common_prefix_length
from firsthand.engine.tree import together
from firsthand.errors import EngineError
from firsthand.states.register import sign
from firsthand.studies.cells import Cell
from firsthand.studies.register_bench import Bench
from firsthand.studies.register_prompts import TrialText, render_report
from firsthand.vocabulary import Capability


@dataclass(frozen=True, eq=False)
class Push:
    """A second direction that is added at the late span, with its dose in absolute units."""

    direction_H: NDArray[np.float64]
    dose: float


@dataclass(frozen=True, eq=False)
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

    @property
    def written(self) -> Hashable:
        """What the late span holds and how it got there: equal for asks that may share their late prefix."""
        end = max(self.rendered.spans[1]) + 1
        push = None if self.push is None else (self.push.dose, self.push.direction_H.tobytes())
        return (self.slot, self.rendered.tokens[:end], self.state, self.overwrite, push)


@dataclass(frozen=True, eq=False)
class Reply:
    """What came back for one ask: log-probabilities ``[vocabulary]``, the late site, and residuals at the report.

    Attributes:
        logprobs_V: Log-probabilities over the full vocabulary.
        site: Component along the register's direction at the late span, in doses; ``None`` without a late span.
        residuals: Residual at the report position by layer, ``[hidden]``.
    """

    logprobs_V: Tensor
    site: float | None
    residuals: dict[int, Tensor]


@dataclass(frozen=True)
class _Place:
    """A row of a prefix, and the reading at the site that its last edit wrote to."""

    prefix: Prefix
    row: int
    site: float

    @property
    def length(self) -> int:
        """Tokens that the prefix holds of this row."""
        return self.prefix.lengths[self.row]


class BlockRuns:
    """The runs of one block at one cell: computes prefixes once and continues them any number of times."""

    def __init__(self, bench: Bench, cell: Cell, texts: Sequence[TrialText], states: Sequence[int]) -> None:
        self.bench, self.cell, self.texts = bench, cell, texts
        self.amplitude = bench.amplitude(cell)
        self.vector_H = torch.tensor(bench.direction_H * self.amplitude, dtype=torch.float32)
        self.overwrite_H = self.vector_H.clone()  # the same values by a path of their own
        self._rendered: dict[tuple[str, tuple[Message, ...]], Rendered] = {}
        self.firsts = [self.render(text, text.first()) for text in texts]
        self._early: dict[int, _Place] = {}
        self._late: dict[Hashable, _Place] = {}
        self._compute_early([self._shared_length(slot) for slot in range(len(texts))], states)

    @property
    def early(self) -> list[float]:
        """Component along the register's direction at each trial's early span, in doses."""
        return [self._early[slot].site for slot in range(len(self.texts))]

    def render(self, text: TrialText, messages: Sequence[Message]) -> Rendered:
        """Render a conversation of a trial with its register spans; each is rendered once."""
        key = (text.trial_id, tuple(messages))
        if key not in self._rendered:
            self._rendered[key] = render_report(self.bench.loaded.tokenizer, text, messages)
        return self._rendered[key]

    def ask(self, asks: Sequence[Ask]) -> list[Reply]:
        """Run all asks, and return the replies in their order.

        Raises:
            EngineError: If a conversation does not begin with what its trial has in common.
        """
        for a in asks:
            length = self._early[a.slot].length
            if a.rendered.tokens[:length] != self.firsts[a.slot].tokens[:length]:
                raise EngineError(
                    f"Trial {self.texts[a.slot].trial_id}: a conversation does not begin with its shared prefix.",
                    "The model's chat template rewrites earlier turns; use a model whose template does not.",
                )
        self._compute_late([a for a in asks if a.state is not None])
        places = [self._early[a.slot] if a.state is None else self._late[a.written] for a in asks]
        replies: dict[int, Reply] = {}
        budget = tokens_at_once(self.bench.anatomy)
        for members in together(range(len(asks)), lambda i: id(places[i].prefix)):
            ordered = sorted(members, key=lambda i: len(asks[i].rendered.tokens))
            for batch in chunked(ordered, lambda i: len(asks[i].rendered.tokens) - places[i].length, budget):
                answered = self._run([asks[i] for i in batch], [places[i] for i in batch])
                replies.update(zip(batch, answered, strict=True))
        return [replies[i] for i in range(len(asks))]

    def forget_late(self) -> None:
        """Let go of the late prefixes, e.g. after a search over doses."""
        self._late.clear()

    def _shared_length(self, slot: int) -> int:
        text = self.texts[slot]
        conversations = [
            messages
            for option in text.block.choice.options
            for anomalous in (False, True)
            for messages in (
                text.report(Capability.IDENTIFICATION, option, anomalous),
                text.report(Capability.DETECTION, option, anomalous),
                text.unrelated(option, anomalous),
            )
        ]
        rendered = [self.render(text, messages).tokens for messages in conversations]
        length = common_prefix_length([self.firsts[slot].tokens, *rendered])
        if length <= max(self.firsts[slot].spans[0]):
            raise EngineError(
                f"Trial {text.trial_id}: its conversations part before the end of the register's early span.",
                "The model's chat template rewrites earlier turns; use a model whose template does not.",
            )
        return length

    def _compute_early(self, lengths: Sequence[int], states: Sequence[int]) -> None:
        rows = []
        for first, length, state in zip(self.firsts, lengths, states, strict=True):
            span = first.spans[0]
            rows.append(
                Row(first.tokens[:length], (self._write(span, state, self.vector_H),), (self._reading("site", span),))
            )
        prefix, readings = run_prefix(self.bench.anatomy, rows)
        for slot, reading in enumerate(readings):
            self._early[slot] = _Place(prefix, slot, self._along(reading["site"]))

    def _compute_late(self, asks: Sequence[Ask]) -> None:
        """Compute the late prefixes that are not there yet: one for each thing that is written."""
        new = list({a.written: a for a in asks if a.written not in self._late}.values())
        if not new:
            return
        begun = [self._early[a.slot] for a in new]
        rows = []
        for a, place in zip(new, begun, strict=True):
            span = a.rendered.spans[1]
            tokens = a.rendered.tokens[place.length : max(span) + 1]
            rows.append(Row(tokens, self._edits(a), (self._reading("site", span),)))
        prefix, readings = run_prefix(
            self.bench.anatomy, rows, prefix=begun[0].prefix, prefix_rows=[b.row for b in begun]
        )
        for number, (a, reading) in enumerate(zip(new, readings, strict=True)):
            self._late[a.written] = _Place(prefix, number, self._along(reading["site"]))

    def _run(self, asks: Sequence[Ask], places: Sequence[_Place]) -> list[Reply]:
        rows = []
        for a, place in zip(asks, places, strict=True):
            last = (len(a.rendered.tokens) - 1,)
            captures = tuple(self._reading(str(layer), last, layer) for layer in self.bench.read_layers)
            rows.append(Row(a.rendered.tokens[place.length :], captures=captures))
        output = run_rows(
            self.bench.anatomy, rows, prefix=places[0].prefix, prefix_rows=[place.row for place in places]
        )
        return [
            Reply(
                output.logprobs_RV[number],
                None if a.state is None else place.site,
                {layer: output.captures[number][str(layer)][0] for layer in self.bench.read_layers},
            )
            for number, (a, place) in enumerate(zip(asks, places, strict=True))
        ]

    def _edits(self, a: Ask) -> tuple[Edit, ...]:
        """What is written at the late span: the state, by the one path or the other, and a push if there is one."""
        span = a.rendered.spans[1]
        vector = self.overwrite_H if a.overwrite else self.vector_H
        written = self._write(span, a.state or 0, vector)
        if a.push is None:
            return (written,)
        push = torch.tensor(a.push.direction_H * a.push.dose, dtype=torch.float32)
        return written, Edit(resid_post(self.cell.layer), span, push)

    def _write(self, span: tuple[int, ...], state: int, vector_H: Tensor) -> Edit:
        return Edit(resid_post(self.cell.layer), span, vector_H, strength=sign(state))

    def _reading(self, name: str, positions: tuple[int, ...], layer: int | None = None) -> Capture:
        return Capture(name, resid_post(self.cell.layer if layer is None else layer), positions)

    def _along(self, hidden_PH: Tensor) -> float:
        direction = torch.tensor(self.bench.direction_H, dtype=torch.float64)
        return float(hidden_PH.double().mean(0) @ direction) / self.amplitude
