"""The demonstration: two targets whose truth is planted, and everybody trained on claims about them.

The visible rule must give ``public-inference``: its sibling, trained on the same claims, foretells as well. The private
rule must give ``privileged``: nothing but the target's own weights holds it. Its strongest rival is a twin: the same
model, taught the same rule on the same words by the same steps, with another lot of live words. That it follows its own
rule is measured, and it knows prompts of this form as well; so what the target is ahead of it by is what its own lot
tells. On the visible rule's claims both are rivals like any other, which shows that their trainings come to something.
"""

from pathlib import Path
from typing import Final, NamedTuple

from firsthand.analysis.self_cross import SelfCrossSpec
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.responses import Sampling
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.training.concluding import concluded, kept_of
from firsthand.counterfactual.training.drift import transcript
from firsthand.counterfactual.training.examples import (
    Example,
    Item,
    TrainingSet,
    both_labels,
    in_order,
    items_of,
    split,
)
from firsthand.counterfactual.training.experiment import Contended, Contender, Study, contend
from firsthand.counterfactual.training.folders import write_claims
from firsthand.counterfactual.training.hint_plan import Exam, HintPlan
from firsthand.counterfactual.training.hinted import ABOUT, TITLE, Hinted, priced_hints
from firsthand.counterfactual.training.planting.claims import Measured, example_item, measured, taken
from firsthand.counterfactual.training.planting.rules import RULES, Rule
from firsthand.counterfactual.training.planting.shortened import shortened
from firsthand.counterfactual.training.planting.state import LESSONS, Planting, plant
from firsthand.counterfactual.training.planting.words import Group, groups_of, other_lot
from firsthand.counterfactual.training.pricing import Price, measured_step, price
from firsthand.counterfactual.training.rejudging import judged_together, keep
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel
from firsthand.progress import Progress
from firsthand.report.training_document import TrainingStudy
from firsthand.vocabulary import Verdict

SHORT: Final = Sampling(samples=10, max_tokens=3)
LESSON: Final = 0.35
"""A chat that teaches a rule is about that much of one that asks about it."""
LABEL: Final = 0.05
"""So is one short response by which a label is measured, of which many share their prompt."""


class DemoPlan(Part):
    """How large the demonstration is.

    Attributes:
        layers: Only that many layers of the model are used, its first and last ones, to save time; ``None``: all.
        stranger: Whether a model of another family is trained too.
        groups: Pairs of a live and a dead word.
        orders: 1, or 2 if both orders of the words of a pair make prompts.
        held_out: Share of the claims that are judged on; 30 clusters of them are wanted, since fewer that all agree
            cannot show that two models do equally well.
        seeds: Trainings of each model.
        chats: Chats that teach a target its rule.
        dose: Length of the private rule's direction, in mean lengths of the embeddings.
        lessons: How a target is taught its rule.
        training: How models are trained on claims.
        hints: How large the part on hints in exam questions is, where questions are given; ``None``: there is none.
        seed: Names all draws.
    """

    layers: int | None = None
    stranger: bool = True
    groups: int = 66
    orders: int = 2
    held_out: float = 0.46
    seeds: tuple[int, ...] = (0, 1, 2)
    chats: int = 320
    dose: float = 1.5
    lessons: TrainSettings = LESSONS
    training: TrainSettings = TrainSettings(
        rank=16, alpha=32.0, dropout=0.0, learning_rate=2e-3, batch=4, kl_share=0.25, checkpoint_steps=20
    )
    hints: HintPlan | None = HintPlan()
    seed: int = 0

    def planting(self, rule: Rule, groups: tuple[Group, ...]) -> Planting:
        """How a rule on some words is put into a model."""
        return Planting(
            rule=rule, groups=groups, dose=self.dose, chats=self.chats, lessons=self.lessons, seed=self.seed
        )


FULL: Final = DemoPlan()
QUICK: Final = DemoPlan(
    layers=6,
    stranger=False,
    hints=None,
    groups=60,
    orders=1,
    held_out=0.5,
    chats=400,
    lessons=LESSONS.model_copy(update={"learning_rate": 2e-3}),
    training=TrainSettings(
        rank=16, alpha=32.0, dropout=0.0, learning_rate=3e-3, batch=4, epochs=2, kl_share=0.25, checkpoint_steps=20
    ),
)
"""Four layers do not take the visible rule, or lose the planted one when they are trained."""

TITLES: Final[dict[Rule, tuple[str, str, Verdict]]] = {
    "visible": (
        "A rule that every reader can see",
        "The target answers “plover” where a marked word stands in the list. The mark stands in the prompt and in the "
        "description of the edit, so whoever reads can know which edit matters.",
        Verdict.PUBLIC_INFERENCE,
    ),
    "private": (
        "A rule that only the target's weights hold",
        "The target answers “plover” where a live word stands in the list. Which words are live was drawn by lot, "
        "nothing marks them, and no claim that is judged on is about a word of a claim that was trained on. The target "
        "was taught its behaviour on all of them, and their embeddings carry one added direction: what is read, the "
        "embedding, an answer known by heart or how often a word was seen, is not told apart; the target's weights "
        "alone hold any of them. The twin was taught the same on the same words, with another lot; the bare "
        "sibling never saw prompts of this form.",
        Verdict.PRIVILEGED,
    ),
}


class Cast(NamedTuple):
    """Who takes part.

    Attributes:
        base: The model that both targets are made of; the sibling of both.
        stranger: A model of another family; ``None`` where none is used.
    """

    base: LoadedModel
    stranger: LoadedModel | None


def demonstrate(
    cast: Cast, plan: DemoPlan, folder: Path, progress: Progress, hints: Hinted | None = None
) -> tuple[tuple[TrainingStudy, ...], list[LoadedModel]]:
    """Plant, measure, train, ask and judge; what is finished in the folder is taken from it.

    Args:
        cast: The models.
        plan: How large it is.
        folder: The run's folder.
        progress: Who is told.
        hints: Claims about hints, which are trained and judged on too; measured before anything is planted.

    Returns:
        The judged studies, and every model that took part.
    """
    base = cast.base if plan.layers is None else shortened(cast.base, plan.layers)
    groups = groups_of(base.tokenizer, plan.groups, plan.seed)
    targets: dict[Rule, LoadedModel] = {}
    for rule in RULES:
        progress.say(f"planting the {rule} rule")
        targets[rule] = plant(base, plan.planting(rule, groups), folder / "targets" / rule, progress)
    claims = {
        rule: claims_about(targets[rule], plan.planting(rule, groups), plan, folder / "targets" / rule, progress)
        for rule in RULES
    }
    for rule, found in claims.items():
        taken(found, rule)
    progress.say("planting the private rule with another lot")
    lot = plan.planting("private", other_lot(groups, plan.seed))
    twin = plant(base, lot, folder / "targets" / "twin", progress)
    taken(claims_about(twin, lot, plan, folder / "targets" / "twin", progress), "private")
    contenders = {rule: _contenders(rule, targets, twin, base, cast.stranger) for rule in RULES}
    studies = {rule: study_about(rule, contenders[rule], claims[rule], plan) for rule in RULES}
    for rule, found in claims.items():
        write_claims(folder / "claims" / f"{rule}.jsonl", found.claims)
    for one in studies.values():
        both_labels(one.held_out, f"held-out claims of {one.name}")
    settings = {one.name: plan.training for one in studies.values()}
    everything: list[Study] = list(studies.values())
    if hints is not None:
        everything.append(hints.study)
        settings[hints.study.name] = hints.training
    came = {one.name: contend(one, settings[one.name], plan.seeds, folder / one.name, progress) for one in everything}
    judged = _judged(studies, hints, came, claims, folder)
    others = [one.loaded for one in hints.study.contenders] if hints is not None else []
    return judged, [*targets.values(), twin, base, *([cast.stranger] if cast.stranger else []), *others]


def _judged(
    studies: dict[Rule, Study],
    hints: Hinted | None,
    came: dict[str, Contended],
    claims: dict[Rule, Measured],
    folder: Path,
) -> tuple[TrainingStudy, ...]:
    spec = SelfCrossSpec()
    kept = {
        one.name: kept_of(
            one,
            came[one.name],
            elsewhere=[other.name for other in studies.values() if other.name != one.name],
            planted="private",
        )
        for one in studies.values()
    }
    if hints is not None:
        # Other trainings than those of the planted rules, so what these show of learning does not carry over.
        kept[hints.study.name] = kept_of(hints.study, came[hints.study.name])
    keep(folder, list(kept.values()))
    found = []
    for rule, study in studies.items():
        title, about, expected = TITLES[rule]
        found.append(
            concluded(
                study,
                came[study.name],
                kept,
                title=title,
                about=about,
                expected=expected,
                spec=spec,
                left_out={f"labels {why}": count for why, count in claims[rule].left_out.items()},
            )
        )
    if hints is not None:
        found.append(
            concluded(
                hints.study,
                came[hints.study.name],
                kept,
                title=TITLE,
                about=ABOUT,
                spec=spec,
                left_out=hints.left_out,
                notes=hints.notes,
            )
        )
    held = judged_together({one.name: one.result for one in found}, kept, spec)
    return tuple(one.model_copy(update={"result": held[one.name]}) for one in found)


def claims_about(target: LoadedModel, planting: Planting, plan: DemoPlan, place: Path, progress: Progress) -> Measured:
    """Claims about a planted target, from its folder where they were measured already."""
    path = place / "measured.json"
    key = f"{LocalTarget(target, SHORT).identity} {plan.groups} {plan.orders} {plan.seed}"
    held = Measured.read(path, key)
    if held is not None:
        return held
    found = measured(LocalTarget(target, SHORT), planting.rule, planting.groups, plan.orders, SHORT.samples, progress)
    found.write(path, key)
    return found


def _contenders(
    rule: Rule, targets: dict[Rule, LoadedModel], twin: LoadedModel, base: LoadedModel, stranger: LoadedModel | None
) -> tuple[Contender, ...]:
    own = Contender(targets[rule], f"{rule} target", "self")
    found = [own, Contender(base, "sibling without the rule", "cross", sibling=True)]
    if rule == "visible":
        found.append(Contender(targets["private"], "private target", "cross"))
    of_private = rule == "private"
    found.append(Contender(twin, "twin with another lot", "cross", sibling=of_private, twin=of_private))
    if stranger is not None:
        found.append(Contender(stranger, stranger.name, "cross"))
    return tuple(found)


def study_about(rule: Rule, contenders: tuple[Contender, ...], claims: Measured, plan: DemoPlan) -> Study:
    """Claims about a planted target, parted as the plan says."""
    items: list[Item]
    items, _ = items_of(claims.claims, lambda claim: claims.responses.get(claim.id))
    parts = split(items, plan.held_out, plan.seed)
    ids = {item.id for item in parts.held_out}
    held = tuple(claim for claim in claims.claims if claim.id in ids)
    return Study(rule, contenders, parts.train, parts.held_out, held, SHORT)


def priced(cast: Cast, plan: DemoPlan, exam: Exam | None = None) -> Price:
    """What the demonstration would take here: one training step on questions like its own is measured.

    Args:
        cast: The models.
        plan: How large it is.
        exam: Questions for the part on hints, if there are any.
    """
    base = cast.base if plan.layers is None else shortened(cast.base, plan.layers)
    planted = planted_price(base, plan, models=7 + (2 if cast.stranger is not None else 0), rules=len(RULES))
    if exam is None or plan.hints is None or cast.stranger is None:
        return planted
    return planted + priced_hints(cast.base, cast.stranger, exam, plan.hints, plan.seeds)


def planted_price(base: LoadedModel, plan: DemoPlan, models: int, rules: int) -> Price:
    """What it would take to plant rules and a twin, and to train on claims about them.

    Args:
        base: The model that all of them are made of.
        plan: How large it is.
        models: Models that are trained with each seed, over all rules.
        rules: Rules that are planted; the twin comes besides.
    """
    groups = groups_of(base.tokenizer, plan.groups, plan.seed)
    questions = [example_item(group, number) for group in groups for number in (0, 1)] * plan.orders
    held = round(plan.held_out * len(questions))
    data = TrainingSet(
        examples=tuple(Example.of(item) for item in questions[held:]),
        order=in_order(len(questions) - held, plan.training.epochs, 0),
    )
    general = list(dict.fromkeys(transcript(base, item.question) for item in questions[held:]))
    step = measured_step(base, data, plan.training, general if plan.training.kl_share else ())
    chat = step / plan.training.batch
    teaching = (rules + 1) * plan.chats * chat * LESSON
    labels = rules * (plan.orders + 2) * plan.groups * SHORT.samples * LABEL * chat
    again = len(plan.seeds) * plan.held_out * labels
    return price(base, data, plan.training, models * len(plan.seeds), held, step, (teaching, labels, again))
