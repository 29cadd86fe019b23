"""What a verdict was compiled from, kept as plain numbers, so that it can be compiled again from the folder alone."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from pydantic import Field

from firsthand.analysis.inference import Measured
from firsthand.analysis.means import mean_of
from firsthand.analysis.self_cross import (
    Elsewhere,
    SelfCrossResult,
    SelfCrossSpec,
    Support,
    controls,
    corrected,
    judge,
    panel_of,
)
from firsthand.analysis.self_cross.contrasts import mean_area
from firsthand.analysis.self_cross.controls import faults_of
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.training.reading import some_claims
from firsthand.errors import TraceError
from firsthand.trials.files import read_json, write_json

JUDGED: Final = "judged"
LARGEST: Final = 100.0
"""Divergence in nats beyond which intervals do not reach."""


class Values(Part):
    """A number for each of some rows, with the independent unit of each.

    Attributes:
        values: The numbers.
        units: The units.
    """

    values: tuple[float, ...]
    units: tuple[str, ...]

    def mean(self, most: float, what: str = "cluster") -> Measured:
        """Their mean with its uncertainty, which is between 0 and ``most``; ``what`` is what a unit is called."""
        table = pd.DataFrame({what: list(self.units)})
        return mean_of(np.array(self.values), table, [what], span=(0.0, most))


class Recalled(Part):
    """What a sibling says of claims that it was trained on.

    Attributes:
        truth: Labels, 1 or 0.
        units: Independent units.
        scores: Any ordering, one row a seed; an answer that is not valid is ranked as wrong as it can be.
    """

    truth: tuple[float, ...]
    units: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]

    def area(self) -> Measured:
        """The area over all seeds."""
        return mean_area(np.array(self.truth), np.array(self.scores), self.units, trained=True).measured()


class Kept(Part):
    """Everything that one verdict rests on.

    Attributes:
        name: Name of the study, and of its folder.
        about: Name of the model that the claims are about.
        own: Whether that model was trained on them; else no verdict is given on them.
        table: Predictions, a list for each column of :data:`firsthand.analysis.self_cross.table.COLUMNS`.
        rivals: Names of the models that were trained on the same.
        siblings: Those of them that are next of kin.
        twins: Those that were made by the same steps.
        drift: Divergence from the base of every chat, one entry a seed.
        changed: Whether each label is another, one entry a seed.
        anew: Share of the claims whose labels were measured anew, the worst seed.
        learnt: What siblings say of claims that they were trained on.
        same_data: Whether all trainings saw the same claims in the same order.
        shared: Units that were trained on and are judged on.
        elsewhere: Names of the studies of claims about others.
        planted: Name of the study that shows what a training of this size can see.
        control: Whether it is there only to show that: its truth is known, so it is none of the verdicts that could
            have come out and are corrected together.
    """

    name: str
    about: str
    own: bool = True
    table: dict[str, tuple[str | float | bool | int | None, ...]]
    rivals: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()
    drift: tuple[Values, ...] = ()
    changed: tuple[Values, ...] = ()
    anew: float = 0.0
    learnt: dict[str, Recalled] = Field(default_factory=dict)
    same_data: bool = True
    shared: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    planted: str | None = None
    control: bool = False

    def seen(self) -> Elsewhere:
        """Its predictions, for telling who learns better."""
        return Elsewhere(panel_of(self.frame(), self.about, own=self.own), self.same_data, frozenset(self.shared))

    def frame(self) -> pd.DataFrame:
        """The table of predictions."""
        made = pd.DataFrame({name: list(values) for name, values in self.table.items()})
        return made.astype({"seed": "Int64", "probability": "float64", "coverage": "float64"})


def slug(name: str) -> str:
    """A name as that of a folder."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-").lower() or "model"


def columns_of(table: pd.DataFrame) -> dict[str, tuple[Any, ...]]:
    """A table of predictions as plain values."""
    return {
        str(name): tuple(None if pd.isna(value) else value for value in table[name].astype(object).tolist())
        for name in table
    }


def compiled(one: Kept, others: Mapping[str, Kept], spec: SelfCrossSpec) -> SelfCrossResult:
    """The verdict on one target, before several are corrected together."""
    planted = None if one.planted is None else others[one.planted].seen()
    return judge(
        panel_of(one.frame(), one.about),
        Support(
            siblings=frozenset(one.siblings),
            twins=frozenset(one.twins),
            ability=controls([others[name].seen() for name in one.elsewhere], one.about, one.rivals, spec),
            learnt={name: found.area() for name, found in one.learnt.items()},
            drift=tuple(found.mean(LARGEST, "chat") for found in one.drift),
            changed=tuple(found.mean(1.0) for found in one.changed),
            anew=one.anew,
            sensitivity=None if planted is None else planted.panel.area(planted.panel.own).measured(),
            insensitive=() if planted is None else unread(planted, spec),
            same_data=one.same_data,
            shared_clusters=frozenset(one.shared),
        ),
        spec,
    )


def unread(planted: Elsewhere, spec: SelfCrossSpec) -> tuple[str, ...]:
    """Why what a target says of its planted rule shows nothing: it must pass the gates that every verdict must."""
    return tuple(faults_of(planted.panel, (planted.panel.own,), spec, planted.same_data, planted.shared_clusters))


def judged_together(
    results: Mapping[str, SelfCrossResult], kept: Mapping[str, Kept], spec: SelfCrossSpec
) -> dict[str, SelfCrossResult]:
    """Verdicts by the name of the study, corrected for how many of them could have been ``privileged``.

    Controls of known truth are not counted, nor is a study without a sibling: there it was out of reach from the start.

    Args:
        results: Verdicts before they are corrected.
        kept: What they rest on.
        spec: The rules.
    """
    held = corrected(
        {name: one for name, one in results.items() if kept[name].siblings and not kept[name].control}, spec.alpha
    )
    return {name: held.get(name, one) for name, one in results.items()}


def keep(folder: Path, studies: Sequence[Kept]) -> None:
    """Keep what verdicts rest on."""
    for one in studies:
        write_json(folder / JUDGED / f"{one.name}.json", one.model_dump(mode="json"))


def judged_again(folder: Path, results: Mapping[str, SelfCrossResult], spec: SelfCrossSpec) -> None:
    """See that labels and predictions are those of the folder, and that verdicts are what they give.

    Args:
        folder: The run's folder.
        results: Verdicts, by the name of the study.
        spec: The rules.

    Raises:
        TraceError: If a label, prediction or verdict is another.
    """
    held = [Kept.model_validate(read_json(path)) for path in sorted((folder / JUDGED).glob("*.json"))]
    kept = {one.name: one for one in held}
    for one in kept.values():
        _as_asked(folder, one)
    if set(results) - set(kept):
        raise TraceError(f"{folder} does not hold what its verdicts rest on.", "Run the same command in a new folder.")
    again = judged_together({name: compiled(kept[name], kept, spec) for name in results}, kept, spec)
    for name, found in results.items():
        if (again[name].verdict, again[name].reasons) != (found.verdict, found.reasons):
            raise TraceError(
                f"The predictions in {folder} give {again[name].verdict.value} for {name}, and its result says "
                f"{found.verdict.value}, or gives other reasons.",
                "Remove result.json, and run the same command again.",
            )


def _as_asked(folder: Path, one: Kept) -> None:
    """See that a kept table has the labels of the claims and the answers of the models."""
    table = one.frame()
    path = folder / "claims" / f"{one.name}.jsonl"
    labels = {claim.id: claim.label for claim in some_claims(path)} if path.exists() else {}
    for claim, label in zip(table["claim"], table["label"], strict=True):
        if labels and labels.get(claim) is not bool(label):
            raise TraceError(f"{path} has another label for the claim {claim} than was judged by.", "Run again.")
    models = table[table["kind"].isin(["self", "cross", "base"])]
    for (model, named), part in models.groupby(["model", "seed"], dropna=False):
        untrained = named is pd.NA or str(named) == "nan"  # pandas groups by either
        place = folder / one.name / ("untrained" if untrained else f"{slug(str(model))}/seed-{int(float(str(named)))}")
        said = {row["claim"]: row["probability"] for row in read_json(place / "predictions.json")["value"]}
        given = [None if pd.isna(p) else float(p) for p in part["probability"]]
        if [said.get(claim) for claim in part["claim"]] != given:
            raise TraceError(f"{place} holds other predictions than were judged.", "Run again.")
