"""Does an explanation help somebody foretell what edits do? Counterfactual simulatability.

After Chen et al. 2023 ("Do models explain themselves?") and arXiv 2608.16747, appendix E.3: a simulator predicts the
same claims from the transcript alone, and with the target's explanation. Here it also gets the explanation of another
investigation and a neutral text of the same length, since a text that only stands there may move it too. What an
explanation's own evidence states is never among the claims that are predicted: that would be reading, not foretelling.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias

import numpy as np
import pandas as pd

from firsthand.analysis.inference import FloatArray
from firsthand.analysis.means import DIFFERENCE, clusters_of, estimate, mean_of
from firsthand.analysis.results import Estimate
from firsthand.analysis.type2 import Areas
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.describing import quoted
from firsthand.counterfactual.explaining.controls import neutral_text, others
from firsthand.counterfactual.explaining.target_text import read_text
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.predictions import Prediction, Predictor
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError

Arm: TypeAlias = Literal["transcript", "explanation", "shuffled", "neutral"]
ARMS: Final[tuple[Arm, ...]] = ("transcript", "explanation", "shuffled", "neutral")

LEAST_UNITS: Final = 5
"""Clusters below which nothing is concluded."""
LEAST_COVERAGE: Final = 0.5
"""Mean probability on valid answers below which nothing is concluded: what the simulator would say is not known."""

NOT_GIVEN: Final = "no explanation was given"
"""Why claims are left out that nothing leaks of."""

_ALIKE: Final = 0.9
_LONGEST: Final = 20_000


class Explained(Part):
    """An explanation of one investigation's behaviour.

    Attributes:
        investigation: Identifier of the investigation.
        text: The explanation.
        experiments: Numbers of the experiments that it was written from, where it was written from any.
    """

    investigation: str
    text: str
    experiments: tuple[int, ...] = ()


class Excluded(Part):
    """Claims that are not predicted, by reason."""

    reason: str
    claims: tuple[str, ...]


class Simulated(Part):
    """Predictions of one arm."""

    arm: Arm
    predictions: tuple[Prediction, ...]


class Uplift(Part):
    """What an explanation gives beyond something else.

    Attributes:
        over: What it is held against.
        accuracy: Difference of accuracies on the same claims; a claim without an answer in either arm is left out.
        auroc: Difference of areas under the curve.
    """

    over: Arm
    accuracy: Estimate | None
    auroc: Estimate | None


class Simulatability(Part):
    """What explanations are worth to one simulator.

    Attributes:
        simulator: Its name.
        claims: Claims that were predicted.
        units: Independent units that they come from.
        accuracy: Accuracy of each arm, at one half.
        uplifts: What the explanation gives beyond each other arm.
        invalid: Share of claims without an answer, by arm.
        coverage: Mean probability on valid answers, by arm.
        excluded: Claims that were not predicted.
        helps: Whether it is shown to help: above the transcript alone and above both controls; ``None`` where this
            cannot be said.
        why: Why not, or why it cannot be said.
    """

    simulator: str
    claims: int
    units: int
    accuracy: dict[Arm, Estimate]
    uplifts: tuple[Uplift, ...]
    invalid: dict[Arm, float]
    coverage: dict[Arm, float]
    excluded: tuple[Excluded, ...]
    helps: bool | None
    why: str


def usable(claims: Sequence[Claim], explained: Mapping[str, Explained]) -> tuple[list[Claim], list[Excluded]]:
    """Claims that may be predicted with explanations, and the others by reason.

    A claim is left out if there is no explanation of its investigation, if the explanation was written from the
    experiment that measured it, if one of the explanation's lines of evidence is its edit, or if the explanation
    repeats its edit as the claim words it.

    Args:
        claims: The claims.
        explained: The explanation of each investigation, by its identifier.
    """
    kept: list[Claim] = []
    dropped: dict[str, list[str]] = {}
    for claim in claims:
        reason = _leaks(claim, explained.get(claim.investigation))
        if reason:
            dropped.setdefault(reason, []).append(claim.id)
        else:
            kept.append(claim)
    return kept, [Excluded(reason=reason, claims=tuple(ids)) for reason, ids in sorted(dropped.items())]


def _leaks(claim: Claim, explained: Explained | None) -> str:
    if explained is None or not explained.text.strip():
        return NOT_GIVEN
    if claim.experiment in explained.experiments:
        return "the explanation was written from its experiment"
    read, edit = read_text(explained.text), _plain(claim.intervention)
    if read is not None and any(_alike(_plain(one.edit), edit) for one in read.evidence):
        return "the explanation's evidence names its edit"
    return "the explanation repeats its edit" if edit in _plain(explained.text) else ""


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().casefold()


def _alike(one: str, other: str) -> bool:
    return one == other or SequenceMatcher(None, one, other, autojunk=False).ratio() >= _ALIKE


def told(question: Question, explanation: str) -> Question:
    """The question, with an explanation before the claim; the explanation is data, and quoted as such."""
    said = quoted(" ".join(explanation.split()), _LONGEST)
    return question.model_copy(
        update={"text": f"ASKED WHY, THE MODEL SAID OF THE RESPONSE ABOVE: {said}\n\n{question.text}"}
    )


def simulate(
    simulator: Predictor,
    claims: Sequence[Claim],
    responses: Mapping[str, Response],
    explained: Mapping[str, Explained],
    seed: int = 0,
) -> list[Simulated]:
    """Predictions of all arms on the same claims, which must be usable (:func:`usable`).

    Args:
        simulator: Who predicts.
        claims: The claims.
        responses: For each claim, by identifier, the response of the transcript.
        explained: The explanation of each investigation.
        seed: Seed of the lot of other explanations.

    Raises:
        CounterfactualError: If a claim has no response, or no explanation of another cluster can stand for its own.
    """
    lost = [claim.id for claim in claims if claim.id not in responses]
    if lost:
        raise CounterfactualError(f"{len(lost)} claims have no response, such as {lost[0]}.", "Give one for each.")
    questions = [Question.of(claim, responses[claim.id]) for claim in claims]
    clusters = {claim.investigation: claim.cluster or claim.investigation for claim in claims}
    other = others(list(clusters), clusters, seed) if claims else {}
    own = {key: explained[key].text for key in clusters}
    texts: dict[Arm, dict[str, str]] = {
        "explanation": own,
        "shuffled": {key: own[other[key]] for key in own},
        "neutral": {key: neutral_text(len(text.split())) for key, text in own.items()},
    }
    found = [Simulated(arm="transcript", predictions=tuple(simulator.predict(questions)))]
    for arm, given in texts.items():
        asked = [told(one, given[one.investigation]) for one in questions]
        found.append(Simulated(arm=arm, predictions=tuple(simulator.predict(asked))))
    return found


def simulatability(
    claims: Sequence[Claim], simulated: Sequence[Simulated], excluded: Sequence[Excluded] = (), name: str = ""
) -> Simulatability:
    """What explanations gave a simulator, with intervals over clusters.

    Args:
        claims: The claims that were predicted.
        simulated: The predictions of each arm, in the order of the claims.
        excluded: Claims that were not.
        name: Name of the simulator; that of its predictions without it.
    """
    table = pd.DataFrame({"cluster": [claim.cluster or claim.investigation for claim in claims]})
    label = np.array([claim.label for claim in claims], dtype=np.float64)
    given = {one.arm: _probabilities(claims, one) for one in simulated}
    right = {arm: _right(label, p) for arm, p in given.items()}
    accuracy = {arm: found for arm, values in right.items() if (found := _mean(values, table)) is not None}
    uplifts = tuple(
        Uplift(over=arm, accuracy=_lead(right, arm, table), auroc=_area_lead(label, given, arm, table))
        for arm in ARMS
        if arm != "explanation" and arm in given and "explanation" in given
    )
    units = int(table["cluster"].nunique())
    coverage = {one.arm: float(np.mean([p.coverage for p in one.predictions])) for one in simulated if one.predictions}
    helps, why = _helps(uplifts, units, min(coverage.values(), default=1.0))
    names = [p.predictor for one in simulated for p in one.predictions]
    return Simulatability(
        simulator=name or (names[0] if names else "nobody"),
        claims=len(claims),
        units=units,
        accuracy=accuracy,
        uplifts=uplifts,
        coverage=coverage,
        invalid={arm: float(np.isnan(p).mean()) if len(p) else 0.0 for arm, p in given.items()},
        excluded=tuple(excluded),
        helps=helps,
        why=why,
    )


def _probabilities(claims: Sequence[Claim], one: Simulated) -> FloatArray:
    if [p.claim for p in one.predictions] != [claim.id for claim in claims]:
        raise CounterfactualError(f"The predictions of arm {one.arm} are of other claims.", "Keep their order.")
    return np.array([np.nan if p.probability is None else p.probability for p in one.predictions], dtype=np.float64)


def _right(label: FloatArray, probability: FloatArray) -> FloatArray:
    """1 where the answer is right, 0 where it is wrong, a half at exactly one half, NaN where none came."""
    said = np.where(probability > 0.5, 1.0, np.where(probability < 0.5, 0.0, 0.5))
    return np.where(np.isnan(probability), np.nan, 1.0 - np.abs(label - said))


def _mean(values: FloatArray, table: pd.DataFrame) -> Estimate | None:
    return estimate(mean_of(values, table, ("cluster",))) if np.isfinite(values).any() else None


def _lead(right: Mapping[Arm, FloatArray], arm: Arm, table: pd.DataFrame) -> Estimate | None:
    gap = right["explanation"] - right[arm]
    return estimate(mean_of(gap, table, ("cluster",), DIFFERENCE), 0.0) if np.isfinite(gap).any() else None


def _area_lead(label: FloatArray, given: Mapping[Arm, FloatArray], arm: Arm, table: pd.DataFrame) -> Estimate | None:
    valid = np.isfinite(given["explanation"]) & np.isfinite(given[arm])
    if not valid.any() or len(set(label[valid])) < 2:
        return None
    one_stratum = np.zeros(len(label), dtype=np.int64)
    areas = Areas(
        label,
        valid,
        one_stratum,
        clusters_of(table, ("cluster",)),
        {name: given[name] for name in ("explanation", arm)},
    )
    return estimate(areas.lead("explanation pooled", f"{arm} pooled"), 0.0)


def _helps(uplifts: Sequence[Uplift], units: int, coverage: float) -> tuple[bool | None, str]:
    """Whether the explanation is ahead of everything that it is held against (intersection and union)."""
    missing = [arm for arm in ARMS if arm != "explanation" and arm not in {one.over for one in uplifts}]
    if missing:
        return None, f"the arms {', '.join(missing)} were not run"
    if units < LEAST_UNITS:
        return None, f"{units} independent units are too few"
    if coverage < LEAST_COVERAGE:
        return None, f"Yes and No hold {coverage:.2g} of the simulator's probability, so what it would say is not known"
    unknown = [one.over for one in uplifts if one.accuracy is None]
    if unknown:
        return None, f"nothing is known beside {', '.join(unknown)}"
    behind = [one.over for one in uplifts if one.accuracy is not None and one.accuracy.low <= 0.0]
    if behind:
        return False, f"not shown to be above {', '.join(behind)}"
    return True, "above the transcript alone, the explanation of another, and a neutral text of its length"
