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
from firsthand.engine.sharing import can_share, refusal_to_share
from firsthand.engine.sites import resid_post
from firsthand.engine.tree import Leaf, grow, together
from firsthand.errors import EngineError

Path: TypeAlias = Literal["auto", "shared", "plain"]
Reduce: TypeAlias = Callable[[Tensor, Sequence[int]], Tensor]
"""Takes log-probabilities ``[reads, vocabulary]`` and the row of each read, and keeps what is wanted of them
``[reads, ...]``."""

LEAST_SHARED: Final = 16
"""Fewest tokens worth a pass of their own; measured by ``benchmarks/crossover.py``."""
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
        _run_shared(anatomy, rows, sink, least=1 if path == "shared" else LEAST_SHARED)
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
        return RunOutput(torch.cat([part for part in self.kept if part is not None]), self.captures)


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
    budget = tokens_at_once(anatomy)
    jobs = [_Job(leaf, _rest(rows[leaf.row], leaf.start)) for leaf in grow(anatomy, rows, least)]
    jobs = [job for same in together(jobs, _before) for job in _staged(anatomy, same, budget)]

    def work(chunk: Sequence[_Job]) -> None:
        sink.take([job.leaf.row for job in chunk], _pass(anatomy, chunk))

    for group in together(jobs, lambda job: (id(job.leaf.prefix), job.stage)):
        ordered = sorted(group, key=lambda job: (job.leaf.home, len(job.row.tokens)))
        for chunk in chunked(ordered, lambda job: len(job.row.tokens), budget):
            halving(chunk, work)


def _rest(row: Row, start: int) -> Row:
    return replace(row, tokens=row.tokens[start:], read=reads_of(row, 0))


def _before(job: _Job) -> tuple[int, int, int]:
    """What decides whether clean passes can be shared: the prefix, its row, and the tokens after it."""
    return id(job.leaf.prefix), job.leaf.home, hash(job.row.tokens)


def _pass(anatomy: Anatomy, jobs: Sequence[_Job]) -> Passed:
    stage, prefix = jobs[0].stage, jobs[0].leaf.prefix
    streams = [job.stream for job in jobs if job.stream is not None]
    start = Start(stage, torch.cat(streams)[None]) if stage else None
    return shared_pass(
        anatomy,
        [job.row for job in jobs],
        [job.leaf.start for job in jobs],
        prefix,
        [job.leaf.home for job in jobs],
        start=start,
    )[0]


def _staged(anatomy: Anatomy, jobs: Sequence[_Job], budget: int) -> list[_Job]:
    """The jobs of rows with equal tokens, each starting at the lowest layer at which anything is done to it."""
    first, depth = jobs[0], len(anatomy.blocks)
    if len(jobs) == 1 or any(job.row.tokens != first.row.tokens for job in jobs):
        return list(jobs)
    stages = [min([depth, *(e.site.stage for e in j.row.edits), *(c.site.stage for c in j.row.captures)]) for j in jobs]
    wanted = sorted(set(stages) - {0})
    if not wanted:
        return list(jobs)
    start = first.leaf.start
    everywhere = tuple(range(start, start + len(first.row.tokens)))
    captures = tuple(Capture(str(stage), resid_post(stage - 1), everywhere) for stage in wanted)
    clean = Row(first.row.tokens, captures=captures)
    readings = shared_pass(anatomy, [clean], [start], first.leaf.prefix, [first.leaf.home], logits=False)[0].readings[0]
    kind = {"dtype": anatomy.model.dtype, "device": anatomy.model.device}
    streams = {stage: readings[str(stage)].to(**kind) for stage in wanted}
    return [replace(job, stage=s, stream=streams.get(s)) for job, s in zip(jobs, stages, strict=True)]
