"""What a study of self-prediction shows: one finding a property, and one on reading answers that are there."""

from collections.abc import Mapping, Sequence

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from firsthand.analysis.findings import Line, Mark, Picture
from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.labels.prediction import CAPABILITY, CONDITION, judge, over_properties
from firsthand.auditing.labels.prediction_evidence import Evidence, ability, heard, observers
from firsthand.auditing.labels.prediction_known import Trials, known_answers
from firsthand.auditing.labels.prediction_observers import most_frequent
from firsthand.auditing.labels.prediction_rows import at, judged_rows
from firsthand.auditing.labels.prediction_showing import (
    behaviour_grid,
    crossed_grid,
    curve_of,
    learned,
    notes_on,
    readers_grid,
    share,
)
from firsthand.report.document import KnownAnswer
from firsthand.report.labels_document import Grid, LabelsFinding
from firsthand.studies.labels.prediction.bench import Bench
from firsthand.studies.labels.prediction.properties import Settled
from firsthand.studies.labels.prediction.reports import ANSWER_SHOWN, TARGET, prompt_of
from firsthand.vocabulary import Verdict


def findings_of(evidence: Evidence) -> tuple[list[LabelsFinding], list[KnownAnswer]]:
    """The findings on all properties, and the known answers on their trials."""
    with threadpool_limits(1):  # thousands of small fits, which several threads would slow down
        judged = [finding_of(evidence, one) for one in evidence.bench.settled]
    return corrected([finding for finding, _ in judged], evidence), [one for _, known in judged for one in known]


def corrected(findings: Sequence[LabelsFinding], evidence: Evidence) -> list[LabelsFinding]:
    """The same findings, with verdicts that do not hold over all properties taken back."""
    names = {one.property.name for one in asked(evidence.bench)}
    results: Mapping[str, CapabilityResult] = over_properties(
        {one.name: one.results[0] for one in findings if one.name in names}, evidence.spec.alpha
    )
    return [
        one.model_copy(update={"results": (results[one.name],)}) if one.name in results else one for one in findings
    ]


def finding_of(evidence: Evidence, one: Settled) -> tuple[LabelsFinding, list[KnownAnswer]]:
    """The finding on one property judged by itself, and the known answers on its trials."""
    if one.refused is not None:
        return _refused(evidence, one), []
    rows = evidence.of(one)
    target = at(rows, TARGET, evidence.bench.most)
    seen, others = observers(evidence, one, target), heard(evidence, one)
    table = judged_rows(rows, evidence.bench.most)
    result = judge(table, len(one.classes), seen, others, ability(evidence, one), evidence.spec)
    mode = float(most_frequent(one)[0])
    known = known_answers(Trials(one.property.name, target, len(one.classes), seen, mode, evidence.spec))
    lot = learned(evidence, one, target)
    finding = LabelsFinding(
        name=one.property.name,
        title=one.property.title,
        asked=f"What kind is {one.property.what.replace('{answer}', 'your answer')}, before it is given?",
        setting=_setting(evidence.bench, one),
        results=(result,),
        curves=(curve_of(evidence, one, target, seen),),
        pictures=() if lot is None else (lot[0],),
        grids=(behaviour_grid(evidence, one), readers_grid(evidence, one), *crossed_grid(evidence, one, target)),
        notes=(*(() if lot is None else (lot[1],)), *notes_on(evidence, one, target)),
        prompt=prompt_of(evidence.bench, one, evidence.bench.most),
    )
    return finding, known


def computing(evidence: Evidence) -> LabelsFinding:
    """Can the model tell the property of an answer that it reads? That is ability, and no prediction."""
    rows, marks = evidence.rows[evidence.rows["arm"] == ANSWER_SHOWN], []
    table = []
    for one in asked(evidence.bench):
        some = at(rows[rows["property"] == one.property.name], ANSWER_SHOWN, evidence.bench.most)
        likelier = share(evidence, some, some["choice"].to_numpy(dtype=np.float64), 1.0 / len(one.classes))
        valid = share(evidence, some, some["answer"].to_numpy(dtype=np.float64), 1.0 / len(one.classes))
        marks.append(Mark(label=one.property.title, estimate=likelier))
        cells = (likelier, valid, f"{1.0 / len(one.classes):.0%}", f"{some['coverage'].mean():.1%}")
        table.append((one.property.title, cells))
    return LabelsFinding(
        name="computing",
        title="Can it tell the property of an answer that it reads?",
        asked="What kind is this answer? The answer stands in the question.",
        setting={"examples": str(evidence.bench.most)},
        pictures=(
            Picture(
                title="Right about an answer that can be read",
                axis="right, classes weighed alike, by the likelier letter",
                unit="share",
                marks=tuple(marks),
                lines=(Line(label="chance of two classes", value=0.5),),
            ),
        )
        if marks
        else (),
        grids=(
            Grid(
                name="computing",
                title="Right about an answer that can be read",
                columns=("Property", "likelier letter", "invalid not right", "chance", "coverage"),
                rows=tuple(table),
                note="Where this fails, a failure to predict may be a failure to compute the property.",
            ),
        )
        if table
        else (),
        notes=("Reading a property off an answer that is shown is ability and not self-prediction: it is not judged.",),
    )


def asked(bench: Bench) -> list[Settled]:
    """The properties that are asked about."""
    return [one for one in bench.settled if one.refused is None]


def _refused(evidence: Evidence, one: Settled) -> LabelsFinding:
    return LabelsFinding(
        name=one.property.name,
        title=one.property.title,
        asked=f"What kind is {one.property.what.replace('{answer}', 'your answer')}? It was not asked.",
        results=(
            CapabilityResult(
                capability=CAPABILITY,
                condition=CONDITION,
                verdict=Verdict.INSUFFICIENT,
                reasons=(f"nothing was asked: {one.refused}",),
                chance=1.0 / max(2, len(one.classes)),
                coverage=0.0,
                invalid_rate=0.0,
            ),
        ),
        grids=(behaviour_grid(evidence, one),),
        notes=(f"Nothing was asked: {one.refused}.",),
    )


def _setting(bench: Bench, one: Settled) -> dict[str, str]:
    found = {
        "examples": str(bench.most),
        "draws of examples": str(bench.claim.experiments),
        "prompts judged": str(int(np.isfinite(one.judged_J).sum())),
        "prompts to learn from": str(int(np.isfinite(one.fit_F).sum())),
        "classes": ", ".join(one.classes),
    }
    return found if not one.cut else {**found, "cut": f"{one.cut:g} characters"}
