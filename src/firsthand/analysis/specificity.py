"""Detection: the specificity margin, the smallest of TPR minus the false-alarm rate over the controls.

"Fires on the target more often than on every control" is the same intersection-union test as the gap. An observer's own
specificity margin is the smallest over the controls too, so the report is ahead of it where *every* margin of the
report exceeds *some* margin of the observer: an intersection over the report's controls inside a union over the
observer's. (To ask for a lead against each control apart would let an observer that merely sees the input control
pass for specific.) An observer answers "yes" above one half or above the base rate of targets, whichever serves it
better here: a calibrated observer of a rare change would otherwise never say yes and be beaten unfairly.

Where the table names strata (was the public cue right?), every margin is taken within each stratum and each stratum
counts alike, for the report and for observers: "the state is not what the cue says" is right about the change where
the cue was right and wrong where it was wrong, so it earns nothing, whatever the cue's reliability. The rates shown for
each kind, readers' accuracies, d' and McNemar's p stay plain.
"""

from collections.abc import Mapping

import numpy as np

from firsthand.analysis.cells import EVERY_KIND, Cells, Mean, contrast_of, difference, halves, kind_rows, right
from firsthand.analysis.evidence import DetectionEvidence, ReaderEvidence
from firsthand.analysis.gap import AnyOf, Joint
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.mcnemar import mcnemar_greater
from firsthand.analysis.results import ControlRow, ObserverRow, ReaderRow
from firsthand.analysis.sections import Case, Sections
from firsthand.analysis.signal_detection import signal_detection
from firsthand.analysis.table import Scored
from firsthand.analysis.verdict import DISTURBED, QUIET
from firsthand.vocabulary import Kind

TARGET = (Kind.TARGET,)


def observer_answers(data: Scored, probability: FloatArray, controls: tuple[Kind, ...]) -> FloatArray:
    """Yes/no answers of an observer ``[trials]``, at the better of two thresholds: one half, or the share of targets.

    Choosing in the observer's favour can only make the report's lead smaller.
    """
    within = np.zeros(len(data), dtype=np.int64) if data.strata is None else data.strata
    changed = data.of(Kind.TARGET)
    strata = [(within == s, data.of(kind), kind) for kind in controls for s in range(int(within.max()) + 1)]
    cells = [
        (s & changed, s & control, kind) for s, control, kind in strata if (s & changed).any() and (s & control).any()
    ]

    def margin(answers: FloatArray) -> float:
        leads: dict[Kind, list[float]] = {}
        for hits, alarms, kind in cells:
            leads.setdefault(kind, []).append(float(answers[hits].mean() - answers[alarms].mean()))
        return min((float(np.mean(each)) for each in leads.values()), default=float(answers[changed].mean()))

    options = [(probability > threshold).astype(np.float64) for threshold in (0.5, float(data.truth.mean()))]
    return max(options, key=margin)


def detection(case: Case) -> Sections:
    """Measures what detection is judged by."""
    data, alpha = case.data, case.spec.alpha
    contrast, reach = contrast_of(case.original)
    seen = {name: observer_answers(data, o.probability, case.controls) for name, o in data.observers.items()}
    values = {"report": data.answer, "contrast": contrast}
    values |= {f"observer {name}": np.where(data.valid, answers, np.nan) for name, answers in seen.items()}
    for name, reading in data.readers.items():
        values[f"reader {name}"] = np.nan_to_num(right(data.truth, np.heaviside(reading.value, 0.5)), nan=0.0)
    cells = Cells(data, values, data.strata)

    evidence = _evidence(case, cells, reach)
    plain = cells.measure(cells.between_truths("contrast", EVERY_KIND), about="contrast", span=(-reach, reach))
    unknown = evidence.margins.members == {}
    score = evidence.margins.estimate(alpha)
    whole = cells.measure(cells.between_truths("report", EVERY_KIND), about="report", span=(-1.0, 1.0))
    return Sections(
        evidence=evidence,
        score=whole.estimate(alpha, 0.0) if unknown or score is None else score,
        chance=0.0,
        target_score=evidence.rates[Kind.TARGET].estimate(alpha),
        gap=evidence.beyond.estimate(alpha),
        contrast=None if plain.unknown else plain.estimate(alpha, 0.0),
        contrast_following=None if evidence.contrast is None else evidence.contrast.estimate(alpha),
        kinds=kind_rows(case.original, evidence.rates, alpha, (~case.original.valid).astype(float)),
        observers=_observer_rows(case, cells, evidence, seen),
        controls=tuple(
            ControlRow(
                kind=Kind(name),
                false_alarms=evidence.rates[Kind(name)].estimate(alpha),
                margin=margin.estimate(alpha, 0.0),
            )
            for name, margin in evidence.margins.members.items()
        ),
        readers=tuple(
            ReaderRow(name=r.name, where=r.where, accuracy=accuracy)
            for r in evidence.readers
            if (accuracy := r.accuracy.estimate(alpha, 0.5)) is not None
        ),
        signal_detection=signal_detection(data.truth, data.answer, data.clusters, alpha),
    )


def _margin(cells: Cells, name: str, control: Kind) -> Mean:
    return cells.apart(name, TARGET, (control,))


def _evidence(case: Case, cells: Cells, reach: float) -> DetectionEvidence:
    data = case.data
    controls = tuple(kind for kind in case.controls if kind in cells.present)

    def lead(statistic: Mean, control: Kind, span: float = 1.0, about: str = "report") -> Measured:
        return cells.measure(statistic, about=about, kinds=(*TARGET, control), span=(-span, span))

    def ahead(name: str, own: Kind, theirs: Kind) -> Measured:
        statistic = difference(_margin(cells, "report", own), _margin(cells, f"observer {name}", theirs))
        return cells.measure(statistic, about="report", kinds=(*TARGET, own, theirs), span=(-2.0, 2.0))

    beyond = {
        name: AnyOf(
            {theirs.value: Joint({own.value: ahead(name, own, theirs) for own in controls}) for theirs in controls}
        )
        for name in data.observers
    }
    readers = []
    for name, reading in data.readers.items():
        whole = f"reader {name}"
        against = {
            control.value: cells.measure(
                halves(cells.mean(whole, TARGET), cells.mean(whole, (control,))), about=whole, kinds=(*TARGET, control)
            )
            for control in controls
        }
        readers.append(ReaderEvidence(name, reading.where, Joint(against)))
    contrasts = {
        c.value: m for c in controls if not (m := lead(_margin(cells, "contrast", c), c, reach, "contrast")).unknown
    }
    return DetectionEvidence(
        condition=case.condition,
        gates=case.gates,
        constant=case.constant,
        readers=tuple(readers),
        contrast=Joint(contrasts) if contrasts else None,
        rates={k: cells.measure(cells.mean("report", (k,)), about="report", kinds=(k,)) for k in cells.present},
        margins=Joint({control.value: lead(_margin(cells, "report", control), control) for control in controls}),
        beyond=Joint(beyond),
        excess={
            control: cells.measure(
                cells.apart("report", (control,), QUIET),
                about="report",
                kinds=(*QUIET, control),
                span=(-1.0, 1.0),
            )
            for control in controls
            if control in DISTURBED and any(kind in controls for kind in QUIET)
        },
        within=tuple(
            Joint({c.value: lead(cells.apart("report", TARGET, (c,), (s,)), c) for c in controls})
            for s in (cells.strata if data.strata is not None else ())
        ),
    )


def _observer_rows(
    case: Case, cells: Cells, evidence: DetectionEvidence, seen: Mapping[str, FloatArray]
) -> tuple[ObserverRow, ...]:
    data, alpha = case.data, case.spec.alpha
    rows = []
    for name, observer in data.observers.items():
        own = Joint(
            {
                control: cells.measure(
                    _margin(cells, f"observer {name}", Kind(control)), about=f"observer {name}", span=(-1.0, 1.0)
                )
                for control in evidence.margins.members
            }
        ).estimate(alpha)
        gap = evidence.beyond.members[name].estimate(alpha)
        if own is None or gap is None:
            continue
        p = mcnemar_greater(right(data.truth, data.answer), right(data.truth, seen[name]))
        rows.append(ObserverRow(name=name, sees_output=observer.sees_output, score=own, gap=gap, mcnemar_p=p))
    return tuple(rows)
