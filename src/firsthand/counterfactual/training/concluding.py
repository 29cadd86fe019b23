"""From trainings to a verdict, and to what the report shows."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from firsthand.analysis.self_cross import Elsewhere, Panel, SelfCrossSpec, Support, controls, judge, panel_of
from firsthand.counterfactual.training.experiment import Contended, Study, Training
from firsthand.report.training_document import TrainingRow, TrainingStudy
from firsthand.vocabulary import Verdict

LIMITS: Final = (
    "A verdict holds for these claims, this target, these rivals and trainings of this size. A larger rival, or more "
    "claims to train on, may close a gap; a longer training of the target may open one.",
    "Labels are what the untrained target does. Where training moved it, they were measured anew on the trained one.",
    "That a model reads a planted state says that it can be trained to; nothing was asked of it untrained.",
)


def panel(study: Study, contended: Contended) -> Panel:
    """Everybody's predictions of the claims on the study's target."""
    return panel_of(contended.table, study.target.name)


def shared_of(study: Study) -> frozenset[str]:
    """Independent units that are both trained on and judged on; none should be."""
    units = study.units
    return frozenset({units[one.id] for one in study.train} & {units[one.id] for one in study.held_out})


def seen_elsewhere(study: Study, contended: Contended, about: str, *, own: bool = True) -> Elsewhere:
    """Predictions of claims on another target, for telling who learns better.

    Args:
        study: Claims and contenders.
        contended: What came of them.
        about: The name of the model that the claims are about, as it is called among contenders.
        own: Whether that model was trained on them.
    """
    return Elsewhere(panel_of(contended.table, about, own=own), contended.same_data, shared_of(study))


def concluded(
    study: Study,
    contended: Contended,
    *,
    title: str,
    about: str,
    expected: Verdict | None = None,
    elsewhere: Sequence[Elsewhere] = (),
    planted: Panel | None = None,
    spec: SelfCrossSpec | None = None,
    left_out: dict[str, int] | None = None,
    notes: tuple[str, ...] = (),
) -> TrainingStudy:
    """Judge a study, and gather what the report shows of it.

    Args:
        study: Claims and contenders.
        contended: What came of it.
        title: Heading.
        about: What the claims are about.
        expected: The verdict that must come out, where the truth is planted.
        elsewhere: Predictions of claims about other targets, by the same models.
        planted: Predictions of claims on a planted private rule, by a model that was trained alike; they show what a
            training of this size can see.
        spec: The rules.
        left_out: Claims that were left out before, by reason.
        notes: What else a reader should know.
    """
    here = panel(study, contended)
    rules, units = spec or SelfCrossSpec(), study.units
    changes = [found.measured(units) for found in contended.relabelled.values()]
    anew = min((found.anew for found in contended.relabelled.values()), default=0) / len(study.held_out)
    trained_on = {units[item.id] for item in study.train}
    support = Support(
        siblings=frozenset(one.name for one in study.contenders if one.sibling),
        twins=frozenset(one.name for one in study.contenders if one.twin),
        ability=controls(elsewhere, study.target.name, [one.name for one in study.contenders[1:]], rules),
        learnt=contended.learnt,
        drift=tuple(contended.drift.values()),
        changed=tuple(one for one in changes if one is not None),
        anew=anew,
        sensitivity=None if planted is None else planted.area(planted.own).measured(),
        same_data=contended.same_data,
        shared_clusters=shared_of(study),
    )
    first = next(iter(contended.data.values()))
    return TrainingStudy(
        name=study.name,
        title=title,
        about=about,
        expected=expected,
        result=judge(here, support, rules),
        trained_on=len(first.examples),
        train_clusters=len(trained_on),
        dropped={**(left_out or {}), **first.dropped},
        trainings=tuple(_row(one, contended) for one in contended.trainings),
        notes=notes,
        prompt="\n\n".join(f"[{turn.role}]\n{turn.content}" for turn in study.held_out[0].question.follow_up.turns),
    )


def _row(one: Training, contended: Contended) -> TrainingRow:
    loss, target = one.trained.loss, str(contended.table.loc[contended.table["kind"] == "self", "model"].iloc[0])
    tenth = max(1, len(loss) // 10)
    own = one.model == target
    changed = contended.relabelled[one.seed].changed if own and one.seed in contended.relabelled else None
    return TrainingRow(
        model=one.model,
        seed=one.seed,
        steps=one.trained.steps,
        parameters=one.trained.parameters,
        first_loss=float(np.mean(loss[:tenth])) if loss else float("nan"),
        last_loss=float(np.mean(loss[-tenth:])) if loss else float("nan"),
        data=one.trained.data,
        base=one.trained.base_weights,
        adapter=one.trained.adapter,
        changed=changed,
        drift=contended.drift[one.seed].value if own and one.seed in contended.drift else None,
    )
