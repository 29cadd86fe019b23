"""How a model that is trained is asked, before and after: in the turn that it is trained on, in its one wording."""

from firsthand.counterfactual.predicting.predictions import Kind
from firsthand.counterfactual.predicting.wordings import ONE
from firsthand.counterfactual.targets.local_predictor import LocalPredictor
from firsthand.engine import LoadedModel


def follow_up_of(loaded: LoadedModel, kind: Kind, name: str) -> LocalPredictor:
    """A predictor that begins its turn with the answer, as training teaches.

    Args:
        loaded: The model, with its adapter if it was trained.
        kind: What it is.
        name: Name, one for each predictor of a run.
    """
    return LocalPredictor(loaded, kind, "turn", name, ONE, stem="")
