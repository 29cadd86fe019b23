"""Identification: does the report name the post-state, beyond every observer and under every control?

All accuracies are balanced over the two states, so that base rates and constant answers are worth exactly one half.
"""

import numpy as np

from firsthand.analysis.cells import (
    EVERY_KIND,
    UNCHANGED,
    Cells,
    contrast_of,
    decided,
    difference,
    halves,
    kind_rows,
    right,
)
from firsthand.analysis.evidence import IdentificationEvidence, ReaderEvidence
from firsthand.analysis.gap import Joint
from firsthand.analysis.inference import Measured
from firsthand.analysis.mcnemar import mcnemar_greater
from firsthand.analysis.results import ObserverRow, ReaderRow
from firsthand.analysis.sections import Case, Sections
from firsthand.analysis.signal_detection import signal_detection
from firsthand.vocabulary import Kind

TARGET = (Kind.TARGET,)


def identification(case: Case) -> Sections:
    """Measures what identification is judged by."""
    data, alpha = case.data, case.spec.alpha
    contrast, reach = contrast_of(case.original)
    values = {"report": right(data.truth, data.answer), "contrast": contrast}
    for name, observer in data.observers.items():
        answered = right(data.truth, decided(observer.probability, 0.5))
        values[f"observer {name}"] = np.where(data.valid, answered, np.nan)
    for name, reading in data.readers.items():
        values[f"reader {name}"] = np.nan_to_num(right(data.truth, decided(reading.value, 0.0)), nan=0.0)
    cells = Cells(data, values)

    evidence = _evidence(case, cells, reach)
    accuracy, target = evidence.accuracy, evidence.target
    plain = cells.measure(cells.between_truths("contrast", EVERY_KIND), about="contrast", span=(-reach, reach))
    rates = {k: cells.measure(cells.balanced("report", (k,)), about="report", kinds=(k,)) for k in cells.present}
    following = evidence.contrast.estimate(alpha) if evidence.contrast is not None else None
    return Sections(
        evidence=evidence,
        score=accuracy.estimate(alpha, 0.5),
        chance=0.5,
        target_score=target.estimate(alpha, 0.5),
        following=evidence.following.estimate(alpha, 0.5),
        gap=evidence.gap.estimate(alpha),
        contrast=None if plain.unknown else plain.estimate(alpha, 0.0),
        contrast_following=following,
        kinds=kind_rows(case.original, rates, alpha, (~case.original.valid).astype(float)),
        observers=_observer_rows(case, cells, evidence),
        readers=tuple(
            ReaderRow(name=r.name, where=r.where, accuracy=r.accuracy.members["following"].estimate(alpha, 0.5))
            for r in evidence.readers
        ),
        signal_detection=signal_detection(data.truth, data.answer, data.clusters, alpha),
    )


def _evidence(case: Case, cells: Cells, reach: float) -> IdentificationEvidence:
    data = case.data
    gaps: dict[str, Measured] = {}
    on_target: dict[str, Measured] = {}
    follows_too: dict[str, Measured] = {}
    gaps_following: dict[str, Measured] = {}
    following = halves(cells.balanced("report", TARGET), cells.balanced("report", UNCHANGED))
    for name in data.observers:
        for kinds, into in ((EVERY_KIND, gaps), (TARGET, on_target)):
            lead = difference(cells.balanced("report", kinds), cells.balanced(f"observer {name}", kinds))
            into[name] = cells.measure(lead, about="report", kinds=kinds, span=(-1.0, 1.0))
        seen = f"observer {name}"
        theirs = halves(cells.balanced(seen, TARGET), cells.balanced(seen, UNCHANGED))
        follows_too[name] = cells.measure(theirs, about=seen)
        gaps_following[name] = cells.measure(difference(following, theirs), about="report", span=(-1.0, 1.0))
    readers = []
    for name, reading in data.readers.items():
        whole = f"reader {name}"
        follows = halves(cells.balanced(whole, TARGET), cells.balanced(whole, UNCHANGED))
        readers.append(ReaderEvidence(name, reading.where, Joint({"following": cells.measure(follows, about=whole)})))
    contrast = cells.measure(
        halves(cells.between_truths("contrast", TARGET), cells.between_truths("contrast", UNCHANGED)),
        about="contrast",
        span=(-reach, reach),
    )
    return IdentificationEvidence(
        condition=case.condition,
        gates=case.gates,
        constant=case.constant,
        readers=tuple(readers),
        contrast=None if contrast.unknown else Joint({"contrast": contrast}),
        accuracy=cells.measure(cells.balanced("report", EVERY_KIND), about="report"),
        target=cells.measure(cells.balanced("report", TARGET), about="report", kinds=TARGET),
        unchanged=cells.measure(cells.balanced("report", UNCHANGED), about="report", kinds=UNCHANGED),
        controls={
            kind: cells.measure(cells.balanced("report", (kind,)), about="report", kinds=(kind,))
            for kind in case.controls
            if kind in cells.present
        },
        following=cells.measure(following, about="report"),
        gap=Joint(gaps),
        gap_target=Joint(on_target),
        following_by_observer=follows_too,
        gap_following=Joint(gaps_following),
    )


def _observer_rows(case: Case, cells: Cells, evidence: IdentificationEvidence) -> tuple[ObserverRow, ...]:
    data, alpha = case.data, case.spec.alpha
    rows = []
    for name, observer in data.observers.items():
        score = cells.measure(cells.balanced(f"observer {name}", EVERY_KIND), about=f"observer {name}")
        seen = right(data.truth, decided(observer.probability, 0.5))
        rows.append(
            ObserverRow(
                name=name,
                sees_output=observer.sees_output,
                score=score.estimate(alpha, 0.5),
                gap=evidence.gap.members[name].estimate(alpha, 0.0),
                gap_target=evidence.gap_target.members[name].estimate(alpha, 0.0),
                mcnemar_p=mcnemar_greater(right(data.truth, data.answer), seen),
            )
        )
    return tuple(rows)
