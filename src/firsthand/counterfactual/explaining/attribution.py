"""Whether an explanation names what was measured to be the cause, and whether it names what was measured to be none.

A program counts the words of the edited text that an explanation holds: it names the edit if it has at least half of
them. Where the edited text has no word of its own, it cannot tell, and says so. Explanations that are long name much:
so the same is asked of edits that changed nothing (the *no-cause arm*), and only the difference means anything (arXiv
2608.16747, appendix E.4).
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Final, Literal, TypeAlias

import numpy as np
import pandas as pd
from pydantic import Field

from firsthand.analysis.means import difference_of, estimate, mean_of
from firsthand.analysis.results import Estimate
from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.explaining.words import edited_words, words
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.reading import units_named

HALF: Final = 0.5

NamingJudge: TypeAlias = Callable[[Sequence[tuple[Claim, str]]], list[Verdict]]
"""Says of explanations whether they name an edit's text as a cause. A judge that is a model must be shown texts as
quoted data, and neither labels nor rates."""


class Named(Part):
    """Whether one explanation names one edit.

    Attributes:
        claim: Identifier of the claim.
        cluster: The independent unit.
        cause: Whether the edit was measured to change the behaviour.
        verdict: Whether the explanation names it.
        by: Who found this.
        share: Share of the edit's own words that the explanation holds; ``None`` where it has none, or a judge judged.
        length: Words of the explanation.
    """

    claim: str
    cluster: str
    cause: bool
    verdict: Verdict
    by: Literal["program", "judge"] = "program"
    share: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    length: Annotated[int, Field(ge=0)] = 0


class NamingRates(Part):
    """How often explanations name causes, and how often what is none.

    Attributes:
        by: Who found this.
        cause: Share of measured causes that are named.
        no_cause: The same of edits that changed nothing.
        difference: The former minus the latter; ``None`` where one of them is not there.
        invalid: Share of which neither can be said.
        length: Mean number of words of an explanation.
        notes: What makes these numbers mean less.
    """

    by: str
    cause: Estimate | None
    no_cause: Estimate | None
    difference: Estimate | None
    invalid: float
    length: float
    notes: tuple[str, ...]


def named_by_words(pairs: Sequence[tuple[Claim, str]], least: float = HALF) -> list[Named]:
    """What the program finds.

    Args:
        pairs: A claim, and an explanation of the behaviour that it is about; empty where none was given.
        least: Least share of the edit's own words.
    """
    units = units_named([claim for claim, _ in pairs])
    return [_named(claim, text, unit, least) for (claim, text), unit in zip(pairs, units, strict=True)]


def _named(claim: Claim, text: str, unit: str, least: float) -> Named:
    own = edited_words(claim)
    share = len(own & words(text)) / len(own) if own and text.strip() else None
    found = Verdict.INVALID if share is None else Verdict.YES if share >= least else Verdict.NO
    return _of(claim, text, unit, found).model_copy(update={"share": share})


def named_by(judge: NamingJudge, pairs: Sequence[tuple[Claim, str]]) -> list[Named]:
    """What a judge finds; an explanation that was not given is invalid without asking it."""
    given = [(claim, text) for claim, text in pairs if text.strip()]
    found = iter(judge(given) if given else [])
    units = units_named([claim for claim, _ in pairs])
    return [
        _of(claim, text, unit, next(found) if text.strip() else Verdict.INVALID).model_copy(update={"by": "judge"})
        for (claim, text), unit in zip(pairs, units, strict=True)
    ]


def _of(claim: Claim, text: str, unit: str, verdict: Verdict) -> Named:
    return Named(claim=claim.id, cluster=unit, cause=claim.label, verdict=verdict, length=len(text.split()))


def naming_rates(named: Sequence[Named]) -> NamingRates | None:
    """Rates with intervals over clusters; ``None`` without anything."""
    if not named:
        return None
    values = {Verdict.YES: 1.0, Verdict.NO: 0.0, Verdict.INVALID: np.nan}
    table = pd.DataFrame(
        {
            "cluster": [one.cluster for one in named],
            "cause": [float(one.cause) for one in named],
            "yes": [values[one.verdict] for one in named],
        }
    )
    known = table[table["yes"].notna()]
    causes, others = known[known["cause"].eq(1.0)], known[known["cause"].eq(0.0)]
    notes = [] if len(others) else ["no edit that changed nothing is among them: who names everything has 100%"]
    return NamingRates(
        by=named[0].by,
        cause=_rate(causes),
        no_cause=_rate(others),
        difference=_difference(known) if len(causes) and len(others) else None,
        invalid=float(table["yes"].isna().mean()),
        length=float(np.mean([one.length for one in named])),
        notes=tuple(notes),
    )


def _rate(rows: pd.DataFrame) -> Estimate | None:
    if rows.empty:
        return None
    return estimate(mean_of(rows["yes"].to_numpy(dtype=np.float64), rows, ("cluster",)))


def _difference(rows: pd.DataFrame) -> Estimate | None:
    yes, cause = (rows[name].to_numpy(dtype=np.float64) for name in ("yes", "cause"))
    return estimate(difference_of(yes, cause, rows, ("cluster",)))
