"""``firsthand train demo``."""

import shlex
from pathlib import Path

from rich.console import Console

from firsthand.cli.progress import TerminalProgress
from firsthand.cli.train.ending import ended, print_price
from firsthand.counterfactual.training.concluding import LIMITS
from firsthand.counterfactual.training.demo import FULL, QUICK, Cast, DemoPlan, demonstrate, priced
from firsthand.counterfactual.training.folders import begun
from firsthand.counterfactual.training.hint_plan import Exam, exam_of
from firsthand.counterfactual.training.hinted import NO_QUESTIONS, Hinted, hinted
from firsthand.engine.loading import LoadedModel, load
from firsthand.errors import CounterfactualError, ModelError
from firsthand.progress import Progress

TITLE = "Is what a model foretells of itself first-hand? Two planted truths"


def run_demo(
    quick: bool,
    model: str,
    stranger: str,
    mmlu: Path | None,
    seed: int,
    out: Path,
    dry_run: bool,
    json: Path | None,
    device: str | None,
    dtype: str,
) -> None:
    """Plant two rules, train everybody, and judge; or tell the price."""
    plan = (QUICK if quick else FULL).model_copy(update={"seed": seed})
    exam = _exam(mmlu, plan)
    with TerminalProgress() as progress:
        base = load(model, device=device, dtype=dtype, progress=progress.say)
        other = _stranger(stranger, device, dtype, progress) if plan.stranger else None
        cast = Cast(base, other)
        if dry_run:
            progress.say("measuring one step")
            price = priced(cast, plan, exam)
        else:
            asked = {
                "plan": plan.model_dump(mode="json", exclude={"hints"}),
                "model": base.weights_sha256,
                "stranger": _name(other),
            }
            asked |= {"dtype": base.dtype, "device": base.device}
            later = {}
            if exam is not None and plan.hints is not None:
                later = {"hints": plan.hints.model_dump(mode="json"), "questions": exam.digest}
            start = begun(out, asked, later)
            hints = _hints(cast, exam, plan, out, progress)
            studies, models = demonstrate(cast, plan, out, progress, hints if isinstance(hints, Hinted) else None)
    if dry_run:
        print_price(price, Console())
        return
    command = ["firsthand", "train", "demo", *(["--quick"] if quick else []), "--model", model]
    command += ["--stranger", stranger if plan.stranger else "none", "--seed", str(seed), "--dtype", dtype]
    command += ["--out", "NEW_FOLDER"]
    command += ["--device", device] if device is not None else []
    command += ["--mmlu", str(mmlu)] if mmlu is not None else []
    limits = (*LIMITS, hints) if isinstance(hints, str) else LIMITS
    ended(_title(plan), studies, models, plan.training, out, start, shlex.join(command), json, limits)


def _exam(folder: Path | None, plan: DemoPlan) -> Exam | None:
    """The questions, read before anything is loaded.

    Raises:
        CounterfactualError: If they cannot be used, or the plan has no part for them.
    """
    if folder is None:
        return None
    if plan.hints is None:
        raise CounterfactualError(
            "The quick demonstration has no part on hints in exam questions.", "Leave --quick or --mmlu out."
        )
    return exam_of(folder, plan.hints)


def _hints(cast: Cast, exam: Exam | None, plan: DemoPlan, out: Path, progress: Progress) -> Hinted | str:
    """Claims about hints, or in words why there are none."""
    if exam is None or plan.hints is None:
        return NO_QUESTIONS
    found = hinted(cast.base, cast.stranger, exam, plan.hints, out, progress)
    if isinstance(found, str):
        progress.say(found)
    return found


def _title(plan: DemoPlan) -> str:
    return TITLE if plan.layers is None else f"{TITLE} (quick: {plan.layers} layers of the model)"


def _name(loaded: LoadedModel | None) -> str | None:
    return None if loaded is None else loaded.weights_sha256


def _stranger(name: str, device: str | None, dtype: str, progress: Progress) -> LoadedModel | None:
    """A model of another family, if it is there; the sibling is trained either way."""
    if name == "none":
        return None
    try:
        return load(name, device=device, dtype=dtype, progress=progress.say)
    except ModelError as error:
        progress.say(f"Without a model of another family: {error.problem} {error.remedy}")
        return None
