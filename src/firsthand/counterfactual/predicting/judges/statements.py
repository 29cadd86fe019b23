"""How often a tool says outright that the edited factor causes the behaviour.

After arXiv 2608.16747, appendix C.4: only claims that are true are looked at, since only there is such a relation to be
stated. The judge is not told that.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from firsthand.analysis.findings import ALPHA
from firsthand.analysis.means import mean_of
from firsthand.analysis.results import Estimate
from firsthand.counterfactual.predicting.judges.asking import Ask
from firsthand.counterfactual.predicting.judges.outputs import Outputs, Verdicts, judge_outputs
from firsthand.errors import CounterfactualError

INSTRUCTION: Final = (
    "A tool put out a text while somebody was looking into why a model behaves in a certain way. You are given the "
    "behaviour (a yes/no question about a response), one edit of the prompt, and the text. Decide whether the text "
    "itself states, in so many words, that what the edit touches makes the model behave so. It does not count that "
    "both are mentioned, that one reminds of the other, or that you could infer it. Reply with one JSON object: "
    '{"quote": "the passage that states it, or nothing", "answer": "yes" or "no"}.'
)


class Statements(NamedTuple):
    """How often an outright statement was found.

    Attributes:
        claims: Share of true claims with at least one; claims whose invalid replies may hide one are left out.
        claims_most: The same if every one of these held one.
        outputs: Share of outputs that hold one, among those with a valid reply; outputs of a cluster go together.
        invalid: Replies that were invalid.
        asked: Replies that were asked for.
    """

    claims: Estimate
    claims_most: Estimate
    outputs: Estimate
    invalid: int
    asked: int


def explicit_statements(ask: Ask, material: Sequence[Outputs]) -> Statements:
    """Judge the outputs on true claims.

    Args:
        ask: The judge.
        material: Outputs on claims; false claims are passed over.

    Raises:
        CounterfactualError: If there is no output on a true claim.
    """
    true = [one for one in material if one.claim.label and one.texts]
    if not true:
        raise CounterfactualError("There is no output on a true claim.", "Give outputs of a tool on claims.")
    return scored(judge_outputs(ask, INSTRUCTION, true))


def scored(verdicts: Sequence[Verdicts]) -> Statements:
    """Add up what a judge found."""
    table = pd.DataFrame({"cluster": [one.claim.cluster or one.claim.investigation for one in verdicts]})
    found = np.array([np.nan if one.any is None else float(one.any) for one in verdicts])
    shares = [(one.claim.cluster or one.claim.investigation, held) for one in verdicts for held in one.found]
    outputs = np.array([np.nan if held is None else float(held) for _, held in shares])
    by_output = pd.DataFrame({"cluster": [cluster for cluster, _ in shares]})
    return Statements(
        claims=mean_of(found, table, ("cluster",)).estimate(ALPHA),
        claims_most=mean_of(np.where(np.isnan(found), 1.0, found), table, ("cluster",)).estimate(ALPHA),
        outputs=mean_of(outputs, by_output, ("cluster",)).estimate(ALPHA),
        invalid=int(np.isnan(outputs).sum()),
        asked=len(shares),
    )
