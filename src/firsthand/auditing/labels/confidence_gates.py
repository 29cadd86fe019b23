"""Who counts: whether those that a privileged report must be ahead of could be asked at all.

An observer that cannot read the questions, or whose replies are none of those offered, is beaten by anyone. To be ahead
of it says nothing, so it does not open the way to ``privileged``; it stays among the observers all the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import DIFFERENCE, mean_of
from firsthand.analysis.results import Estimate
from firsthand.claims.claim import AnalysisSpec
from firsthand.report.formats import Unit
from firsthand.report.labels_document import Grid

MOST: Final = 0.5
"""Share of replies that must be valid, and more than that."""
COUNTS: Final = "yes"
LEAST_UNITS: Final = 5
"""With fewer subjects than this nothing is concluded about subjects."""


@dataclass(frozen=True, eq=False)
class Said:
    """What a model says of the answers in one form, one value a question.

    Attributes:
        raw: P(right) from the shares of the replies, whether valid or not; NaN where it was not asked.
        coverage: Probability mass on the replies; NaN where it was not asked.
        valid: Whether the likeliest tokens were those of a reply in every order.
    """

    raw: FloatArray
    coverage: FloatArray
    valid: NDArray[np.bool_]

    @classmethod
    def of(cls, table: pd.DataFrame) -> "Said":
        """From the columns ``raw``, ``coverage`` and ``valid`` of a table with one row a question."""
        raw, coverage = (table[name].to_numpy(dtype=np.float64) for name in ("raw", "coverage"))
        return cls(raw, coverage, table["valid"].to_numpy(dtype=bool))

    @classmethod
    def scripted(cls, raw: FloatArray) -> "Said":
        """Valid wherever it is finite."""
        valid = np.isfinite(raw)
        return cls(np.where(valid, raw, 0.5), np.ones(len(raw)), valid)

    @property
    def confidence(self) -> FloatArray:
        """What is said, NaN where it is invalid ``[questions]``."""
        return np.where(self.valid, self.raw, np.nan)

    @property
    def asked(self) -> bool:
        """Whether anything was asked."""
        return bool(np.isfinite(self.raw).any())


@dataclass(frozen=True, eq=False)
class OtherModel:
    """What another model made of the same questions and answers, one value a question.

    Attributes:
        name: Its name.
        answered: Its own answers: how likely it finds each, and whether they are valid.
        right: Whether its own answer is right, valid or not.
        likelihood: How likely it finds the judged model's answer.
        said: How likely it says that answer is right, by report.
    """

    name: str
    answered: Said
    right: FloatArray
    likelihood: FloatArray
    said: Mapping[str, Said]


@dataclass(frozen=True)
class Standing:
    """Why those that a privileged report must be ahead of do not count.

    Attributes:
        readers: For every other language model by name, why it does not; ``None`` where it does.
        third: Why the same model in the third person does not, asked in the same form; ``None`` where it does.
        capped: Why nothing at all may be concluded, whatever the numbers; ``None`` where it may.
    """

    readers: Mapping[str, str | None]
    third: str | None = None
    capped: str | None = None


def lacking(said: Said | None, spec: AnalysisSpec, what: str) -> str | None:
    """Why replies do not stand for what their model would say; ``None`` where they do.

    Args:
        said: The replies; ``None`` where nothing was asked.
        spec: The rules.
        what: What they are, in words.
    """
    if said is None or not said.asked:
        return f"it was not asked for {what}"
    mass = float(np.nanmean(said.coverage))
    if mass < spec.minimum_coverage:
        return f"{what} hold {mass:.1%} of the probability, less than the required {spec.minimum_coverage:.0%}"
    valid = float(said.valid.mean())
    return None if valid > MOST else f"{valid:.0%} of {what} are valid, and not most"


def reader_lacks(
    other: OtherModel, answers: pd.DataFrame, spec: AnalysisSpec, ask: str, *, of_answer: bool = True
) -> str | None:
    """Why another model is no reader to be ahead of: it does not reply, or knows less than the judged model.

    Args:
        other: The other model.
        answers: One row a question: ``right``, and the cluster columns.
        spec: The rules.
        ask: The report that it is held against.
        of_answer: Whether that report is about a given answer, so that the reader is asked about it in the same form.
    """
    found = lacking(other.answered, spec, "its own answers")
    if found is None and of_answer:
        found = lacking(other.said.get(ask), spec, "its replies about this model's answers")
    if found is not None:
        return found
    behind = accuracy_lead(other, answers, spec)
    if not behind.unknown and behind.p_below(0.0) <= spec.alpha:
        low, high = (100 * value for value in (behind.low(spec.alpha), behind.high(spec.alpha)))
        return (
            f"its own answers are right less often than this model's, by {-100 * behind.value:.1f} points "
            f"[{-high:.1f}, {-low:.1f}]"
        )
    return None


def accuracy_lead(other: OtherModel, answers: pd.DataFrame, spec: AnalysisSpec) -> Measured:
    """How much more often another model's answers are right than the valid ones of the judged model."""
    lead = other.right - answers["right"].to_numpy(dtype=np.float64)
    return mean_of(lead, answers, spec.clusters, DIFFERENCE)


def standing_of(
    third: Mapping[str, Said],
    other: OtherModel | None,
    answers: pd.DataFrame,
    spec: AnalysisSpec,
    ask: str,
    *,
    of_answer: bool = True,
    capped: str | None = None,
) -> Standing:
    """Who counts beside one report.

    Args:
        third: What the same model says in the third person, by report.
        other: Another model, if one was asked.
        answers: One row a question: ``right``, and the cluster columns.
        spec: The rules.
        ask: The report.
        of_answer: Whether it is about a given answer, so that it can be asked for in the third person.
        capped: Why nothing at all may be concluded.
    """
    readers = {} if other is None else {other.name: reader_lacks(other, answers, spec, ask, of_answer=of_answer)}
    missing = lacking(third.get(ask), spec, "its replies in this form") if of_answer else None
    return Standing(readers, missing, capped)


def too_few(subjects: int, clusters: Sequence[str]) -> str | None:
    """Why a claim over subjects cannot be judged on these; ``None`` where it can.

    A set of a single subject is about that one, and its questions are all the units that there are.

    Args:
        subjects: Number of subjects.
        clusters: Independent units that the claim names.
    """
    if "subject" not in clusters or subjects == 1 or subjects >= LEAST_UNITS:
        return None
    return (
        f"the claim is judged over subjects, and {subjects} are too few ({LEAST_UNITS} are needed); give more, or name "
        "questions alone as the independent units (analysis.clusters of the claim) to speak of these subjects only"
    )


def who_counts(
    own: Said,
    third: Said | None,
    other: OtherModel | None,
    answers: pd.DataFrame,
    spec: AnalysisSpec,
    ask: str,
    standing: Standing,
) -> Grid:
    """Who was asked, with the coverage and validity of the replies and how often own answers are right.

    Args:
        own: The report.
        third: The same in the third person.
        other: Another model, if one was asked.
        answers: One row a question: ``right``, ``coverage``, and the cluster columns.
        spec: The rules.
        ask: The report's name.
        standing: Who counts.
    """

    def mean(values: FloatArray) -> Estimate | str:
        found = mean_of(values, answers, spec.clusters)
        return "not known" if found.unknown else found.estimate(spec.alpha)

    def replies(said: Said | None) -> tuple[Estimate | str | None, ...]:
        if said is None or not said.asked:
            return (None, None)
        return mean(said.coverage), mean(said.valid.astype(np.float64))

    right = answers["right"].to_numpy(dtype=np.float64)
    mass = answers["coverage"].to_numpy(dtype=np.float64)
    answered = mean(right), mean(mass), mean(np.isfinite(right).astype(np.float64))
    rows: list[tuple[str, tuple[Estimate | str | None, ...]]] = [("this model", (*answered, *replies(own), None))]
    if third is not None:
        rows.append(("the same in the third person", (None, None, None, *replies(third), standing.third or COUNTS)))
    if other is not None:
        its = mean(other.right), *replies(other.answered)
        said = other.said.get(ask, other.said.get("true"))
        rows.append((f"reader: {other.name}", (*its, *replies(said), standing.readers[other.name] or COUNTS)))
    return Grid(
        name="asked",
        title="Who was asked",
        columns=("", "right answers", "mass on letters", "valid answers", "mass on replies", "valid replies", "counts"),
        rows=tuple(rows),
        unit=Unit.PERCENT,
        note="Who cannot be asked is beaten by anyone, and to be ahead of such a one makes nothing privileged.",
    )
