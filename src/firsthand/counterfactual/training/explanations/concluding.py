"""From a run's folder to what the report shows of explanations: the same numbers whenever they are made."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from firsthand.analysis.self_cross import SelfCrossResult, SelfCrossSpec, corrected
from firsthand.counterfactual.predicting.answered import ANSWERED, Answered
from firsthand.counterfactual.predicting.documents import document
from firsthand.counterfactual.predicting.predictions import Kind, Prediction, Predictor
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.predicting.running import ask, key_of
from firsthand.counterfactual.store import Store
from firsthand.counterfactual.training.explanations.scoring import (
    Judged,
    as_told,
    compared,
    helped,
    leaked,
    naming,
    valid_share,
)
from firsthand.counterfactual.training.explanations.writing import Written, read_written
from firsthand.counterfactual.training.reading import some_claims
from firsthand.counterfactual.training.rejudging import slug
from firsthand.errors import CounterfactualError, TraceError
from firsthand.progress import Progress
from firsthand.report.explanations_document import HelpRow, OpenExplanations, WriterRow
from firsthand.report.training_document import TrainingDocument, TrainingRow, TrainingStudy

TRAIN, HELD_OUT = "train", "held-out"
LONGEST_SHOWN = 2000

LIMITS = (
    "That an explanation helps a reader says nothing of whether it is how the model came to its response, only that "
    "it tells what edits of this prompt would do.",
    "Whether an explanation names a cause is found by its words; one that says the same in other words is missed.",
    "How much better a learner the target is than the others was not measured on explanations, so `privileged` "
    "cannot come out here: a lead over cross-trained models may be a lead in learning.",
    "Labels are what the untrained target does; they were not measured anew on the trained one.",
)


class Simulator:
    """A predictor whose answers are kept in the run's store, and never asked for twice.

    Args:
        inner: Who answers.
        store: Where answers are kept.
        progress: Who is told.
    """

    def __init__(self, inner: Predictor, store: Store, progress: Progress) -> None:
        self.name, self.kind, self.identity = inner.name, inner.kind, inner.identity
        self._inner, self._store, self._progress = inner, store, progress

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        """One prediction for each question, in order."""
        return [one.prediction for one in ask(self._inner, questions, self._store, self._progress)]


class Held:
    """The answers of a simulator that is not there any more.

    Args:
        name: Its name.
        identity: Its identity.
        store: Where its answers are kept.
    """

    kind: Kind = "observer"

    def __init__(self, name: str, identity: str, store: Store) -> None:
        self.name, self.identity, self._store = name, identity, store

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        """One prediction for each question, in order.

        Raises:
            TraceError: If one was not kept.
        """
        found = [self._store.part(ANSWERED, key_of(self, one), Answered) for one in questions]
        missing = sum(one is None for one in found)
        if missing:
            raise TraceError(
                f"{missing} answers of {self.name} that the result rests on are not kept.",
                "Run the same command again.",
            )
        return [one.prediction for one in found if one is not None]


class Scores(NamedTuple):
    """What explanations are worth.

    Attributes:
        studies: One a simulator.
        explanations: What is shown besides.
    """

    studies: tuple[TrainingStudy, ...]
    explanations: OpenExplanations


class Counts(NamedTuple):
    """How many there were, for the report.

    Attributes:
        about: Name of the target.
        investigations: Investigations of the run.
        trained_on: Explanations that were trained on.
        train_units: Their independent units.
        left_out: Investigations that give no explanation, by reason.
        dropped: Explanations that were not trained on, by reason.
        claims_left_out: Claims that are not among the held-out ones, by reason.
        longest: Most tokens of an explanation.
    """

    about: str
    investigations: int
    trained_on: int
    train_units: int
    left_out: dict[str, int]
    dropped: dict[str, int]
    claims_left_out: dict[str, int]
    longest: int


def scores(
    folder: Path,
    simulators: Iterable[Predictor],
    trainings: tuple[TrainingRow, ...],
    counts: Counts,
    spec: SelfCrossSpec,
    notes: tuple[str, ...] = (),
) -> Scores:
    """Score the texts of a folder.

    Args:
        folder: The run's folder, with claims and texts.
        simulators: Who reads; of one that is not there any more its answers (:class:`Held`).
        trainings: The trainings.
        counts: How many there were.
        spec: The rules of the verdict.
        notes: What else a reader should know.
    """
    train = folder / "claims" / f"{TRAIN}.jsonl"
    judged = Judged(some_claims(train) if train.exists() else [], some_claims(folder / "claims" / f"{HELD_OUT}.jsonl"))
    written = read_written(folder)
    by_writer: dict[str, list[Written]] = {}
    for one in written:
        by_writer.setdefault(one.writer, []).append(one)
    study = _study(judged, written, trainings, counts, notes)
    studies: list[TrainingStudy] = []
    helps: list[HelpRow] = []
    asked: dict[str, str] = {}
    for simulator in simulators:
        asked[simulator.name] = simulator.identity
        helps += [HelpRow(writer=name, found=helped(some, judged, simulator)) for name, some in by_writer.items()]
        result = compared(written, judged, simulator, counts.about, _same_data(trainings), spec)
        studies.append(study(simulator.name, result))
    held = corrected({one.name: one.result for one in studies}, spec.alpha)
    found = OpenExplanations(
        investigations=counts.investigations,
        held_out=len({one.investigation for one in judged.claims}),
        units=len(set(judged.units.values())),
        claims=len(judged.claims),
        leaked=len(leaked(written, judged.claims)),
        left_out=counts.left_out,
        claims_left_out=counts.claims_left_out,
        longest=counts.longest,
        simulators=asked,
        writers=tuple(_writer(name, some, judged) for name, some in by_writer.items()),
        helps=tuple(helps),
    )
    return Scores(tuple(one.model_copy(update={"result": held[one.name]}) for one in studies), found)


def _same_data(trainings: Iterable[TrainingRow]) -> bool:
    """Whether, seed by seed, all models saw the same conversations in the same order."""
    seen: dict[int, set[str]] = {}
    for row in trainings:
        seen.setdefault(row.seed, set()).add(row.data)
    return all(len(digests) == 1 for digests in seen.values())


def _study(
    judged: Judged,
    written: Sequence[Written],
    trainings: tuple[TrainingRow, ...],
    counts: Counts,
    notes: tuple[str, ...],
) -> Callable[[str, SelfCrossResult], TrainingStudy]:
    """What is shown of one simulator, by its name and what was found with it."""
    prompt = _example(judged, written)

    def made(name: str, result: SelfCrossResult) -> TrainingStudy:
        return TrainingStudy(
            name=f"by-{slug(name)}",
            title=f"Explanations read by {name}",
            about="A simulator foretells held-out claims from the transcript and an explanation of it. “Told by” "
            "names whose explanation it was given; all foretell the same claims, none of which leaks from a text.",
            result=result,
            trained_on=counts.trained_on,
            train_clusters=counts.train_units,
            dropped=counts.dropped,
            trainings=trainings,
            notes=notes,
            prompt=prompt,
        )

    return made


def _writer(name: str, some: Sequence[Written], judged: Judged) -> WriterRow:
    texts = sum(len(one.texts) for one in some)
    first = min(some[0].texts)
    return WriterRow(
        name=name,
        kind=some[0].kind,
        seeds=tuple(one.seed for one in some if one.seed is not None),
        texts=texts,
        valid=valid_share(some, judged.units),
        cut_off=sum(len(one.cut_off) for one in some) / texts,
        naming=naming(some, judged.claims),
        example=some[0].texts[first][:LONGEST_SHOWN],
    )


def _example(judged: Judged, written: Sequence[Written]) -> str:
    """One question as a simulator reads it, with an explanation if there is one."""
    claim = min(judged.claims, key=lambda one: (one.investigation, one.id))
    texts = [said for one in written if (said := one.said(claim.investigation)).strip()]
    question = as_told(claim, judged.responses[claim.id], texts[-1] if texts else "")
    return document(question).text


def concluded_again(folder: Path, document: TrainingDocument) -> None:
    """See that what is said of explanations is what texts, claims and kept answers give.

    Raises:
        TraceError: If an answer is missing, or a verdict or number is another.
    """
    shown = document.explanations
    if shown is None or not document.studies:
        raise TraceError(f"{folder} holds no explanations.", "Run the same command again.")
    first = document.studies[0]
    counts = Counts(
        about=first.result.about,
        investigations=shown.investigations,
        trained_on=first.trained_on,
        train_units=first.train_clusters,
        left_out=shown.left_out,
        dropped=first.dropped,
        claims_left_out=shown.claims_left_out,
        longest=shown.longest,
    )
    with Store(folder) as store:
        store.checked()
        held = [Held(name, identity, store) for name, identity in shown.simulators.items()]
        try:
            again = scores(folder, held, first.trainings, counts, document.spec)
        except CounterfactualError as error:
            raise TraceError(f"{folder} cannot be scored again: {error.problem}", error.remedy) from error
    for one, found in zip(document.studies, again.studies, strict=True):
        if (one.result.verdict, one.result.reasons) != (found.result.verdict, found.result.reasons):
            raise TraceError(
                f"Texts and answers in {folder} give {found.result.verdict.value} for {one.name}, and its result says "
                f"{one.result.verdict.value}, or gives other reasons.",
                "Remove result.json, and run the same command again.",
            )
    if _said(again.explanations) != _said(shown):
        raise TraceError(
            f"Texts and answers in {folder} give other rates or another help than its result says.",
            "Remove result.json, and run the same command again.",
        )


def _said(shown: OpenExplanations) -> list[object]:
    """What is said, to so many places as are shown."""
    shares = [None if one.valid is None else round(one.valid.value, 6) for one in shown.writers]
    found = [None if one.naming is None else one.naming.difference for one in shown.writers]
    rates = [None if one is None else round(one.value, 6) for one in found]
    helps = [(one.writer, one.found.simulator, one.found.helps, one.found.why) for one in shown.helps]
    return [shown.claims, shown.leaked, shares, rates, helps]
