"""Anyone's claims: their target and other models trained on them, and what each learns where nothing is its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from firsthand.analysis.self_cross import SelfCrossSpec
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.reading import response_of
from firsthand.counterfactual.predicting.transcripts import drawn, without_response
from firsthand.counterfactual.responses import Response, Sampling
from firsthand.counterfactual.store import Store
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.targets.local_predictor import is_target
from firsthand.counterfactual.training.concluding import concluded, kept_of
from firsthand.counterfactual.training.demo import DemoPlan
from firsthand.counterfactual.training.examples import NO_RESPONSE, both_labels, items_of, split
from firsthand.counterfactual.training.experiment import Contender, Study, contend, data_sets
from firsthand.counterfactual.training.rejudging import Kept, judged_together, keep, slug, unread
from firsthand.counterfactual.training.sensitivity import ABOUT, TITLE, plan_of, planted, said_of, size_of
from firsthand.counterfactual.training.sensitivity import NAME as SENSITIVITY
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress
from firsthand.report.training_document import TrainingStudy

NAME, ELSEWHERE = "claims", "elsewhere"


class Own(NamedTuple):
    """What is to be trained on what.

    Attributes:
        claims: Claims about the target.
        target: The target.
        cross: Other models.
        siblings: Names of those that are next of kin of the target.
        elsewhere: Claims about another model; none if there are none.
        held_out: Share of the claims to be judged on.
        sampling: How labels are measured anew; ``None``: they are not.
        another: Whether claims that do not say that they are about the target are taken as if they were.
        control: How a private rule is planted, to see what trainings of this size would see; ``None``: none is.
        third: Whether the claims elsewhere are said to be about a third model; nothing in them can show it.
    """

    claims: list[Claim]
    target: LoadedModel
    cross: tuple[LoadedModel, ...]
    siblings: frozenset[str]
    elsewhere: list[Claim]
    held_out: float
    sampling: Sampling | None
    another: bool = False
    control: DemoPlan | None = None
    third: bool = False


ANOTHER: Final = (
    "The claims do not say that they are about this target; that they are was said by whoever ran the command "
    "(--target-is-another). If they are about another model, nothing here is about access to oneself."
)

THIRD: Final = (
    "That the claims elsewhere are about a third model was said by whoever ran the command (--elsewhere-is-another). "
    "If they are about one of those that are compared, what it knows of itself passes for learning better."
)


def checked(own: Own) -> None:
    """See that claims are about whom they must be about, and that siblings can be siblings.

    Raises:
        CounterfactualError: If claims are not about the target and that was not allowed, claims about another model
            are about one of those that are compared or are not said to be about a third one, a model is compared with
            itself, or a sibling has another architecture or tokenizer.
    """
    strange = sorted(name for name in {one.target for one in own.claims} if not is_target(own.target, name))
    if strange and not own.another:
        raise CounterfactualError(
            f"The claims are about {strange[0][:60]!r}, and {own.target.name} is not known to be that.",
            "Name the model that they are about with --target. If it is that model, drawn from in another way, or you "
            "mean to train on claims about another, say so with --target-is-another: the report will show it.",
        )
    for name in sorted({one.target for one in own.elsewhere}):
        known = next((one for one in (own.target, *own.cross) if is_target(one, name)), None)
        if known is not None:
            raise CounterfactualError(
                f"The claims elsewhere are about {known.name}, which is compared: what it knows of itself would hide "
                "who learns better.",
                "Give claims about a third model with --elsewhere.",
            )
    if own.elsewhere and not own.third:
        raise CounterfactualError(
            "Nothing in the claims elsewhere shows that they are about a third model: one of those that are compared, "
            "drawn from in another way, would have another name in them.",
            "If they are about none of them, say so with --elsewhere-is-another: the report will show it.",
        )
    for one in own.cross:
        if one.weights_sha256 == own.target.weights_sha256:
            raise CounterfactualError(
                f"{one.name} has the weights of the target, and would be compared with itself.",
                "Name a model without the target's state, or another one.",
            )
        if one.name in own.siblings and _build(one) != _build(own.target):
            raise CounterfactualError(
                f"{one.name} is called a sibling of {own.target.name}, and has another architecture or tokenizer.",
                "Name it with --cross only.",
            )


def _build(loaded: LoadedModel) -> tuple[str, int, int, str]:
    return loaded.architecture, loaded.n_layers, loaded.hidden_size, loaded.tokenizer_sha256


def fresh_of(own: Own, folder: Path, progress: Progress) -> dict[str, Response]:
    """Responses that are drawn now for claims that come without one, by prompt; kept in the folder."""
    bare = without_response(own.claims)
    if not bare:
        return {}
    with Store(folder) as store:
        return drawn(bare, LocalTarget(own.target, own.sampling or Sampling()), store, progress)


def study_of(own: Own, fresh: Mapping[str, Response]) -> tuple[Study, int]:
    """The study of the claims on the target, and how many claims have no response to show.

    Args:
        own: What is to be trained on what.
        fresh: Responses to show beside claims that come without one, by prompt.

    Raises:
        CounterfactualError: If two models have one name, or no claims can be held out.
    """
    contenders = (
        Contender(own.target, own.target.name, "self"),
        *(Contender(one, one.name, "cross", one.name in own.siblings) for one in own.cross),
    )
    names = [slug(one.name) for one in contenders]
    if len(set(names)) < len(names):
        raise CounterfactualError(
            f"Two models have the name {max(names, key=names.count)}, or one that reads the same in a path.",
            "Name each model once, or move one.",
        )
    sampling = own.sampling or Sampling()
    items, missing = items_of(own.claims, lambda claim: response_of(claim) or fresh.get(claim.prompt.id))
    parts = split(items, own.held_out)
    ids = {item.id for item in parts.held_out}
    again = tuple(claim for claim in own.claims if claim.id in ids) if own.sampling else ()
    return Study(NAME, contenders, parts.train, parts.held_out, again, sampling), missing


def elsewhere_of(own: Own) -> Study | None:
    """The study of claims about another model: everybody is a stranger there, or that model itself among them.

    Raises:
        CounterfactualError: If rows hold no responses, since the other model is not there to be drawn from.
    """
    if not own.elsewhere:
        return None
    items, missing = items_of(own.elsewhere, response_of)
    if missing:
        raise CounterfactualError(
            f"{missing} of the claims about another model come without a response.", "Export them with responses."
        )
    parts = split(items, own.held_out)
    everybody = tuple(Contender(one, one.name, "cross") for one in (own.target, *own.cross))
    return Study(ELSEWHERE, everybody, parts.train, parts.held_out)


class Compared(NamedTuple):
    """What came of everything.

    Attributes:
        studies: The claims' own, and that of the control where one was planted.
        models: Models that were made for the control.
    """

    studies: tuple[TrainingStudy, ...]
    models: tuple[LoadedModel, ...] = ()


def compared(own: Own, settings: TrainSettings, seeds: Sequence[int], folder: Path, progress: Progress) -> Compared:
    """Train everybody, and judge.

    Raises:
        CounterfactualError: If the claims cannot be trained on or judged on, or a control is wanted and the target has
            too few words for one; before anything is trained.
    """
    checked(own)
    study, missing = study_of(own, fresh_of(own, folder, progress))
    other = elsewhere_of(own)
    for one in (study, other):
        if one is not None:
            both_labels(one.held_out, f"held-out claims ({one.name})")
    size = None if own.control is None else size_of(own.target, study, data_sets(study, settings, seeds)[seeds[0]])
    came = contend(study, settings, seeds, folder / study.name, progress)
    kept: dict[str, Kept] = {}
    if other is not None:
        there = contend(other, settings, seeds, folder / other.name, progress)
        kept[other.name] = kept_of(other, there, about=ELSEWHERE)
    sensed, control = None, None
    if own.control is not None and size is not None:
        sensed = planted(own.target, size, plan_of(size, settings, seeds, own.control), folder, progress)
        if sensed.study is not None:
            control = sensed.study, contend(sensed.study, settings, seeds, folder / SENSITIVITY, progress)
            kept[SENSITIVITY] = kept_of(*control, planted=SENSITIVITY, control=True)
    sense = None if control is None else SENSITIVITY
    kept[study.name] = kept_of(study, came, elsewhere=[] if other is None else [other.name], planted=sense)
    keep(folder, list(kept.values()))
    said = ((ANOTHER,) if own.another else ()) + ((THIRD,) if other is not None else ())
    made = [
        concluded(
            study,
            came,
            kept,
            title=f"Claims about {own.target.name}",
            about="Claims that were measured on the target before it was trained, held against others trained on the "
            "same.",
            notes=(*said, *(sensed.notes if sensed and not control else ())),
            left_out={NO_RESPONSE: missing} if missing else None,
        )
    ]
    if sensed is not None and control is not None:
        spec = SelfCrossSpec()
        faults = unread(kept[SENSITIVITY].seen(), spec)
        notes = (*sensed.notes, *said_of(made[0].result.sensitivity, faults, spec))
        made.append(concluded(*control, kept, title=TITLE, about=ABOUT, notes=notes, left_out=sensed.left_out))
    held = judged_together({one.name: one.result for one in made}, kept, SelfCrossSpec())
    studies = tuple(one.model_copy(update={"result": held[one.name]}) for one in made)
    return Compared(studies, sensed.models if sensed else ())
