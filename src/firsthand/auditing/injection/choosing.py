"""The judgement of choices: a place, a strength, a concept of a list.

Control arms are the same injection under a question with the same answers that asks nothing about the inside; and for
concepts a direction without content, under which nothing could be identified. A place and a strength may well be told
by a report that knows nothing of content, so there that direction is shown and not held against it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from firsthand.analysis import CapabilityResult
from firsthand.analysis.choice import Chosen, judge_choice
from firsthand.analysis.means import mean_of
from firsthand.analysis.verdict import shown
from firsthand.auditing.injection.columns import contrast, places, strongest
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.concepts import mentions
from firsthand.studies.injection.drafts import Task
from firsthand.studies.injection.places import COPIES
from firsthand.vocabulary import Capability, Condition, Verdict


@dataclass(frozen=True)
class ChoiceKind:
    """How a question with several answers is judged.

    Attributes:
        task: The question.
        control: The task of its control questions.
        capability: What it asks for.
        held: Arms beside the control questions that it must be ahead of.
    """

    task: Task
    control: Task
    capability: Capability
    held: tuple[Arm, ...] = ()


CHOICES: Mapping[str, ChoiceKind] = {
    "localisation": ChoiceKind(Task.LOCALISATION, Task.LOCALISATION_CONTROL, Capability.LOCALISATION),
    "strength": ChoiceKind(Task.STRENGTH, Task.STRENGTH_CONTROL, Capability.CHARACTERISATION),
    "choice": ChoiceKind(Task.CHOICE, Task.CHOICE_CONTROL, Capability.IDENTIFICATION, (Arm.CONTENT_FREE,)),
    "codes": ChoiceKind(Task.CODES, Task.CODES_CONTROL, Capability.IDENTIFICATION, (Arm.CONTENT_FREE,)),
}

QUESTION = "question: "
NAMES_IT = "question: concept"
"""A control question that names the concept: whoever knows the place by its content is right, so it is shown only."""

Likelihoods = Mapping[str, Mapping[str, float]]
"""For each concept, how likely each concept of its list makes the visible answer."""


def arms_of(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The trials that count, as ``arm``, ``truth`` and ``answer`` (places among the answers, NaN if invalid).

    Control questions are arms of their own, named after the question.
    """
    kind = CHOICES[name]
    real = (table["task"] == str(kind.task)) & table["arm"].isin([str(Arm.TARGET), *map(str, kind.held)])
    control = (table["task"] == str(kind.control)) & (table["arm"] == str(Arm.TARGET))
    here = table[real | control].reset_index(drop=True)
    asked = here["task"] == str(kind.control)
    answer = places(here, here["answer"]).astype(np.float64)
    return here.assign(
        arm=np.where(asked, QUESTION + here["detail"].astype(str), here["arm"]),
        truth=places(here, here["truth"]),
        answer=np.where(here["answer"].isna(), np.nan, answer),
    )


def judge_choices(
    table: pd.DataFrame,
    name: str,
    spec: AnalysisSpec,
    condition: Condition = Condition.Y_WITHHELD,
    visible: pd.DataFrame | None = None,
    likelihoods: Likelihoods | None = None,
) -> CapabilityResult:
    """Judge one question with several answers, on one cell's trials.

    Args:
        table: All trials of the question in the cell, with the probe's readings.
        name: A key of :data:`CHOICES`.
        spec: The rules.
        condition: Whether observers see the visible answer.
        visible: The visible answers, where they do.
        likelihoods: What the same model makes of them.
    """
    kind, here = CHOICES[name], arms_of(table, name)
    target = here[here["arm"] == str(Arm.TARGET)]
    clean = table[table["arm"] == str(Arm.CLEAN)].drop_duplicates("text").set_index("text")["answer"]
    before = places(target, target["text"].map(clean)).astype(np.float64)
    observers = {
        "text": Chosen(np.full(len(target), np.nan)),
        "unedited": Chosen(np.where(before < 0, np.nan, before)),
    }
    if condition is Condition.Y_SHOWN and visible is not None:
        observers |= _onlookers(target, visible, likelihoods or {})
    options = len(target["order"].iloc[0].split("|"))
    readers = {"wire": ("site", wire(target)), "probe": ("report", target["probe"].to_numpy(dtype=np.float64))}
    questions = sorted({arm for arm in here["arm"] if arm.startswith(QUESTION) and arm != NAMES_IT})
    needed = (*map(str, kind.held), *questions)
    result = judge_choice(kind.capability, condition, here, options, observers, readers, spec, needed)
    return against_promotion(result, table, here, questions, spec)


def against_promotion(
    result: CapabilityResult, table: pd.DataFrame, here: pd.DataFrame, questions: Sequence[str], spec: AnalysisSpec
) -> CapabilityResult:
    """Take back a privileged verdict where the right answer's log-odds rise as much under another question.

    An answer that a control question has hardly a doubt about cannot be overturned there, so its rate could not have
    shown what the injection promotes.
    """
    if result.verdict is not Verdict.PRIVILEGED:
        return result
    truth = pd.Series([order.split("|")[place] for order, place in zip(here["order"], here["truth"], strict=True)])
    clean = table[table["arm"] == str(Arm.CLEAN)].drop_duplicates("text").set_index("text")
    before = clean.loc[here["text"]].reset_index(drop=True)
    moved = pd.DataFrame(
        {"concept": here["concept"], "arm": here["arm"], "rise": contrast(here, truth) - contrast(before, truth)}
    )
    rises = moved.groupby(["concept", "arm"])["rise"].mean().unstack("arm")
    for question in questions:
        both = rises[[str(Arm.TARGET), question]].dropna()
        lead = (both[str(Arm.TARGET)] - both[question]).to_numpy(dtype=np.float64)
        units = pd.DataFrame({"concept": both.index})
        reach = float(np.abs(lead).max(initial=1e-9))
        found = mean_of(lead, units, spec.clusters, (-reach, reach))
        if found.p_above(0.0) > spec.alpha:
            own = mean_of(both[question].to_numpy(dtype=np.float64), units, spec.clusters, (-1e3, 1e3))
            words = (
                f"the right answer's log-odds rise under the {question.replace(': ', ' ')} by {own.value:.2f} nats; "
                f"under the question about the inside {shown('more by', found, spec.alpha, 0.0)} nats"
            )
            verdict = Verdict.ANOMALY_ONLY if own.p_above(0.0) <= spec.alpha else Verdict.INSUFFICIENT
            return result.model_copy(update={"verdict": verdict, "reasons": (words, *result.reasons)})
    return result


def wire(target: pd.DataFrame) -> np.ndarray:
    """The answer of a wire at the site: the place where most was added along the vector ``[rows]``."""
    found = strongest(target)
    if (target["task"] == str(Task.STRENGTH)).all():  # sensors stand in the order of the copies, answers of mention
        named = pd.Series([COPIES[int(copy)] for copy in found], index=target.index)
        return places(target, named).astype(np.float64)
    return found


def _onlookers(target: pd.DataFrame, visible: pd.DataFrame, likelihoods: Likelihoods) -> dict[str, Chosen]:
    """The concept of the list that Y names, if it names one; and the one that makes Y likeliest."""
    said = visible[visible["arm"] == str(Arm.TARGET)].drop_duplicates("concept").set_index("concept")["said"]

    def named(concept: str, order: list[str]) -> float:
        found = [i for i, listed in enumerate(order) if mentions(said.get(concept, ""), listed)]
        return float(found[0]) if len(found) == 1 else np.nan

    def likeliest(concept: str, order: list[str]) -> float:
        scores = likelihoods.get(concept)
        return float(np.argmax([scores[listed] for listed in order])) if scores else np.nan

    def each(choose: Callable[[str, list[str]], float]) -> Chosen:
        pairs = zip(target["concept"], target["order"], strict=True)
        return Chosen(np.array([choose(concept, order.split("|")) for concept, order in pairs]), sees_output=True)

    return {"name in Y": each(named), "likelihood of Y": each(likeliest)}
