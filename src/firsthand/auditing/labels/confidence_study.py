"""The confidence study: from a claim, a model and questions to a run folder with a trace and verdicts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from firsthand.auditing.labels.confidence_document import Parts, assemble
from firsthand.auditing.labels.confidence_gates import LEAST_UNITS, OtherModel, Said
from firsthand.auditing.labels.confidence_observers import LEAST_SUBJECTS, Public, embedded
from firsthand.auditing.running import bindings_of, card_of, examined, settle, settle_further
from firsthand.claims.claim import AnalysisSpec
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.labels import ConfidenceClaim
from firsthand.engine import LoadedModel, load
from firsthand.errors import ElicitationError, EngineError, LabelsError
from firsthand.progress import Progress, Silent, tracked
from firsthand.report.document import ModelCard
from firsthand.report.labels_document import DataCard, LabelsDocument
from firsthand.studies.labels.confidence.asking import ALL, COLUMNS, Bench, reader_rows, rows_of, third_asks
from firsthand.studies.labels.confidence.questions import Questions, digest_of, sample
from firsthand.studies.labels.confidence.scores import answers_of, report_of
from firsthand.studies.labels.confidence.texts import Frame
from firsthand.trials.keeping import kept
from firsthand.trials.trace import Trace

TOGETHER: Final = 8
"""Questions that are run together, and kept as one unit."""


@dataclass(frozen=True)
class ConfidenceRun:
    """A finished study and its rows."""

    folder: Path
    document: LabelsDocument
    rows: pd.DataFrame

    @property
    def table(self) -> pd.DataFrame:
        """The rows without the states that a probe reads: these are long, and in the trace."""
        return self.rows.drop(columns="state")


def confidence(
    claim: ConfidenceClaim,
    questions: Questions,
    model: LoadedModel | None = None,
    folder: str | Path = "runs/confidence",
    progress: Progress | None = None,
    *,
    name: str = "questions",
    reader: LoadedModel | None = None,
    reproduce: Sequence[str] = (),
) -> ConfidenceRun:
    """Run a confidence study, or go on with one.

    Args:
        claim: The claim; it is frozen before anything is run.
        questions: The questions that it names.
        model: The model that the claim names, if it is loaded already.
        folder: The run's folder; one folder holds one claim.
        progress: Who is told how far it is.
        name: Name of the questions' file.
        reader: The claim's reader, if it is loaded already.
        reproduce: Commands that repeat the study, for the report.

    Raises:
        FirsthandError: If the folder holds another claim, the questions are not those of the claim or too few, or a
            prompt cannot be run.
    """
    progress, folder = progress or Silent(), Path(folder)
    if digest_of(questions) != claim.data_sha256:
        raise LabelsError(
            "The questions are not those that the claim names.", "Give the same file, or make a new claim."
        )
    items = sample(questions, claim.questions, claim.seed)
    loaded = model or load(claim.model)
    frozen = FrozenLabels.of(claim, bindings_of(loaded))
    settle(folder, frozen, loaded)
    notes = list(examined(loaded, progress))
    bench = Bench.of(claim, loaded, items)
    rows = _kept(folder / "trace", "questions", bench, progress, partial(_made, bench))
    answers = answers_of(rows)
    cards, other = [card_of(loaded)], None
    if claim.reader is not None:
        progress.say(f"loading {claim.reader}")
        second = reader or load(claim.reader, device=loaded.device.split()[0], dtype=loaded.dtype)
        settle_further(folder, second)
        try:
            other, card = _other(folder, claim, second, bench, answers, progress)
            cards.append(card)
        except (ElicitationError, EngineError) as error:
            notes.append(f"The reader {claim.reader} could not be asked, and is left out: {error.problem}")
    public = _public(bench, rows, answers, other)
    progress.say("fitting observers and judging")
    spec, said = spec_of(claim, public)
    notes += said
    asked = DataCard(
        name=name,
        sha256=claim.data_sha256,
        used={"questions": len(items), "asked again as two options": len(bench.pairs)},
        dropped=dict(questions.dropped),
    )
    with threadpool_limits(1):  # many small fits, which several threads would slow down
        document = assemble(folder, frozen, cards, asked, Parts(bench, rows, answers, public, spec), notes, reproduce)
    return ConfidenceRun(folder, document, rows)


def spec_of(claim: ConfidenceClaim, public: Public) -> tuple[AnalysisSpec, list[str]]:
    """The claim's rules, and notes on what few subjects make of them.

    From five subjects on they stay independent units. Of fewer no interval can be had, so that those shown are over
    questions; what follows for the verdict is in :func:`~firsthand.auditing.labels.confidence_gates.too_few`.
    """
    subjects = len({item.subject for item in public.items})
    if subjects >= LEAST_SUBJECTS or "subject" not in claim.analysis.clusters:
        return claim.analysis, []
    fitted = f"There are {subjects} subjects, fewer than {LEAST_SUBJECTS}: "
    fitted += "observers are fitted on other questions of the same subjects"
    if subjects >= LEAST_UNITS:
        return claim.analysis, [f"{fitted}."]
    note = f"{fitted}, questions are the independent units, and nothing is said of other subjects."
    return claim.analysis.model_copy(update={"clusters": ("question",)}), [note]


def _public(bench: Bench, rows: pd.DataFrame, answers: pd.DataFrame, other: OtherModel | None) -> Public:
    keys, loaded = list(answers["question"]), bench.loaded
    given = [item.options[int(answer)] for item, answer in zip(bench.items, answers["answer"], strict=True)]
    return Public(
        bench.items,
        answers,
        embedded(loaded, [item.text for item in bench.items]),
        embedded(loaded, given),
        {ask: Said.of(report_of(rows, Frame.STUDENT, ask, keys)) for ask in third_asks(bench.claim)},
        other,
    )


def _kept(
    folder: Path,
    name: str,
    bench: Bench,
    progress: Progress,
    make: Callable[[int], Sequence[pd.DataFrame]],
) -> pd.DataFrame:
    trace = Trace(folder)
    starts, units, frames = range(0, len(bench.items), TOGETHER), _units(name, bench), list[pd.DataFrame]()
    stage = f"questions asked of {bench.loaded.name}"
    for start, unit in tracked(list(zip(starts, units, strict=True)), stage, len(units), progress):
        frames += kept(trace, [unit], partial(make, start), COLUMNS)
    trace.finish(units, {"study": "confidence"})
    return pd.concat(frames, ignore_index=True)


def _units(name: str, bench: Bench) -> list[str]:
    return [f"{name}.{start:05d}" for start in range(0, len(bench.items), TOGETHER)]


def _made(bench: Bench, start: int) -> list[pd.DataFrame]:
    return [rows_of(bench, start, TOGETHER)]


def _other(
    folder: Path, claim: ConfidenceClaim, loaded: LoadedModel, judged: Bench, answers: pd.DataFrame, progress: Progress
) -> tuple[OtherModel, ModelCard]:
    """What another model makes of questions and answers; its rows are kept under a name made of its weights.

    Raises:
        ElicitationError, EngineError: If it cannot be asked. What it was asked until then is a finished trace.
    """
    if loaded.weights_sha256 == judged.loaded.weights_sha256:
        raise LabelsError(
            f"{loaded.name} has the weights of {judged.loaded.name}: it would be the same model in the third person.",
            "Name another model as the reader.",
        )
    bench = Bench.of(claim, loaded, judged.items)
    own = {str(q): int(a) for q, a in zip(answers["question"], answers["answer"], strict=True)}

    def made(start: int) -> list[pd.DataFrame]:
        return [reader_rows(bench, start, own, TOGETHER)]

    place = folder / f"reader-{loaded.weights_sha256[:12]}"
    try:
        rows = _kept(place, "reader", bench, progress, made)
    except (ElicitationError, EngineError) as error:
        trace = Trace(place)
        done = [unit for unit in _units("reader", bench) if trace.unit_done(unit)]
        trace.finish(done, {"study": "confidence", "stopped": error.problem})
        raise
    theirs, keys = answers_of(rows), list(answers["question"])
    theirs = theirs.set_index("question").loc[keys].reset_index()
    return (
        OtherModel(
            name=loaded.name,
            answered=Said.of(theirs.assign(raw=np.exp(theirs["top"]), valid=theirs["right"].notna())),
            right=np.array([float(a == item.answer) for a, item in zip(theirs["answer"], bench.items, strict=True)]),
            likelihood=_likelihood(rows, own, keys),
            said={ask: Said.of(report_of(rows, Frame.STUDENT, ask, keys)) for ask in third_asks(claim)},
        ),
        card_of(loaded),
    )


def _likelihood(rows: pd.DataFrame, own: dict[str, int], keys: Sequence[str]) -> np.ndarray:
    """How likely another model finds the judged model's answer among the options, mean of log shares over orders."""
    mine = rows[(rows["set"] == ALL) & (rows["frame"] == str(Frame.ANSWER))]
    found: dict[str, list[float]] = {}
    for key, logprobs in zip(mine["question"], mine["logprobs"], strict=True):
        each = np.asarray(logprobs, dtype=np.float64)
        found.setdefault(key, []).append(float(each[own[key]] - np.logaddexp.reduce(each)))
    return np.exp([np.mean(found[key]) for key in keys])
