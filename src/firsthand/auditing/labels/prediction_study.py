"""The study of self-prediction: from a claim, models and prompts to a run folder with a trace and verdicts."""

import gc
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.auditing.labels.finishing import finish
from firsthand.auditing.labels.prediction_evidence import Evidence, Reader
from firsthand.auditing.labels.prediction_findings import asked, computing, findings_of
from firsthand.auditing.labels.prediction_observers import features_of
from firsthand.auditing.running import bindings_of, card_of, examined, settle, settle_further
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.labels import PredictionClaim
from firsthand.engine import Anatomy, LoadedModel, inspect_model, load
from firsthand.errors import ElicitationError, EngineError, LabelsError, StatesError
from firsthand.progress import Progress, Silent, tracked
from firsthand.report.document import ModelCard
from firsthand.report.labels_document import DataCard, LabelsDocument
from firsthand.studies.labels.prediction.behaviour import answers_of, behaviour_rows
from firsthand.studies.labels.prediction.bench import Bench, bench_of, drawn_prompts, letters_of
from firsthand.studies.labels.prediction.prompts import Prompt, PromptSet
from firsthand.studies.labels.prediction.properties import Settled
from firsthand.studies.labels.prediction.reports import (
    ANSWER_SHOWN,
    COLUMNS,
    LOT,
    OUTRIGHT,
    TARGET,
    THIRD_PERSON,
    asked_rows,
    outright_rows,
)
from firsthand.studies.labels.reading import states_of
from firsthand.trials.keeping import kept
from firsthand.trials.trace import Trace

LIMITS: Final = (
    "An answer follows from the model and its prompt, so whoever knows the model could foresee it: what may be shown "
    "is to be ahead of observers of given means, at this number of examples.",
    "Nothing was trained. Models that are fine-tuned to predict themselves may do better, and may also change what "
    "they predict.",
    "Answers are greedy and short. Nothing follows for long or sampled answers, or for properties that were not asked "
    "about.",
    "Other models are read by the mean of their states of a prompt at three layers, by what they answer and by what "
    "they reply; a larger model, or one that was trained on this one's answers, may foresee more.",
    "Where the model cannot tell a property of an answer that it reads, failing to predict it shows no lack of access.",
    "Examples, wording and letters were drawn a few times only, and intervals are over prompts and their groups: to "
    "lead in every draw is asked for, and another draw may come out otherwise.",
    "Only 'privileged' is corrected over the properties of the run (Holm); of many properties one may get another "
    "verdict by chance.",
    "A report may be right without any example. That it was learned from the examples is shown beside, and decides "
    "nothing.",
    "Functional access, where shown, says nothing about experience.",
)
"""What may not be concluded."""

Loader = Callable[[str], LoadedModel]


@dataclass(frozen=True)
class PredictionRun:
    """A finished study.

    Attributes:
        folder: Its folder.
        document: What was found.
        table: What was replied to every question, one row a prompt; ``model`` says by whom.
        behaviour: What the judged model answered to each prompt.
    """

    folder: Path
    document: LabelsDocument
    table: pd.DataFrame
    behaviour: pd.DataFrame


def predict(
    claim: PredictionClaim,
    prompts: PromptSet,
    model: LoadedModel | None = None,
    folder: str | Path = "runs/prediction",
    progress: Progress | None = None,
    *,
    loader: Loader = load,
    reproduce: Sequence[str] = (),
) -> PredictionRun:
    """Run a study of self-prediction, or go on with one.

    Args:
        claim: The claim; it is frozen before anything is run.
        prompts: The prompts that it names.
        model: The model that the claim names, if it is loaded already.
        folder: The run's folder; one folder holds one claim.
        progress: Who is told how far it is.
        loader: Loads the claim's readers, one after the other.
        reproduce: Commands that repeat the study.

    Raises:
        FirsthandError: If the folder holds another claim, the prompts do not fit, or a question cannot be asked.
    """
    progress, folder = progress or Silent(), Path(folder)
    loaded = model or load(claim.model)
    chosen = drawn_prompts(prompts, claim)
    frozen = FrozenLabels.of(claim, bindings_of(loaded))
    settle(folder, frozen, loaded)
    notes = list(examined(loaded, progress))
    trace, anatomy = Trace(folder / "trace"), inspect_model(loaded.model)
    progress.say("answering the prompts")
    behaviour = _behaviour(trace, "behaviour", loaded, anatomy, chosen, claim)
    bench = bench_of(claim, chosen, behaviour, letters_of(loaded))
    units = ["behaviour"]
    rows = _asked(trace, units, loaded, anatomy, bench, progress)
    progress.say("reading the prompts")
    features = features_of(loaded, anatomy, chosen)
    readers, cards, absent = _readers(folder, trace, units, bench, card_of(loaded), loader, progress)
    trace.finish(units, {"study": "prediction"})
    progress.say("judging")
    evidence = Evidence(bench, rows, features, readers)
    models, notes = [card_of(loaded), *cards], [*notes, *absent]
    document = _document(folder, frozen, models, prompts, evidence, reproduce, notes)
    said = [rows.assign(model=loaded.name), *(one.rows.assign(model=one.name) for one in readers)]
    return PredictionRun(folder, document, pd.concat(said, ignore_index=True), behaviour)


def _document(
    folder: Path,
    frozen: FrozenLabels,
    models: Sequence[ModelCard],
    prompts: PromptSet,
    evidence: Evidence,
    reproduce: Sequence[str],
    notes: Sequence[str],
) -> LabelsDocument:
    findings, known = findings_of(evidence)
    claim = evidence.bench.claim
    data = DataCard(
        name=prompts.name,
        sha256=prompts.sha256,
        used={"fit": claim.fit, "judged": claim.judged},
        dropped=dict(prompts.dropped),
    )
    return finish(
        folder,
        "Self-prediction",
        frozen,
        models,
        data,
        [*findings, computing(evidence)],
        known_answers=known,
        limits=LIMITS,
        reproduce=reproduce,
        notes=notes,
    )


@dataclass(frozen=True)
class Step:
    """One unit of questions: a property, an experiment, a condition and a number of examples."""

    one: Settled
    experiment: int
    arm: str
    examples: int

    @property
    def unit(self) -> str:
        """Name of the unit."""
        return f"{self.one.property.name}.{self.experiment}.{self.arm.replace(' ', '-')}.{self.examples}"


def steps(bench: Bench) -> list[Step]:
    """Every unit of questions that the model is asked."""
    most, found = bench.most, list[Step]()
    for one in asked(bench):
        for experiment in range(bench.claim.experiments):
            if not bench.items(one, experiment):
                continue
            conditions = [(TARGET, count) for count in sorted(bench.claim.examples)] + [(THIRD_PERSON, most)]
            conditions += [(LOT, most), (OUTRIGHT, most)] if most else []
            found += [Step(one, experiment, arm, count) for arm, count in [*conditions, (ANSWER_SHOWN, most)]]
    return found


def _behaviour(
    trace: Trace, unit: str, loaded: LoadedModel, anatomy: Anatomy, prompts: Sequence[Prompt], claim: PredictionClaim
) -> pd.DataFrame:
    def make() -> list[pd.DataFrame]:
        longest, draws, seed = claim.longest_answer, claim.draws, claim.seed
        return [behaviour_rows(loaded, anatomy, prompts, longest=longest, draws=draws, seed=seed)]

    return kept(trace, [unit], make, COLUMNS)[0]


def _asked(
    trace: Trace, units: list[str], loaded: LoadedModel, anatomy: Anatomy, bench: Bench, progress: Progress
) -> pd.DataFrame:
    todo, frames = steps(bench), list[pd.DataFrame]()
    for step in tracked(todo, "questions", len(todo), progress):
        frames += kept(trace, [step.unit], partial(_made, loaded, anatomy, bench, step), COLUMNS)
        units.append(step.unit)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({"property": [], "arm": []})


def _made(loaded: LoadedModel, anatomy: Anatomy, bench: Bench, step: Step) -> list[pd.DataFrame]:
    if step.arm == OUTRIGHT:
        return [outright_rows(loaded, anatomy, bench, step.one, step.experiment)]
    return [asked_rows(loaded, anatomy, bench, step.one, step.experiment, step.arm, step.examples)]


def _readers(
    folder: Path, trace: Trace, units: list[str], bench: Bench, own: ModelCard, loader: Loader, progress: Progress
) -> tuple[list[Reader], list[ModelCard], list[str]]:
    """What other models said, one model in memory after the other; who cannot be asked is named with the reason."""
    readers, cards, absent = list[Reader](), list[ModelCard](), list[str]()
    todo = [step for step in steps(bench) if step.arm == THIRD_PERSON]
    for name in bench.claim.readers:
        progress.say(f"loading {name}")
        loaded = loader(name)
        card, anatomy = card_of(loaded), inspect_model(loaded.model)
        if card.weights_sha256 == own.weights_sha256:
            raise LabelsError(
                f"{name} is the model that is judged, so it is no other reader.", "Name another model by --reader."
            )
        settle_further(folder, loaded)
        lead = f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name).strip('-')[-40:]}-{card.weights_sha256[:8]}"
        own_units = [f"{lead}.behaviour"]
        try:
            answers = answers_of(_behaviour(trace, own_units[0], loaded, anatomy, bench.prompts, bench.claim))
            frames = []
            for step in tracked(todo, f"questions to {name}", len(todo), progress):
                unit = f"{lead}.{step.unit}"
                frames += kept(trace, [unit], partial(_made, loaded, anatomy, bench, step), COLUMNS)
                own_units.append(unit)
            progress.say(f"reading the prompts with {name}")
            states = _states(loaded, anatomy, bench.prompts)
        except (ElicitationError, EngineError, StatesError) as error:
            absent.append(f"The reader {name} did not take part: {error.problem}")
            continue
        finally:
            del loaded, anatomy
            gc.collect()
        units += own_units
        cards.append(card)
        if frames:
            readers.append(Reader(name, pd.concat(frames, ignore_index=True), answers, states))
    return readers, cards, absent


def _states(loaded: LoadedModel, anatomy: Anatomy, prompts: Sequence[Prompt]) -> dict[int, NDArray[np.float32]]:
    """A model's states of prompts after a third, two thirds and all of its layers, ``[prompts, hidden]``."""
    last = anatomy.n_layers - 1
    layers = sorted({round(last / 3), round(2 * last / 3), last})
    return states_of(loaded, anatomy, [one.shown for one in prompts], layers).layers
