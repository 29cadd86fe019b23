"""One unit of the register study: a block at a cell, from public draws to finished tables.

The order is the argument. The pre-state is drawn and written at the early span; cue and visible answer follow; the
public evidence, in its plain and its anomalous rendering, is hashed and logged; only then is the kind of each trial
drawn, *from that hash*, and with it what the late span will hold. Reports are read last.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.engine.impact import match_impact
from firsthand.engine.prompts import Rendered
from firsthand.engine.readout import Answer, code_token, kl_divergence, read_answers
from firsthand.states.register import orthogonal_direction
from firsthand.studies.cells import Cell
from firsthand.studies.register_bench import Bench, visible_tokens
from firsthand.studies.register_prompts import TrialText, draw_texts
from firsthand.studies.register_runs import Ask, BlockRuns, Push, Reply
from firsthand.trials.canonical import digest
from firsthand.trials.design import BlockPlan, assign_kinds
from firsthand.trials.freeze_log import log_event
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability, Kind

ASKED_FIRST = (Capability.IDENTIFICATION, Capability.DETECTION)


DIRECTIONS_TRIED = 8
"""Directions tried for each impact control before it is marked unmatched."""

SMALLEST_PUSH, LARGEST_PUSH = 1.0, 2.0
"""Least and most that an impact control may add, in displacements of a flip.

With less, a reporter of mere displacement could tell it from a flip although its effect is matched; with more, it would
drown the state that it must leave.
"""


@dataclass(frozen=True)
class Impact:
    """What a trial's intervention did to the output distribution, in nats of KL from the untouched run.

    Impact is matched at an *unrelated* question, where no report is asked for. At the report itself the change of the
    output is the report: a reporter that follows the state moves all of its probability there, and a control made to
    move as much would have to destroy the answer.

    Attributes:
        neutral: KL at the unrelated question.
        target: KL that a flip of the state has at the unrelated question of the same trial (impact control only).
        dose: Solved dose of the control direction, in absolute units (impact control only).
        matched: Whether the control's neutral KL is within tolerance of the target's (true where nothing is matched).
    """

    neutral: float = 0.0
    target: float = float("nan")
    dose: float = float("nan")
    matched: bool = True


@dataclass(frozen=True)
class UnitTables:
    """The finished tables of a unit and the evidence that was frozen."""

    parts: dict[str, pd.DataFrame]
    frozen: dict[str, Any]


def run_unit(
    bench: Bench, plan: BlockPlan, cell: Cell, unit: str, folder: Path, capabilities: Sequence[Capability]
) -> UnitTables:
    """Run one block at one cell.

    Args:
        bench: What is fixed for the run.
        plan: The block.
        cell: Layer and dose.
        unit: Name of the unit in the trace and the log.
        folder: The run's folder, for the freeze log.
        capabilities: What is asked for; impact is measured and matched only where detection is among them.

    Returns:
        Tables for the trace, and the frozen evidence.

    Raises:
        EngineError: If an edit cannot be made exactly.
    """
    texts = draw_texts(bench.claim, plan, bench.carriers, bench.choices, bench.letters)
    runs = BlockRuns(bench, cell, texts, plan.pre_states)
    outputs = _visible_answers(runs, bench.claim.design.seed, plan)
    evidence = [
        {rendering: text.view(output, rendering == "anomalous", capabilities).as_json() for rendering in RENDERINGS}
        for text, output in zip(texts, outputs, strict=True)
    ]
    public_hash = digest(evidence)
    log_event(folder, unit, "frozen", public_hash)
    kinds = assign_kinds(bench.claim.design.seed, plan, public_hash)
    log_event(folder, unit, "assigned", public_hash)

    block = _Block(bench, cell, plan, texts, outputs, kinds, runs)
    measured = Capability.DETECTION in capabilities
    references = block.references() if measured else {}
    impacts, pushes = block.match_impacts(references)
    asked = [c for c in ASKED_FIRST if c in capabilities]
    replies = block.replies(asked, pushes)
    answers = {c: block.answers(c, replies[c]) for c in asked}
    if Capability.CONFIDENCE in capabilities:
        answers[Capability.CONFIDENCE] = block.confidence(answers[Capability.IDENTIFICATION], pushes)
    if measured:
        impacts = block.measure_impacts(references, impacts, pushes)
    parts = {
        "public": block.public_table(capabilities),
        "sealed": block.sealed_table(unit, impacts),
        "reports": block.report_table(answers),
        "readings": block.reading_table(replies),
    }
    frozen = {
        "evidence": evidence,
        "subset": str(plan.subset),
        "index": plan.index,
        "kinds": [str(k) for k in plan.kinds],
    }
    return UnitTables(parts, frozen)


RENDERINGS = ("plain", "anomalous")


def _visible_answers(runs: BlockRuns, seed: int, plan: BlockPlan) -> list[str]:
    """Sample Y at temperature 1 among the two words offered, under the early edit, with a named stream."""
    replies = runs.ask([Ask(slot, runs.firsts[slot]) for slot in range(len(runs.texts))])
    draws = stream(seed, plan.subset, plan.index, "visible answer").random(len(runs.texts))
    outputs = []
    for text, reply, draw in zip(runs.texts, replies, draws, strict=True):
        tokens = visible_tokens(runs.render, text)
        assert tokens is not None, "prepare() keeps only visible tasks whose answers differ"
        second = read_answers(reply.logprobs_V[None], [tokens])[0].probability
        outputs.append(text.block.choice.options[int(draw < second)])
    return outputs


References: TypeAlias = dict[int, Reply]
UNMEASURED = Impact(neutral=float("nan"), matched=False)


@dataclass(frozen=True)
class _Block:
    bench: Bench
    cell: Cell
    plan: BlockPlan
    texts: Sequence[TrialText]
    outputs: Sequence[str]
    kinds: Sequence[Kind]
    runs: BlockRuns

    @property
    def slots(self) -> range:
        return range(len(self.texts))

    def post_state(self, slot: int) -> int:
        pre = self.plan.pre_states[slot]
        return 1 - pre if self.kinds[slot] is Kind.TARGET else pre

    def ask(self, slot: int, capability: Capability, push: Push | None, answer: int | None = None) -> Ask:
        """The question as this trial's kind has it."""
        kind = self.kinds[slot]
        messages = self.texts[slot].report(capability, self.outputs[slot], kind is Kind.INPUT_CONTROL, answer)
        rendered = self.runs.render(self.texts[slot], messages)
        return Ask(slot, rendered, self.post_state(slot), kind in (Kind.TARGET, Kind.SHAM), push)

    def replies(self, asked: Sequence[Capability], pushes: dict[int, Push]) -> dict[Capability, list[Reply]]:
        """Ask every trial all of these questions, together."""
        every = self.runs.ask([self.ask(slot, c, pushes.get(slot)) for c in asked for slot in self.slots])
        size = len(self.texts)
        return {c: every[i * size : (i + 1) * size] for i, c in enumerate(asked)}

    def plain(self, slot: int, state: int, push: Push | None = None) -> Ask:
        """The unrelated question as a baseline would have it, with a given state and possibly a push."""
        return Ask(slot, self._unrelated(slot, False), state, False, push)

    def unrelated(self, slot: int, push: Push | None) -> Ask:
        """The unrelated question as this trial's kind has it."""
        kind = self.kinds[slot]
        rendered = self._unrelated(slot, kind is Kind.INPUT_CONTROL)
        return Ask(slot, rendered, self.post_state(slot), kind in (Kind.TARGET, Kind.SHAM), push)

    def _unrelated(self, slot: int, anomalous: bool) -> Rendered:
        text = self.texts[slot]
        return self.runs.render(text, text.unrelated(self.outputs[slot], anomalous))

    def answers(self, capability: Capability, replies: Sequence[Reply]) -> list[Answer]:
        tokenizer = self.bench.loaded.tokenizer
        pairs = []
        for text in self.texts:
            question = text.question(capability)
            zero, one = (code_token(tokenizer, question.stem, code) for code in question.codes)
            assert zero is not None
            assert one is not None
            pairs.append((zero, one))
        return [read_answers(reply.logprobs_V[None], [pair])[0] for reply, pair in zip(replies, pairs, strict=True)]

    def confidence(self, states: Sequence[Answer], pushes: dict[int, Push]) -> list[Answer]:
        """Confidence in each identification answer; invalid where that was invalid."""
        asks = [
            self.ask(slot, Capability.CONFIDENCE, pushes.get(slot), int(states[slot].contrast > 0))
            for slot in self.slots
        ]
        read = self.answers(Capability.CONFIDENCE, self.runs.ask(asks))
        return [
            a if s.answer is not None else Answer(None, a.probability, a.coverage, a.contrast, a.entropy)
            for a, s in zip(read, states, strict=True)
        ]

    def references(self) -> References:
        """The plain runs with the pre-state, from which every change is measured; a baseline is its own reference."""
        touched = [s for s in self.slots if self.kinds[s] is not Kind.BASELINE]
        replies = self.runs.ask([self.plain(s, self.plan.pre_states[s]) for s in touched])
        return dict(zip(touched, replies, strict=True))

    def impacts_of(self, asks: Sequence[Ask], references: References) -> NDArray[np.float64]:
        """KL of each ask's distribution from its trial's reference, in nats."""
        replies = self.runs.ask(asks)
        return np.array([_kl(references[a.slot], reply) for a, reply in zip(asks, replies, strict=True)])

    def match_impacts(self, references: References) -> tuple[dict[int, Impact], dict[int, Push]]:
        """Solve the dose of each impact control: a direction of its own, as much change as a flip on the same trial.

        A direction whose effect at the least push is above the target, or at the largest below it, is replaced by
        another one, a few times.
        """
        slots = [s for s in self.slots if self.kinds[s] is Kind.IMPACT_CONTROL]
        if not slots or not references:
            return {}, {}
        flipped = self.impacts_of([self.plain(s, 1 - self.plan.pre_states[s]) for s in slots], references)
        target = dict(zip(slots, flipped.tolist(), strict=True))
        impacts: dict[int, Impact] = {}
        pushes: dict[int, Push] = {}
        for attempt in range(DIRECTIONS_TRIED):
            left = [s for s in slots if s not in impacts or not impacts[s].matched]
            if left:
                self._solve(left, attempt, target, references, impacts, pushes)
        self.runs.forget_late()
        return impacts, pushes

    def _solve(
        self,
        slots: Sequence[int],
        attempt: int,
        target: dict[int, float],
        references: References,
        impacts: dict[int, Impact],
        pushes: dict[int, Push],
    ) -> None:
        """One attempt: a fresh direction for each slot; keeps what comes nearer to the target than what was there."""
        seed, subset, index = self.bench.claim.design.seed, self.plan.subset, self.plan.index
        named = ("impact", seed, subset, index)
        directions = {s: orthogonal_direction(self.bench.direction_H, *named, s, attempt) for s in slots}

        def impact(doses: NDArray[np.float64]) -> NDArray[np.float64]:
            pushed = zip(slots, doses.tolist(), strict=True)
            asks = [self.plain(s, self.plan.pre_states[s], Push(directions[s], dose)) for s, dose in pushed]
            return self.impacts_of(asks, references)

        flip = 2.0 * self.runs.amplitude
        goals, tolerance = np.array([target[s] for s in slots]), self.bench.claim.analysis.impact_tolerance
        least, most = SMALLEST_PUSH * flip, LARGEST_PUSH * flip
        match = match_impact(impact, goals, np.full(len(slots), least), tolerance, smallest=least, largest=most)
        for i, slot in enumerate(slots):
            found = Impact(
                neutral=float(match.impact[i]),
                target=target[slot],
                dose=float(match.dose[i]),
                matched=bool(match.matched[i]),
            )
            before = impacts.get(slot)
            if before is None or abs(found.neutral - found.target) < abs(before.neutral - before.target):
                impacts[slot], pushes[slot] = found, Push(directions[slot], found.dose)

    def measure_impacts(
        self, references: References, solved: dict[int, Impact], pushes: dict[int, Push]
    ) -> dict[int, Impact]:
        """Impact of every trial as it was run; zero for a baseline by identity."""
        touched = list(references)
        reached = self.impacts_of([self.unrelated(slot, pushes.get(slot)) for slot in touched], references)
        impacts = {slot: Impact() for slot in self.slots}
        for slot, value in zip(touched, reached.tolist(), strict=True):
            impacts[slot] = replace(solved.get(slot, Impact()), neutral=value)
        return impacts

    def public_table(self, capabilities: Sequence[Capability]) -> pd.DataFrame:
        rows = []
        for slot, text in enumerate(self.texts):
            view = text.view(self.outputs[slot], self.kinds[slot] is Kind.INPUT_CONTROL, capabilities)
            rows.append(
                {"trial_id": text.trial_id, "subset": str(self.plan.subset), **view.clusters, "view": view.dumps()}
            )
        return pd.DataFrame(rows)

    def sealed_table(self, unit: str, impacts: dict[int, Impact]) -> pd.DataFrame:
        rows = []
        for slot, text in enumerate(self.texts):
            impact = impacts.get(slot, UNMEASURED)
            rows.append(
                {
                    "trial_id": text.trial_id,
                    "unit": unit,
                    "subset": str(self.plan.subset),
                    "kind": str(self.kinds[slot]),
                    "pre_state": self.plan.pre_states[slot],
                    "post_state": self.post_state(slot),
                    "changed": int(self.kinds[slot] is Kind.TARGET),
                    "layer": self.cell.layer,
                    "dose": self.cell.dose,
                    "amplitude": self.runs.amplitude,
                    "impact_neutral": impact.neutral,
                    "impact_target": impact.target,
                    "impact_dose": impact.dose,
                    "impact_matched": impact.matched,
                }
            )
        return pd.DataFrame(rows)

    def report_table(self, answers: dict[Capability, list[Answer]]) -> pd.DataFrame:
        rows = [
            {
                "trial_id": text.trial_id,
                "capability": str(capability),
                "answer": float("nan") if a.answer is None else float(a.answer),
                "probability": a.probability,
                "coverage": a.coverage,
                "contrast": a.contrast,
                "entropy": a.entropy,
            }
            for capability, read in answers.items()
            for text, a in zip(self.texts, read, strict=True)
        ]
        return pd.DataFrame(rows)

    def reading_table(self, replies: dict[Capability, list[Reply]]) -> pd.DataFrame:
        rows = []
        for slot, text in enumerate(self.texts):
            row: dict[str, Any] = {
                "trial_id": text.trial_id,
                "site_early": self.runs.early[slot],
                "site_late": replies[Capability.IDENTIFICATION][slot].site,
            }
            for capability, of in replies.items():
                kept = [of[slot].residuals[layer].numpy() for layer in self.bench.read_layers]
                row[f"residual_{capability}"] = np.concatenate(kept).astype(np.float32)
            rows.append(row)
        return pd.DataFrame(rows)


def _kl(reference: Reply, other: Reply) -> float:
    return float(kl_divergence(reference.logprobs_V[None], other.logprobs_V[None])[0])
