"""Claims about labels that come from a model's own activations."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from firsthand.claims.claim import AnalysisSpec, _Part, _refuse_repeats

Referent = Literal["probe", "permuted", "pc1", "pc2", "pc4", "pc8", "pc16", "pc32"]
"""What labels are made of: a logistic probe of the data's own labels, one that was fitted on permuted labels, or a
principal component."""


class BiofeedbackClaim(_Part):
    """One preregistered biofeedback study (Ji-An et al. 2025; arXiv 2605.26242, section 5.1, appendix J).

    Attributes:
        title: One sentence that a reader understands.
        study: The protocol.
        model: Name, folder, GGUF file or Hugging Face id of the model that reports.
        data_sha256: Hash of the texts and labels that the study is made on.
        layers: Layers at which labels are made. ``None``: five, evenly over the depth.
        referents: What labels are made of.
        parted: How scores become two labels.
        fit: Texts on which probes and components are fitted; observers may learn from them, too.
        held_out: Texts from which the conversations are drawn.
        experiments: Conversations at each layer, each with texts and label names of its own.
        shots: Labelled texts in each of them; in the independent protocol those that are not shots are asked about.
        protocol: ``teacher_forced`` reads what is expected before every label of one conversation; ``independent``
            (appendix J) gives the first shots, a number of ``counts``, and asks about each text after them by itself.
        counts: Numbers of shots of the independent protocol.
        judged_from: Answers after fewer shots are shown and not judged.
        readers: Other language models, by name, that read the same conversations and must be beaten; without one
            nothing can be privileged.
        regulated_after: Shots after which the model is asked to move its state; 0, as usual, leaves that
            task out: it is no report, and takes a fifth of the time more.
        seed: Seed of everything that is drawn.
        analysis: The rules of judgement. Independent units are the texts' contrast pairs (``group``) and the
            experiments.
    """

    version: Literal[1] = 1
    title: str = "The model tells states of its own that it was shown labels of."
    study: Literal["biofeedback"] = "biofeedback"
    model: str = "smollm2"
    data_sha256: str
    layers: tuple[Annotated[int, Field(ge=0)], ...] | None = None
    referents: tuple[Referent, ...] = ("probe", "permuted", "pc1")
    parted: Literal["clusters", "zero", "median"] = "clusters"
    fit: Annotated[int, Field(ge=20)] = 900
    held_out: Annotated[int, Field(ge=20)] = 600
    experiments: Annotated[int, Field(ge=2)] = 5
    shots: Annotated[int, Field(ge=4)] = 61
    protocol: Literal["teacher_forced", "independent"] = "teacher_forced"
    counts: tuple[Annotated[int, Field(ge=0)], ...] = (0, 5, 15, 30)
    judged_from: Annotated[int, Field(ge=1)] = 30
    readers: tuple[str, ...] = ()
    regulated_after: Annotated[int, Field(ge=0)] = 0
    seed: Annotated[int, Field(ge=0)] = 0
    analysis: AnalysisSpec = AnalysisSpec(clusters=("group", "experiment"))

    @model_validator(mode="after")
    def _can_be_run(self) -> Self:
        for field in ("layers", "referents"):
            values = getattr(self, field)
            if values is not None and not values:
                raise ValueError(f"{field} must hold at least one value")
        for field in ("layers", "referents", "readers", "counts"):
            _refuse_repeats(field, getattr(self, field) or ())
        if self.model in self.readers:
            raise ValueError(f"readers names {self.model}, which is the model that is judged")
        if self.regulated_after > self.shots:
            raise ValueError(f"regulated_after is {self.regulated_after}, and there are {self.shots} shots")
        if self.judged_from >= self.shots:
            raise ValueError(f"judged_from is {self.judged_from}: of {self.shots} shots none would be judged")
        if self.protocol == "independent" and not self.judged_from <= max(self.counts, default=0) < self.shots:
            raise ValueError(
                f"counts are {', '.join(map(str, self.counts)) or 'none'}: the largest must be at least judged_from "
                f"({self.judged_from}) and below shots ({self.shots}), the texts of a conversation"
            )
        if self.shots > self.held_out:
            raise ValueError(f"shots is {self.shots}, more than the {self.held_out} texts that are held out")
        unknown = sorted(set(self.analysis.clusters) - {"group", "experiment"})
        if unknown:
            raise ValueError(f"analysis.clusters names {', '.join(unknown)}; use group and experiment")
        return self
