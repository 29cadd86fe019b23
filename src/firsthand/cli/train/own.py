"""``firsthand train run``: anyone's claims."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from rich.console import Console

from firsthand.cli.progress import TerminalProgress
from firsthand.cli.train.ending import ended, print_price
from firsthand.counterfactual.responses import Sampling
from firsthand.counterfactual.training.demo import FULL
from firsthand.counterfactual.training.folders import begun, content_of, write_claims
from firsthand.counterfactual.training.own import Own, compared
from firsthand.counterfactual.training.own_pricing import priced
from firsthand.counterfactual.training.reading import some_claims
from firsthand.counterfactual.training.sensitivity import PLANTING
from firsthand.counterfactual.training.settings import PREDICTIONS, TrainSettings
from firsthand.engine.loading import load
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress


@dataclass(frozen=True)
class Ask:
    """What the command was asked for; see its options."""

    claims: Path
    target: str
    cross: tuple[str, ...]
    sibling: tuple[str, ...]
    elsewhere: Path | None
    seeds: int
    held_out: float
    settings: Path | None
    samples: int
    max_tokens: int
    out: Path
    dry_run: bool
    json: Path | None
    device: str | None
    dtype: str
    another: bool = False
    third: bool = False
    sensitivity: bool = False

    @property
    def command(self) -> str:
        """The command that repeats the run in a new folder."""
        words = ["firsthand", "train", "run", str(self.claims), "--target", self.target]
        words += [word for one in self.cross for word in ("--cross", one)]
        words += [word for one in self.sibling for word in ("--sibling", one)]
        for name in ("elsewhere", "settings", "device"):
            value = getattr(self, name)
            words += [] if value is None else [f"--{name}", str(value)]
        words += ["--seeds", str(self.seeds), "--held-out", str(self.held_out), "--samples", str(self.samples)]
        words += ["--target-is-another"] if self.another else []
        words += ["--elsewhere-is-another"] if self.third else []
        words += ["--sensitivity"] if self.sensitivity else []
        words += ["--max-tokens", str(self.max_tokens), "--dtype", self.dtype, "--out", "NEW_FOLDER"]
        return shlex.join(words)


def run_own(ask: Ask) -> None:
    """Train and judge, or tell the price."""
    settings, seeds = read_settings(ask.settings), tuple(range(ask.seeds))
    _check(ask)
    with TerminalProgress() as progress:
        own = _loaded(ask, progress)
        if ask.dry_run:
            progress.say("measuring one step, and how fast responses are drawn")
            cost = priced(own, settings, seeds)
        else:
            asked: dict[str, Any] = {
                "claims": content_of(own.claims),
                "elsewhere": content_of(own.elsewhere),
                "models": [one.weights_sha256 for one in (own.target, *own.cross)],
                "settings": settings.key,
                "seeds": ask.seeds,
                "held_out": ask.held_out,
                "samples": ask.samples,
                "max_tokens": ask.max_tokens,
                "sibling": sorted(ask.sibling),
                "target_is_another": ask.another,
                "dtype": own.target.dtype,
                "device": own.target.device,
            }
            if own.control is not None:
                asked["sensitivity"] = own.control.model_dump(mode="json", include=PLANTING)
            start = begun(ask.out, asked)
            for name, claims in (("claims", own.claims), ("elsewhere", own.elsewhere)):
                if claims:
                    write_claims(ask.out / "claims" / f"{name}.jsonl", claims)
            came = compared(own, settings, seeds, ask.out, progress)
    if ask.dry_run:
        print_price(cost, Console())
        return
    title = f"Is what {own.target.name} foretells of itself first-hand?"
    models = (own.target, *own.cross, *came.models)
    ended(title, came.studies, models, settings, ask.out, start, ask.command, ask.json)


def read_settings(path: Path | None, usual: TrainSettings = PREDICTIONS) -> TrainSettings:
    """Settings from a YAML file; the usual ones where it names none, or there is no file.

    Raises:
        CounterfactualError: If it cannot be read, or names a setting that there is not.
    """
    if path is None:
        return usual
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return TrainSettings.model_validate(usual.model_dump() | given)
    except (OSError, yaml.YAMLError, ValidationError, TypeError) as error:
        raise CounterfactualError(
            f"{path} holds no settings: {str(error)[:300]}.", "See docs/train.md for what can be set."
        ) from error


def _check(ask: Ask) -> None:
    if ask.samples == 1:
        raise CounterfactualError(
            "One response to each prompt measures no label.", "Use --samples 10, or 0 to measure none anew."
        )
    strangers = sorted(set(ask.sibling) - set(ask.cross))
    if strangers:
        raise CounterfactualError(
            f"{strangers[0]} is called a sibling, and is not trained.", "Name it with --cross as well."
        )


def _loaded(ask: Ask, progress: Progress) -> Own:
    claims = some_claims(ask.claims)
    elsewhere = [] if ask.elsewhere is None else some_claims(ask.elsewhere)
    target, *cross = (
        load(name, device=ask.device, dtype=ask.dtype, progress=progress.say) for name in (ask.target, *ask.cross)
    )
    sampling = Sampling(samples=ask.samples, max_tokens=ask.max_tokens) if ask.samples else None
    return Own(
        claims=claims,
        target=target,
        cross=tuple(cross),
        siblings=frozenset(ask.sibling),
        elsewhere=elsewhere,
        held_out=ask.held_out,
        sampling=sampling,
        another=ask.another,
        third=ask.third,
        control=FULL if ask.sensitivity else None,
    )
