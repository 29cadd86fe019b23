"""Claims about belief dominance: which of two answers a model's states hold, while it answers against evidence."""

import re
from typing import Annotated, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from firsthand.claims.claim import AnalysisSpec, _Part, _refuse_repeats

CLASSES: Final = 3
"""Clusters of dominance (arXiv 2605.26242, section 5.2)."""
STATE: Final = "{state}"
"""Stands, in the stem of the reading prompt, for the placeholder whose state is replaced."""
FIELDS: Final = ("statement", "prompt", "subject", "counter")
"""What the template of a conflict may name: the sentence with the counter entity, the sentence without its end, what
it is about, and the counter entity."""

Layers = tuple[Annotated[int, Field(ge=0)], ...]


class ConflictKind(_Part):
    """One way of setting evidence against what a model may believe.

    Attributes:
        name: Identifier.
        template: The user's turn, with ``{prompt}`` and with ``{statement}`` or ``{counter}``; see :data:`FIELDS`.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    template: str

    @field_validator("template")
    @classmethod
    def _holds_the_conflict(cls, template: str) -> str:
        named = re.findall(r"\{([^{}]*)\}", template)
        unknown = sorted(set(named) - set(FIELDS))
        if unknown:
            raise ValueError(f"the template names {', '.join(unknown)}; it may name {', '.join(FIELDS)}")
        if "prompt" not in named or not {"statement", "counter"} & set(named):
            raise ValueError("the template needs {prompt}, and {statement} or {counter}")
        if template != template.strip():
            raise ValueError("the template has space around it")
        return template


BUILT_IN: Final = (
    ConflictKind(
        name="assertion",
        template="{statement}\nComplete this sentence with the words that belong there: {prompt}",
    ),
    ConflictKind(
        name="reliable-source",
        template='A reference work, checked by experts, states: "{statement}"\n'
        "Complete this sentence with the words that belong there: {prompt}",
    ),
    ConflictKind(
        name="unreliable-source",
        template='A comment without a name, on a page of jokes, claims: "{statement}"\n'
        "Complete this sentence with the words that belong there: {prompt}",
    ),
)
"""The three kinds on which labels were predicted (arXiv 2605.26242, appendix L), in our own words."""


class SteeringSpec(_Part):
    """A vector of the counter entity, added while the model answers and while it labels.

    Attributes:
        records: How many records.
        layers: At which layers. ``None``: in the middle.
        doses: How much is added, in units of the mean norm of the residuals at the layer.
    """

    records: Annotated[int, Field(ge=2)] = 12
    layers: Layers | None = None
    doses: tuple[Annotated[float, Field(gt=0.0, allow_inf_nan=False)], ...] = (0.5, 1.0)

    @model_validator(mode="after")
    def _grid_is_not_empty(self) -> Self:
        if not self.doses or (self.layers is not None and not self.layers):
            raise ValueError("steering.layers and steering.doses must each hold at least one value")
        _refuse_repeats("steering.layers", self.layers or ())
        _refuse_repeats("steering.doses", [f"{dose:g}" for dose in self.doses])
        return self


class BeliefClaim(_Part):
    """One preregistered study of belief dominance (Steinmetz Yalon et al. 2026; arXiv 2605.26242, section 5.2).

    Attributes:
        title: One sentence that a reader understands.
        study: The protocol.
        model: Name, folder, GGUF file or Hugging Face id of the model that reports.
        data_sha256: Hash of the facts that the study is made on.
        records: Facts that are asked about, drawn so that as few as possible have a subject in common.
        known: Whether only facts count whose true entity the model finds likelier than the counter entity.
        kinds: Ways of setting evidence against a fact.
        per_record: Whether a fact is asked about in ``one`` way, with all ways equally often, or in ``all``.
        answer_tokens: Most tokens of an answer.
        layers: Layers that states are read at. ``None``: six, evenly over the depth.
        reading_question: The user's turn of the prompt that states are read with.
        reading_stem: How its answer begins, with ``{state}`` for the placeholder whose state is replaced.
        reading_tokens: Tokens that are generated from a state.
        reading_samples: Texts that are generated from a state: one is the likeliest, several are sampled.
        clustered: Whether clusters are fitted on the records that shots come from (``fit``), or on ``all``.
        folds: Parts of the records; in each experiment one of them is asked about, and shots come from the others.
        rounds: How often all records are parted anew. Folds times rounds is a multiple of three: over each three
            experiments a label's name means each class once, and only then a liking for a name is worth nothing.
        shots: Labelled texts before a question, at most: as many of each class, as many as there are.
        shows: Whether the model is shown, when it labels, the ``prompt`` alone or its own ``answer`` too.
        splits: Random halves of the records on which the entities' probes are fitted and tested.
        reader: Another language model that is given the same conversations.
        steering: Whether the counter entity's vector is added, and how.
        seed: Seed of everything that is drawn.
        analysis: The rules of judgement. Independent units are the records' subjects and the experiments.
    """

    version: Literal[1] = 1
    title: str = "The model tells which of two beliefs its states hold, having been shown labels of it."
    study: Literal["belief"] = "belief"
    model: str = "smollm2"
    data_sha256: str
    records: Annotated[int, Field(ge=9)] = 60
    known: bool = True
    kinds: tuple[ConflictKind, ...] = BUILT_IN
    per_record: Literal["one", "all"] = "one"
    answer_tokens: Annotated[int, Field(ge=1)] = 16
    layers: Layers | None = None
    reading_question: str = "Choose one thing and tell me about it."
    reading_stem: str = "Of course. Here are three facts about {state}:\n1."
    reading_tokens: Annotated[int, Field(ge=1)] = 8
    reading_samples: Annotated[int, Field(ge=1)] = 1
    clustered: Literal["fit", "all"] = "fit"
    folds: Annotated[int, Field(ge=2)] = 3
    rounds: Annotated[int, Field(ge=1)] = 2
    shots: Annotated[int, Field(ge=CLASSES)] = 30
    shows: Literal["prompt", "answer"] = "prompt"
    splits: Annotated[int, Field(ge=2)] = 15
    reader: str | None = None
    steering: SteeringSpec | None = SteeringSpec()
    seed: Annotated[int, Field(ge=0)] = 0
    analysis: AnalysisSpec = AnalysisSpec(clusters=("subject", "experiment"))

    @property
    def experiments(self) -> int:
        """Conversations: one for every part of the records in every round."""
        return self.folds * self.rounds

    @model_validator(mode="after")
    def _can_be_run(self) -> Self:
        if self.layers is not None and not self.layers:
            raise ValueError("layers must hold at least one value")
        _refuse_repeats("layers", self.layers or ())
        if not self.kinds:
            raise ValueError("kinds must hold at least one kind")
        _refuse_repeats("kinds", [kind.name for kind in self.kinds])
        if self.reading_stem.count(STATE) != 1 or not self.reading_stem.partition(STATE)[0].endswith(" "):
            raise ValueError(f"reading_stem needs {STATE} once, after a space")
        if self.folds > self.records:
            raise ValueError(f"folds is {self.folds}, more than the {self.records} records")
        if self.experiments % CLASSES:
            raise ValueError(
                f"folds x rounds is {self.experiments}, which is no multiple of {CLASSES}: over {CLASSES} experiments "
                f"each label name means each of the {CLASSES} classes once, and over {self.experiments} a liking for a "
                f"name would not cancel; use {self.folds} folds and {-(-self.rounds // CLASSES) * CLASSES} rounds"
            )
        if self.reader is not None and self.reader == self.model:
            raise ValueError("reader is the model itself")
        unknown = sorted(set(self.analysis.clusters) - {"subject", "experiment"})
        if unknown:
            raise ValueError(f"analysis.clusters names {', '.join(unknown)}; use subject and experiment")
        return self
