"""A model that foretells: asked in a follow-up turn, by the exact probabilities of "Yes" and "No"."""

from collections.abc import Sequence
from typing import Literal

from firsthand.counterfactual.predicting.predictions import Prediction
from firsthand.counterfactual.predicting.questions import REQUEST, Question
from firsthand.counterfactual.targets.rendering import opened
from firsthand.counterfactual.training.tokens import answers_of
from firsthand.engine import LoadedModel, Row, inspect_model, score_candidates
from firsthand.errors import FirsthandError
from firsthand.trials.canonical import digest


class FollowUpPredictor:
    """Foretells with a model in this process, trained or not.

    Args:
        loaded: The model, with its adapter if it was trained.
        kind: ``self`` (the target, trained), ``cross`` (another model, trained) or ``base`` (the target, untrained).
        name: Name, one for each predictor of a run.
    """

    def __init__(self, loaded: LoadedModel, kind: Literal["self", "cross", "base"], name: str) -> None:
        self._loaded, self._kind, self._name = loaded, kind, name
        self._anatomy = inspect_model(loaded.model)

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def kind(self) -> Literal["self", "cross", "base"]:
        """What it is."""
        return self._kind

    @property
    def identity(self) -> str:
        """Hash of weights (with the adapter), tokenizer and wording."""
        loaded = self._loaded
        return digest([loaded.weights_sha256, loaded.tokenizer_sha256, loaded.config_sha256, loaded.dtype, REQUEST])

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        """The probability of "Yes" among "Yes" and "No", and how much of all probability the two hold.

        A question that the model cannot be given gets a prediction without probability, which says why.
        """
        rows: dict[int, Row] = {}
        refused: dict[int, str] = {}
        for number, question in enumerate(questions):
            try:
                rows[number] = Row(opened(self._loaded.tokenizer, question.follow_up))
            except FirsthandError as error:
                refused[number] = error.problem
        found: dict[int, Prediction] = {}
        if rows:
            scores = score_candidates(self._anatomy, list(rows.values()), answers_of(self._loaded.tokenizer))
            yes = scores.shares[:, 0].tolist()
            covered = scores.coverage_R.clamp(0.0, 1.0).tolist()
            for number, p, coverage in zip(rows, yes, covered, strict=True):
                found[number] = Prediction(
                    claim=questions[number].claim, predictor=self._name, probability=p, coverage=coverage
                )
        for number, why in refused.items():
            found[number] = Prediction(
                claim=questions[number].claim, predictor=self._name, probability=None, coverage=0.0, note=why
            )
        return [found[number] for number in range(len(questions))]
