"""From trainings to a verdict, and to what the report shows."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from firsthand.analysis.self_cross import SelfCrossSpec
from firsthand.counterfactual.training.experiment import Contended, Study, Training
from firsthand.counterfactual.training.rejudging import LARGEST, Kept, columns_of, compiled
from firsthand.report.training_document import TrainingRow, TrainingStudy
from firsthand.vocabulary import Verdict

LIMITS: Final = (
    "A verdict holds for these claims, this target, these rivals and trainings of this size. A larger rival, or more "
    "claims to train on, may close a gap; a longer training of the target may open one.",
    "Labels are what the untrained target does. Where training moved it, they were measured anew on the trained one.",
    "General ability is known where claims about a third model are like these. A target that learns better on claims "
    "of this kind alone would pass for one that knows itself.",
    "That a model reads a planted state says that it can be trained to; nothing was asked of it untrained.",
)


def shared_of(study: Study) -> tuple[str, ...]:
    """Independent units that are both trained on and judged on; none should be."""
    units = study.units
    return tuple(sorted({units[one.id] for one in study.train} & {units[one.id] for one in study.held_out}))


def kept_of(
    study: Study,
    contended: Contended,
    *,
    about: str | None = None,
    elsewhere: Sequence[str] = (),
    planted: str | None = None,
    control: bool = False,
) -> Kept:
    """What the verdict on a study rests on.

    Args:
        study: Claims and contenders.
        contended: What came of them.
        about: Whom the claims are about, where it is not the first contender; nobody is trained on itself then.
        elsewhere: Names of the studies of claims about other targets, by the same models.
        planted: Name of the study of claims on a planted private rule, whose target was trained alike: it shows what a
            training of this size can see.
        control: Whether this study is there only to show that.
    """
    units = study.units
    turned = [found.turned(units) for found in contended.relabelled.values()]
    return Kept(
        name=study.name,
        about=about or study.target.name,
        own=about is None,
        table=columns_of(contended.table),
        rivals=tuple(one.name for one in study.contenders[1:]),
        siblings=tuple(one.name for one in study.contenders if one.sibling),
        twins=tuple(one.name for one in study.contenders if one.twin),
        drift=tuple(contended.drift.values()),
        changed=tuple(one for one in turned if one is not None),
        anew=min((found.anew for found in contended.relabelled.values()), default=0) / len(study.held_out),
        learnt=contended.learnt,
        same_data=contended.same_data,
        shared=shared_of(study),
        elsewhere=tuple(elsewhere),
        planted=planted,
        control=control,
    )


def concluded(
    study: Study,
    contended: Contended,
    kept: Mapping[str, Kept],
    *,
    title: str,
    about: str,
    expected: Verdict | None = None,
    spec: SelfCrossSpec | None = None,
    left_out: dict[str, int] | None = None,
    notes: tuple[str, ...] = (),
) -> TrainingStudy:
    """Judge a study, and gather what the report shows of it.

    Args:
        study: Claims and contenders.
        contended: What came of it.
        kept: What the verdicts on all studies rest on, this one's among them, by name.
        title: Heading.
        about: What the claims are about.
        expected: The verdict that must come out, where the truth is planted.
        spec: The rules.
        left_out: Claims that were left out before, by reason.
        notes: What else a reader should know.
    """
    first = next(iter(contended.data.values()))
    return TrainingStudy(
        name=study.name,
        title=title,
        about=about,
        expected=expected,
        result=compiled(kept[study.name], kept, spec or SelfCrossSpec()),
        trained_on=len(first.examples),
        train_clusters=len({study.units[item.id] for item in study.train}),
        dropped={**(left_out or {}), **first.dropped},
        trainings=tuple(_row(one, contended) for one in contended.trainings),
        notes=notes,
        prompt="\n\n".join(f"[{turn.role}]\n{turn.content}" for turn in study.held_out[0].question.follow_up.turns),
    )


def _row(one: Training, contended: Contended) -> TrainingRow:
    target = str(contended.table.loc[contended.table["kind"] == "self", "model"].iloc[0])
    own = one.model == target
    return training_row(
        one,
        changed=contended.relabelled[one.seed].changed if own and one.seed in contended.relabelled else None,
        drift=contended.drift[one.seed].mean(LARGEST).value if own and one.seed in contended.drift else None,
    )


def training_row(one: Training, changed: float | None = None, drift: float | None = None) -> TrainingRow:
    """A training as the report shows it.

    Args:
        one: The training.
        changed: Share of labels that are others on the trained model, where they were measured anew.
        drift: Mean divergence per token from the base in nats, where it was measured.
    """
    loss = one.trained.loss
    tenth = max(1, len(loss) // 10)
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
        drift=drift,
    )
