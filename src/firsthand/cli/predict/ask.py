"""What ``firsthand predict`` was asked for, checked."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firsthand.counterfactual.predicting.predictors import FLOORS
from firsthand.counterfactual.predicting.reading import ReadClaims, units_named
from firsthand.errors import CounterfactualError
from firsthand.trials.randomness import stream

FORMS: Final = ("auto", "turn", "document", "both")


@dataclass(frozen=True)
class Ask:
    """What the command was asked for.

    Attributes:
        path: File or folder of claims.
        models: Models that predict.
        agents: Models behind an API that predict, as Inspect names them.
        tools: What each agent may read besides, as the registry of tools names it.
        calls: Most calls of tools for one claim.
        positions: Most tokens of one call.
        floors: Floors; ``None`` for all of them.
        target: The model that the claims are about, if it was named.
        out: Folder of the run.
        form: How models are asked.
        baseline: Predictor that uplift and flips refer to.
        longest: Most tokens of a question.
        max_tokens: Longest transcript that is drawn.
        most: Most claims.
        dry_run: Whether only the price is told.
        json: Where the result goes, too.
        device: Where models run.
        dtype: In which precision.
    """

    path: Path
    models: tuple[str, ...]
    agents: tuple[str, ...]
    tools: tuple[str, ...]
    calls: int
    positions: int
    floors: tuple[str, ...] | None
    target: str | None
    out: Path
    form: str
    baseline: str | None
    longest: int
    max_tokens: int
    most: int | None
    dry_run: bool
    json: Path | None
    device: str | None
    dtype: str

    def checked(self) -> "Ask":
        """The same, if it can be done.

        Raises:
            CounterfactualError: If a floor or form is unknown, a model is named twice, or nobody is to predict.
        """
        if self.form not in FORMS:
            raise CounterfactualError(f"There is no form {self.form!r}.", f"Use one of {', '.join(FORMS)}.")
        if self.floors is not None and "none" in self.floors and len(self.floors) > 1:
            raise CounterfactualError("No floor was asked for, and a floor.", "Give --predictor none alone, or not.")
        strange = [name for name in self.named_floors if name not in FLOORS]
        if strange:
            raise CounterfactualError(
                f"There is no predictor {strange[0]!r}.",
                f"Use --predictor with one of {', '.join(FLOORS)}, or --model with the name of a model.",
            )
        if len({*self.models, *self.agents}) < len(self.models) + len(self.agents):
            raise CounterfactualError("A model is named twice.", "Name each once.")
        if not self.models and not self.agents and not self.named_floors:
            raise CounterfactualError(
                "Nobody is to predict.", "Give --model NAME or --agent PROVIDER/MODEL, or leave --predictor out."
            )
        self._check_agents()
        return self

    def _check_agents(self) -> None:
        bare = [name for name in self.agents if not all(name.partition("/"))]
        if bare:
            raise CounterfactualError(
                f"{bare[0]!r} names no provider and model.", "Write --agent PROVIDER/MODEL, such as firsthand/smollm2."
            )
        if len(set(self.tools)) < len(self.tools):
            raise CounterfactualError("A tool is named twice.", "Name each once.")
        if self.tools and not self.agents:
            raise CounterfactualError("Only agents call tools, and none was named.", "Give --agent PROVIDER/MODEL.")
        if self.tools and self.target is None:
            raise CounterfactualError(
                "Tools read the model that the claims are about, and it was not named.", "Give --target MODEL."
            )

    @property
    def named_floors(self) -> tuple[str, ...]:
        """The floors that are asked."""
        if self.floors is None:
            return tuple(FLOORS)
        return tuple(dict.fromkeys(name for name in self.floors if name != "none"))

    @property
    def command(self) -> str:
        """The command that repeats the run in a new folder."""
        words = ["firsthand", "predict", str(self.path)]
        words += [word for name in self.models for word in ("--model", name)]
        words += [word for name in self.agents for word in ("--agent", name)]
        words += [word for name in self.tools for word in ("--tool", name)]
        words += [word for name in self.floors or () for word in ("--predictor", name)]
        options = {"target": self.target, "baseline": self.baseline, "most": self.most, "device": self.device}
        options |= {"form": self.form, "longest": self.longest, "max-tokens": self.max_tokens, "dtype": self.dtype}
        options |= {"calls": self.calls, "positions": self.positions} if self.tools else {}
        words += [f"--{name}={value}" for name, value in options.items() if value is not None]
        return shlex.join([*words, "--out", "NEW_FOLDER"])


def fewer(read: ReadClaims, most: int | None) -> ReadClaims:
    """Some of the claims, whole independent units at a time; all, if there are few.

    Args:
        read: The claims.
        most: Most of them.
    """
    if most is None or len(read.claims) <= most:
        return read
    units = units_named(read.claims)
    order = sorted(set(units))
    stream("predict", "fewer", read.sha256).shuffle(order)
    kept: set[str] = set()
    count = 0
    for cluster in order:
        size = units.count(cluster)
        if count + size <= most:
            kept.add(cluster)
            count += size
    chosen = tuple(claim for claim, unit in zip(read.claims, units, strict=True) if unit in kept)
    if not chosen:
        raise CounterfactualError(
            f"No cluster has as few as {most} claims.", "Raise --most: claims of one cluster are not parted."
        )
    dropped = {**read.dropped, "more claims than were asked for": len(read.claims) - len(chosen)}
    return ReadClaims(read.name, read.sha256, chosen, dropped)
