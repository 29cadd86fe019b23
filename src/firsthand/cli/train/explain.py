"""``firsthand train explain``: open explanations of a run of investigations."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from firsthand.cli.progress import TerminalProgress
from firsthand.cli.train.ending import ended, print_price
from firsthand.cli.train.own import read_settings
from firsthand.counterfactual.training.explanations.cases import divided, found_in
from firsthand.counterfactual.training.explanations.concluding import LIMITS
from firsthand.counterfactual.training.explanations.running import Plan, checked, explained, priced, simulator_of
from firsthand.counterfactual.training.folders import begun, content_of
from firsthand.counterfactual.training.own import ANOTHER, Own
from firsthand.counterfactual.training.own import checked as about_target
from firsthand.counterfactual.training.settings import EXPLANATIONS
from firsthand.engine import LoadedModel
from firsthand.engine.loading import load
from firsthand.progress import Progress


@dataclass(frozen=True)
class Ask:
    """What the command was asked for; see its options."""

    run: Path
    target: str
    cross: tuple[str, ...]
    simulator: tuple[str, ...]
    seeds: int
    held_out: float
    settings: Path | None
    max_tokens: int
    out: Path
    dry_run: bool
    json: Path | None
    device: str | None
    dtype: str
    another: bool = False

    @property
    def command(self) -> str:
        """The command that repeats the run in a new folder."""
        words = ["firsthand", "train", "explain", str(self.run), "--target", self.target]
        words += [word for one in self.cross for word in ("--cross", one)]
        words += [word for one in self.simulator for word in ("--simulator", one)]
        for name in ("settings", "device"):
            value = getattr(self, name)
            words += [] if value is None else [f"--{name}", str(value)]
        words += ["--seeds", str(self.seeds), "--held-out", str(self.held_out)]
        words += ["--target-is-another"] if self.another else []
        words += ["--max-tokens", str(self.max_tokens), "--dtype", self.dtype, "--out", "NEW_FOLDER"]
        return shlex.join(words)


def run_explain(ask: Ask) -> None:
    """Train, write, read and judge, or tell the price."""
    settings = read_settings(ask.settings, EXPLANATIONS)
    found = found_in(ask.run)
    parts = divided(found, ask.held_out)
    notes = (ANOTHER,) if ask.another else ()
    with TerminalProgress() as progress:
        target, cross, readers = _loaded(ask, progress)
        about_target(Own(list(found.claims), target, cross, frozenset(), [], ask.held_out, None, ask.another))
        plan = Plan(
            found, parts, target, cross, tuple(simulator_of(one) for one in readers or (target,)),
            settings, tuple(range(ask.seeds)), ask.max_tokens,
        )  # fmt: skip
        checked(plan)
        if ask.dry_run:
            progress.say("measuring one step, some tokens and some answers")
            cost = priced(plan)
        else:
            start = begun(ask.out, _asked(ask, plan, readers))
            scores = explained(plan, ask.out, progress, notes)
    if ask.dry_run:
        print_price(cost, Console())
        return
    title = f"What do {target.name}'s own explanations of itself tell a reader?"
    ended(
        title, scores.studies, (target, *cross, *readers), settings, ask.out, start, ask.command, ask.json,
        limits=LIMITS, explanations=scores.explanations,
    )  # fmt: skip


def _asked(ask: Ask, plan: Plan, readers: tuple[LoadedModel, ...]) -> dict[str, Any]:
    return {
        "explanations": content_of(plan.found.cases),
        "claims": content_of(plan.found.claims),
        "models": [one.weights_sha256 for one in (plan.target, *plan.cross)],
        "simulators": [one.weights_sha256 for one in readers],
        "settings": plan.settings.key,
        "seeds": ask.seeds,
        "held_out": ask.held_out,
        "max_tokens": ask.max_tokens,
        "target_is_another": ask.another,
        "dtype": plan.target.dtype,
        "device": plan.target.device,
    }


def _loaded(ask: Ask, progress: Progress) -> tuple[LoadedModel, tuple[LoadedModel, ...], tuple[LoadedModel, ...]]:
    """The target, the models that are trained beside it, and the simulators; a model of one name is loaded once."""
    found: dict[str, LoadedModel] = {}
    for name in (ask.target, *ask.cross, *ask.simulator):
        if name not in found:
            found[name] = load(name, device=ask.device, dtype=ask.dtype, progress=progress.say)
    return found[ask.target], tuple(found[one] for one in ask.cross), tuple(found[one] for one in ask.simulator)
