"""Two-way detection: was a thought injected, or not?

For every concept the question is put in each wording and both orders of its options, in every arm, and the two answers
are read exactly. The same is done with a question about the world whose right answer is no: an injection that raises
"yes" there too does not show that anything was detected.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from firsthand.engine import Capture, Edit, Row, run
from firsthand.engine.matching import impacts, match_directions
from firsthand.engine.readout import entropy, kl_divergence
from firsthand.engine.sites import resid_post
from firsthand.errors import ElicitationError
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import KINDS, Arm, edits_of
from firsthand.studies.injection.bench import TWO, InjectionBench
from firsthand.studies.injection.drafts import unrelated, with_lead
from firsthand.studies.injection.prompts import Prompt, make_prompt
from firsthand.studies.injection.texts_questions import RIGHT_NO
from firsthand.studies.injection.wordings import Meaning, Order, Wording, orders
from firsthand.trials.randomness import stream

YES_NO: Order = (Meaning.YES, Meaning.NO)
EVERY_ARM = tuple(Arm)


@dataclass(frozen=True, eq=False)
class Trial:
    """One prompt in one arm.

    Attributes:
        concept: The concept.
        arm: What is done.
        prompt: The conversation.
        edits: The edits.
        clean: Number of the uninjected trial with the same text, to which its output is compared.
        cell: Layer and dose; ``None`` where nothing is added at any.
        matched: Whether the content-free direction has the target's impact; ``None`` in other arms.
        order: Meanings of the options in the order of the text.
    """

    concept: str
    arm: Arm
    prompt: Prompt
    edits: tuple[Edit, ...]
    clean: int
    cell: Cell | None
    matched: bool | None = None
    order: Order = field(default=TWO)

    @property
    def positive(self) -> str:
        """The meaning that says "something is there"."""
        return str(Meaning.INJECTED if Meaning.INJECTED in self.order else Meaning.YES)


def run_detection(
    bench: InjectionBench,
    concept: str,
    cells: Sequence[Cell],
    arms: Sequence[Arm] = EVERY_ARM,
    *,
    tolerance: float = 0.15,
    probe: bool = False,
) -> pd.DataFrame:
    """Every wording and order of one concept, in every arm and cell, with the unrelated question beside it.

    Args:
        bench: What is fixed.
        concept: The concept.
        cells: Layers and doses.
        arms: Arms to be run; the clean one always is.
        tolerance: Largest relative error of the content-free direction's impact.
        probe: Whether the activations are read too, for wires and probes; with one cell only.

    Returns:
        One row a trial: ``trial_id``, ``task`` (``detection`` or ``unrelated``), ``arm``, ``kind``, ``concept``,
        ``wording``, ``voice``, ``framing``, ``order``, ``text`` (the prompt), ``layer``, ``dose``, ``answer`` (1 for
        "injected" or "yes", 0, NaN if invalid), ``probability``, ``coverage``, ``contrast``, ``impact_kl``,
        ``entropy``, ``impact_matched``, ``surface``; with ``probe`` also ``site`` (component along the concept's vector
        where it is added, in doses) and ``residual`` (the stream where the report is made).

    Raises:
        ElicitationError: If an answer is not one token of this model.
    """
    matched = {cell: _matched(bench, concept, cell, tolerance) for cell in cells if Arm.CONTENT_FREE in arms}
    trials: list[Trial] = []
    for wording in bench.wordings:
        for order in orders(TWO):
            prompts = {pushed: bench.prompt(concept, wording, order, pushed=pushed) for pushed in (False, True)}
            _add(trials, bench, concept, prompts, cells, arms, order, matched)
        for order in orders(YES_NO):
            plain = {False: unrelated_prompt(bench, concept, wording, order)}
            _add(trials, bench, concept, plain, cells, [a for a in arms if a is not Arm.PUSH], order, matched)
    return _read(bench, trials, cells[0] if probe else None)


def unrelated_prompt(bench: InjectionBench, concept: str, wording: Wording, order: Order) -> Prompt:
    """A question about the world whose right answer is no, in the frame of the injection question."""
    drawn = stream("injection", bench.seed, "unrelated", concept, wording.name).integers(len(RIGHT_NO))
    draft = with_lead(unrelated(wording, order, RIGHT_NO[int(drawn)]), bench.leads(concept)[0], "neutral")
    return make_prompt(bench.loaded.tokenizer, draft)


def _matched(bench: InjectionBench, concept: str, cell: Cell, tolerance: float) -> tuple[float, bool]:
    """Dose at which the content-free direction moves the answer to an unrelated question as the target does."""
    prompt = unrelated_prompt(bench, concept, bench.wordings[0], YES_NO)
    row, strength = Row(prompt.tokens), bench.strength(cell)
    target = Row(prompt.tokens, edits_of(Arm.TARGET, bench, cell, concept, prompt.span))
    goal = impacts(bench.anatomy, row, [target])
    found = match_directions(
        bench.anatomy,
        row,
        resid_post(cell.layer),
        prompt.span,
        bench.content_free(concept, cell.layer)[None],
        goal.tolist(),
        start=[strength],
        tolerance=tolerance,
    )
    return float(found.dose[0]), bool(found.matched[0])


def _add(
    trials: list[Trial],
    bench: InjectionBench,
    concept: str,
    prompts: dict[bool, Prompt],
    cells: Sequence[Cell],
    arms: Sequence[Arm],
    order: Order,
    matched: dict[Cell, tuple[float, bool]],
) -> None:
    """The trials of one wording and order."""
    clean = len(trials)
    trials.append(Trial(concept, Arm.CLEAN, prompts[False], (), clean, None, order=order))
    if Arm.PUSH in arms:
        trials.append(Trial(concept, Arm.PUSH, prompts[True], (), len(trials), None, order=order))
    prompt = prompts[False]
    for cell in cells:
        for arm in arms:
            if arm in (Arm.CLEAN, Arm.PUSH):
                continue
            dose, fits = matched[cell] if arm is Arm.CONTENT_FREE else (None, None)
            edits = edits_of(arm, bench, cell, concept, prompt.span, dose)
            trials.append(Trial(concept, arm, prompt, edits, clean, cell, fits, order))


def _read(bench: InjectionBench, trials: Sequence[Trial], probed: Cell | None) -> pd.DataFrame:
    tokens = [[_single(answer, trial) for answer in trial.prompt.answers] for trial in trials]
    bases = sorted({trial.clean for trial in trials})
    rows = [Row(trial.prompt.tokens, trial.edits, _captures(bench, trial, probed)) for trial in trials]
    clean_BV = run(bench.anatomy, [rows[i] for i in bases]).logprobs_RV
    base_of = {number: i for i, number in enumerate(bases)}

    def keep(logprobs_RV: Tensor, owners: Sequence[int]) -> Tensor:
        """Log-probabilities of both answers, whether one of them is the likeliest token, KL, entropy."""
        full_RV = logprobs_RV.double().cpu()
        both = full_RV.gather(1, torch.tensor([tokens[i] for i in owners]))
        named = (both.amax(1) == full_RV.amax(1)).double()
        apart = kl_divergence(clean_BV[[base_of[trials[i].clean] for i in owners]], full_RV)
        return torch.cat([both, named[:, None], apart[:, None], entropy(full_RV)[:, None]], 1)

    output = run(bench.anatomy, rows, reduce=keep)
    table = pd.DataFrame([_as_row(t, v) for t, v in zip(trials, output.logprobs_RV.numpy(), strict=True)])
    if probed is None:
        return table
    vectors = [bench.vector(trial.concept, probed.layer) / bench.strength(probed) for trial in trials]
    along = [float((c["site"].mean(0) * v).sum()) for c, v in zip(output.captures, vectors, strict=True)]
    residuals = [c["report"][0].numpy() for c in output.captures]
    return table.assign(site=along, residual=pd.Series(residuals, dtype=object))


def _captures(bench: InjectionBench, trial: Trial, probed: Cell | None) -> tuple[Capture, ...]:
    """The stream where the vector is added, and where the report is made two thirds up."""
    if probed is None:
        return ()
    upper = min(max(2 * bench.anatomy.n_layers // 3, probed.layer), bench.anatomy.n_layers - 1)
    return (
        Capture("site", resid_post(probed.layer), trial.prompt.span),
        Capture("report", resid_post(upper), (len(trial.prompt.tokens) - 1,)),
    )


def _as_row(trial: Trial, values: np.ndarray) -> dict[str, object]:
    one = trial.prompt.answer(trial.positive)
    yes, no, named = values[one], values[1 - one], bool(values[2])
    contrast = float(yes - no)
    answer = np.nan if not named or contrast == 0 else float(contrast > 0)
    label = trial.prompt.draft.labels[one if contrast > 0 else 1 - one]
    draft, cell = trial.prompt.draft, trial.cell
    task = str(draft.task)
    where = "-" if cell is None else cell.name
    return {
        "trial_id": f"{trial.concept}/{task}/{draft.wording}/{trial.order[0]}/{where}/{trial.arm}",
        "task": task,
        "arm": str(trial.arm),
        "kind": str(KINDS[trial.arm]) if trial.arm in KINDS else "",
        "concept": trial.concept,
        "wording": draft.wording,
        "voice": draft.cluster,
        "framing": draft.framing,
        "order": "-".join(trial.order),
        "text": trial.prompt.text,
        "layer": -1 if cell is None else cell.layer,
        "dose": 0.0 if cell is None else cell.dose,
        "answer": answer,
        "probability": float(1.0 / (1.0 + np.exp(-contrast))),
        "coverage": float(np.exp(yes) + np.exp(no)),
        "contrast": contrast,
        "impact_kl": float(values[3]),
        "entropy": float(values[4]),
        "impact_matched": np.nan if trial.matched is None else float(trial.matched),
        "surface": label,
    }


def _single(answer: tuple[int, ...], trial: Trial) -> int:
    if len(answer) != 1:
        raise ElicitationError(
            f"An answer of the wording {trial.prompt.draft.wording!r} is {len(answer)} tokens for this model.",
            "Use another style of labels.",
        )
    return answer[0]
