"""What explanations are worth: their form, what they name, and what a simulator foretells with each of them.

Everything here is a function of claims, texts and a simulator's answers.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from firsthand.analysis.means import estimate, mean_of
from firsthand.analysis.results import Estimate
from firsthand.analysis.self_cross import SelfCrossResult, SelfCrossSpec, Support, judge, panel_of
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.explaining.attribution import NamingRates, named_by_words, naming_rates
from firsthand.counterfactual.explaining.simulatability import (
    NOT_GIVEN,
    Arm,
    Excluded,
    Simulatability,
    Simulated,
    simulatability,
    simulate,
    told,
    usable,
)
from firsthand.counterfactual.predicting.predictions import Prediction, Predictor
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.training.examples import Item
from firsthand.counterfactual.training.explanations.cases import showing
from firsthand.counterfactual.training.explanations.writing import Written
from firsthand.counterfactual.training.readers import readers
from firsthand.vocabulary import Verdict

ALONE: Final = "no explanation of another unit is left to hold it against"
TRANSCRIPT: Final = "transcript alone"


class Judged(NamedTuple):
    """Claims to be judged on, and what readers are fitted on.

    Attributes:
        train: Claims of investigations that were trained on.
        claims: Claims of the held-out ones, each with its independent unit as cluster.
    """

    train: Sequence[Claim]
    claims: Sequence[Claim]

    @property
    def responses(self) -> dict[str, Response]:
        """The response of each claim's transcript, by the claim's identifier."""
        return {one.id: said for one in (*self.train, *self.claims) if (said := showing(one)) is not None}

    @property
    def units(self) -> dict[str, str]:
        """The independent unit of every held-out investigation."""
        return {one.investigation: one.cluster for one in self.claims}


def valid_share(written: Sequence[Written], units: Mapping[str, str]) -> Estimate | None:
    """Share of texts that have the form, with its interval over units; seeds are pooled."""
    pairs = [(one, name) for one in written for name in one.texts]
    table = pd.DataFrame({"cluster": [units[name] for _, name in pairs]})
    values = np.array([float(one.read(name) is not None) for one, name in pairs])
    return estimate(mean_of(values, table, ("cluster",))) if len(pairs) else None


def naming(written: Sequence[Written], claims: Sequence[Claim]) -> NamingRates | None:
    """How often texts name measured causes, and how often what is none; seeds are pooled.

    Only what a text says of causes is looked at: that it refutes an edit is no naming of it. A text without the form
    that its writer was taught counts as invalid.
    """
    return naming_rates(named_by_words([(one, text.blamed(one.investigation)) for text in written for one in claims]))


def helped(written: Sequence[Written], judged: Judged, simulator: Predictor) -> Simulatability:
    """What one writer's texts give a simulator beyond the transcript and the controls; seeds are pooled.

    Claims that leak from a text are left out of that text's part. Where the texts of one unit only are left, none can
    stand for another, and the claims are left out too.
    """
    responses = judged.responses
    claims: list[Claim] = []
    arms: dict[Arm, list[Prediction]] = {}
    dropped: dict[str, list[str]] = {}
    for one in written:
        kept, excluded = usable(judged.claims, one.explained)
        if kept and len({claim.cluster for claim in kept}) < 2:
            excluded.append(Excluded(reason=ALONE, claims=tuple(claim.id for claim in kept)))
            kept = []
        for part in excluded:
            dropped.setdefault(part.reason, []).extend(part.claims)
        for found in simulate(simulator, kept, responses, one.explained, one.seed or 0):
            arms.setdefault(found.arm, []).extend(found.predictions)
        claims += kept
    simulated = [Simulated(arm=arm, predictions=tuple(said)) for arm, said in arms.items()]
    left_out = [Excluded(reason=reason, claims=tuple(ids)) for reason, ids in sorted(dropped.items())]
    return simulatability(claims, simulated, left_out, simulator.name)


def leaked(written: Sequence[Written], claims: Sequence[Claim]) -> set[str]:
    """Claims that one of the texts reports or repeats, so that with it they would be read and not foretold."""
    excluded = [part for one in written for part in usable(claims, one.explained)[1]]
    return {claim for part in excluded if part.reason != NOT_GIVEN for claim in part.claims}


def as_told(claim: Claim, response: Response, text: str) -> Question:
    """A claim as a question of a reader who is given an explanation; the bare question without one."""
    question = Question.of(claim, response)
    return told(question, text) if text.strip() else question


def compared(
    written: Sequence[Written], judged: Judged, simulator: Predictor, about: str, same_data: bool, spec: SelfCrossSpec
) -> SelfCrossResult:
    """Whether the target's own explanations tell a simulator more than those of others who were trained on the same.

    The rules are those of predictions: every explanation is a way to foretell, and what counts is who foretells. All
    are judged on the same claims, of which none leaks from any text. A text that is not there, or has not the form, is
    an invalid answer. Rivals are the texts of cross-trained models, the transcript alone, and readers of the surface.

    Args:
        written: All texts.
        judged: The claims.
        simulator: Who reads.
        about: Name of the target.
        same_data: Whether all trainings of a seed saw the same conversations in the same order.
        spec: The rules.
    """
    gone = leaked(written, judged.claims)
    claims = [one for one in judged.claims if one.id not in gone]
    true, units = sum(one.label for one in claims), len({one.cluster for one in claims})
    why = _silent(written, claims)
    if not 0 < true < len(claims) or units < 2:
        why = (
            f"{len(claims)} claims ({true} true) in {units} units are left, {len(gone)} having leaked from an "
            "explanation; both kinds are needed, in two units at least",
        )
    if why:
        return SelfCrossResult(
            about=about, verdict=Verdict.INSUFFICIENT, reasons=why, claims=len(claims), clusters=units, true=true,
            level=1.0 - 2.0 * spec.alpha, standings=(),
        )  # fmt: skip
    table = pd.concat(_rows(written, claims, judged, simulator), ignore_index=True)
    table = table.astype({"seed": "Int64", "probability": "float64"})
    return judge(panel_of(table, about), Support(same_data=same_data), spec)


def _silent(written: Sequence[Written], claims: Sequence[Claim]) -> tuple[str, ...]:
    """Trained writers that wrote no valid explanation at all: there is no area of what nobody said."""
    able = {one.writer for one in written if any(one.said(claim.investigation).strip() for claim in claims)}
    mute = dict.fromkeys(one.writer for one in written if not one.free and one.writer not in able)
    return tuple(f"{name} wrote no explanation that has the form it was taught" for name in mute)


def _rows(
    written: Sequence[Written], claims: Sequence[Claim], judged: Judged, simulator: Predictor
) -> list[pd.DataFrame]:
    responses = judged.responses

    def rows(kind: str, model: str, seed: int | None, said: Mapping[str, Prediction]) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "claim": [one.id for one in claims],
                "cluster": [one.cluster for one in claims],
                "label": [one.label for one in claims],
                "kind": kind,
                "model": model,
                "seed": seed,
                "probability": [said[one.id].probability if one.id in said else None for one in claims],
                # Nobody was asked where there is no text; that it is missing is counted, and is no lack of coverage.
                "coverage": [said[one.id].coverage if one.id in said else 1.0 for one in claims],
            }
        )

    def asked(texts: Mapping[str, str]) -> dict[str, Prediction]:
        some = [one for one in claims if one.id in texts]
        return _by_claim(simulator.predict([as_told(one, responses[one.id], texts[one.id]) for one in some]))

    found = []
    for text in written:
        given = {one.id: text.said(one.investigation) for one in claims if text.said(one.investigation).strip()}
        found.append(rows(text.kind, f"told by {text.writer}", text.seed, asked(given)))
    found.append(rows("observer", TRANSCRIPT, None, asked({one.id: "" for one in claims})))
    train = [Item(claim=one, response=responses[one.id]) for one in judged.train]
    if len({one.label for one in train}) == 2:  # else nothing can be fitted
        items = [Item(claim=one, response=responses[one.id]) for one in claims]
        for (name, kind), said in readers(train, items).items():
            found.append(rows(kind, name, None, _by_claim(said)))
    return found


def _by_claim(said: Sequence[Prediction]) -> dict[str, Prediction]:
    return {one.claim: one for one in said}
