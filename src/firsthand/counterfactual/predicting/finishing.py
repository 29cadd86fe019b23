"""What a finished run of predictions leaves in its folder: one document, its page, tables and figures."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import pandas as pd

from firsthand.analysis.predictions import Panel, PredictionResults, judged_predictions
from firsthand.analysis.predictions.results import Kind
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.answered import Answered
from firsthand.counterfactual.predicting.predictions import Predictor
from firsthand.counterfactual.predicting.reading import ReadClaims
from firsthand.counterfactual.predicting.tables import (
    CLUSTER,
    invalid_reasons,
    predictions_table,
    wording_effects,
    wordings_table,
)
from firsthand.counterfactual.store import NAME, Store
from firsthand.errors import TraceError
from firsthand.report.predictions_document import ClaimsCard, PredictionsDocument, PredictorCard
from firsthand.report.predictions_files import export, read_json, write_json
from firsthand.report.predictions_html import write_predictions_html
from firsthand.trials.files import write_atomic
from firsthand.version import __version__

LINES: Final = "predictions.jsonl"
"""Every answer, one a line: what tells a folder of predictions from others."""

LIMITS: Final = (
    "A model that foretells what edits of its own prompts do may have read it off the transcript, as any other could. "
    "Nothing here says that it looked into itself: that takes training on itself and on another, and controls.",
    "Labels were measured on finite batches, and some are wrong; a perfect predictor would not reach an area of 1.",
    "A predictor is this model, asked in these wordings. Another wording may do better.",
    "Floors that learn do so from other clusters of the same set: on a larger set they would be stronger.",
)


@dataclass(frozen=True, eq=False)
class Asked:
    """A predictor with what it said.

    Attributes:
        predictor: Who.
        answers: Its answers, in the order of the questions.
        asked: How it was asked, in one sentence.
        model: What identifies its model, name to value.
        beside: Name of the same predictor without tools; empty where it has none.
    """

    predictor: Predictor
    answers: Sequence[Answered]
    asked: str
    model: Mapping[str, str] = field(default_factory=dict)
    beside: str = ""

    def card(self) -> PredictorCard:
        """What a report says of it."""
        return PredictorCard(
            name=self.predictor.name,
            kind=self.predictor.kind,
            identity=self.predictor.identity,
            asked=self.asked,
            model=dict(self.model),
            shortened=sum(one.shortened > 0 for one in self.answers),
            invalid=invalid_reasons(self.answers),
            tokens=sum(one.tokens for one in self.answers),
            calls=sum(one.prediction.calls for one in self.answers),
            beside=self.beside,
        )


@dataclass(frozen=True, eq=False)
class Session:
    """What a run was made of, besides what predictors said.

    Attributes:
        read: The claims as read.
        claims: Those that were asked about.
        dropped: Claims that were not, by reason.
        drawn: Transcripts that were drawn for this run.
        prompt: What a model read of one claim.
        baseline: Predictor that uplift and flips refer to.
        started: When the run began.
        finished: When it ended.
        reproduce: Commands that repeat it.
        notes: What a reader should know.
    """

    read: ReadClaims
    claims: Sequence[Claim]
    dropped: Mapping[str, int]
    drawn: int
    prompt: str | None
    baseline: str | None
    started: datetime
    finished: datetime
    reproduce: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Left:
    """What a finished run left: the document, and where everything is."""

    document: PredictionsDocument
    files: tuple[Path, ...]

    @property
    def result(self) -> Path:
        """The document as JSON."""
        return self.files[1]


def finish(session: Session, asked: Sequence[Asked], folder: Path) -> Left:
    """Judge and write everything that a run found.

    Args:
        session: What it was made of.
        asked: Predictors with their answers.
        folder: The run's folder.

    Raises:
        AnalysisError: If the answers cannot be judged, for instance because all claims are true.
        ReportError: If something cannot be drawn or written.
        TraceError: If the answers cannot be written.
    """
    answers = {one.predictor.name: one.answers for one in asked}
    kinds: dict[str, Kind] = {one.predictor.name: one.predictor.kind for one in asked}
    table = predictions_table(session.claims, answers, kinds)
    beside = {one.predictor.name: one.beside for one in asked if one.beside}
    results = judged(table, kinds, session.baseline, answers, beside)
    document = PredictionsDocument(
        claims=ClaimsCard(
            name=session.read.name,
            sha256=session.read.sha256,
            claims=len(session.claims),
            true=sum(claim.label for claim in session.claims),
            dropped={**session.read.dropped, **session.dropped},
            targets=session.read.targets,
            drawn=session.drawn,
        ),
        predictors=tuple(one.card() for one in asked),
        results=results,
        prompt=session.prompt,
        package_version=__version__,
        started=session.started,
        finished=session.finished,
        limits=LIMITS,
        reproduce=session.reproduce,
        notes=session.notes,
    )
    places = ("report.html", "result.json", LINES, "figures", "data")
    left = Left(document, tuple(folder / place for place in places))
    write_json(document, left.result)
    write_atomic(folder / LINES, _lines(session.claims, answers))
    write_predictions_html(document, folder / "report.html")
    export(document, folder, {"predictions": table, "by_wording": wordings_table(answers)})
    return left


def judged(
    table: pd.DataFrame,
    kinds: Mapping[str, Kind],
    baseline: str | None,
    answers: Mapping[str, Sequence[Answered]],
    beside: Mapping[str, str] | None = None,
) -> PredictionResults:
    """Judge a table of predictions (:func:`~firsthand.counterfactual.predicting.tables.predictions_table`)."""
    panel = Panel.of(table, (CLUSTER,))
    worded = wording_effects(panel, answers)
    return judged_predictions(panel, kinds, baseline=baseline, wordings=worded, beside=beside)


def verified(folder: Path) -> dict[str, int]:
    """See that what a run kept is what it wrote, and that its numbers are those of its predictions.

    Returns:
        How many rows of each kind were checked.

    Raises:
        TraceError: If the run is not finished, or its numbers are not those of its predictions.
        CounterfactualError: If what was kept was changed.
    """
    if not (folder / "result.json").exists():
        raise TraceError(f"{folder} holds no finished run.", "Run the same `firsthand predict` again.")
    document = read_json(folder / "result.json")
    table = pd.read_parquet(folder / "data" / "predictions.parquet")
    kinds: dict[str, Kind] = {one.name: one.kind for one in document.predictors}
    beside = {one.name: one.beside for one in document.predictors if one.beside}
    again = judged(table, kinds, document.results.baseline, _kept(folder / LINES), beside)
    if again != document.results:
        raise TraceError(
            f"The numbers in {folder / 'result.json'} are not those of the predictions beside it.",
            "Run the same `firsthand predict` again: nothing is asked twice.",
        )
    counts = {"predictions": len(table)}
    if (folder / NAME).exists():
        with Store(folder) as store:
            counts |= {f"kept {kind}": count for kind, count in store.checked().items() if count}
    return counts


def _kept(path: Path) -> dict[str, list[Answered]]:
    """Answers as they were written, by predictor."""
    found: dict[str, list[Answered]] = {}
    try:
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line:
                row = json.loads(line)
                row.pop("label")
                one = Answered.model_validate(row)
                found.setdefault(one.prediction.predictor, []).append(one)
    except (OSError, ValueError, KeyError) as error:
        raise TraceError(f"{path} is damaged: {error}.", "Run the same `firsthand predict` again.") from error
    return found


def _lines(claims: Sequence[Claim], answers: Mapping[str, Sequence[Answered]]) -> bytes:
    rows = (
        {"label": claim.label, **one.model_dump(mode="json")}
        for given in answers.values()
        for claim, one in zip(claims, given, strict=True)
    )
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows).encode()
