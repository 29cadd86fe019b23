"""The numbers of an injection study as tables, one row each, to be written as CSV and Parquet.

An estimate ``x`` has eight columns: ``x`` (shares as fractions of one), ``x_low`` and ``x_high`` (its interval),
``x_level`` (coverage of that), ``x_trials``, ``x_units`` and ``x_cluster`` (how many independent units of which column
it rests on), ``x_p`` (one-sided, where it was tested). Where there is no estimate they are empty.

Every table but ``known_answers``, ``transfer`` and ``published`` begins with ``finding``, the question's name.
``results``, ``kinds``, ``observers``, ``controls``, ``arms``, ``readers`` and ``reliability`` go on with ``capability``
and ``condition``.

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
selection (one row a finding that chose a cell):
    chosen_layer, chosen_dose, chosen_setting: What was judged.
    naive_layer, naive_dose, naive_setting: Where the largest rise of the grid was found.
    naive, found, confirmed: Estimates: that rise where it was found; the rise in the chosen cell where it was chosen;
        the same on other concepts.
grids (one row a cell):
    setting: What the grid shares.
    layer, dose: The cell; doses in mean residual norms.
    chosen, best_of_grid: Whether it was judged; whether it would have been claimed.
    score, rise, unrelated: Estimates: what cells are chosen by, what would be claimed, "yes" to an unrelated question.
    score_name, rise_name: What these are, in words.
    mean_kl, mean_entropy: In nats.
    coverage: As above.
matrices (one row a condition and answer):
    matrix: Title of the response matrix.
    arm, label, kind: What was done.
    answer: The answer.
    share: Estimate: its rate among all trials of the condition.
    spread: Standard deviation of that rate over concepts.
    invalid, coverage, mean_kl, mean_entropy: Of the condition.
pictures, published (one row a mark):
    picture: Title of the chart.
    axis, unit: What is measured, and how it is written.
    label: The mark.
    emphasis: Whether the chart is about it.
    value: Estimate.
transfer:
    new: What was new.
    explained: In one sentence.
    report, probe: Estimates.
known_answers:
    reporter: Reporter of known answer.
    capability, condition: What was judged.
    expected, also_accepted, obtained, passed: Verdicts.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pandas as pd

from firsthand.analysis.findings import Picture
from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.report.document import _encodable
from firsthand.report.injection_document import FindingResult, InjectionDocument

Row = dict[str, Any]


def tables_of(document: InjectionDocument) -> dict[str, pd.DataFrame]:
    """Give every table that has rows, by name."""
    rows: dict[str, list[Row]] = {}
    for finding in document.findings:
        key = {"finding": finding.name}
        for name, make in _OF_FINDINGS.items():
            rows.setdefault(name, []).extend({**key, **row} for row in make(finding))
        for result in finding.results:
            key = {
                "finding": finding.name,
                "capability": result.capability.value,
                "condition": result.condition.value,
            }
            for name, find in _OF_RESULTS.items():
                rows.setdefault(name, []).extend({**key, **row} for row in find(result))
    rows["transfer"] = [
        {"new": row.new, "explained": row.explained, **_estimate("report", row.report), **_estimate("probe", row.probe)}
        for row in document.transfer
    ]
    rows["published"] = list(_pictures(document.published))
    rows["known_answers"] = list(_known(document))
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


def _estimate(name: str, found: Estimate | None) -> Row:
    columns = {"": "value", "_low": "low", "_high": "high", "_level": "level", "_trials": "n_trials", "_units": "units"}
    columns |= {"_cluster": "cluster", "_p": "p"}
    return {f"{name}{end}": None if found is None else getattr(found, field) for end, field in columns.items()}


def _results(result: CapabilityResult) -> Iterator[Row]:
    signal, equal, stated = result.signal_detection, result.equivalence, result.calibration
    row: Row = {"verdict": result.verdict.value, "reasons": list(result.reasons), "chance": result.chance}
    for name in ("score", "target_score", "gap", "following", "contrast", "contrast_following"):
        row |= _estimate(name, getattr(result, name))
    for name in ("score_worst_case", "score_best_case", "coverage", "invalid_rate"):
        row[name] = getattr(result, name)
    row |= _estimate("d_prime", None if signal is None else signal.d_prime)
    row |= _estimate("criterion", None if signal is None else signal.criterion)
    for name in ("margin", "shown", "p", "refused"):
        row[f"equivalence_{name}"] = None if equal is None else getattr(equal, name)
    row |= _estimate("brier", None if stated is None else stated.brier)
    row |= _estimate("auroc2", None if stated is None else stated.auroc2)
    for name in ("reliability", "resolution", "uncertainty", "ece_debiased", "ece_null", "aurc"):
        row[name] = None if stated is None else getattr(stated, name)
    yield row


def _kinds(result: CapabilityResult) -> Iterator[Row]:
    for row in result.kinds:
        rest = {"mean_kl": row.mean_kl, "mean_entropy": row.mean_entropy}
        yield {
            "kind": row.kind.value,
            **_estimate("rate", row.rate),
            "coverage": row.coverage,
            "invalid_rate": row.invalid_rate,
            **rest,
        }


def _observers(result: CapabilityResult) -> Iterator[Row]:
    for row in result.observers:
        found = {"observer": row.name, "sees_output": row.sees_output, **_estimate("score", row.score)}
        found |= _estimate("gap", row.gap) | _estimate("gap_target", row.gap_target)
        yield {**found, "mcnemar_p": row.mcnemar_p}


def _controls(result: CapabilityResult) -> Iterator[Row]:
    for row in result.controls:
        yield {
            "kind": row.kind.value,
            **_estimate("false_alarms", row.false_alarms),
            **_estimate("margin", row.margin),
        }


def _arms(result: CapabilityResult) -> Iterator[Row]:
    for row in result.arms:
        yield {"arm": row.name, **_estimate("score", row.score), **_estimate("lead", row.lead)}


def _readers(result: CapabilityResult) -> Iterator[Row]:
    for row in result.readers:
        yield {"reader": row.name, "where": row.where, **_estimate("accuracy", row.accuracy)}


def _bins(result: CapabilityResult) -> Iterator[Row]:
    for row in result.calibration.bins if result.calibration is not None else ():
        where = {"low": row.low, "high": row.high, "mean_confidence": row.mean_confidence}
        yield {**where, **_estimate("accuracy", row.accuracy)}


def _selection(finding: FindingResult) -> Iterator[Row]:
    found = finding.selection
    if found is None:
        return
    chosen, naive = found.chosen, found.naive_cell
    yield {
        "chosen_layer": chosen.layer,
        "chosen_dose": chosen.dose,
        "chosen_setting": found.chosen_setting,
        "naive_layer": naive.layer,
        "naive_dose": naive.dose,
        "naive_setting": found.naive_setting,
        **_estimate("naive", found.naive),
        **_estimate("found", found.found),
        **_estimate("confirmed", found.confirmed),
    }


def _grids(finding: FindingResult) -> Iterator[Row]:
    found = finding.selection
    if found is None:
        return
    chosen = (found.chosen_setting, found.chosen.layer, found.chosen.dose)
    best = (found.naive_setting, found.naive_cell.layer, found.naive_cell.dose)
    for grid in found.grids:
        names = {"score_name": grid.score_name, "rise_name": grid.rise_name}
        for row in grid.rows:
            cell = (grid.setting, row.layer, row.dose)
            yield {
                "setting": grid.setting,
                "layer": row.layer,
                "dose": row.dose,
                "chosen": cell == chosen,
                "best_of_grid": cell == best,
                **_estimate("score", row.score),
                **_estimate("rise", row.rise),
                **_estimate("unrelated", row.unrelated),
                **names,
                "mean_kl": row.mean_kl,
                "mean_entropy": row.mean_entropy,
                "coverage": row.coverage,
            }


def _matrices(finding: FindingResult) -> Iterator[Row]:
    for matrix in finding.matrices:
        for row in matrix.rows:
            rest = {name: getattr(row, name) for name in ("invalid", "coverage", "mean_kl", "mean_entropy")}
            kind = None if row.kind is None else row.kind.value
            for answer, share, spread in zip(matrix.answers, row.shares, row.spread, strict=True):
                what = {"matrix": matrix.title, "arm": row.arm, "label": row.label, "kind": kind, "answer": answer}
                yield {**what, **_estimate("share", share), "spread": spread, **rest}


def _pictures(pictures: Iterable[Picture]) -> Iterator[Row]:
    for picture in pictures:
        what = {"picture": picture.title, "axis": picture.axis, "unit": picture.unit}
        for mark in picture.marks:
            yield {**what, "label": mark.label, "emphasis": mark.emphasis, **_estimate("value", mark.estimate)}


def _known(document: InjectionDocument) -> Iterator[Row]:
    for item in document.known_answers:
        yield {
            "reporter": item.reporter,
            "capability": item.capability.value,
            "condition": None if item.condition is None else item.condition.value,
            "expected": item.expected.value,
            "also_accepted": [verdict.value for verdict in item.also_accepted],
            "obtained": None if item.obtained is None else item.obtained.value,
            "passed": item.passed,
        }


_OF_FINDINGS: dict[str, Callable[[FindingResult], Iterator[Row]]] = {
    "selection": _selection,
    "grids": _grids,
    "matrices": _matrices,
    "pictures": lambda finding: _pictures(finding.pictures),
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
