"""What an investigation did and found, in one form whoever investigated: an agent, or a procedure without a model."""

from collections.abc import Sequence
from statistics import fmean
from typing import Annotated, Literal

from pydantic import Field

from firsthand.counterfactual.behaviours import Behaviour
from firsthand.counterfactual.edits import Edit
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.rates import Rate
from firsthand.trials.canonical import digest

Decision = Literal["changes", "does not change", "undecided"]
Stage = Literal["explored", "confirmed"]


class Experiment(Part):
    """An edit, and how often the behaviour occurs after it.

    Attributes:
        number: Number within the investigation, from 1.
        edit: The edit.
        purpose: What was to be learnt: the hypothesis, in the investigator's words.
        stage: Whether the edit was still being looked for when its responses were drawn, or had been fixed before.
        batch: Name of the batch of responses.
        rate: Counts on the edited prompt.
        decision: What a test at the investigation's level says of a change of at least ``least_change``.
        error: Why the edit could not be run; its rate is then all invalid.
        control_of: Numbers of the experiments that this one is the control of: the same kind of edit, about as large,
            at another place.
    """

    number: Annotated[int, Field(ge=1)]
    edit: Edit
    purpose: str
    stage: Stage
    batch: str
    rate: Rate
    decision: Decision = "undecided"
    error: str | None = None
    control_of: tuple[int, ...] = ()


class Cause(Part):
    """A hypothesis, and the experiments that bear on it.

    Attributes:
        hypothesis: The hypothesis.
        evidence: One line for each experiment that bears on it, with rates before and after.
        experiments: Their numbers.
        specific: Whether a control shows that it is this text: true, or false where any edit of its size does the same.
            ``None``: the hypothesis is about no text, or the investigator has no controls.
    """

    hypothesis: str
    evidence: tuple[str, ...] = ()
    experiments: tuple[int, ...] = ()
    specific: bool | None = None


class Report(Part):
    """What the investigator files.

    Attributes:
        observed: The behaviour, as observed.
        causes: Hypotheses that experiments support.
        refuted: Hypotheses that experiments refute.
        answer: The answer to the question.
    """

    observed: str
    causes: tuple[Cause, ...] = ()
    refuted: tuple[Cause, ...] = ()
    answer: str


class Judgement(Part):
    """What one judge says of how well the experiments support the report.

    Attributes:
        score: From 1 (unsupported) to 10 (fully supported); ``None`` if no valid judgement was given.
        fair: Whether the classifier's question asks for the behaviour.
        described: Whether each described edit is what was changed.
        isolated: Whether the experiments isolate the cause.
        notes: What the judge notes.
    """

    score: Annotated[int, Field(ge=1, le=10)] | None
    fair: bool | None = None
    described: bool | None = None
    isolated: bool | None = None
    notes: str = ""


def mean_score(judgements: Sequence[Judgement]) -> float | None:
    """Mean of the valid scores; ``None`` unless more than half of the judges gave one."""
    scores = [one.score for one in judgements if one.score is not None]
    return fmean(scores) if 2 * len(scores) > len(judgements) else None


class Screened(Part):
    """What screening found of a prompt.

    Attributes:
        prompt: The prompt.
        rating: How unexpected the behaviour is, 1 to 5; ``None`` if no valid rating was given.
        behaviour: The frozen behaviour.
        summary: The behaviour in one or two sentences.
        question: What is asked of the investigator, in the third person.
        own_question: The same, in the second person.
        rate: Counts in the batch that was screened. It chose the behaviour, so it is never a baseline.
    """

    prompt: Prompt
    rating: Annotated[int, Field(ge=1, le=5)] | None
    behaviour: Behaviour
    summary: str
    question: str
    own_question: str
    rate: Rate


class Investigation(Part):
    """One investigation.

    Attributes:
        target: Identity of the target.
        investigator: Who investigated.
        screened: What it began with.
        baseline: Counts on the prompt as it is, in responses that were drawn after screening.
        experiments: The experiments, in order.
        report: What was filed; ``None`` if the investigation ended without.
        ended: Why it ended, if not by a report.
        judgements: What the judges say.
    """

    target: str
    investigator: str
    screened: Screened
    baseline: Rate
    experiments: tuple[Experiment, ...] = ()
    report: Report | None = None
    ended: str = ""
    judgements: tuple[Judgement, ...] = ()

    @property
    def supported_causes(self) -> tuple[Cause, ...]:
        """Causes of the report that rest on an edit which changed the rate in responses drawn after it was fixed."""
        shown = {one.number for one in self.experiments if one.stage == "confirmed" and one.decision == "changes"}
        causes = () if self.report is None else self.report.causes
        return tuple(cause for cause in causes if shown.intersection(cause.experiments))

    @property
    def confirmed_causes(self) -> tuple[Cause, ...]:
        """Those of them for which a matched control shows that it is this text, and not any edit of its size."""
        return tuple(cause for cause in self.supported_causes if cause.specific)

    @property
    def score(self) -> float | None:
        """The judges' mean score (:func:`mean_score`)."""
        return mean_score(self.judgements)

    @property
    def id(self) -> str:
        """Identifier: a prompt may be investigated once for each behaviour."""
        return digest([self.screened.prompt.id, self.screened.behaviour.model_dump(mode="json")])[:16]
