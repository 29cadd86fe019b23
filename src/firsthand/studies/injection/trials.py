"""Trials of every question of the injection study: what they are, how they are run, and what comes back.

A question (see :mod:`firsthand.studies.injection.questions`) lists :class:`Trial` objects, which says all that is done
and asks nothing of the model. :func:`~firsthand.studies.injection.running.run_trials` settles what has to be measured
first, runs them together, so that the engine can share what they have in common, and returns one row a trial with the
columns below.

=============  ====================================================================================================
``trial_id``   unique name
``task``       what was asked (:class:`~firsthand.studies.injection.drafts.Task`)
``wording``    name of the wording; ``voice`` its cluster, ``framing`` its framing
``order``      meanings of the answers in the order of the text, joined by ``|``
``detail``     what else was drawn, e.g. the sentences
``lead``       whether the text before everything else is ``neutral`` or a ``push``
``text``       the prompt
``arm``        what was done; ``kind`` its trial kind, empty where it has none
``concept``    the concept; ``layer`` and ``dose`` the cell, -1 and 0 where nothing is added at any
``timing``     when the edit acts
``truth``      the meaning that is right; empty where none is
``impact_kl``  KL divergence from the clean distribution of the same prompt, in nats; ``entropy`` of this one
``matched``    whether a direction without content has the target's impact; NaN in other arms
``answer``     meaning of the answer; ``None`` if it is invalid: some other token is likelier, or two answers tie
``surface``    its label
``logprobs``   log-probability of every answer, in the order of the text
``coverage``   their probability together
``site``       components along the vectors that the trial names, beyond those of the clean trial, in target doses
``added``      length of the change of the stream at the same places, in target doses, whatever its direction
``residual``   the stream where the report is made, two thirds up, where it is read
=============  ====================================================================================================
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from firsthand.engine import Edit
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import KINDS, Arm, Like, Span
from firsthand.studies.injection.prompts import Prompt
from firsthand.vocabulary import Timing

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "public": ("task", "wording", "voice", "framing", "order", "detail", "lead", "text"),
    "sealed": ("arm", "kind", "concept", "layer", "dose", "timing", "truth", "impact_kl", "matched"),
    "reports": (
        *("answer", "surface", "logprobs", "coverage", "entropy"),
        *("said", "named", "percentile", "rank"),
        *("report", "given", "confidence", "rating", "unedited"),
    ),
    "readings": ("site", "added", "residual"),
}
"""Columns of each part of the trace, beside ``trial_id``. The second and third line of the reports belong to naming and
confidence (see the modules of :mod:`firsthand.studies.injection.questions`)."""

Sensor = tuple[Span, str]
"""Where the stream is read, and along which concept's vector."""


@dataclass(frozen=True, eq=False)
class Trial:
    """One prompt in one arm.

    Attributes:
        concept: The concept.
        arm: What is done.
        prompt: The conversation.
        edits: The edits; of a direction without content with the target's strength, of a swap without the other stream,
            until they are settled (see :mod:`firsthand.studies.injection.settling`).
        cell: Layer and dose; ``None`` where nothing is added at any.
        truth: The meaning that is right.
        name: What tells it from other trials of the same concept, task, wording, cell and arm.
        timing: When the edit acts.
        like: Where the impact of a direction without content is to be the target's.
        matched: Whether it is; ``None`` where it need not be, or is not settled yet.
        source: The conversation whose stream is put in the place of this one's, until that is settled.
        sensors: What a wire reads: at most so many numbers as there are answers.
        reading: At whose layer wires read, in whose doses; with it the stream is kept where the report is made.
    """

    concept: str
    arm: Arm
    prompt: Prompt
    edits: tuple[Edit, ...] = ()
    cell: Cell | None = None
    truth: str = ""
    name: str = ""
    timing: Timing = Timing.PREFILL
    like: Like | None = None
    matched: bool | None = None
    source: Prompt | None = None
    sensors: tuple[Sensor, ...] = ()
    reading: Cell | None = None

    @property
    def trial_id(self) -> str:
        """Unique name within a study's question."""
        draft = self.prompt.draft
        where = "-" if self.cell is None else self.cell.name
        parts = (self.concept, draft.task, draft.wording, "|".join(draft.meanings), self.name, self.timing, where)
        return "/".join((*map(str, parts), str(self.arm)))


def described(trial: Trial) -> dict[str, object]:
    """What is known of a trial before it is run."""
    draft, cell = trial.prompt.draft, trial.cell
    return {
        "trial_id": trial.trial_id,
        "task": str(draft.task),
        "wording": draft.wording,
        "voice": draft.cluster,
        "framing": str(draft.framing),
        "order": "|".join(draft.meanings),
        "detail": draft.detail,
        "lead": draft.lead,
        "text": trial.prompt.text,
        "arm": str(trial.arm),
        "kind": str(KINDS[trial.arm]) if trial.arm in KINDS else "",
        "concept": trial.concept,
        "layer": -1 if cell is None else cell.layer,
        "dose": 0.0 if cell is None else cell.dose,
        "timing": str(trial.timing),
        "truth": trial.truth,
        "matched": np.nan if trial.matched is None else float(trial.matched),
    }
