"""Runs any number of rows for the price of what differs between them.

Tokens that rows share before anything is done to them are computed once (:mod:`firsthand.engine.tree`). Rows that also
share the rest of their tokens, as in a sweep over directions, layers and doses, start at the lowest layer that is
edited, from the residual stream of one clean pass (:mod:`firsthand.engine.skipping`). What is left is packed into
passes of a size that memory allows. The numbers are those of running every row whole, to rounding, whatever the order
of the rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import torch
from torch import Tensor

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.chunks import chunked, halving, tokens_at_once
from firsthand.engine.edits import Capture, Row, reads_of
from firsthand.engine.forward import Passed, Start, forward
from firsthand.engine.layout import Layout
from firsthand.engine.session import RunOutput, check_whole_rows, shared_pass
from firsthand.engine.sharing import can_resume, can_share, refusal_to_share
from firsthand.engine.sites import resid_post
from firsthand.engine.tree import Leaf, together, walk
from firsthand.errors import EngineError

Path: TypeAlias = Literal["auto", "shared", "plain"]
Reduce: TypeAlias = Callable[[Tensor, Sequence[int]], Tensor]
"""Takes log-probabilities ``[reads, vocabulary]`` and the row of each read, and keeps what is wanted of them
``[reads, ...]``."""

LEAST_SAVED: Final = 96
"""Fewest tokens that a prefix must save over all its rows to be worth a pass of its own: where sharing began to win in
``benchmarks/crossover.py``, for 2, 4 and 16 rows alike."""
LEAST_GAIN: Final = 1.2
"""A clean pass must save this many times its own blocks, since it also reads streams out and packs rows less well."""
_MOST_PADDING: Final = 1.2


def run(
    anatomy: Anatomy,
    rows: Sequence[Row],
    *,
    reduce: Reduce | None = None,
    path: Path = "auto",
    advance: Callable[[int], None] | None = None,
) -> RunOutput:
    """Run rows, and read the distributions and the residual streams that they ask for.

    Args:
        anatomy: The model's parts.
        rows: The rows, whole.
        reduce: What is kept of each distribution, on the CPU; by default all of it, in float32.
        path: ``"auto"`` shares what is worth it; ``"shared"`` shares whatever can be shared; ``"plain"`` runs every row
            whole through all layers.
        advance: Told the number of rows done after each pass.

    Returns:
        What was kept of the distributions, rows in the order given and their reads one after the other, and readings.

    Raises:
        EngineError: If the model cannot take the rows, an edit or reading cannot be carried out exactly, or sharing is
            demanded of a model that cannot share.
    """
    check_whole_rows(anatomy, rows)
    if path == "shared" and not can_share(anatomy):
        raise EngineError(
            f"{anatomy.name} cannot share a prefix: {refusal_to_share(anatomy)}", "Use the path 'auto' or 'plain'."
        )
    sink = _Sink(rows, reduce or (lambda logprobs, _: logprobs), advance)
    if path == "plain" or not can_share(anatomy):
        _run_whole(anatomy, rows, sink)
    else:
        _run_shared(anatomy, rows, sink, least=1 if path == "shared" else LEAST_SAVED)
    return sink.output()


class _Sink:
    """Collects results by row, whatever the order in which they come."""

    def __init__(self, rows: Sequence[Row], reduce: Reduce, advance: Callable[[int], None] | None) -> None:
        self.rows, self.reduce, self.advance = rows, reduce, advance
        self.kept: list[Tensor | None] = [None] * len(rows)
        self.captures: list[dict[str, Tensor]] = [{} for _ in rows]

    def take(self, numbers: Sequence[int], passed: Passed) -> None:
        counts = [len(reads_of(self.rows[i], 0)) for i in numbers]
        owners = [i for i, count in zip(numbers, counts, strict=True) for _ in range(count)]
        kept = self.reduce(torch.log_softmax(passed.logits_EV, -1), owners)
        if len(kept) != len(owners):
            raise EngineError(
                f"The reduction returned {len(kept)} values for {len(owners)} distributions.", "Return one for each."
            )
        for i, part, readings in zip(numbers, torch.split(kept.cpu(), counts), passed.readings, strict=True):
            self.kept[i], self.captures[i] = part, readings
        if self.advance is not None:
            self.advance(len(numbers))

    def output(self) -> RunOutput:
        parts = [part for part in self.kept if part is not None]
        return RunOutput(torch.cat(parts), self.captures, tuple(len(part) for part in parts))


def _run_whole(anatomy: Anatomy, rows: Sequence[Row], sink: _Sink) -> None:
    """Every row whole, rows of similar length together, padded on the right."""
    budget = tokens_at_once(anatomy)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].tokens))
    groups: list[list[int]] = []
    for i in order:
        if groups and len(rows[i].tokens) <= _MOST_PADDING * len(rows[groups[-1][0]].tokens):
            groups[-1].append(i)
        else:
            groups.append([i])

    def work(chunk: Sequence[int]) -> None:
        some = [rows[i] for i in chunk]
        sink.take(chunk, forward(anatomy, some, Layout.of(some, [0] * len(some), packed=False)))

    for group in groups:
        for chunk in chunked(group, lambda i: len(rows[i].tokens), budget):
            halving(chunk, work)


@dataclass(frozen=True, eq=False)
class _Job:
    """A row without its prefix, ready to be run.

    Attributes:
        leaf: The row and what it continues.
        row: The row without the tokens that its prefix holds.
        stage: Number of blocks that need not be run, because a clean pass gave their outcome.
        stream: That outcome, ``[tokens, hidden]``; ``None`` for stage 0.
    """

    leaf: Leaf
    row: Row
    stage: int = 0
    stream: Tensor | None = None


def _run_shared(anatomy: Anatomy, rows: Sequence[Row], sink: _Sink, least: int) -> None:
    """Rows by what they share: one prefix at a time, and under it by the tokens that they have in common."""
    budget = tokens_at_once(anatomy)

    def work(chunk: Sequence[_Job]) -> None:
        sink.take([job.leaf.row for job in chunk], _pass(anatomy, chunk))

    for leaves in walk(anatomy, rows, least):
        jobs = sorted(
            (_Job(leaf, rows[leaf.row].from_position(leaf.start)) for leaf in leaves), key=lambda j: j.leaf.home
        )
        alike = together(jobs, lambda job: (job.leaf.home, job.row.tokens))
        for some in chunked(alike, lambda group: len(group[0].row.tokens), budget):
            ready = _staged(anatomy, some, least)
            for group in together(ready, lambda job: job.stage):
                by_home = sorted(group, key=lambda job: (job.leaf.home, len(job.row.tokens)))
                for chunk in chunked(by_home, lambda job: len(job.row.tokens), budget):
                    halving(chunk, work)


def _pass(anatomy: Anatomy, jobs: Sequence[_Job]) -> Passed:
    stage, prefix = jobs[0].stage, jobs[0].leaf.prefix
    streams = [job.stream for job in sorted(jobs, key=lambda job: job.leaf.home) if job.stream is not None]
    start = Start(stage, torch.cat(streams)[None].to(anatomy.model.device)) if stage else None
    return shared_pass(
        anatomy,
        [job.row for job in jobs],
        [job.leaf.start for job in jobs],
        prefix,
        [job.leaf.home for job in jobs],
        start=start,
    )[0]


def _staged(anatomy: Anatomy, groups: Sequence[Sequence[_Job]], least: int) -> list[_Job]:
    """Jobs, each starting at the lowest layer at which anything is done to it, where a clean pass is worth that.

    Args:
        anatomy: The model's parts.
        groups: Jobs with equal tokens together; one clean pass serves a group.
        least: With 1 whatever can be shared is shared, worth it or not.
    """
    depth = anatomy.n_layers
    if not can_resume(anatomy):
        return [job for group in groups for job in group]
    ready: list[_Job] = []
    gaining: list[list[_Job]] = []
    for group in groups:
        staged = [replace(job, stage=_stage(job.row, depth)) for job in group]
        saved = sum(job.stage for job in staged)
        gains = len(group) > 1 and saved > (0 if least == 1 else LEAST_GAIN * depth)
        if gains:
            gaining.append(staged)
        else:
            ready += group
    clean = [_clean(group) for group in gaining]
    if not clean:
        return ready
    homes, starts = [g[0].leaf.home for g in gaining], [g[0].leaf.start for g in gaining]
    readings: dict[int, dict[str, Tensor]] = {}

    def work(chunk: Sequence[int]) -> None:
        passed = shared_pass(
            anatomy,
            [clean[i] for i in chunk],
            [starts[i] for i in chunk],
            gaining[0][0].leaf.prefix,
            [homes[i] for i in chunk],
            logits=False,
        )[0]
        readings.update(zip(chunk, passed.readings, strict=True))

    halving(range(len(clean)), work)
    for number, group in enumerate(gaining):
        ready += [replace(job, stream=readings[number].get(str(job.stage))) for job in group]
    return ready


def _stage(row: Row, depth: int) -> int:
    """Number of blocks that lie wholly before anything that is done to a row."""
    return min([depth, *(e.site.stage for e in row.edits), *(c.site.stage for c in row.captures)])


def _clean(group: Sequence[_Job]) -> Row:
    """The tokens of a group without edits, with readings of the stream at every stage at which one of them starts."""
    first = group[0]
    everywhere = tuple(range(first.leaf.start, first.leaf.start + len(first.row.tokens)))
    wanted = sorted({job.stage for job in group} - {0})
    return Row(first.row.tokens, captures=tuple(Capture(str(s), resid_post(s - 1), everywhere) for s in wanted))
