"""Answers as tables: what is judged, and what is exported."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from firsthand.analysis.predictions import Panel
from firsthand.analysis.predictions.results import Kind, WordingEffect
from firsthand.analysis.predictions.wordings import Worded, wording_effect
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.answered import Answered
from firsthand.counterfactual.predicting.reading import passes_filters, units_named
from firsthand.counterfactual.predicting.wordings import WORDINGS

CLUSTER = "unit"


def predictions_table(
    claims: Sequence[Claim],
    answers: Mapping[str, Sequence[Answered]],
    kinds: Mapping[str, Kind],
) -> pd.DataFrame:
    """One row for each claim and predictor, with the label and what is known of the claim.

    Args:
        claims: The claims.
        answers: Answers of each predictor, in the same order.
        kinds: What each predictor is.
    """
    rated = any(claim.concreteness is not None for claim in claims)
    units = units_named(claims)
    rows: list[dict[str, Any]] = []
    for name, given in answers.items():
        for claim, unit, one in zip(claims, units, given, strict=True):
            said = one.prediction
            rows.append(
                {
                    "claim": claim.id,
                    "label": claim.label,
                    "predictor": name,
                    "kind": kinds[name],
                    "probability": said.probability,
                    "coverage": said.coverage,
                    "calls": said.calls,
                    "note": said.note,
                    CLUSTER: unit,
                    "investigation": claim.investigation,
                    "target": claim.target,
                    "concreteness": claim.concreteness,
                    "source": claim.prompt.source,
                    "filtered": passes_filters(claim, rated),
                    "matched": claim.matched,
                    "shortened": one.shortened,
                    "tokens": one.tokens,
                }
            )
    table = pd.DataFrame(rows)
    table["probability"] = table["probability"].astype("float64")
    table["concreteness"] = table["concreteness"].astype("float64")
    return table


def wordings_table(answers: Mapping[str, Sequence[Answered]]) -> pd.DataFrame:
    """One row for each claim, predictor and wording, where wordings were asked."""
    rows = [
        {
            "claim": one.prediction.claim,
            "predictor": name,
            "wording": said.wording,
            "log_odds": said.log_odds,
            "coverage": said.coverage,
        }
        for name, given in answers.items()
        for one in given
        for said in one.said
    ]
    return pd.DataFrame(rows, columns=["claim", "predictor", "wording", "log_odds", "coverage"])


def wording_effects(panel: Panel, answers: Mapping[str, Sequence[Answered]]) -> tuple[WordingEffect, ...]:
    """What wordings do to each predictor that was asked in several."""
    known = {wording.name: wording for wording in WORDINGS}
    found = []
    for name, given in answers.items():
        names = tuple(dict.fromkeys(said.wording for one in given for said in one.said))
        if len(names) < 2 or any(wording not in known for wording in names):
            continue
        odds = np.full((len(given), len(names)), np.nan)
        mass = np.zeros((len(given), len(names)))
        for row, one in enumerate(given):
            for said in one.said:
                column = names.index(said.wording)
                odds[row, column] = np.nan if said.log_odds is None else said.log_odds
                mass[row, column] = said.coverage
        wordings = [known[wording] for wording in names]
        groups, first = tuple(one.group for one in wordings), tuple(one.yes_first for one in wordings)
        found.append(wording_effect(panel, name, Worded(names, groups, first, odds, mass)))
    return tuple(found)


def invalid_reasons(answers: Sequence[Answered]) -> dict[str, int]:
    """How many answers are invalid, by what is said of them."""
    return dict(
        Counter(one.prediction.note or "no reason given" for one in answers if one.prediction.probability is None)
    )
