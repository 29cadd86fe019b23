"""Public evidence: everything that an observer may see, and nothing else.

A :class:`PublicView` has no field for the private state, the kind of trial, the edit or the report, so an observer that
is given one cannot look. ``without_output`` makes the view of an observer from whom Y is withheld.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from firsthand.trials.canonical import canonical_json
from firsthand.vocabulary import Capability


@dataclass(frozen=True)
class Turn:
    """One visible turn. ``content`` of ``None`` means that the turn is withheld from this view."""

    role: str
    content: str | None


@dataclass(frozen=True)
class PublicQuestion:
    """A question as the reporter saw it: text, answer stem, and the code of each class."""

    text: str
    stem: str
    codes: tuple[str, str]


@dataclass(frozen=True)
class PublicView:
    """What an observer gets for one trial.

    Attributes:
        trial_id: Identifier, without meaning.
        clusters: Public cluster columns, e.g. ``{"block": ..., "carrier": ...}``.
        turns: The visible conversation up to the report question.
        output: The visible answer Y; ``None`` if withheld.
        features: Named public numbers of the input, e.g. ``{"cue": 1.0}``.
        output_features: Named public numbers of the output; empty if it is withheld.
        questions: The report question of each capability.
    """

    trial_id: str
    clusters: dict[str, str]
    turns: tuple[Turn, ...]
    output: str | None
    features: dict[str, float]
    output_features: dict[str, float] = field(default_factory=dict)
    questions: dict[Capability, PublicQuestion] = field(default_factory=dict)

    def without_output(self) -> "PublicView":
        """The same view with Y and the assistant's turns withheld."""
        turns = tuple(replace(t, content=None) if t.role == "assistant" else t for t in self.turns)
        return replace(self, output=None, turns=turns, output_features={})

    def as_json(self) -> dict[str, Any]:
        """A plain value with every field, for storage and hashing."""
        return {
            "trial_id": self.trial_id,
            "clusters": dict(self.clusters),
            "turns": [[t.role, t.content] for t in self.turns],
            "output": self.output,
            "features": dict(self.features),
            "output_features": dict(self.output_features),
            "questions": {str(c): [q.text, q.stem, list(q.codes)] for c, q in self.questions.items()},
        }

    def dumps(self) -> str:
        """The view as one line of canonical JSON."""
        return canonical_json(self.as_json()).decode()

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "PublicView":
        """The view that :meth:`as_json` wrote."""
        return cls(
            trial_id=value["trial_id"],
            clusters=value["clusters"],
            turns=tuple(Turn(role, content) for role, content in value["turns"]),
            output=value["output"],
            features=value["features"],
            output_features=value["output_features"],
            questions={
                Capability(c): PublicQuestion(text, stem, (codes[0], codes[1]))
                for c, (text, stem, codes) in value["questions"].items()
            },
        )
