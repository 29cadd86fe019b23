"""Sampled text from many rows at once, with edits, over prefixes that are computed once.

All samples of a prompt attend to the same keys and values of the prompt; a row holds only what is its own: the tokens
after what it shares with others, and those generated so far. What a row says depends on its prompt, its edits, its seed
and the settings, not on the other rows (to rounding of the logits, which may move a draw that falls on the very
boundary of two tokens).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, Protocol

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.chunks import chunked, tokens_at_once
from firsthand.engine.edits import Row, live_edits
from firsthand.engine.forward import forward
from firsthand.engine.layout import Layout
from firsthand.engine.opened import Opened, open_rows, run_further
from firsthand.engine.sampling import Sampling, default_sampling, next_tokens
from firsthand.engine.session import check_whole_rows
from firsthand.engine.sharing import can_share
from firsthand.engine.stopping import Reason, Stopper, stopper_for
from firsthand.errors import EngineError
from firsthand.trials.canonical import digest

MOST_SEQUENCES: Final = 128
"""Sequences that are generated side by side."""


@dataclass(frozen=True)
class Generated:
    """One sampled continuation.

    Attributes:
        prompt: Index of the prompt.
        sample: Index of the sample of that prompt.
        seed: The seed of its draws.
        tokens: Generated tokens, an end token included.
        text: What they read, without end token and stop string, and never with text of the prompt.
        ended: ``"eos"``, ``"stop"`` or ``"length"``.
        logprob: Log-probability of the tokens under the model itself (temperature 1, nothing cut off), in nats.
    """

    prompt: int
    sample: int
    seed: int
    tokens: tuple[int, ...]
    text: str
    ended: Reason
    logprob: float


@dataclass(eq=False)
class _Sequence:
    """A continuation that is being generated."""

    prompt: int
    sample: int
    seed: int
    tokens: list[int] = field(default_factory=list)
    logprob: float = 0.0
    ended: Reason | None = None


def generate(
    anatomy: Anatomy,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[Row],
    *,
    samples: int = 1,
    max_tokens: int = 128,
    sampling: Sampling | None = None,
    seed: int | Sequence[int] = 0,
    stop: str | Sequence[str] = (),
    first: Callable[[Tensor, Sequence[int]], None] | None = None,
    advance: Callable[[int], None] | None = None,
) -> list[list[Generated]]:
    """Sample continuations of prompts.

    Args:
        anatomy: The model's parts.
        tokenizer: Its tokenizer.
        prompts: Whole prompts with their edits. A ``live`` edit is also made at every generated token that is fed back;
            its positions may be empty, and it is then made at generated tokens only.
        samples: Continuations of each prompt.
        max_tokens: Most tokens of each.
        sampling: The distribution that is drawn from; by default what Transformers would draw from for this model.
        seed: From it, the prompt's tokens and the sample's number the seed of each continuation is derived. One for all
            prompts, or one for each.
        stop: Strings that end a continuation.
        first: Given log-probabilities ``[prompts, vocabulary]`` before the first token, and the numbers of the prompts;
            several times, until every prompt was among them once.
        advance: Told the number of continuations that have ended since it was last told.

    Returns:
        For each prompt its continuations.

    Raises:
        EngineError: If a prompt cannot be run, is read elsewhere than at its end, or leaves no room for the tokens.
    """
    check_whole_rows(anatomy, prompts, further=max_tokens)
    if any(row.read or row.captures for row in prompts):
        raise EngineError("A prompt to be continued is read at its end only.", "Leave 'read' and 'captures' out.")
    settings = default_sampling(anatomy.model) if sampling is None else sampling
    stopper = stopper_for(anatomy.model, tokenizer, max_tokens=max_tokens, stop_strings=stop)
    seeds = [seed] * len(prompts) if isinstance(seed, int) else list(seed)
    if len(seeds) != len(prompts):
        raise EngineError(f"There are {len(prompts)} prompts, but {len(seeds)} seeds.", "Give one, or one for each.")
    open_sequences = [
        _Sequence(number, sample, sequence_seed(seeds[number], row.tokens, sample))
        for number, row in enumerate(prompts)
        for sample in range(samples)
    ]
    for runner, group in _runners(anatomy, prompts, open_sequences, max_tokens):
        active, logits_RV, step = list(group), runner.first(), 0
        once = [i for i, sequence in enumerate(group) if sequence.sample == 0]
        if first is not None and once:
            first(torch.log_softmax(logits_RV[once], -1), [group[i].prompt for i in once])
        while active:
            _draw(prompts, active, logits_RV, step, settings, stopper)
            going = [i for i, sequence in enumerate(active) if sequence.ended is None]
            if advance is not None and len(going) < len(active):
                advance(len(active) - len(going))
            active, step = [active[i] for i in going], step + 1
            logits_RV = runner.further(going, active) if active else logits_RV
    found: list[list[Generated]] = [[] for _ in prompts]
    for s in open_sequences:
        text = stopper.text(s.tokens)
        found[s.prompt].append(
            Generated(s.prompt, s.sample, s.seed, tuple(s.tokens), text, s.ended or "length", s.logprob)
        )
    return found


def _draw(
    prompts: Sequence[Row],
    active: Sequence[_Sequence],
    logits_RV: Tensor,
    step: int,
    settings: Sampling,
    stopper: Stopper,
) -> None:
    """Append a token to every sequence, and note which of them have ended."""
    history = [[*prompts[s.prompt].tokens, *s.tokens] for s in active]
    drawn = next_tokens(logits_RV, [s.seed for s in active], step, settings, history)
    for s, token, logprob in zip(active, drawn.tokens_R.tolist(), drawn.model_logprobs_R.tolist(), strict=True):
        s.tokens.append(token)
        s.logprob += logprob
        s.ended = stopper.ended(s.tokens)


def sequence_seed(seed: int, tokens: Sequence[int], sample: int) -> int:
    """The seed of one continuation: equal prompts get equal seeds wherever they stand in a batch."""
    return int(digest([seed, sample, list(tokens)])[:16], 16)


class _Runner(Protocol):
    """Gives the logits after each sequence of a batch."""

    def first(self) -> Tensor:
        """Logits after each sequence's prompt, ``[sequences, vocabulary]``."""
        ...

    def further(self, going: Sequence[int], active: Sequence[_Sequence]) -> Tensor:
        """Logits after each sequence's last token.

        Args:
            going: Which sequences of the last call are still open.
            active: Those sequences.
        """
        ...


class _WholeRunner:
    """Runs every sequence whole at every step, for models that cannot share."""

    def __init__(self, anatomy: Anatomy, prompts: Sequence[Row], group: Sequence[_Sequence]) -> None:
        self._anatomy, self._prompts, self._group = anatomy, prompts, group

    def first(self) -> Tensor:
        return self._after(self._group)

    def further(self, going: Sequence[int], active: Sequence[_Sequence]) -> Tensor:
        return self._after(active)

    def _after(self, sequences: Sequence[_Sequence]) -> Tensor:
        rows = []
        for s in sequences:
            prompt = self._prompts[s.prompt]
            live = live_edits(prompt, len(prompt.tokens), len(s.tokens))
            rows.append(Row((*prompt.tokens, *s.tokens), (*(e for e in prompt.edits if e.positions), *live)))
        return forward(self._anatomy, rows, Layout.of(rows, [0] * len(rows), packed=False)).logits_EV


class _SharedRunner:
    """Runs sequences that continue opened prompts, each with keys and values of its own."""

    def __init__(self, anatomy: Anatomy, prompts: Sequence[Row], group: Sequence[_Sequence], opened: Opened) -> None:
        self._anatomy, self._prompts, self._prefix = anatomy, prompts, opened.prefix
        place = {number: i for i, number in enumerate(opened.numbers)}
        own = torch.tensor([place[s.prompt] for s in group])
        self._first, self._homes, self._tail = opened.logits_RV[own], opened.homes_R[own], opened.tail(own)

    def first(self) -> Tensor:
        return self._first

    def further(self, going: Sequence[int], active: Sequence[_Sequence]) -> Tensor:
        if len(going) < len(self._homes):
            kept = torch.tensor(going)
            self._homes = self._homes[kept]
            self._tail.keep(kept)
            left = torch.tensor(sorted(set(self._homes.tolist())))
            if len(left) < len(self._prefix.positions_BP):
                self._prefix, self._homes = self._prefix.select(left), torch.searchsorted(left, self._homes)
        rows, starts = [], []
        for s in active:
            prompt = self._prompts[s.prompt]
            starts.append(len(prompt.tokens) + len(s.tokens) - 1)
            rows.append(Row((s.tokens[-1],), live_edits(prompt, starts[-1])))
        return run_further(self._anatomy, rows, starts, self._prefix, self._homes, self._tail)


def _runners(
    anatomy: Anatomy, prompts: Sequence[Row], sequences: Sequence[_Sequence], max_tokens: int
) -> Iterator[tuple[_Runner, Sequence[_Sequence]]]:
    """Batches of sequences that can run side by side, each with its runner, one after the other."""
    if not can_share(anatomy):
        budget = tokens_at_once(anatomy)
        for group in chunked(sequences, lambda s: max(len(prompts[s.prompt].tokens), budget // MOST_SEQUENCES), budget):
            yield _WholeRunner(anatomy, prompts, group), group
        return
    of_prompt = {number: list(same) for number, same in groupby(sequences, lambda s: s.prompt)}
    samples = len(sequences) // len(prompts)
    for opened in open_rows(anatomy, prompts, copies=samples, further=max_tokens):
        members = [s for number in opened.numbers for s in of_prompt[number]]
        for begin in range(0, len(members), MOST_SEQUENCES):
            group = members[begin : begin + MOST_SEQUENCES]
            yield _SharedRunner(anatomy, prompts, group, opened), group
