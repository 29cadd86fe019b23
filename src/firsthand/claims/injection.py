"""The claim of an injection study: what is injected, what is asked, and by which rules it is judged."""

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from firsthand.claims.claim import AnalysisSpec, _Part, _refuse_repeats

Dose = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Layer = Annotated[int, Field(ge=0)]


class Question(StrEnum):
    """What an injection study can ask."""

    DETECTION = "detection"
    """Was a thought injected? With two answers and with three."""
    LIFTED = "lifted"
    """The same, asked after the injection has ended: in the next turn, or some turns later."""
    LOCALISATION = "localisation"
    """During which sentence?"""
    STRENGTH = "strength"
    """Which of two injections was stronger?"""
    CHOICE = "choice"
    """Which of these concepts?"""
    CODES = "codes"
    """Which of these concepts, by an opaque code?"""
    NAMING = "naming"
    """Which concept, in the model's own words; and how high it ranks there (reconstruction)?"""
    VISIBLE = "visible"
    """The detection and the choice again, against observers that see what the model writes under the injection (Y)."""
    CONFIDENCE = "confidence"
    """How likely is the report to be right?"""
    TRANSFER = "transfer"
    """Does what was found carry over to other layers, vectors and labels?"""
    OPEN = "open"
    """Was a thought injected? In sampled text, which a judge hears; only where it is asked for by name."""


USUAL = (Question.DETECTION, Question.LOCALISATION)
"""What is asked unless a claim says otherwise: that and where, in less than a quarter of an hour on two cores. Which
(``choice``) takes three minutes more."""

EVERY = tuple(question for question in Question if question is not Question.OPEN)
"""Everything that needs no judge of free text."""


class InjectionClaim(_Part):
    """One preregistered injection study.

    Attributes:
        title: One sentence that a reader understands.
        study: The protocol.
        model: Name, folder, GGUF file or Hugging Face id of the model that reports.
        concepts: What is injected; a quarter chooses the settings, the rest is judged.
        recipe: How vectors are made: ``nouns`` (mean over the word's tokens minus the mean over the concepts,
            arXiv 2605.26242, appendix F) or ``last_token`` (Lindsey 2025: last token minus the mean of 100 words).
        unit_norm: Whether vectors are scaled to unit norm; if not, a dose of 1 adds the raw difference.
        layers: Layers of the grid. ``None``: ten, evenly over the depth.
        doses: Doses of the grid, in mean residual norms at the trial line (in raw vectors if ``unit_norm`` is false).
        options: Numbers of answers of the injection question.
        framings: Framings to choose from.
        voices: Wordings, of those that share a framing, that each concept is asked in; they rotate over concepts.
        wordings: The user's own wordings in place of the built-in ones, with the fields that
            ``docs/injection-prompts.md`` describes.
        pushes: The user's own texts that push towards a concept.
        delay: Neutral exchanges between the injection and the question, where it is asked later.
        sentences: Sentences among which a place is asked for.
        list_length: Concepts in the list of an identification.
        questions: What is asked.
        samples: Sampled answers of each open question.
        judge: Who hears them: ``rules``, or a local model by name, whose exact probabilities of yes and no count.
        full_grid: Whether every arm is run in every cell, on the confirmation concepts too.
        seed: Names every draw.
        analysis: The rules of judgement.
    """

    version: Literal[1] = 1
    title: str = "The model reports thoughts that were put into its activations."
    study: Literal["injection"] = "injection"
    model: str = "smollm2"
    concepts: tuple[str, ...]
    recipe: Literal["nouns", "last_token"] = "nouns"
    unit_norm: bool = True
    layers: tuple[Layer, ...] | None = None
    doses: tuple[Dose, ...] = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
    options: tuple[Literal[2, 3], ...] = (2, 3)
    framings: tuple[Literal["instruction", "conversation"], ...] = ("instruction", "conversation")
    voices: Annotated[int, Field(ge=1)] = 1
    wordings: tuple[dict[str, Any], ...] | None = None
    pushes: tuple[str, ...] | None = None
    delay: Annotated[int, Field(ge=1, le=8)] = 2
    sentences: Annotated[int, Field(ge=2, le=10)] = 5
    list_length: Annotated[int, Field(ge=2, le=8)] = 4
    questions: tuple[Question, ...] = USUAL
    samples: Annotated[int, Field(ge=1, le=100)] = 4
    judge: str = "rules"
    full_grid: bool = False
    seed: Annotated[int, Field(ge=0)] = 0
    analysis: AnalysisSpec = AnalysisSpec(clusters=("concept",))

    @model_validator(mode="after")
    def _can_be_run(self) -> Self:
        for field in ("concepts", "layers", "doses", "options", "framings", "questions"):
            values = getattr(self, field)
            if values is not None and not values:
                raise ValueError(f"{field} must hold at least one value")
            _refuse_repeats(field, values or ())
        odd = [concept for concept in self.concepts if not concept.strip() or set("{}") & set(concept)]
        if odd:
            raise ValueError(f"concepts holds {odd[0]!r}: write plain words, without braces")
        if any(push.count("{concept}") < 1 for push in self.pushes or ()):
            raise ValueError("every text of pushes must hold {concept}")
        folded = [concept.casefold() for concept in self.concepts]
        _refuse_repeats("concepts", folded)
        if set(self.analysis.clusters) != {"concept"}:
            raise ValueError("analysis.clusters of study 'injection' must be [concept]: nothing else is independent")
        needed = {Question.CONFIDENCE, Question.TRANSFER, Question.LIFTED, Question.OPEN, Question.VISIBLE}
        needed &= set(self.questions)
        if needed and Question.DETECTION not in self.questions:
            raise ValueError(f"the questions {', '.join(sorted(needed))} need detection, whose cell they use")
        two = needed - {Question.CONFIDENCE, Question.VISIBLE}
        if two and 2 not in self.options:
            raise ValueError(f"the questions {', '.join(sorted(two))} need detection with two answers (options)")
        return self
