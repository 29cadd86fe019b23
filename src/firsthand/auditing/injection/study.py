"""The injection study: from a claim and a model to a run folder with a trace, verdicts and a report.

Settings are chosen on a quarter of the concepts and judged on the rest. Every step leaves its rows in the folder and
takes up what is there, so the same command after an interruption goes on where it stopped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

import pandas as pd

from firsthand.auditing.injection.batches import batches, groups, match_all, run_batch
from firsthand.auditing.injection.document import Told, document_of
from firsthand.auditing.injection.plan import (
    Pick,
    Picks,
    Step,
    selection_steps,
    trace_steps,
)
from firsthand.auditing.injection.selecting import choose, chosen_cell, grid
from firsthand.auditing.injection.trained import judge_trained, shipped_detector
from firsthand.auditing.running import bindings_of, examined, settle
from firsthand.claims import FrozenInjection, InjectionClaim, Question
from firsthand.engine import LoadedModel, load
from firsthand.progress import Progress, Silent
from firsthand.report.document import KnownAnswer
from firsthand.report.injection_document import InjectionDocument, Selection
from firsthand.studies.injection.bench import InjectionBench, prepare
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.trials import COLUMNS
from firsthand.trials.files import read_json, write_json
from firsthand.trials.keeping import kept
from firsthand.trials.trace import Trace

Tables = Mapping[str, pd.DataFrame]
"""Rows by the name of their step."""


@dataclass(frozen=True)
class InjectionRun:
    """A finished study.

    Attributes:
        folder: Where everything lies.
        document: All that a report shows.
        tables: The confirmation trials, by question.
    """

    folder: Path
    document: InjectionDocument
    tables: Tables

    def report(self, path: str | Path) -> Path:
        """Write the self-contained HTML report.

        Raises:
            FirsthandError: If it cannot be written.
        """
        from firsthand.report.injection_html import write_injection_html

        return write_injection_html(self.document, Path(path))


def inject(
    claim: InjectionClaim | FrozenInjection,
    model: LoadedModel | None = None,
    folder: str | Path = "runs/inject",
    progress: Progress | None = None,
) -> InjectionRun:
    """Run an injection study, or go on with one.

    Args:
        claim: A frozen claim; one that is not frozen yet is frozen here, before anything is run.
        model: The model that the claim names, if it is loaded already.
        folder: The run's folder; one folder holds one claim.
        progress: Who is told how far it is.

    Returns:
        The finished run.

    Raises:
        FirsthandError: If the claim changed after freezing, the model does not fit it, or a step cannot be carried out.
    """
    progress, folder = progress or Silent(), Path(folder)
    plain = claim.claim if isinstance(claim, FrozenInjection) else claim
    if model is None:
        progress.say(f"loading {plain.model}")
    loaded = model or load(plain.model)
    bindings = bindings_of(loaded)
    frozen = claim if isinstance(claim, FrozenInjection) else FrozenInjection.of(claim, bindings)
    frozen.refuse_if_changed(plain, bindings)
    settle(folder, frozen, loaded)
    notes = examined(loaded, progress)
    progress.say("making concept vectors")
    bench = prepare(loaded, plain)

    tried = _run(bench, selection_steps(bench), Trace(folder / "selection"), {}, "choosing settings", progress)
    chosen = selections(bench, tried)
    picks = picks_of(chosen)
    found = _run(bench, trace_steps(bench), Trace(folder / "trace"), picks, "confirmation", progress)
    trained = _trained(bench, folder, progress)
    told = Told(frozen, bench, chosen, picks, found, trained, notes, _begun(folder), folder)
    document = document_of(told, progress)
    write_json(folder / "result.json", document.model_dump(mode="json"))
    return InjectionRun(folder, document, found)


def selections(bench: InjectionBench, tried: Tables) -> dict[str, Selection]:
    """What was chosen on the choosing concepts, by what it was chosen for."""
    spec = bench.claim.analysis
    grids: dict[str, dict[str, object]] = {}
    for name, table in tried.items():
        kind, _, rest = name.partition("-")
        options, _, framing = rest.partition("-") if kind == "detection" else ("", "", rest)
        question = f"{kind}-{options}" if options else kind
        grids.setdefault(question, {})[framing or "instruction"] = grid(table, framing or "instruction", kind, spec)
    return {question: choose(of, bench.claim.analysis) for question, of in grids.items()}  # type: ignore[arg-type]


def picks_of(chosen: Mapping[str, Selection]) -> Picks:
    """The chosen settings as the plan uses them."""
    return {
        name: Pick(
            chosen_cell(selection),
            Setting(selection.chosen_setting, int(name[-1]) if name.startswith("detection-") else 2),
        )
        for name, selection in chosen.items()
    }


def _run(
    bench: InjectionBench, steps: Sequence[Step], trace: Trace, picks: Picks, stage: str, progress: Progress
) -> dict[str, pd.DataFrame]:
    """Run what is not finished, and return all rows by the name of their step."""
    done: dict[Step, pd.DataFrame] = {}
    progress.start(stage, len(steps))
    for group in groups(steps):
        if not all(trace.unit_done(step.unit) for step in group):
            match_all(bench, group, picks)
        for batch in batches(bench, group, picks):
            make = partial(run_batch, bench, batch, picks, done)
            done.update(zip(batch, kept(trace, [step.unit for step in batch], make, COLUMNS), strict=True))
            for _ in batch:
                progress.step()
    found: dict[str, list[pd.DataFrame]] = {}
    for step in steps:
        found.setdefault(step.name, []).append(done[step])
    about = {"study": "injection", **{name: f"{p.cell.name} {p.setting.framing}" for name, p in picks.items()}}
    trace.finish([step.unit for step in steps], about)
    return {name: pd.concat(frames, ignore_index=True) for name, frames in found.items()}


def _trained(bench: InjectionBench, folder: Path, progress: Progress) -> tuple[KnownAnswer, ...]:
    """The trained detector's known answer, where the model is its base and detection is asked."""
    detector, claim = shipped_detector(), bench.claim
    if detector is None or Question.DETECTION not in claim.questions or not detector.fits(bench.loaded):
        return ()
    return (judge_trained(detector, bench.loaded, claim.analysis, folder / "known-answers" / "lora", progress),)


def _begun(folder: Path) -> datetime:
    return datetime.fromisoformat(read_json(folder / "begun.json")["started"])
