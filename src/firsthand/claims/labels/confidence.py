"""Claims about a model's confidence in its own answers."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from firsthand.claims.claim import AnalysisSpec, _Part, _refuse_repeats

Report = Literal["true", "percent", "code", "know"]
"""How confidence is asked for: is the answer right (yes or no); how likely in per cent; the same as yes or no by an
opaque code; and, before anything is answered, whether the answer would be right."""


class ConfidenceClaim(_Part):
    """One preregistered study of confidence (Kadavath et al. 2022, and what an observer could have said as well).

    Attributes:
        title: One sentence that a reader understands.
        study: The protocol.
        model: Name, folder, GGUF file or Hugging Face id of the model that reports.
        data_sha256: Hash of the questions that the study draws from.
        reader: Another language model that reads the same questions and answers. ``None``: none does, and nothing can
            end ``privileged``; nor can it beside one that does not reply validly or is right less often.
        reports: How confidence is asked for.
        questions: Questions that are asked, drawn evenly from the subjects.
        pairs: How many of them are asked again as a choice between two, for meta-d'.
        orders: Orders of the options in which each is asked; half of them use each wording of a report.
        layers: Layers at which probes read the ends of the question and of the report's prompt. ``None``: five, evenly
            over the depth.
        seed: Seed of everything that is drawn.
        analysis: The rules of judgement. Independent units are the questions and their subjects.
    """

    version: Literal[1] = 1
    title: str = "The model's confidence tells which of its own answers are right."
    study: Literal["confidence"] = "confidence"
    model: str = "smollm2"
    data_sha256: str
    reader: str | None = None
    reports: tuple[Report, ...] = ("true", "percent", "code", "know")
    questions: Annotated[int, Field(ge=20)] = 200
    pairs: Annotated[int, Field(ge=0)] = 80
    orders: Annotated[int, Field(ge=2, le=8)] = 2
    layers: tuple[Annotated[int, Field(ge=0)], ...] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    analysis: AnalysisSpec = AnalysisSpec(clusters=("question", "subject"))

    @model_validator(mode="after")
    def _can_be_run(self) -> Self:
        for field in ("layers", "reports"):
            values = getattr(self, field)
            if values is not None and not values:
                raise ValueError(f"{field} must hold at least one value")
            _refuse_repeats(field, values or ())
        if self.orders % 2:
            raise ValueError(f"orders is {self.orders}: it must be even, so that each wording is used as often")
        if self.pairs > self.questions:
            raise ValueError(f"pairs is {self.pairs}, more than the {self.questions} questions")
        if self.reader is not None and self.reader == self.model:
            raise ValueError("reader must be another model than the one that reports")
        unknown = sorted(set(self.analysis.clusters) - {"question", "subject"})
        if unknown:
            raise ValueError(f"analysis.clusters names {', '.join(unknown)}; use question and subject")
        return self
