"""What every unit of the register study shares: the model, the direction, its scale, and the text that the model can
take.

The dose is in units of the mean residual norm at the register's own tokens, measured once without any edit on fixed
texts, so the same claim means the same thing for models whose residual streams differ by orders of magnitude.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from firsthand.claims.claim import Claim
from firsthand.engine import Anatomy, Capture, LoadedModel, Row, inspect_model, resid_post, run
from firsthand.engine.prompts import Message, Rendered
from firsthand.engine.readout import usable_codes
from firsthand.errors import ClaimError, ElicitationError
from firsthand.states.register import unit_direction
from firsthand.studies.cells import Cell
from firsthand.studies.register_prompts import TrialText, draw_texts, render_report
from firsthand.studies.register_texts import QUESTIONS, STUDY, Carriers, Choice
from firsthand.trials.codebook import draw_codebook
from firsthand.trials.design import plan_block
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability, Subset

CALIBRATION_BLOCKS = 2

Renderer: TypeAlias = Callable[[TrialText, Sequence[Message]], Rendered]


@dataclass(frozen=True)
class Bench:
    """Everything that is fixed for a run.

    Attributes:
        loaded: The model that reports.
        anatomy: Its parts.
        claim: What is claimed.
        carriers: Pools of visible text.
        choices: Visible tasks that the tokenizer can express.
        letters: Codes that are one distinct token in context.
        direction_H: The register's unit direction, ``[hidden]``.
        scales: Mean residual norm at register tokens by layer.
        read_layers: Layers whose residual at the report position is kept for probes.
    """

    loaded: LoadedModel
    anatomy: Anatomy
    claim: Claim
    carriers: Carriers
    choices: tuple[Choice, ...]
    letters: tuple[str, ...]
    direction_H: NDArray[np.float64]
    scales: dict[int, float]
    read_layers: tuple[int, ...]

    def cells(self) -> list[Cell]:
        """The grid of the claim, in order."""
        return [
            Cell(layer, dose)
            for layer in candidate_layers(self.claim, self.anatomy.n_layers)
            for dose in self.claim.state.doses
        ]

    def amplitude(self, cell: Cell) -> float:
        """Norm of what is added, in absolute units of the residual stream."""
        return cell.dose * self.scales[cell.layer]


def candidate_layers(claim: Claim, depth: int) -> list[int]:
    """The claim's candidate layers, by default a quarter and half of the depth.

    Raises:
        ClaimError: If a layer is out of range.
    """
    usual = sorted({min(depth // 4, depth - 2), min(depth // 2, depth - 2)})
    layers = usual if claim.state.layers is None else list(claim.state.layers)
    bad = [layer for layer in layers if not 0 <= layer < depth - 1]
    if bad:
        raise ClaimError(
            f"state.layers names {', '.join(map(str, bad))}, but a register can be written at layers 0 to {depth - 2} "
            f"of this model ({depth} blocks; an edit of the last block's output could reach no later token).",
            "Correct state.layers in the claim, then freeze it again.",
        )
    return layers


def prepare(loaded: LoadedModel, claim: Claim, carriers: Carriers = STUDY) -> Bench:
    """Inspect the model, check that it can express the study's text, and measure the dose's unit.

    Args:
        loaded: The model.
        claim: The claim.
        carriers: Pools of visible text.

    Returns:
        The bench of the run.

    Raises:
        ClaimError: If the claim's layers do not fit the model.
        ElicitationError: If the tokenizer leaves too few codes or visible tasks.
    """
    anatomy = inspect_model(loaded.model)
    layers = candidate_layers(claim, anatomy.n_layers)
    stems = [question.stem for question in QUESTIONS.values()]
    letters = usable_codes(loaded.tokenizer, stems, list(claim.report.code_letters))
    draw_codebook(letters, list(QUESTIONS), 0, stream(0))  # refuses too few letters
    plan = plan_block(claim.design.seed, Subset.SELECTION, 0)
    choices = tuple(
        choice
        for choice in carriers.choices
        if _expressible(loaded, draw_texts(claim, plan, carriers, [choice], letters)[0])
    )
    if not choices:
        raise ElicitationError(
            "This model's tokenizer can express none of the visible tasks as a stem and two distinct next tokens.",
            "Use a model with a tokenizer trained on English text.",
        )
    depth = anatomy.n_layers
    bench = Bench(
        loaded=loaded,
        anatomy=anatomy,
        claim=claim,
        carriers=carriers,
        choices=choices,
        letters=tuple(letters),
        direction_H=unit_direction(anatomy.hidden_size, "register", claim.state.direction_seed),
        scales={},
        read_layers=tuple(sorted({(2 * depth) // 3, depth - 1})),
    )
    bench.scales.update(_measure_scales(bench, layers))
    return bench


def visible_tokens(render: Renderer, text: TrialText) -> tuple[int, int] | None:
    """The next tokens by which the two visible answers begin, or ``None`` if they cannot be told apart."""
    first = render(text, text.first()).tokens
    tokens = []
    for option in text.block.choice.options:
        whole = render(text, text.report(Capability.IDENTIFICATION, option, False)).tokens
        if whole[: len(first)] != first:
            return None
        tokens.append(whole[len(first)])
    return (tokens[0], tokens[1]) if tokens[0] != tokens[1] else None


def _expressible(loaded: LoadedModel, text: TrialText) -> bool:
    return visible_tokens(partial(render_report, loaded.tokenizer), text) is not None


def _measure_scales(bench: Bench, layers: Sequence[int]) -> dict[int, float]:
    rows = []
    for index in range(CALIBRATION_BLOCKS):
        plan = plan_block(bench.claim.design.seed, Subset.SELECTION, index)
        texts = draw_texts(bench.claim, plan, bench.carriers, bench.choices, bench.letters)
        for text in texts[:4]:
            rendered = render_report(bench.loaded.tokenizer, text, text.first())
            captures = tuple(Capture(str(layer), resid_post(layer), rendered.spans[0]) for layer in layers)
            rows.append(Row(rendered.tokens, captures=captures))
    readings = run(bench.anatomy, rows).captures
    return {layer: float(np.mean([r[str(layer)].norm(dim=1).mean() for r in readings])) for layer in layers}
