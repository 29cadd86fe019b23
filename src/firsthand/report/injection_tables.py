"""The numbers of an injection study as tables; those that other studies have too are in :mod:`firsthand.report.tables`.

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
transfer:
    new: What was new.
    explained: In one sentence.
    report, probe: Estimates.
"""

from collections.abc import Callable, Iterator

import pandas as pd

from firsthand.report.injection_document import FindingResult, InjectionDocument
from firsthand.report.tables import Row, estimate_columns, frames, known_rows, picture_rows, rows_of


def tables_of(document: InjectionDocument) -> dict[str, pd.DataFrame]:
    """Give every table that has rows, by name."""
    rows = rows_of(document.findings, _OF_FINDINGS)
    rows["transfer"] = [
        {
            "new": row.new,
            "explained": row.explained,
            **estimate_columns("report", row.report),
            **estimate_columns("probe", row.probe),
        }
        for row in document.transfer
    ]
    rows["published"] = list(picture_rows(document.published))
    rows["known_answers"] = list(known_rows(document.known_answers))
    return frames(rows)


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
        **estimate_columns("naive", found.naive),
        **estimate_columns("found", found.found),
        **estimate_columns("confirmed", found.confirmed),
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
                **estimate_columns("score", row.score),
                **estimate_columns("rise", row.rise),
                **estimate_columns("unrelated", row.unrelated),
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
                yield {**what, **estimate_columns("share", share), "spread": spread, **rest}


_OF_FINDINGS: dict[str, Callable[[FindingResult], Iterator[Row]]] = {
    "selection": _selection,
    "grids": _grids,
    "matrices": _matrices,
    "pictures": lambda finding: picture_rows(finding.pictures),
}
