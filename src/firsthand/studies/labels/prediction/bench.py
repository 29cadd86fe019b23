"""Everything that is fixed before a model is asked what it would answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from firsthand.claims.labels.prediction import PredictionClaim
from firsthand.engine import LoadedModel
from firsthand.errors import ElicitationError, LabelsError
from firsthand.studies.labels.prediction.asking import usable_letters
from firsthand.studies.labels.prediction.behaviour import answers_of
from firsthand.studies.labels.prediction.prompts import Prompt, PromptSet, parted
from firsthand.studies.labels.prediction.properties import PROPERTIES, Answer, Settled, settled
from firsthand.studies.labels.prediction.wordings import LETTERS, WORDINGS, Codebook, Example, Wording
from firsthand.trials.randomness import stream


@dataclass(frozen=True, eq=False)
class Bench:
    """What a study is made on.

    Attributes:
        claim: What is claimed.
        prompts: Every prompt that takes part, those to learn from first.
        fit: Number of those.
        behaviour: What the model answered to each, as :func:`~firsthand.studies.labels.prediction.behaviour.
            behaviour_rows` gives it.
        letters: Letters that classes may go by.
    """

    claim: PredictionClaim
    prompts: tuple[Prompt, ...]
    fit: int
    behaviour: pd.DataFrame
    letters: tuple[str, ...]

    @cached_property
    def answers(self) -> list[Answer]:
        """What the model answered to each prompt."""
        return answers_of(self.behaviour)

    @cached_property
    def settled(self) -> tuple[Settled, ...]:
        """The properties of the claim, with those that are refused."""
        groups = [one.group for one in self.judged]
        fit, judged = self.answers[: self.fit], self.answers[self.fit :]
        return tuple(
            settled(PROPERTIES[name], fit, judged, groups, self.claim.constant, self.most)
            for name in self.claim.properties
        )

    @property
    def judged(self) -> tuple[Prompt, ...]:
        """The prompts that are judged."""
        return self.prompts[self.fit :]

    @property
    def most(self) -> int:
        """The largest number of examples, at which the report is judged."""
        return max(self.claim.examples)

    def items(self, one: Settled, experiment: int) -> list[int]:
        """The judged prompts of an experiment, by their number in the judged part: each is in one experiment."""
        defined = np.flatnonzero(np.isfinite(one.judged_J))
        order = self._stream(one, "items").permutation(defined)
        return sorted(int(i) for i in order[experiment :: self.claim.experiments])

    def examples(
        self, one: Settled, experiment: int, count: int, *, lot: bool = False, shown: bool = False
    ) -> list[Example]:
        """Examples of an experiment: the first of them are those of a smaller number, each class among them early.

        Args:
            one: The property.
            experiment: Number of the experiment.
            count: Number of examples.
            lot: Whether their classes are drawn by lot: as many of each, and no tie to the prompts.
            shown: Whether the answers are shown, too.
        """
        drawn = self.example_numbers(one, experiment, count)
        classes = one.fit_F[drawn].astype(int)
        if lot:
            classes = self._stream(one, "lot", experiment).permutation(classes)
        order = self._stream(one, "places", experiment, count).permutation(count).tolist()
        return [
            Example(self.prompts[drawn[i]].shown, int(classes[i]), self.answers[drawn[i]].text if shown else None)
            for i in order
        ]

    def example_numbers(self, one: Settled, experiment: int, count: int) -> list[int]:
        """Which prompts of the fit part are the examples."""
        defined = np.flatnonzero(np.isfinite(one.fit_F))
        order = [int(i) for i in self._stream(one, "examples", experiment).permutation(defined)]
        seen: set[float] = set()
        early = [i for i in order if not (one.fit_F[i] in seen or seen.add(one.fit_F[i]))]  # type: ignore[func-returns-value]
        return [*early, *(i for i in order if i not in early)][:count]

    def wording(self, one: Settled, experiment: int) -> tuple[Wording, Codebook]:
        """How an experiment asks, and which letters the classes go by.

        Raises:
            ElicitationError: If there are fewer letters than classes.
        """
        if len(self.letters) < len(one.classes):
            raise ElicitationError(
                f"Letters that the tokenizer writes as one token: {', '.join(self.letters) or 'none'}; "
                f"{len(one.classes)} are needed.",
                "Use another model.",
            )
        draw = self._stream(one, "wording", experiment)
        letters = tuple(str(letter) for letter in draw.permutation(list(self.letters))[: len(one.classes)])
        order = tuple(int(i) for i in draw.permutation(len(one.classes)))
        return WORDINGS[int(draw.integers(len(WORDINGS)))], Codebook(order, letters)

    def _stream(self, one: Settled, *purpose: str | int) -> np.random.Generator:
        return stream("prediction", self.claim.seed, one.property.name, *purpose)


def drawn_prompts(prompts: PromptSet, claim: PredictionClaim) -> tuple[Prompt, ...]:
    """The prompts that take part, those to learn from first.

    Raises:
        LabelsError: If they are not those of the claim, or too few.
    """
    if prompts.sha256 != claim.data_sha256:
        raise LabelsError("The prompts are not those that the claim names.", "Give the same file, or make a new claim.")
    fit, judged = parted(prompts.prompts, claim.fit, claim.judged, claim.seed)
    return tuple(prompts.prompts[i] for i in (*fit, *judged))


def letters_of(loaded: LoadedModel) -> tuple[str, ...]:
    """Letters that a model's classes may go by."""
    return usable_letters(loaded.tokenizer, [one.stem for one in WORDINGS], LETTERS)


def bench_of(
    claim: PredictionClaim, prompts: Sequence[Prompt], behaviour: pd.DataFrame, letters: Sequence[str]
) -> Bench:
    """Fix a study by what the model did."""
    return Bench(claim, tuple(prompts), claim.fit, behaviour, tuple(letters))
