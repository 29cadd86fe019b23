"""The document of a confidence study: one finding a report, what was answered, all frames side by side, and meta-d'."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from firsthand.analysis.findings import Line, Mark, Picture
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.means import mean_of
from firsthand.analysis.report_confidence import Reading
from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.analysis.selective import risks
from firsthand.auditing.labels.confidence import NO_CONTROL, TWO_OPTIONS, Told, area_of, judge
from firsthand.auditing.labels.confidence_fitting import probe
from firsthand.auditing.labels.confidence_gates import Said, Standing, standing_of, too_few, who_counts
from firsthand.auditing.labels.confidence_known import known_answers
from firsthand.auditing.labels.confidence_meta_d import two_option_finding
from firsthand.auditing.labels.confidence_observers import LIKELIHOOD, Public, foreseen, third_person
from firsthand.auditing.labels.finishing import finish
from firsthand.claims.claim import AnalysisSpec
from firsthand.claims.freeze import FrozenLabels
from firsthand.engine.prompts import render
from firsthand.report.document import ModelCard
from firsthand.report.formats import Unit
from firsthand.report.labels_document import Curve, DataCard, Grid, LabelsDocument, LabelsFinding, Point, Series
from firsthand.studies.labels.confidence.asking import ALL, Bench, Prompt
from firsthand.studies.labels.confidence.scores import report_of, states_at
from firsthand.studies.labels.confidence.texts import TITLES, WORDINGS, Frame

PROBE: Final = "probe at the end of the question"
REPORT_PROBE: Final = "probe at the end of the report's prompt"
LIMITS: Final = (
    "A confidence that orders right and wrong answers is useful whoever could have given it; privileged it is only "
    "ahead of all who read the same question and answer, where those could be asked: another model counts as a "
    "reader if its replies are valid and its own answers are not right less often.",
    "A probe at the end of the question reads before an answer is written: it shows that something was there to be "
    "told, not that it reached the report, which the probe at the end of the report's prompt may show.",
    "Every report is judged under both conditions, and each verdict keeps its own error rate: among many one may be "
    "wrong.",
    "Whether an answer is right is a fact about the world: who knows the subject better can always be ahead. A verdict "
    "holds against these observers, and a stronger reader may take it back.",
    "The answer is the option that is likeliest over several orders; in a single order the model may have preferred "
    "another letter.",
    "Replies are read as exact probabilities of one wording and its reverse; in free text a model may say otherwise.",
)


@dataclass(frozen=True, eq=False)
class Parts:
    """Everything that a document is made of.

    Attributes:
        bench: What was fixed.
        rows: What came back.
        answers: What was answered to each question, and whether it is right.
        public: What observers see.
        spec: The rules.
    """

    bench: Bench
    rows: pd.DataFrame
    answers: pd.DataFrame
    public: Public
    spec: AnalysisSpec

    @property
    def right(self) -> FloatArray:
        """1 or 0, NaN where an answer is invalid ``[questions]``."""
        return self.answers["right"].to_numpy(dtype=np.float64)

    def report(self, frame: Frame, ask: str) -> pd.DataFrame:
        """One report of every question."""
        return report_of(self.rows, frame, ask, list(self.answers["question"]))

    def probed(self, frame: Frame, ask: str) -> FloatArray:
        """What a probe reads at the end of a prompt, of every question."""
        states = states_at(self.rows, frame, ask, list(self.answers["question"]), len(self.bench.layers))
        return probe(states, self.right, self.public.groups)

    def said(self, frame: Frame, ask: str) -> Said:
        """The same as values."""
        return Said.of(self.report(frame, ask))


def assemble(
    folder: Path,
    frozen: FrozenLabels,
    models: Sequence[ModelCard],
    data: DataCard,
    parts: Parts,
    notes: Sequence[str],
    reproduce: Sequence[str],
) -> LabelsDocument:
    """Judge everything, and write the document.

    Args:
        folder: The run's folder.
        frozen: The claim.
        models: The judged model, then the reader.
        data: What was asked.
        parts: What came back.
        notes: What is to be said beside.
        reproduce: Commands that repeat the study.
    """
    claim = parts.bench.claim
    observers = foreseen(parts.public, parts.right)
    before: Reading = ("site", parts.probed(Frame.ANSWER, "answer"))
    findings = []
    for ask in claim.reports:
        told, standing = _told(parts, ask), _standing(parts, ask)
        read: dict[str, Reading] = {
            PROBE: before,
            REPORT_PROBE: ("report", parts.probed(Frame.HIDDEN if ask == "know" else Frame.OWN, ask)),
        }
        results = judge(parts.answers, told, observers, read, parts.spec, standing)
        findings.append(_finding(parts, ask, told, results, standing))
    findings += [_frames(parts), _answered(parts)]
    if parts.bench.pairs:
        findings.append(two_option_finding(parts.bench, parts.rows, parts.spec))
    return finish(
        folder,
        "Confidence in own answers",
        frozen,
        models,
        data,
        findings,
        known_answers=known_answers(parts.public, parts.answers, observers, parts.spec, claim.seed),
        limits=LIMITS,
        reproduce=reproduce,
        notes=notes,
    )


def _told(parts: Parts, ask: str) -> Told:
    if ask == "know":
        return Told(parts.said(Frame.HIDDEN, ask), None, NO_CONTROL)
    other = parts.said(Frame.OTHER, ask)
    return Told(parts.said(Frame.OWN, ask), other if other.asked else None, TWO_OPTIONS)


def _standing(parts: Parts, ask: str) -> Standing:
    claim, public = parts.bench.claim, parts.public
    capped = too_few(parts.answers["subject"].nunique(), claim.analysis.clusters)
    given = ask != "know"
    return standing_of(public.third, public.other, parts.answers, parts.spec, ask, of_answer=given, capped=capped)


def _finding(
    parts: Parts, ask: str, told: Told, results: tuple[CapabilityResult, CapabilityResult], standing: Standing
) -> LabelsFinding:
    shown, public = results[1], parts.public
    asked = who_counts(told.own, public.third.get(ask), public.other, parts.answers, parts.spec, ask, standing)
    return LabelsFinding(
        name=ask,
        title=TITLES[ask],
        asked=WORDINGS[ask][0].request.replace("{answer}", "your answer"),
        setting={"orders": str(parts.bench.claim.orders), "wordings": "2, one asking for right and one for wrong"},
        results=results,
        curves=(_risk_curve(parts, told, ask),),
        pictures=(_ahead(shown),),
        grids=(_calibration_grid(results), asked),
        prompt=_prompt(parts, ask),
    )


def _prompt(parts: Parts, ask: str) -> str:
    one = parts.bench.every[0][0]
    frame = Frame.HIDDEN if ask == "know" else Frame.OWN
    own = int(parts.answers["answer"].iloc[0])
    made = Prompt(one, ALL, frame, ask, own, parts.bench.codes(one.item))
    return render(parts.bench.loaded.tokenizer, made.messages()).text


def _risk_curve(parts: Parts, told: Told, ask: str) -> Curve:
    """Error rate among the surest answers: of the report, and of what a reader of the output has."""
    scores = {"report": told.own.confidence, LIKELIHOOD: parts.answers["top"].to_numpy(dtype=np.float64)}
    if ask in parts.public.third:
        scores[third_person(ask)] = parts.public.third[ask].raw
    both = np.isfinite(told.own.confidence)  # every line is about the same answers
    series = []
    for name, score in scores.items():
        found = risks(parts.right, np.where(both, score, np.nan), parts.answers, parts.spec.clusters)
        points = tuple(Point(x=x, estimate=m.estimate(parts.spec.alpha)) for x, m in found if not m.unknown)
        if points:
            series.append(Series(name=name, points=points, emphasis=name == "report"))
    return Curve(
        name=f"{ask}-risk",
        title="Wrong answers among those that are kept",
        x="share of answers kept, surest first",
        y="wrong answers",
        series=tuple(series),
        lines=(Line(label="all answers", value=float(1 - np.nanmean(parts.right))),) if both.any() and series else (),
    )


def _ahead(result: CapabilityResult) -> Picture:
    marks = [] if result.score is None else [Mark(label="report", estimate=result.score, emphasis=True)]
    marks += [Mark(label=f"control: {row.name}", estimate=row.score) for row in result.arms]
    marks += [Mark(label=row.name, estimate=row.score) for row in result.observers]
    return Picture(
        title="Right answers told from wrong ones",
        axis="type-2 AUROC",
        unit="number",
        marks=tuple(marks),
        lines=(Line(label="knows nothing", value=0.5),),
    )


def _calibration_grid(results: tuple[CapabilityResult, CapabilityResult]) -> Grid:
    found = results[1].calibration
    cells: tuple[Estimate | str | None, ...] = (None,) * 6
    if found is not None:
        cells = (
            found.brier,
            f"{found.reliability:.3f}",
            f"{found.resolution:.3f}",
            f"{found.uncertainty:.3f}",
            f"{found.ece_debiased:.3f} (up to {found.ece_null:.3f} if calibrated)",
            f"{found.aurc:.3f}",
        )
    return Grid(
        name="calibration",
        title="Calibration",
        columns=("", "Brier score", "reliability", "resolution", "uncertainty", "calibration error", "AURC"),
        rows=(("report", cells),),
        unit=Unit.NUMBER,
        note="Brier = reliability - resolution + uncertainty; the calibration error is debiased.",
    )


def _frames(parts: Parts) -> LabelsFinding:
    """The same reports by what they were asked about, each held against whether the own answer is right."""
    frames = (Frame.OWN, Frame.OTHER, Frame.STUDENT, Frame.HIDDEN)
    rows = []
    for ask in parts.bench.claim.reports:
        cells: list[Estimate | str | None] = []
        for frame in frames:
            if (ask == "know") != (frame is Frame.HIDDEN):
                cells.append(None)
                continue
            score = parts.report(frame, ask)["confidence"].to_numpy(dtype=np.float64)
            measured = area_of(parts.right, score, parts.answers, parts.spec)
            cells.append("not known" if measured.unknown else measured.estimate(parts.spec.alpha, 0.5))
        rows.append((TITLES[ask], tuple(cells)))
    grid = Grid(
        name="frames",
        title="Type-2 AUROC for the own answer",
        columns=("", "own answer", "shuffled answer", "a student's answer", "before answering"),
        rows=tuple(rows),
        unit=Unit.NUMBER,
        note="A report about another option that tells whether the own answer is right is about the question. The "
        "shuffled answer is a wrong option in any case.",
    )
    return LabelsFinding(
        name="frames",
        title="The same reports about other answers",
        asked="The same, about another option put into its turn, about a student's answer, and before any answer.",
        grids=(grid,),
    )


def _answered(parts: Parts) -> LabelsFinding:
    """What was answered: how often rightly, how validly, and whether by content or by letter."""
    answers, spec = parts.answers, parts.spec
    valid = np.isfinite(parts.right)
    chance = float((1.0 / answers["options"]).mean())
    rates: dict[str, FloatArray] = {
        "right answers": parts.right,
        "valid answers": valid.astype(np.float64),
        "mass on the letters": answers["coverage"].to_numpy(dtype=np.float64),
        "same option in every order": answers["agree"].to_numpy(dtype=np.float64),
        "first letter in an order": np.array([np.mean([place == 0 for place in one]) for one in answers["letters"]]),
    }
    marks = []
    for name, values in rates.items():
        measured = mean_of(values, answers, spec.clusters)
        if not measured.unknown:
            marks.append(Mark(label=name, estimate=measured.estimate(spec.alpha), emphasis=name == "right answers"))
    picture = Picture(
        title="The answers themselves",
        axis="share",
        unit="share",
        marks=tuple(marks),
        lines=(Line(label="chance", value=chance),),
    )
    return LabelsFinding(
        name="answers",
        title="What was answered",
        asked="Answer with the letter of one option.",
        setting={"orders": str(parts.bench.claim.orders)},
        pictures=(picture,),
        notes=(
            "The answer is the option of the highest mean log share over the orders, in which every option stands "
            "behind different letters.",
        ),
        prompt=render(
            parts.bench.loaded.tokenizer,
            Prompt(parts.bench.every[0][0], ALL, Frame.ANSWER, "answer", -1, ("", "")).messages(),
        ).text,
    )
