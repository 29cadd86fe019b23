"""Everybody's trainings and predictions of the claims on one target, each kept as soon as it is made.

A folder holds ``MODEL/seed-N/adapter`` and ``MODEL/seed-N/predictions.json``. What is there and fits is taken; what is
missing is made, so a run that was stopped goes on.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import pandas as pd

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.predictions import Prediction, Predictor
from firsthand.counterfactual.responses import Sampling
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.training.adapters import Trained, load_trained
from firsthand.counterfactual.training.drift import divergences, transcript
from firsthand.counterfactual.training.examples import Item, TrainingSet, both_labels, training_set, units_named
from firsthand.counterfactual.training.lora import train
from firsthand.counterfactual.training.predictor import follow_up_of
from firsthand.counterfactual.training.readers import readers
from firsthand.counterfactual.training.rejudging import Recalled, Values, slug
from firsthand.counterfactual.training.relabelling import Relabelling, relabel
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.counterfactual.training.tokens import refusal
from firsthand.engine import LoadedModel
from firsthand.progress import Progress
from firsthand.trials.canonical import digest
from firsthand.trials.files import read_json, write_json

RECALLED: Final = 64
"""Claims of its training that a sibling is asked again, to see that it learnt anything."""


class Contender(NamedTuple):
    """A model that is trained on the claims.

    Attributes:
        loaded: The model.
        name: Name in tables.
        kind: ``self`` if the claims are about it.
        sibling: Whether it is the target without its state, or next of kin.
        twin: Whether it was made by the very steps that made the target, with another draw of the state.
    """

    loaded: LoadedModel
    name: str
    kind: Literal["self", "cross"]
    sibling: bool = False
    twin: bool = False


class Study(NamedTuple):
    """Claims about one target, and who is trained on them.

    Attributes:
        name: Short name, and that of its folder.
        contenders: Who is trained; the target first.
        train: Claims to train on.
        held_out: Claims to be judged on.
        claims: The held-out claims, for measuring anew; empty where the target cannot be drawn from.
        sampling: How responses are drawn when labels are measured anew.
        anew: Measures the labels anew on the trained target, where they did not come from drawn responses; it goes by
            ``sampling`` and ``claims`` alone.
    """

    name: str
    contenders: tuple[Contender, ...]
    train: tuple[Item, ...]
    held_out: tuple[Item, ...]
    claims: tuple[Claim, ...] = ()
    sampling: Sampling = Sampling(samples=10, max_tokens=100)
    anew: Callable[[LoadedModel], Relabelling] | None = None

    @property
    def target(self) -> Contender:
        """The model that the claims are about."""
        return self.contenders[0]

    @property
    def units(self) -> dict[str, str]:
        """The independent unit of every claim, by its identifier."""
        return units_named((*self.train, *self.held_out))


class Training(Part):
    """One training of one model, for the record.

    Attributes:
        model: The model.
        seed: The seed.
        trained: What was trained.
        folder: Where it is, within the study's folder.
    """

    model: str
    seed: int
    trained: Trained
    folder: str


class Contended(NamedTuple):
    """What came of a study.

    Attributes:
        table: Predictions, as :func:`firsthand.analysis.self_cross.panel_of` reads them.
        trainings: Every training.
        data: Training set of each seed.
        drift: Divergence of the trained target from its base over held-out transcripts, by seed.
        relabelled: Labels measured anew on the trained target, by seed.
        learnt: What every sibling says of claims that it was trained on, by its name.
    """

    table: pd.DataFrame
    trainings: tuple[Training, ...]
    data: dict[int, TrainingSet]
    drift: dict[int, Values]
    relabelled: dict[int, Relabelling]
    learnt: dict[str, Recalled]

    @property
    def same_data(self) -> bool:
        """Whether, seed by seed, all models saw the same chats in the same order."""
        seen: dict[int, set[str]] = {}
        for one in self.trainings:
            seen.setdefault(one.seed, set()).add(one.trained.data)
        return all(len(digests) == 1 for digests in seen.values())


def data_sets(study: Study, settings: TrainSettings, seeds: Sequence[int]) -> dict[int, TrainingSet]:
    """The chats of every seed, the same for all contenders: what one of them cannot be given, none gets."""
    tests = [refusal(one.loaded.tokenizer, settings.max_tokens) for one in study.contenders]
    return {seed: training_set(study.train, settings.epochs, seed, tests) for seed in seeds}


def contend(study: Study, settings: TrainSettings, seeds: Sequence[int], folder: Path, progress: Progress) -> Contended:
    """Train everybody with every seed, and ask everybody about the held-out claims.

    Args:
        study: Claims and contenders.
        settings: How they are trained; the seed is replaced.
        seeds: Seeds, one training of each contender for each.
        folder: Where everything goes.
        progress: Who is told.

    Raises:
        CounterfactualError: If the held-out claims have one label only, before anything is trained.
    """
    both_labels(study.held_out, f"held-out claims of {study.name}")
    data = data_sets(study, settings, seeds)
    units = study.units
    ids = {one.id for one in data[seeds[0]].examples}
    shown = [item for item in study.train if item.id in ids]
    again = sorted(shown, key=lambda item: digest(["learnt", item.id]))[:RECALLED]
    recalled: dict[str, list[list[Prediction]]] = {}
    frames: list[pd.DataFrame] = []
    trainings: list[Training] = []
    drift: dict[int, Values] = {}
    relabelled: dict[int, Relabelling] = {}
    for seed in seeds:
        for one in study.contenders:
            place = folder / slug(one.name) / f"seed-{seed}"
            progress.say(f"{study.name}: {one.name}, seed {seed}")
            own = settings.model_copy(update={"seed": seed})
            trained = train(
                one.loaded, data[seed], own, place, progress, general_of(one.loaded, study, data[seed], own)
            )
            model = load_trained(one.loaded, place)
            asked = follow_up_of(model, one.kind, one.name)
            said = _predicted(asked, study.held_out, place)
            frames.append(_rows(study.held_out, units, said, one.kind, one.name, seed))
            if one.sibling:
                recalled.setdefault(one.name, []).append(_predicted(asked, again, place, "learnt.json"))
            relative = place.relative_to(folder).as_posix()
            trainings.append(Training(model=one.name, seed=seed, trained=trained, folder=relative))
            if one.kind == "self":
                drift[seed] = _drift(model, one.loaded, study.held_out, units, place)
                if study.claims:
                    relabelled[seed] = _relabelled(model, study, place, progress)
    target = study.target
    said = _predicted(follow_up_of(target.loaded, "base", "untrained"), study.held_out, folder / "untrained")
    frames.append(_rows(study.held_out, units, said, "base", "untrained", None))
    for (name, kind), predictions in readers(shown, study.held_out).items():
        frames.append(_rows(study.held_out, units, predictions, kind, name, None))
    learnt = {name: found for name, all_ in recalled.items() if (found := _learnt(again, units, all_)) is not None}
    return Contended(pd.concat(frames, ignore_index=True), tuple(trainings), data, drift, relabelled, learnt)


def _learnt(items: Sequence[Item], units: Mapping[str, str], said: Sequence[Sequence[Prediction]]) -> Recalled | None:
    """What a sibling says of claims that it was trained on; an answer that is not valid counts as wrong."""
    truth = tuple(float(item.label) for item in items)
    if len(set(truth)) < 2:
        return None
    wrong = [-1.0 if right else 2.0 for right in truth]
    scores = tuple(
        tuple(worst if one.probability is None else one.probability for worst, one in zip(wrong, row, strict=True))
        for row in said
    )
    return Recalled(truth=truth, units=tuple(units[item.id] for item in items), scores=scores)


def general_of(loaded: LoadedModel, study: Study, data: TrainingSet, settings: TrainSettings) -> list[tuple[int, ...]]:
    """Chats on which a model is held to its base, where it is: what stands before the questions, each once.

    Only chats that are trained on are among them: they can be given to every model.
    """
    if not settings.kl_share:
        return []
    ids = {one.id for one in data.examples}
    return list(dict.fromkeys(transcript(loaded, item.question) for item in study.train if item.id in ids))


def _rows(
    items: Sequence[Item], units: Mapping[str, str], said: Sequence[Prediction], kind: str, model: str, seed: int | None
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "claim": [item.id for item in items],
            "cluster": [units[item.id] for item in items],
            "label": [item.label for item in items],
            "kind": kind,
            "model": model,
            "seed": seed,
            "probability": [one.probability for one in said],
            "coverage": [one.coverage for one in said],
        }
    ).astype({"seed": "Int64", "probability": "float64"})


def _predicted(
    predictor: Predictor, items: Sequence[Item], place: Path, name: str = "predictions.json"
) -> list[Prediction]:
    asked = [item.question for item in items]
    key = digest([predictor.identity, [question.model_dump(mode="json") for question in asked]])
    held = _kept(place / name, key)
    if held is not None:
        return [Prediction.model_validate(one) for one in held]
    said = predictor.predict(asked)
    _keep(place / name, key, [one.model_dump(mode="json") for one in said])
    return said


def _drift(
    model: LoadedModel, base: LoadedModel, items: Sequence[Item], units: Mapping[str, str], place: Path
) -> Values:
    chats = {item.question.prompt.id: item for item in items}
    tokens = [transcript(base, item.question) for item in chats.values()]
    key = digest([model.weights_sha256, [list(one) for one in tokens]])
    held = _kept(place / "drift.json", key)
    values = held if held is not None else divergences(model, base, tokens).tolist()
    if held is None:
        _keep(place / "drift.json", key, values)
    return Values(values=tuple(values), units=tuple(units[item.id] for item in chats.values()))


def _relabelled(model: LoadedModel, study: Study, place: Path, progress: Progress) -> Relabelling:
    target = LocalTarget(model, study.sampling)
    key = digest([target.identity, study.sampling.samples, [claim.id for claim in study.claims]])
    held = _kept(place / "relabelled.json", key)
    if held is not None:
        return Relabelling.model_validate(held)
    progress.say(f"{study.name}: measuring {len(study.claims)} labels anew on the trained target")
    found = study.anew(model) if study.anew else relabel(study.claims, target, study.sampling.samples)
    _keep(place / "relabelled.json", key, found.model_dump(mode="json"))
    return found


def _kept(path: Path, key: str) -> Any:
    if not path.exists():
        return None
    held: Mapping[str, Any] = read_json(path)
    return held["value"] if held.get("key") == key else None


def _keep(path: Path, key: str, value: Any) -> None:
    write_json(path, {"key": key, "value": value})
