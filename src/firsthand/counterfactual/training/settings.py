"""How a model is trained: the settings of arXiv 2608.16747 (table 8) are the defaults."""

from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from firsthand.counterfactual.explaining.examples import EPOCHS
from firsthand.counterfactual.part import Part
from firsthand.trials.canonical import digest

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class TrainSettings(Part):
    """LoRA on the last turn of chats.

    Attributes:
        rank: Rank of the LoRA matrices.
        alpha: Their scale times the rank.
        dropout: Dropout before them, in training only.
        targets: ``all-linear``, or the names of the modules that get them.
        top_layers: Only that many decoder layers, the last ones, get them; ``None``: all of them.
        learning_rate: Highest learning rate.
        warmup: Share of the steps in which it rises from 0; it falls to 0 in the others.
        weight_decay: Of AdamW.
        clip: Largest norm of the gradient.
        batch: Chats of one step.
        micro_batch: Chats that are run at once, which divides ``batch``; ``None``: all of them.
        max_tokens: Longest chat. Longer ones are left out and counted, never cut: the answer is at the end.
        epochs: How often each chat is seen: once for predictions, three times for explanations.
        seed: Names the LoRA matrices' first values, the order of the chats, and dropout.
        checkpoint_steps: After how many steps what was done is kept.
        kl_share: Share of the samples that come with a penalty on moving away from the base (appendix D.5: 0.01).
        kl_weight: Weight of that penalty.
    """

    rank: Annotated[int, Field(ge=1)] = 64
    alpha: Annotated[float, Field(gt=0.0)] = 128.0
    dropout: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.05
    targets: Literal["all-linear"] | tuple[str, ...] = "all-linear"
    top_layers: Annotated[int, Field(ge=1)] | None = None
    learning_rate: Annotated[float, Field(gt=0.0)] = 5e-5
    warmup: Share = 0.05
    weight_decay: Annotated[float, Field(ge=0.0)] = 0.01
    clip: Annotated[float, Field(gt=0.0)] = 1.0
    batch: Annotated[int, Field(ge=1)] = 8
    micro_batch: Annotated[int, Field(ge=1)] | None = None
    max_tokens: Annotated[int, Field(ge=2)] = 4096
    epochs: Annotated[int, Field(ge=1)] = 1
    seed: Annotated[int, Field(ge=0)] = 0
    checkpoint_steps: Annotated[int, Field(ge=1)] = 25
    kl_share: Share = 0.0
    kl_weight: Annotated[float, Field(gt=0.0)] = 1.0

    @model_validator(mode="after")
    def _batches_divide(self) -> "TrainSettings":
        if self.batch % (self.micro_batch or self.batch):
            raise ValueError(f"micro_batch must divide batch, and {self.micro_batch} does not divide {self.batch}")
        return self

    @property
    def key(self) -> str:
        """Hash of what decides the trained weights; how often they are kept on the way does not."""
        return digest(self.model_dump(mode="json", exclude={"checkpoint_steps"}))


PREDICTIONS: Final = TrainSettings()
"""What models are trained with on claims."""

EXPLANATIONS: Final = TrainSettings(epochs=EPOCHS)
"""What models are trained with on explanations."""
