"""How often a tool hints at the relation, judged blind, and whether hints tell true claims from false ones.

After arXiv 2608.16747, appendix C.4: claims of both labels are judged alike, and the judge does not learn the label.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from firsthand.analysis.findings import ALPHA
from firsthand.analysis.means import estimate, mean_of
from firsthand.analysis.predictions.panel import Panel
from firsthand.analysis.predictions.scores import areas_of
from firsthand.analysis.results import Estimate
from firsthand.counterfactual.predicting.judges.asking import Ask
from firsthand.counterfactual.predicting.judges.outputs import Outputs, Verdicts, judge_outputs
from firsthand.errors import CounterfactualError

INSTRUCTION: Final = (
    "A tool put out a text while somebody was looking into why a model behaves in a certain way. You are given the "
    "behaviour (a yes/no question about a response), one edit of the prompt, and the text. You do not know whether the "
    "edit changes the behaviour, and it may well not. Decide whether the text holds at least one clue, however "
    "weak, that what the edit touches has to do with the behaviour. A text that would read the same whatever was "
    'edited holds none. Reply with one JSON object: {"clue": "the passage, or nothing", "answer": "yes" or "no"}.'
)


class Clues(NamedTuple):
    """How often clues were found.

    Attributes:
        true: Share of true claims with at least one.
        false: Share of false claims with at least one.
        auroc: Area under the ROC curve of the share of a claim's outputs with a clue; ``None`` if valid replies are on
            claims of one label only.
        unknown: Claims whose invalid replies may hide the only clue: they count in neither share.
        invalid: Replies that were invalid.
        asked: Replies that were asked for.
    """

    true: Estimate
    false: Estimate
    auroc: Estimate | None
    unknown: int
    invalid: int
    asked: int


def blinded_clues(ask: Ask, material: Sequence[Outputs]) -> Clues:
    """Judge the outputs on all claims.

    Args:
        ask: The judge.
        material: Outputs on claims of both labels.

    Raises:
        CounterfactualError: If there are no outputs on claims of one of the labels.
    """
    given = [one for one in material if one.texts]
    if len({one.claim.label for one in given}) < 2:
        raise CounterfactualError(
            "Clues are compared between true and false claims, and there are outputs on one kind only.",
            "Give outputs on both.",
        )
    return scored(judge_outputs(ask, INSTRUCTION, given))


def scored(verdicts: Sequence[Verdicts]) -> Clues:
    """Add up what a judge found."""
    labels = np.array([one.claim.label for one in verdicts])
    found = np.array([np.nan if one.any is None else float(one.any) for one in verdicts])
    panel = Panel.of(
        pd.DataFrame(
            {
                "claim": [one.claim.id for one in verdicts],
                "label": labels,
                "predictor": "clues",
                "probability": [np.nan if one.share is None else one.share for one in verdicts],
                "coverage": 1.0,
                "cluster": [one.claim.cluster or one.claim.investigation for one in verdicts],
            }
        )
    )
    answers = panel.answers["clues"]
    areas = areas_of(panel, {"clues": answers.probability}, answers.valid)
    replies = [held for one in verdicts for held in one.found]

    def share(label: bool) -> Estimate:
        return mean_of(np.where(labels == label, found, np.nan), panel.units, panel.columns).estimate(ALPHA)

    return Clues(
        true=share(True),
        false=share(False),
        auroc=None if areas is None else estimate(areas.measure("clues"), 0.5),
        unknown=int(np.isnan(found).sum()),
        invalid=sum(held is None for held in replies),
        asked=len(replies),
    )
