"""Claims about a model's predictions of its own behaviour."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from firsthand.claims.claim import AnalysisSpec, Fraction, _Part, _refuse_repeats

PropertyName = Literal[
    "first-character",
    "second-character",
    "number-parity",
    "letter-parity",
    "option",
    "length",
    "starts-with",
    "ends-with",
]
"""What of an answer is to be foreseen; see ``firsthand.studies.labels.prediction.properties``."""


class PredictionClaim(_Part):
    """One preregistered study of self-prediction (Binder et al. 2024, arXiv 2410.13787).

    Attributes:
        title: One sentence that a reader understands.
        study: The protocol.
        model: Name, folder, GGUF file or Hugging Face id of the model that reports.
        readers: Other models that read the same questions about it, with the same examples.
        data_sha256: Hash of the prompts that the study is made on.
        properties: What of an answer is to be foreseen.
        examples: Numbers of examples of the model's behaviour before a question. The report is judged at the largest,
            with every control; the others are shown.
        experiments: Draws of examples, wording and letters for each property; each prompt is judged in one of them.
        fit: Prompts that examples are drawn from; observers may learn from all of them.
        judged: Prompts whose answers are to be foreseen.
        longest_answer: Most tokens of an answer.
        draws: Sampled answers to each prompt, which say how often the greedy one's property holds.
        constant: Largest share that one class of a property may have before it is refused.
        seed: Seed of everything that is drawn.
        analysis: The rules of judgement. Independent units are the prompts (``item``) and their groups.
    """

    version: Literal[1] = 1
    title: str = "The model foresees properties of its own answers."
    study: Literal["prediction"] = "prediction"
    model: str = "smollm2"
    readers: tuple[str, ...] = ()
    data_sha256: str
    properties: tuple[PropertyName, ...] = ("option", "second-character", "letter-parity", "length", "first-character")
    examples: tuple[Annotated[int, Field(ge=0)], ...] = (0, 5, 20)
    experiments: Annotated[int, Field(ge=1)] = 2
    fit: Annotated[int, Field(ge=20)] = 80
    judged: Annotated[int, Field(ge=20)] = 80
    longest_answer: Annotated[int, Field(ge=1, le=256)] = 8
    draws: Annotated[int, Field(ge=0)] = 0
    constant: Fraction = 0.9
    seed: Annotated[int, Field(ge=0)] = 0
    analysis: AnalysisSpec = AnalysisSpec(clusters=("item", "group"))

    @model_validator(mode="after")
    def _can_be_run(self) -> Self:
        for field in ("properties", "examples"):
            if not getattr(self, field):
                raise ValueError(f"{field} must hold at least one value")
        for field in ("properties", "examples", "readers"):
            _refuse_repeats(field, getattr(self, field))
        if max(self.examples) > self.fit:
            raise ValueError(f"examples names {max(self.examples)}, more than the {self.fit} prompts to learn from")
        if 0 < max(self.examples) < 4:
            raise ValueError(f"examples names {max(self.examples)} at most; of fewer than 4 nothing can be learned")
        if self.model in self.readers:
            raise ValueError(f"readers names {self.model}, the model itself, which is asked in the third person anyway")
        unknown = sorted(set(self.analysis.clusters) - {"item", "group"})
        if unknown:
            raise ValueError(f"analysis.clusters names {', '.join(unknown)}; use item and group")
        return self
