"""The demonstration's part on a model that nobody planted anything in: claims about hints in real exam questions.

A cue points at one option of a question; the claim is that without it the answer changes
(:mod:`firsthand.counterfactual.hints`). Labels are exact: the probabilities of the options are read with the cue and
without, on the base model, before anything is trained. What decides which claims there are is in the plan: one kind of
cue, how many questions are answered before, the temperature, the longest question, the lot. It was chosen for how many
claims come out in how much time; nobody's predictions were looked at.

The target is the base model itself and its rival a model of another family. No sibling takes part: what there is of
kin are the planted models, whose weights are the target's but for a rule about birds, so one that foretells as well
says nothing about what the public knows. That puts ``privileged`` out of reach. The part shows how well claims of this
kind can be foretold, and whether a stranger does as well.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.hints.cases import Case, begun
from firsthand.counterfactual.hints.claiming import balanced_claims, claim_of, transcripts_of
from firsthand.counterfactual.hints.exact import PARTS
from firsthand.counterfactual.hints.measuring import Measured, Outcome, exact_choices, measure_exactly
from firsthand.counterfactual.hints.pricing import reads_a_second
from firsthand.counterfactual.hints.rules import ruled
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.store import Store
from firsthand.counterfactual.targets.choosing import ChoosingTarget
from firsthand.counterfactual.training.examples import UNBALANCED, TrainingSet, both_labels, items_of, split
from firsthand.counterfactual.training.examples import Item as TrainingItem
from firsthand.counterfactual.training.experiment import Contender, Study, data_sets, general_of
from firsthand.counterfactual.training.folders import write_claims
from firsthand.counterfactual.training.hint_plan import Exam, HintPlan
from firsthand.counterfactual.training.pricing import Price, measured_step, price
from firsthand.counterfactual.training.relabelling import Relabelled, Relabelling
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress
from firsthand.trials.canonical import digest

NAME: Final = "hints"
"""Name of the study, and of its folder."""
MEASURED: Final = "measured"
"""Folder in which probabilities are kept as they are read."""
BEYOND: Final = "beyond the most that the plan takes"
_AT_ONCE: Final = 16

TITLE: Final = "A cue in real exam questions, on a model that nobody planted anything in"
ABOUT: Final = (
    "A sentence in the prompt points at one option. The claims say that without it the answer changes, which is so for "
    "half of them, by exact probabilities of the untrained model. Whether a model can know this of itself is unknown: "
    "no verdict must come out."
)
NO_QUESTIONS: Final = (
    "Nothing was asked about hints in real exam questions: no questions come with this package, and none were given "
    "(--mmlu FOLDER)."
)


class Hinted(NamedTuple):
    """Claims about hints that join the demonstration.

    Attributes:
        study: The claims and who is trained on them.
        training: How.
        left_out: Cases that make no claim and claims that were not taken, by reason.
        notes: What a reader should know.
    """

    study: Study
    training: TrainSettings
    left_out: dict[str, int]
    notes: tuple[str, ...]


def hinted(
    base: LoadedModel,
    stranger: LoadedModel | None,
    exam: Exam,
    plan: HintPlan,
    folder: Path,
    progress: Progress,
) -> Hinted | str:
    """Measure the claims, and see that they can be trained and judged on, before anything is trained.

    Args:
        base: The target.
        stranger: Its rival.
        exam: The questions.
        plan: How large it is.
        folder: The run's folder, in which what was read is kept.
        progress: Who is told.

    Returns:
        The study, or in words why there is none.
    """
    if stranger is None:
        return "Nothing was trained on hints in exam questions: it takes a model of another family, and there is none."
    target = ChoosingTarget(base, plan.sampling)
    progress.say(f"measuring hints in {len(exam.cases)} exam questions")
    with Store(folder / MEASURED) as store:
        outcome = measure_exactly(exam.cases, target, store, plan.settings.rule, progress)
    claims, left_out = _taken(outcome, target.identity, plan)
    true = sum(one.influenced is True for one in outcome.kept)
    found = (
        f"Of {len(exam.cases)} questions with a cue, {true} were answered otherwise without it and "
        f"{len(outcome.kept) - true} were not (the others did not follow it, or lie between)"
    )
    few = f"Nothing was trained on hints in exam questions. {found}"
    if len(claims) < plan.least:
        return f"{few}: as many of both kinds make {len(claims)} claims, and {plan.least} are the fewest."
    responses = transcripts_of(outcome.kept, target.identity)
    items, _ = items_of(claims, lambda claim: responses.get(claim.id))
    try:
        study = _study(items, _contenders(base, stranger), outcome, plan)
        both_labels(study.held_out, "claims that were to be judged on")
        short = len(data_sets(study, plan.training, (plan.seed,))[plan.seed].examples)
    except CounterfactualError as error:
        return f"{few}. {error.problem}"
    if short < len(study.train) / 2:
        return f"{few}. Of {len(study.train)} to train on, {short} are short enough for both models and of both kinds."
    write_claims(folder / "claims" / f"{NAME}.jsonl", claims)
    return Hinted(study, plan.training, left_out, (f"{found}.", *_notes(plan)))


def _contenders(base: LoadedModel, stranger: LoadedModel) -> tuple[Contender, Contender]:
    other = stranger.name if stranger.name != base.name else f"{stranger.name} (stranger)"
    return Contender(base, base.name, "self"), Contender(stranger, other, "cross")


def _taken(outcome: Outcome, identity: str, plan: HintPlan) -> tuple[tuple[Claim, ...], dict[str, int]]:
    """Claims of both labels, as many of each and no more than wanted, and why others were left out."""
    balanced = balanced_claims(outcome.kept, identity, plan.seed).claims
    ordered = sorted(balanced, key=lambda claim: digest([plan.seed, "taken", claim.id]))
    taken = [
        claim for label in (True, False) for claim in [one for one in ordered if one.label is label][: plan.most // 2]
    ]
    left_out = Counter(one.why for one in outcome.measured if one.kept is None)
    left_out[UNBALANCED] = len(outcome.kept) - len(balanced)
    left_out[BEYOND] = len(balanced) - len(taken)
    claims = tuple(sorted(taken, key=lambda claim: claim.id))
    return claims, {f"cases: {why}": count for why, count in sorted(left_out.items()) if count}


def _study(items: Sequence[TrainingItem], contenders: tuple[Contender, ...], outcome: Outcome, plan: HintPlan) -> Study:
    parts = split(items, plan.held_out, plan.seed)
    cases = {one.case.id: one.case for one in outcome.kept}
    held = tuple(item.claim for item in parts.held_out)

    def anew(model: LoadedModel) -> Relabelling:
        return relabelled(
            held, [cases[claim.investigation] for claim in held], ChoosingTarget(model, plan.sampling), plan
        )

    return Study(NAME, contenders, parts.train, parts.held_out, held, plan.sampling, anew)


def _notes(plan: HintPlan) -> tuple[str, ...]:
    settings = plan.training
    return (
        f"Each question stands after {plan.shots} answered ones in which such a cue is right, and probabilities are "
        f"taken to a temperature of {plan.temperature:g}: what is foretold is what the model does there, and it need "
        "not do so elsewhere.",
        f"Trained by settings of its own: rank {settings.rank}, learning rate {settings.learning_rate:g}, passes over "
        f"the claims {settings.epochs}, penalty on moving away on {settings.kl_share:.0%} of the samples.",
        "No sibling takes part, so this can show that a stranger foretells as well, and not that the target is alone "
        "in it; no planted rule was trained by these settings, so it cannot show that there is no access.",
    )


def relabelled(claims: Sequence[Claim], cases: Sequence[Case], target: ChoosingTarget, plan: HintPlan) -> Relabelling:
    """Labels read anew by probabilities, as they were measured.

    Args:
        claims: The claims.
        cases: The case of each.
        target: The trained model.
        plan: By which rule.
    """
    rates: dict[bool, list[Rate]] = {True: [], False: []}
    for cued, found in rates.items():
        wanted = exact_choices(cases, cued=cued)
        for start in range(0, len(wanted), _AT_ONCE):
            given = target.choices(wanted[start : start + _AT_ONCE])
            some = cases[start : start + _AT_ONCE]
            found += [one.at(plan.temperature).rate(case.option) for one, case in zip(given, some, strict=True)]
    found_ = []
    for claim, cued_rate, neutral in zip(claims, rates[True], rates[False], strict=True):
        kept = ruled(cued_rate, neutral, plan.settings.rule, exact=True).kept
        after = None if kept is None else kept == "influenced"
        became = "none" if after is None else "same" if after is claim.label else "other"
        found_.append(
            Relabelled(claim=claim.id, before=claim.label, baseline=cued_rate, rate=neutral, after=after, became=became)
        )
    return Relabelling(target=target.identity, samples=PARTS, claims=tuple(found_))


def priced_hints(base: LoadedModel, stranger: LoadedModel, exam: Exam, plan: HintPlan, seeds: Sequence[int]) -> Price:
    """What the part would take at most: one training step of each model on chats like its own is measured.

    Args:
        base: The target.
        stranger: Its rival.
        exam: The questions.
        plan: How large it is.
        seeds: Trainings of each model.
    """
    target = ChoosingTarget(base, plan.sampling)
    most = min(plan.most, len(exam.cases))
    items = [_example(case, number, target.identity) for number, case in enumerate(exam.cases[:most])]
    parts = split(items, plan.held_out, plan.seed)
    contenders = _contenders(base, stranger)
    study = Study(NAME, contenders, parts.train, parts.held_out)
    each = 1 / (reads_a_second(target, exam.cases) or 1.0)
    # With the cue and without: all cases once; what is judged on anew, and to see how far the target was moved.
    reading = 2 * each * (len(exam.cases) + 2 * len(seeds) * len(parts.held_out))
    try:
        data = data_sets(study, plan.training, (plan.seed,))[plan.seed]
    except CounterfactualError:  # chats that one of the models cannot be given: then nothing is trained
        return Price(0, 0, 0, 0.0, reading)
    prices = [_priced(one.loaded, study, data, plan, len(seeds)) for one in contenders]
    both = prices[0] + prices[1]
    return replace(both, seconds=both.seconds + reading)


def _priced(loaded: LoadedModel, study: Study, data: TrainingSet, plan: HintPlan, trainings: int) -> Price:
    general = general_of(loaded, study, data, plan.training)
    step = measured_step(loaded, data, plan.training, general)
    return price(loaded, data, plan.training, trainings, len(study.held_out), step)


def _example(case: Case, number: int, identity: str) -> TrainingItem:
    """A claim as a case would make it, without any measurement: for telling how long one takes."""
    true = number % 2 == 0
    shown = Response(text=begun(case.letter))
    made = Measured(
        case=case,
        cued=Rate(yes=PARTS, no=0),
        neutral=Rate(yes=0 if true else PARTS, no=PARTS if true else 0),
        kept="influenced" if true else "not influenced",
        cued_response=shown,
        exact=True,
    )
    return TrainingItem(claim=claim_of(made, identity), response=shown)
