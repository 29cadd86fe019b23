"""Everything that the report of a training run shows, as one versioned document."""

from typing import Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from firsthand.analysis.self_cross.results import SelfCrossResult, SelfCrossSpec
from firsthand.report.explanations_document import OpenExplanations
from firsthand.vocabulary import Verdict

TRAINING_DOCUMENT: Literal[1] = 1
MARKER: Final = "trainings.json"
"""File by which the folder of a training run is known; it lists every file that the result rests on."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TrainingRow(_Part):
    """One training.

    Attributes:
        model: The model.
        seed: The seed.
        steps: Steps.
        parameters: Trained parameters.
        first_loss: Mean loss of the first tenth of the steps.
        last_loss: Mean loss of the last tenth.
        data: Hash of the chats in their order: equal for models that saw the same.
        base: SHA-256 of the weights that were trained on.
        adapter: SHA-256 of the adapter.
        changed: Share of labels that are others on the trained model; ``None`` where none were measured anew.
        drift: Mean divergence per token from the base over held-out transcripts, in nats; of the target only.
    """

    model: str
    seed: int
    steps: int
    parameters: int
    first_loss: float
    last_loss: float
    data: str
    base: str
    adapter: str
    changed: float | None = None
    drift: float | None = None


class TrainingStudy(_Part):
    """Claims about one target, and what came of them; of explanations, what one simulator makes of them.

    Attributes:
        name: Identifier.
        title: Heading.
        about: What the claims are about, in a sentence or two.
        expected: The verdict that must come out, where the truth is planted; ``None`` where it is not known.
        result: What was found.
        trained_on: Claims that were trained on.
        train_clusters: Their clusters.
        dropped: Claims that were left out, by reason.
        trainings: Every training.
        notes: What else a reader should know.
        prompt: One question as a model read it.
    """

    name: str
    title: str
    about: str
    expected: Verdict | None = None
    result: SelfCrossResult
    trained_on: int
    train_clusters: int
    dropped: dict[str, int]
    trainings: tuple[TrainingRow, ...]
    notes: tuple[str, ...] = ()
    prompt: str = ""

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one that must come out, where one must."""
        return self.expected is None or self.result.verdict is self.expected


class TrainingDocument(_Part):
    """A training run.

    Attributes:
        title: Heading.
        package_version: Version of this package.
        started: When it began; the first time, where it was taken up again.
        finished: When it ended.
        settings: How models were trained, name to value.
        spec: The rules of the verdicts.
        models: Models that took part, as plain values.
        studies: One a target.
        limits: What may not be concluded.
        reproduce: Commands that repeat it.
        explanations: What is shown of open explanations, where models were trained on those.
    """

    schema_version: Literal[1] = TRAINING_DOCUMENT
    kind: Literal["training"] = "training"
    title: str
    package_version: str
    started: AwareDatetime
    finished: AwareDatetime
    settings: dict[str, str]
    spec: SelfCrossSpec
    models: tuple[dict[str, str | int | None], ...]
    studies: tuple[TrainingStudy, ...]
    limits: tuple[str, ...]
    reproduce: tuple[str, ...]
    explanations: OpenExplanations | None = None

    @property
    def failed(self) -> tuple[str, ...]:
        """Planted truths that did not come out, in words."""
        return tuple(
            f"{one.title}: {one.result.verdict.value}, and it must be {one.expected.value}"
            for one in self.studies
            if one.expected is not None and not one.as_expected
        )
