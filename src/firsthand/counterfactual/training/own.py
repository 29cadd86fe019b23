"""Anyone's claims: their target and other models trained on them, and what each learns where nothing is its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from firsthand.analysis.self_cross import Panel, SelfCrossSpec, panel_of
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.responses import Response, Sampling
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.training.concluding import concluded
from firsthand.counterfactual.training.examples import NO_RESPONSE, items_of, split
from firsthand.counterfactual.training.experiment import Contender, Study, contend
from firsthand.counterfactual.training.reading import told
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
        responses: Responses that came with them.
        target: The target.
        cross: Other models.
        siblings: Names of those that are next of kin of the target.
        elsewhere: Claims about another model; none if there are none.
        elsewhere_responses: Responses that came with these.
        held_out: Share of the claims to be judged on.
        sampling: How labels are measured anew; ``None``: they are not.
    """

    claims: list[Claim]
    responses: dict[str, Response]
    target: LoadedModel
    cross: tuple[LoadedModel, ...]
    siblings: frozenset[str]
    elsewhere: list[Claim]
    elsewhere_responses: dict[str, Response]
    held_out: float
    sampling: Sampling | None


def study_of(own: Own) -> tuple[Study, int]:
    """The study of the claims on the target, and how many claims have no response to show.

    Raises:
        CounterfactualError: If two models have one name, or no claims can be held out.
    """
    contenders = (
        Contender(own.target, own.target.name, "self"),
        *(Contender(one, one.name, "cross", one.name in own.siblings) for one in own.cross),
    )
    names = [one.name for one in contenders]
    if len(set(names)) < len(names):
        raise CounterfactualError(f"Two models have the name {max(names, key=names.count)}.", "Name each model once.")
    sampling = own.sampling or Sampling()
    shown = told(own.claims, own.responses, LocalTarget(own.target, sampling))
    items, missing = items_of(own.claims, lambda claim: shown.get(claim.id))
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
    items, missing = items_of(own.elsewhere, lambda claim: own.elsewhere_responses.get(claim.id))
    if missing:
        raise CounterfactualError(
            f"{missing} of the claims about another model come without a response.", "Export them with responses."
        )
    parts = split(items, own.held_out)
    everybody = tuple(Contender(one, one.name, "cross") for one in (own.target, *own.cross))
    return Study(ELSEWHERE, everybody, parts.train, parts.held_out)


def compared(
    own: Own, settings: TrainSettings, seeds: Sequence[int], folder: Path, progress: Progress
) -> TrainingStudy:
    """Train everybody, and judge."""
    study, missing = study_of(own)
    other = elsewhere_of(own)
    came = contend(study, settings, seeds, folder / study.name, progress)
    panels: list[Panel] = []
    if other is not None:
        there = contend(other, settings, seeds, folder / other.name, progress)
        panels.append(panel_of(there.table, ELSEWHERE, own=False))
    return concluded(
        study,
        came,
        title=f"Claims about {own.target.name}",
        about="Claims that were measured on the target before it was trained, held against others trained on the same.",
        elsewhere=panels,
        spec=SelfCrossSpec(),
        left_out={NO_RESPONSE: missing} if missing else None,
    )
