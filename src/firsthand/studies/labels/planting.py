"""Labels that are planted in the activations alone: the positive control of a study of labels.

A state that no text carries must leave every observer of texts at chance, and be there for whoever reads the stream.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from firsthand.engine import Anatomy, resid_post
from firsthand.errors import LabelsError
from firsthand.studies.labels.conversations import TextEdit
from firsthand.trials.randomness import stream


@dataclass(frozen=True, eq=False)
class Planted:
    """A state that is added to texts.

    Attributes:
        direction_H: The direction, of unit length, ``[hidden]``.
        labels: The sign with which it is added to each text: 1 for plus, 0 for minus.
        edits: What is done to each text.
    """

    direction_H: Tensor
    labels: tuple[int, ...]
    edits: tuple[TextEdit, ...]


def planted(anatomy: Anatomy, count: int, layer: int, *, strength: float, norm: float, seed: int) -> Planted:
    """Draw a sign for each of some texts, and the edit that adds it along one random direction.

    The label is carried by the activations alone: it is drawn without regard to the text, each sign by itself, since
    with equal numbers of both the labels seen would say something of those to come.

    Args:
        anatomy: The model's parts.
        count: Number of texts.
        layer: The edit is made to ``resid_post`` of this layer.
        strength: Length of what is added, in units of ``norm``.
        norm: Mean norm of the residuals at the site, e.g. of :class:`~firsthand.studies.labels.reading.TextStates`.
        seed: The run's seed.

    Raises:
        LabelsError: If the layer is the last one or none, there is no text, or strength or norm are not positive.
    """
    if not 0 <= layer < anatomy.n_layers - 1:
        raise LabelsError(
            f"Nothing can be planted at layer {layer}.",
            f"Choose a layer from 0 to {anatomy.n_layers - 2}: an edit of the last block reaches no later token.",
        )
    if count < 1 or not (0 < strength < math.inf and 0 < norm < math.inf):
        raise LabelsError(
            f"Nothing can be planted in {count} texts with the strength {strength} and the norm {norm}.",
            "Give at least one text, and positive numbers.",
        )
    drawn = stream("labels", seed, "planted", "direction", layer).standard_normal(anatomy.hidden_size)
    direction_H = torch.tensor(drawn / np.linalg.norm(drawn), dtype=torch.float32)
    labels = tuple(int(sign) for sign in stream("labels", seed, "planted", "signs", layer).integers(2, size=count))
    edits = [TextEdit(resid_post(layer), direction_H, sign * strength * norm) for sign in (-1, 1)]
    return Planted(direction_H, labels, tuple(edits[label] for label in labels))
