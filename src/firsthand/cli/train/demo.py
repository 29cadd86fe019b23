"""``firsthand train demo``."""

import shlex
from pathlib import Path

from rich.console import Console

from firsthand.cli.progress import TerminalProgress
from firsthand.cli.train.ending import ended, print_price
from firsthand.counterfactual.training.demo import FULL, QUICK, Cast, DemoPlan, demonstrate, priced
from firsthand.counterfactual.training.folders import begun
from firsthand.engine.loading import LoadedModel, load
from firsthand.errors import ModelError
from firsthand.progress import Progress

TITLE = "Is what a model foretells of itself first-hand? Two planted truths"


def run_demo(
    quick: bool, model: str, stranger: str, out: Path, dry_run: bool, json: Path | None, device: str | None, dtype: str
) -> None:
    """Plant two rules, train everybody, and judge; or tell the price."""
    plan = QUICK if quick else FULL
    with TerminalProgress() as progress:
        base = load(model, device=device, dtype=dtype, progress=progress.say)
        other = _stranger(stranger, device, dtype, progress) if plan.stranger else None
        cast = Cast(base, other)
        if dry_run:
            progress.say("measuring one step")
            price = priced(cast, plan)
        else:
            asked = {"plan": plan.model_dump(mode="json"), "model": base.weights_sha256, "stranger": _name(other)}
            asked |= {"dtype": base.dtype, "device": base.device}
            start = begun(out, asked)
            studies, models = demonstrate(cast, plan, out, progress)
    if dry_run:
        print_price(price, Console())
        return
    command = ["firsthand", "train", "demo", *(["--quick"] if quick else []), "--model", model]
    command += ["--stranger", stranger if plan.stranger else "none", "--out", "NEW_FOLDER"]
    ended(_title(plan), studies, models, plan.training, out, start, shlex.join(command), json)


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
