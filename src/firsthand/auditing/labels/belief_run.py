"""The run of a belief study: its units, one by one, kept in the trace, and what observers give."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from firsthand.auditing.labels.belief import COVERED, with_observers
from firsthand.auditing.labels.belief_evidence import Evidence
from firsthand.auditing.labels.belief_observers import by_states, observed
from firsthand.auditing.labels.readers import READER
from firsthand.engine import LoadedModel
from firsthand.errors import ElicitationError, LabelsError
from firsthand.progress import Progress, tracked
from firsthand.studies.labels.belief.bench import Bench
from firsthand.studies.labels.belief.readings import Item, read_items
from firsthand.studies.labels.belief.reporting import (
    Experiment,
    experiment_of,
    reader_rows,
    reader_states,
    report_rows,
)
from firsthand.studies.labels.belief.scores import dominance
from firsthand.studies.labels.belief.steering import Steered, steered, steered_rows
from firsthand.studies.labels.conversations import NAMES, usable_names
from firsthand.trials.keeping import Columns, kept
from firsthand.trials.trace import Trace

READINGS: Final[Columns] = {
    "public": ("item", "record", "kind", "subject", "text", "said"),
    "sealed": ("base", "counter"),
    "reports": (),
    "readings": ("token", "layer", "made", "holds_base", "holds_counter"),
}
REPORTS: Final[Columns] = {
    "public": ("experiment", "item", "subject", "kind", "text", "shots"),
    "sealed": ("arm", "truth"),
    "reports": ("answer", "coverage", "logprobs"),
    "readings": ("wire",),
}
READERS: Final[Columns] = {
    "public": ("experiment", "item", "text"),
    "sealed": (),
    "reports": ("answer", "coverage", "logprobs"),
    "readings": (),
}
STEERED: Final[Columns] = {
    "public": ("item", "subject", "kind", "text", "said"),
    "sealed": ("arm", "layer", "dose"),
    "reports": ("told_base", "told_counter", "coverage", "logprobs"),
    "readings": ("bd_base", "bd_counter", "states"),
}
"""Columns of each part of the trace, by kind of unit."""


@dataclass(frozen=True, eq=False)
class Ran:
    """Everything that was run.

    Attributes:
        readings: What every state held.
        table: The dominances, one row an answer.
        experiments: Conversations that could be made.
        impossible: Why others could not, one sentence each.
        reports: Rows of the report, with observers.
        steered: Rows of the steered answers, if any were.
        told: What else is to be known.
    """

    readings: pd.DataFrame
    table: pd.DataFrame
    experiments: tuple[Experiment, ...]
    impossible: tuple[str, ...]
    reports: pd.DataFrame
    steered: pd.DataFrame
    told: tuple[str, ...]


AT_ONCE: Final = 10
"""Answers whose states are read side by side."""
STEERED_AT_ONCE: Final = 4
"""Steered answers that are asked about after one pass over the shots."""


class Units:
    """The units of a trace, made or taken from it, in order."""

    def __init__(self, trace: Trace) -> None:
        self._trace, self.names = trace, list[str]()

    def take(self, name: str, make: Callable[[], pd.DataFrame], columns: Columns) -> pd.DataFrame:
        """One unit."""
        return self.take_all([name], lambda: [make()], columns)[0]

    def take_all(
        self, names: Sequence[str], make: Callable[[], Sequence[pd.DataFrame]], columns: Columns
    ) -> list[pd.DataFrame]:
        """Units that are made together."""
        self.names += names
        return kept(self._trace, names, make, columns)


def read_all(bench: Bench, units: Units, progress: Progress) -> pd.DataFrame:
    """What every state of every answer holds."""
    frames: list[pd.DataFrame] = []
    parts = [bench.items[begin : begin + AT_ONCE] for begin in range(0, len(bench.items), AT_ONCE)]
    for items in tracked(parts, "answers and what their states hold", len(parts), progress):
        names = [f"item.{item.number:04d}" for item in items]
        frames += units.take_all(names, partial(_read, bench, items), READINGS)
    return pd.concat(frames, ignore_index=True)


def _read(bench: Bench, items: Sequence[Item]) -> list[pd.DataFrame]:
    made = read_items(bench.loaded, bench.anatomy, bench.target, items, bench.layers, bench.claim)
    return [rows.assign(trial_id=[f"{r.item}/{r.token}/{r.layer}" for r in rows.itertuples()]) for rows in made]


def run_all(
    bench: Bench,
    trace: Trace,
    evidence: Callable[[pd.DataFrame], Evidence],
    progress: Progress,
    reader: LoadedModel | None,
) -> Ran:
    """Run a study, or go on with it."""
    units = Units(trace)
    readings = read_all(bench, units, progress)
    table = dominance(readings)
    experiments, impossible = _experiments(bench, table)
    reports = [
        units.take(f"experiment.{made.number:03d}", partial(report_rows, bench, table, made), REPORTS)
        for made in tracked(experiments, "conversations", len(experiments), progress)
    ]
    public, joined = evidence(table), pd.DataFrame()
    if reports:
        joined = pd.concat(reports, ignore_index=True)
        with threadpool_limits(1):  # many small fits, which several threads would slow down
            joined = with_observers(joined, observed(public, table, experiments, bench.claim.seed, "experiment"))
        if reader is not None:
            joined = _read_by(joined, bench, table, public, experiments, reader, units, progress)
    moved, told = _steer(bench, table, experiments, units, progress)
    trace.finish(units.names, {"study": "belief"})
    return Ran(readings, table, tuple(experiments), impossible, joined, moved, tuple(told))


def _experiments(bench: Bench, table: pd.DataFrame) -> tuple[list[Experiment], tuple[str, ...]]:
    found, impossible = [], []
    for number in range(bench.claim.experiments):
        try:
            found.append(experiment_of(bench, table, number))
        except LabelsError as error:
            impossible.append(error.problem)
    return found, tuple(dict.fromkeys(impossible))


def _read_by(
    joined: pd.DataFrame,
    bench: Bench,
    table: pd.DataFrame,
    public: Evidence,
    experiments: Sequence[Experiment],
    reader: LoadedModel,
    units: Units,
    progress: Progress,
) -> pd.DataFrame:
    """The rows with what another language model gives in the same conversations, and what its states of texts give."""
    both = [name for name in usable_names(reader.tokenizer, NAMES["digits"]) if name in bench.label_names]
    if both != list(bench.label_names):
        raise ElicitationError(
            f"{reader.name} does not write every label as one token that {bench.loaded.name} does.",
            "Name another reader: it is to be given the very same conversations.",
        )
    name = f"{READER}{reader.name}"
    rows = pd.concat(
        [
            units.take(
                f"read.{reader.weights_sha256[:8]}.{made.number:03d}",
                partial(reader_rows, reader, bench, table, made, both),
                READERS,
            )
            for made in tracked(experiments, f"conversations with {reader.name}", len(experiments), progress)
        ],
        ignore_index=True,
    )
    progress.say(f"states of the texts in {reader.name}")
    what = "prompts" if bench.claim.shows == "prompt" else "prompts and answers"
    states = reader_states(reader, bench, table)
    given = {
        name: _by_trial(rows, "answer"),
        f"{name}, its states of the {what}": by_states(states, public, table, experiments, bench.claim.seed),
    }
    covered = joined["trial_id"].map(_by_trial(rows, "coverage"))
    return with_observers(joined, given).assign(**{f"{COVERED}{name}": covered})


def _by_trial(rows: pd.DataFrame, column: str) -> dict[str, float]:
    return dict(zip(map(str, rows["trial_id"]), rows[column].to_numpy(float).tolist(), strict=True))


def _steer(
    bench: Bench, table: pd.DataFrame, experiments: Sequence[Experiment], units: Units, progress: Progress
) -> tuple[pd.DataFrame, list[str]]:
    spec = bench.claim.steering
    if spec is None or not experiments:
        return pd.DataFrame(), []
    what: Steered | None = steered(bench, table, experiments[0], spec)
    if what is None:
        return pd.DataFrame(), ["No vector was added: the records have fewer than two counter entities."]
    frames: list[pd.DataFrame] = []
    parts = [range(b, min(b + STEERED_AT_ONCE, len(what.chosen))) for b in range(0, len(what.chosen), STEERED_AT_ONCE)]
    for turns in tracked(parts, "vectors of the counter entity", len(parts), progress):
        names = [f"steered.{turn:03d}" for turn in turns]
        frames += units.take_all(names, partial(steered_rows, bench, table, what, turns), STEERED)
    few = len(what.chosen) < spec.records
    told = [f"{len(what.chosen)} records were steered: no more are asked about in one conversation."] if few else []
    return pd.concat(frames, ignore_index=True), told
