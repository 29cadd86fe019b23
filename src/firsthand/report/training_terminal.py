"""A training run in a terminal: verdicts, who foretells how well, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firsthand.report.explanations_terminal import print_explanations
from firsthand.report.formats import Unit, estimate_text, level_text, p_text, percent
from firsthand.report.safe_text import one_line
from firsthand.report.terminal import _bullet, _table, _text
from firsthand.report.training_document import TrainingDocument, TrainingStudy
from firsthand.vocabulary import Verdict

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {Verdict.PRIVILEGED: "bold green", Verdict.INVERTED: "bold yellow"}


def print_training(document: TrainingDocument, console: Console) -> None:
    """Print every study: its verdict, a table of predictors, and the reasons."""
    console.print(_text(one_line(document.title), console, "bold"))
    if document.explanations is not None:
        print_explanations(document.explanations, console)
    for study in document.studies:
        _print_study(study, console, "claims" if document.explanations is None else "explanations")
    if document.failed:
        console.print()
        console.print(_text("The instrument is out of order: a planted truth did not come out.", console, "bold red"))
        for line in document.failed:
            console.print(_bullet(one_line(line), console))
    estimates = [one.auroc for study in document.studies for one in study.result.standings]
    console.print()
    note = f"Brackets hold {level_text(estimates)} intervals over clusters of claims and over seeds; chance is 0.50."
    console.print(_text(note, console, "dim"))


def _print_study(study: TrainingStudy, console: Console, what: str) -> None:
    result = study.result
    console.print()
    console.print(_text(one_line(study.title), console, "bold"))
    counts = f"{result.claims} held-out claims ({result.true} true) in {result.clusters} clusters"
    console.print(_text(f"{counts}; trained on {study.trained_on} {what} in {study.train_clusters}", console))
    expected = "" if study.expected is None else f" (planted: must be {study.expected.value})"
    line = _text("Verdict  ", console)
    line.append_text(_text(result.verdict.value, console, _STYLES.get(result.verdict, "bold")))
    line.append_text(_text(expected, console))
    console.print(line)
    table = _table(console, None)
    for name in ("Who", "AUROC", "Accuracy", "FPR / TPR", "Coverage", "Self is ahead by"):
        table.add_column(name, overflow="fold")
    leads = {one.rival: one for one in result.leads}
    for one in result.standings:
        seeds = f", {len(one.seeds)} seeds" if one.seeds else ""
        lead = leads.get(one.name)
        cells = (
            f"{one_line(one.name, 34)} ({one.kind}{seeds})",
            estimate_text(one.auroc, Unit.NUMBER),
            "-" if one.accuracy is None else percent(one.accuracy.value),
            "-" if one.fpr is None or one.tpr is None else f"{percent(one.fpr.value)} / {percent(one.tpr.value)}",
            percent(one.coverage),
            "" if lead is None else f"{estimate_text(lead.lead, Unit.NUMBER)}, p {p_text(lead.lead.p)}",
        )
        table.add_row(*(_text(cell, console) for cell in cells))
    console.print(table)
    constants = [one.constant for one in result.standings if one.constant]
    for line_ in (*result.reasons, *constants, *study.notes):
        console.print(_bullet(one_line(line_), console))
