"""What a run on anyone's claims takes: training steps and drawing are both measured on the target."""

from collections.abc import Sequence
from typing import Final

from firsthand.counterfactual.behaviours import Asked
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.transcripts import without_response
from firsthand.counterfactual.pricing import measured, short
from firsthand.counterfactual.responses import Response, Sampling
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.training.experiment import data_sets, general_of
from firsthand.counterfactual.training.own import Own, checked, elsewhere_of, study_of
from firsthand.counterfactual.training.pricing import Besides, Price, mean_length, measured_step, price
from firsthand.counterfactual.training.sensitivity import plan_of, size_of
from firsthand.counterfactual.training.sensitivity import priced as control_priced
from firsthand.counterfactual.training.settings import TrainSettings

RELABELLING: Final = "measuring labels anew on the trained target, if no response ends early"
SHOWING: Final = "drawing responses to show beside claims that have none"
CONTROL: Final = "the positive control of --sensitivity"
NOT_COUNTED: Final = (
    "loading models and adapters",
    "what the adapter adds to drawing from a trained target",
    "how far training moved the target",
    "siblings asked again what they were trained on",
    "rivals of another size than the target, which are counted like it",
)


def priced(own: Own, settings: TrainSettings, seeds: Sequence[int]) -> Price:
    """What the run takes here, at most where responses are drawn; nothing is trained for good.

    Args:
        own: What is to be trained on what.
        settings: How.
        seeds: Seeds of the trainings.

    Raises:
        CounterfactualError: As the run itself would, before it trains.
    """
    checked(own)
    sampling = own.sampling or Sampling()
    # Nothing is drawn for a price: a response of the length that is allowed stands in.
    stand_in = Response(text="word " * sampling.max_tokens)
    bare = {claim.prompt.id: claim.prompt for claim in without_response(own.claims)}
    study, other = study_of(own, dict.fromkeys(bare, stand_in))[0], elsewhere_of(own)
    data = data_sets(study, settings, (0,))[0]
    step = measured_step(own.target, data, settings, general_of(own.target, study, data, settings))
    trainings = len(study.contenders) * len(seeds)
    cost = price(own.target, data, settings, trainings, len(study.held_out), step)
    if other is not None:
        there = data_sets(other, settings, (0,))[0]
        longer = mean_length(own.target, there) / mean_length(own.target, data)
        cost += price(own.target, there, settings, trainings, len(other.held_out), step * longer)
    drawn = {
        SHOWING: len(bare) * sampling.max_tokens,
        RELABELLING: len(seeds) * prompts_of(study.claims) * sampling.samples * sampling.max_tokens,
    }
    if any(drawn.values()):
        prompts = [item.claim.prompt for item in study.held_out]
        rate = measured(LocalTarget(own.target, short(sampling)), prompts)
        cost = cost.plus(*(Besides(what, tokens, rate and tokens / rate) for what, tokens in drawn.items() if tokens))
    if own.control is not None:
        plan = plan_of(size_of(own.target, study, data), settings, seeds, own.control)
        cost = cost.with_all_of(control_priced(own.target, plan), CONTROL)
    return cost.without(*NOT_COUNTED)


def prompts_of(claims: Sequence[Claim]) -> int:
    """Prompts that are drawn from anew for each trained target: those of claims, before and after the edit, once."""
    able = [claim for claim in claims if not isinstance(claim.behaviour, Asked)]
    return len({one.id for claim in able for one in (claim.prompt, claim.edited)})
