"""The numbers of a study as tables, one row each, to be written as CSV and Parquet: what all studies have in common.

An estimate ``x`` has eight columns: ``x`` (shares as fractions of one), ``x_low`` and ``x_high`` (its interval),
``x_level`` (coverage of that), ``x_trials``, ``x_units`` and ``x_cluster`` (how many independent units of which column
it rests on), ``x_p`` (one-sided, where it was tested). Where there is no estimate they are empty.

Tables of findings begin with ``finding``, the question's name. ``results``, ``kinds``, ``observers``, ``controls``,
``arms``, ``readers`` and ``reliability`` go on with ``capability`` and ``condition``.

results (one row a finding, capability and condition):
    verdict: What the evidence allows.
    reasons: List of the rules that led to it.
    chance: Score of a report that knows nothing.
    score, target_score, gap, following, contrast, contrast_following: Estimates; see ``CapabilityResult``.
    score_worst_case, score_best_case: Score if every invalid answer were wrong, or right.
    coverage: Mean probability mass on valid answers.
    invalid_rate: Share of trials without a valid answer.
    d_prime, criterion: Estimates of signal detection.
    equivalence_margin, equivalence_shown, equivalence_p, equivalence_refused: Two one-sided tests.
    brier, auroc2: Estimates of calibration; with reliability, resolution, uncertainty, ece_debiased, ece_null, aurc.
kinds:
    kind: Trial kind.
    rate: Estimate: share right, or share of "injected", or mean confidence.
    coverage, invalid_rate: As above, in this kind.
    mean_kl, mean_entropy: In nats.
observers:
    observer: Its name.
    sees_output: Whether it saw the visible answer.
    score, gap, gap_target: Estimates; the gap is the report minus the observer.
    mcnemar_p: Exact one-sided McNemar test, trials taken for independent.
controls:
    kind: Trial kind of the control.
    false_alarms, margin: Estimates: rate of "injected" there, and the rate on target trials minus it.
arms:
    arm: Control arm of a choice.
    score, lead: Estimates; the lead is the report minus the arm.
readers:
    reader: Wire or probe.
    where: ``site`` or ``report``.
    accuracy: Estimate.
reliability:
    low, high: Ends of the confidence bin.
    mean_confidence: Mean of what was stated in it.
    accuracy: Estimate.
pictures, published (one row a mark):
    picture: Title of the chart.
    axis, unit: What is measured, and how it is written.
    label: The mark.
    emphasis: Whether the chart is about it.
    value: Estimate.
known_answers:
    reporter: Reporter of known answer.
    capability, condition: What was judged.
    expected, also_accepted, obtained, passed: Verdicts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import pandas as pd

from firsthand.analysis.findings import Picture
from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.report.document import KnownAnswer, _encodable
from firsthand.report.finding_views import Judged

Row = dict[str, Any]
Rows = dict[str, list[Row]]
F = TypeVar("F", bound=Judged)


def rows_of(findings: Sequence[F], of_findings: Mapping[str, Callable[[F], Iterator[Row]]]) -> Rows:
    """The rows of every table of findings.

    Args:
        findings: The findings.
        of_findings: What makes the rows of each table that only this kind of study has.
    """
    rows: Rows = {}
    for finding in findings:
        for name, make in of_findings.items():
            rows.setdefault(name, []).extend({"finding": finding.name, **row} for row in make(finding))
        for result in finding.results:
            key = {
                "finding": finding.name,
                "capability": result.capability.value,
                "condition": result.condition.value,
            }
            for name, find in _OF_RESULTS.items():
                rows.setdefault(name, []).extend({**key, **row} for row in find(result))
    return rows


def frames(rows: Rows) -> dict[str, pd.DataFrame]:
    """Tables of rows, by name; one without rows is left out."""
    made = {
        name: [{key: writable(value) for key, value in row.items()} for row in found] for name, found in rows.items()
    }
    return {name: pd.DataFrame(found) for name, found in made.items() if found}


def writable(value: Any) -> Any:
    """The value, with text in it in a form that a file can hold."""
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, list | tuple):
        return [writable(item) for item in value]
    return value


def estimate_columns(name: str, found: Estimate | None) -> Row:
    """The eight columns of an estimate."""
    columns = {"": "value", "_low": "low", "_high": "high", "_level": "level", "_trials": "n_trials", "_units": "units"}
    columns |= {"_cluster": "cluster", "_p": "p"}
    return {f"{name}{end}": None if found is None else getattr(found, field) for end, field in columns.items()}


def picture_rows(pictures: Iterable[Picture]) -> Iterator[Row]:
    """The marks of pictures."""
    for picture in pictures:
        what = {"picture": picture.title, "axis": picture.axis, "unit": picture.unit}
        for mark in picture.marks:
            yield {**what, "label": mark.label, "emphasis": mark.emphasis, **estimate_columns("value", mark.estimate)}


def _results(result: CapabilityResult) -> Iterator[Row]:
    signal, equal, stated = result.signal_detection, result.equivalence, result.calibration
    row: Row = {"verdict": result.verdict.value, "reasons": list(result.reasons), "chance": result.chance}
    for name in ("score", "target_score", "gap", "following", "contrast", "contrast_following"):
        row |= estimate_columns(name, getattr(result, name))
    for name in ("score_worst_case", "score_best_case", "coverage", "invalid_rate"):
        row[name] = getattr(result, name)
    row |= estimate_columns("d_prime", None if signal is None else signal.d_prime)
    row |= estimate_columns("criterion", None if signal is None else signal.criterion)
    for name in ("margin", "shown", "p", "refused"):
        row[f"equivalence_{name}"] = None if equal is None else getattr(equal, name)
    row |= estimate_columns("brier", None if stated is None else stated.brier)
    row |= estimate_columns("auroc2", None if stated is None else stated.auroc2)
    for name in ("reliability", "resolution", "uncertainty", "ece_debiased", "ece_null", "aurc"):
        row[name] = None if stated is None else getattr(stated, name)
    yield row


def _kinds(result: CapabilityResult) -> Iterator[Row]:
    for row in result.kinds:
        rest = {"mean_kl": row.mean_kl, "mean_entropy": row.mean_entropy}
        yield {
            "kind": row.kind.value,
            **estimate_columns("rate", row.rate),
            "coverage": row.coverage,
            "invalid_rate": row.invalid_rate,
            **rest,
        }


def _observers(result: CapabilityResult) -> Iterator[Row]:
    for row in result.observers:
        found = {"observer": row.name, "sees_output": row.sees_output, **estimate_columns("score", row.score)}
        found |= estimate_columns("gap", row.gap) | estimate_columns("gap_target", row.gap_target)
        yield {**found, "mcnemar_p": row.mcnemar_p}


def _controls(result: CapabilityResult) -> Iterator[Row]:
    for row in result.controls:
        yield {
            "kind": row.kind.value,
            **estimate_columns("false_alarms", row.false_alarms),
            **estimate_columns("margin", row.margin),
        }


def _arms(result: CapabilityResult) -> Iterator[Row]:
    for row in result.arms:
        yield {"arm": row.name, **estimate_columns("score", row.score), **estimate_columns("lead", row.lead)}


def _readers(result: CapabilityResult) -> Iterator[Row]:
    for row in result.readers:
        yield {"reader": row.name, "where": row.where, **estimate_columns("accuracy", row.accuracy)}


def _bins(result: CapabilityResult) -> Iterator[Row]:
    for row in result.calibration.bins if result.calibration is not None else ():
        where = {"low": row.low, "high": row.high, "mean_confidence": row.mean_confidence}
        yield {**where, **estimate_columns("accuracy", row.accuracy)}


def known_rows(known_answers: Iterable[KnownAnswer]) -> Iterator[Row]:
    """What reporters of known answer got."""
    for item in known_answers:
        yield {
            "reporter": item.reporter,
            "capability": item.capability.value,
            "condition": None if item.condition is None else item.condition.value,
            "expected": item.expected.value,
            "also_accepted": [verdict.value for verdict in item.also_accepted],
            "obtained": None if item.obtained is None else item.obtained.value,
            "passed": item.passed,
        }


_OF_RESULTS: dict[str, Callable[[CapabilityResult], Iterator[Row]]] = {
    "results": _results,
    "kinds": _kinds,
    "observers": _observers,
    "controls": _controls,
    "arms": _arms,
    "readers": _readers,
    "reliability": _bins,
}
