"""What a training of this size would have seen: a private rule is planted into the target, and trained on beside it.

That a target foretells nothing of itself means little if these settings, on so few claims, could not have found
anything. So a copy of it gets the private rule of the demonstration, and its twin another lot; both are trained with
the same settings and seeds on as many balanced claims, and judged on as many clusters. Only where that rule is read
may the absence of anything else be concluded (``planted`` of
:func:`~firsthand.counterfactual.training.concluding.kept_of`).

A control that had less than the claims have to train on, or to be judged on, is only harder to pass.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from firsthand.analysis.results import Estimate
from firsthand.analysis.self_cross import SelfCrossSpec
from firsthand.counterfactual.training.demo import FULL, DemoPlan, claims_about, planted_price, study_about
from firsthand.counterfactual.training.examples import Item, TrainingSet, both_labels
from firsthand.counterfactual.training.experiment import Contender, Study
from firsthand.counterfactual.training.folders import write_claims
from firsthand.counterfactual.training.planting.claims import FOLLOWED, Measured
from firsthand.counterfactual.training.planting.state import plant
from firsthand.counterfactual.training.planting.words import groups_of, other_lot, single_tokens
from firsthand.counterfactual.training.pricing import Price
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress
from firsthand.trials.canonical import digest

NAME: Final = "sensitivity"
CLAIMS_OF_A_GROUP: Final = 4
"""Two words, in both orders of the list."""
SPARE: Final = 0.1
"""Share of groups of words that are planted besides, since some may give no clear label."""
PLANTING: Final = {"dose", "chats", "lessons", "seed"}
"""What of a plan says how a rule is planted; the rest comes from the claims."""

TITLE: Final = "Would a training of this size have seen anything? A planted private rule"
ABOUT: Final = (
    "A positive control, of which the truth is known: a copy of the target answers “plover” where a live word stands "
    "in the list, and which words are live was drawn by lot and stands in its weights alone. It and its twin, which "
    "has another lot, were trained with the settings and seeds of the claims. The state is an easy one, an odd "
    "embedding: that it is read does not say that a state of another kind would be."
)
UNPLANTED: Final = (
    "There is no positive control, and no absence can be shown: no private rule could be planted in a copy of {name} "
    "({why})."
)


class Size(NamedTuple):
    """How large the control is.

    Attributes:
        claims: Balanced claims to train on.
        clusters: Groups of words to be judged on.
        groups: Groups of words that are planted, spare ones among them.
        short: In words, that it is smaller than it should be, and why; empty where it is not.
    """

    claims: int
    clusters: int
    groups: int
    short: str = ""


class Sensed(NamedTuple):
    """A control that was made ready.

    Attributes:
        study: The study; ``None`` where the rule did not take, so that training on it would show nothing.
        left_out: Claims that were not made, by reason.
        notes: What a reader should know.
        models: The models that were made.
    """

    study: Study | None
    left_out: dict[str, int]
    notes: tuple[str, ...]
    models: tuple[LoadedModel, ...]


def size_of(target: LoadedModel, study: Study, data: TrainingSet, least: int | None = None) -> Size:
    """A control as large as a study: as many claims to train on, and as many clusters to be judged on.

    Args:
        target: The model that the rule is planted in; its words of one token bound the size.
        study: The study of the claims.
        data: What everybody is trained on there.
        least: Fewest clusters that can be judged on, those of :class:`SelfCrossSpec` by default.

    Raises:
        CounterfactualError: If the model has too few words for any control.
    """
    fewest = SelfCrossSpec().clusters if least is None else least
    claims, clusters = len(data.examples), len({study.units[item.id] for item in study.held_out})
    training = math.ceil(claims / CLAIMS_OF_A_GROUP)
    words = len(single_tokens(target.tokenizer))
    wanted, there = training + clusters, words // 2
    if there >= wanted:
        spare = math.ceil(SPARE * wanted)
        return Size(claims, clusters, min(there, wanted + spare))
    judged = max(min(fewest, clusters), there * clusters // wanted)
    rest = there - judged
    if rest < 1:
        raise CounterfactualError(
            f"{target.name} has {words} words of one token of ours, too few to plant a rule and to train on it.",
            "Run the same command without --sensitivity.",
        )
    some = min(claims, CLAIMS_OF_A_GROUP * rest)
    short = (
        f"smaller than the claims: {some} claims to train on and {judged} clusters to be judged on, in place of "
        f"{claims} and {clusters}, since {target.name} has {words} words of one token of ours"
    )
    return Size(some, judged, there, short)


def plan_of(size: Size, settings: TrainSettings, seeds: Sequence[int], like: DemoPlan = FULL) -> DemoPlan:
    """The plan of a control: planted as in the demonstration, and trained like the claims.

    Args:
        size: How large it is.
        settings: How models are trained on the claims.
        seeds: Seeds of their trainings.
        like: How a rule is planted.
    """
    changes = {
        "layers": None,
        "stranger": False,
        "groups": size.groups,
        "held_out": size.clusters / size.groups,
        "seeds": tuple(seeds),
        "training": settings,
    }
    return like.model_copy(update=changes)


def planted(target: LoadedModel, size: Size, plan: DemoPlan, folder: Path, progress: Progress) -> Sensed:
    """Plant the rule and another lot, and measure claims; what is finished in the folder is taken from it.

    Args:
        target: The model that the claims are about; it is not changed.
        size: How large the control is.
        plan: How it is made.
        folder: The run's folder.
        progress: Who is told.
    """
    groups = groups_of(target.tokenizer, plan.groups, plan.seed)
    place = folder / "targets"
    progress.say("planting a private rule, to see what a training of this size would see")
    ours, theirs = plan.planting("private", groups), plan.planting("private", other_lot(groups, plan.seed))
    ruled = plant(target, ours, place / "private", progress)
    found = claims_about(ruled, ours, plan, place / "private", progress)
    progress.say("planting it with another lot")
    twin = plant(target, theirs, place / "twin", progress)
    least = min(found.followed, claims_about(twin, theirs, plan, place / "twin", progress).followed)
    contenders = (
        Contender(ruled, f"{target.name} with a rule", "self"),
        Contender(twin, f"{target.name} with another lot", "cross", sibling=True, twin=True),
    )
    models = (ruled, twin)
    if least < FOLLOWED:
        why = f"it or its twin did not take: {least:.0%} of the edits do what it says, and {FOLLOWED:.0%} are wanted"
        return Sensed(None, _left_out(found), (UNPLANTED.format(name=target.name, why=why),), models)
    try:
        study = _cut(study_about("private", contenders, found, plan), size)
        both_labels(study.train, "claims on the planted rule")
        both_labels(study.held_out, "held-out claims on the planted rule")
    except CounterfactualError as error:
        why = UNPLANTED.format(name=target.name, why=error.problem.rstrip("."))
        return Sensed(None, _left_out(found), (why,), models)
    write_claims(folder / "claims" / f"{NAME}.jsonl", found.claims)
    return Sensed(study, _left_out(found), _size_told(study, size), models)


def _cut(study: Study, size: Size) -> Study:
    """No more than as many claims of each label to train on, and clusters to be judged on; a hash says which."""
    held = sorted({study.units[item.id] for item in study.held_out}, key=lambda unit: digest(["judged", unit]))
    kept = set(held[: size.clusters])
    judged = tuple(item for item in study.held_out if study.units[item.id] in kept)
    ids = {item.id for item in judged}
    return study._replace(
        name=NAME,
        train=_balanced(study.train, size.claims),
        held_out=judged,
        claims=tuple(claim for claim in study.claims if claim.id in ids),
    )


def _balanced(items: Sequence[Item], most: int) -> tuple[Item, ...]:
    ordered = sorted(items, key=lambda item: digest(["trained", item.id]))
    chosen = [[item for item in ordered if item.label is label][: most // 2] for label in (True, False)]
    least = min(map(len, chosen))
    return tuple(sorted((item for some in chosen for item in some[:least]), key=lambda item: item.id))


def _left_out(found: Measured) -> dict[str, int]:
    return {f"labels {why}": count for why, count in found.left_out.items()}


def _size_told(study: Study, size: Size) -> tuple[str, ...]:
    """In words, that the control is smaller than it should be, if it is."""
    if size.short:
        return (f"The control is {size.short}; that makes it harder to pass, and no easier.",)
    clusters = len({study.units[item.id] for item in study.held_out})
    if len(study.train) >= size.claims and clusters >= size.clusters:
        return ()
    return (
        f"The control is smaller than the claims: {len(study.train)} claims to train on and {clusters} clusters to be "
        f"judged on, in place of {size.claims} and {size.clusters}, since not every word gave a clear label; that "
        "makes it harder to pass, and no easier.",
    )


def said_of(sense: Estimate | None, faults: Sequence[str], spec: SelfCrossSpec) -> tuple[str, ...]:
    """In words, what the control allows to be said of the claims.

    Args:
        sense: What the rule was read with.
        faults: Why that shows nothing; none where it does.
        spec: The rules.
    """
    if sense is None:
        return ()
    read = f"The rule was read with an AUROC of {sense.value:.3f} [{sense.low:.3f}, {sense.high:.3f}]"
    if faults:
        return (f"{read}; but it shows nothing of the claims: {'; '.join(faults)}.",)
    what = "so" if sense.low >= spec.sensitivity else "so no"
    required = f"{spec.sensitivity:g} is required of the lower bound"
    return (f"{read}, over {sense.units} units of '{sense.cluster}'; {required}, {what} absence could be shown.",)


def priced(target: LoadedModel, plan: DemoPlan) -> Price:
    """What a control takes here: two models are made, measured and trained."""
    return planted_price(target, plan, models=2, rules=1)
