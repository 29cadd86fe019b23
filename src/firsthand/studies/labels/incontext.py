"""Labels predicted in context, and read exactly.

Two protocols. *Teacher forced*: one pass over a conversation, read before every label, gives the prediction after
every number of shots. *Independent* (arXiv 2605.26242, appendix J): after a given number of shots, each query is asked
by itself; the shots are computed once, with whatever is done to them, and continued by every query.

An answer is valid if the likeliest token of the whole vocabulary is one of the labels; otherwise it is invalid, and
never a class.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firsthand.engine import (
    Anatomy,
    Capture,
    Edit,
    LoadedModel,
    Row,
    Site,
    run,
    run_prefix,
    run_rows,
)
from firsthand.engine.chunks import chunked, halving, tokens_at_once
from firsthand.engine.prompts import common_prefix_length
from firsthand.errors import ElicitationError, EngineError, LabelsError
from firsthand.studies.labels.conversations import (
    Conversation,
    Laid,
    Shot,
    lay_between,
    lay_out,
    template_pieces,
)

_CHUNK = 64  # distributions that are read at once, in double precision


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model answered.

    Attributes:
        truth_N: The right class of each answer.
        logprobs_NC: Log-probability of the label of each class over the whole vocabulary, in nats.
        coverage_N: Probability of all labels together.
        answers: The class that was answered; ``None`` if the answer is invalid: another token is likelier than every
            label, or two labels are exactly as likely.
        states: For each site that was asked for, the mean of the stream over each text's tokens in the conversation,
            edits included, ``[answers, hidden]``, float32.
    """

    truth_N: NDArray[np.int64]
    logprobs_NC: NDArray[np.float64]
    coverage_N: NDArray[np.float64]
    answers: tuple[int | None, ...]
    states: dict[Site, NDArray[np.float32]] = field(default_factory=dict)


def teacher_forced(
    loaded: LoadedModel, anatomy: Anatomy, conversation: Conversation, *, sites: Sequence[Site] = ()
) -> Predictions:
    """Predict the label of every shot from those before it, in one pass.

    Args:
        loaded: The model and its tokenizer.
        anatomy: The same model's parts.
        conversation: The shots, with what is done to them.
        sites: Where the stream is to be read at each text.

    Returns:
        One answer a shot: the ``i``-th after ``i`` shots.

    Raises:
        ElicitationError: If the conversation cannot be expressed exactly.
        EngineError: If it cannot be run.
        LabelsError: If it is longer than the model's context.
    """
    laid = lay_out(loaded.tokenizer, conversation)
    _refuse_long(loaded, len(conversation.shots), laid.places[-1], sum(p <= _longest(loaded) for p in laid.places))
    numbers = range(len(conversation.shots))
    row = Row(
        laid.tokens[: laid.places[-1]],
        _edits(laid, conversation, numbers),
        _captures(laid, sites, numbers),
        tuple(place - 1 for place in laid.places),
    )
    found = run(anatomy, [row], reduce=lambda logprobs_EV, _: _read(logprobs_EV, laid.answers))
    return _predictions(conversation.shots, found.logprobs_RV, found.captures * len(numbers), sites)


def independent(
    loaded: LoadedModel,
    anatomy: Anatomy,
    conversation: Conversation,
    shots: int,
    queries: Sequence[Shot],
    *,
    sites: Sequence[Site] = (),
    advance: Callable[[int], None] | None = None,
) -> Predictions:
    """Predict the label of each query after the same first shots of a conversation, each query by itself.

    Args:
        loaded: The model and its tokenizer.
        anatomy: The same model's parts.
        conversation: The shots, with what is done to them.
        shots: How many of them the model is given.
        queries: What is asked, with the right label and with what is done to each.
        sites: Where the stream is to be read at each query.
        advance: Told the number of queries done after each pass.

    Returns:
        One answer a query, in their order.

    Raises:
        ElicitationError: If a conversation cannot be expressed exactly.
        EngineError: If one cannot be run, or holds one of the model's special tokens.
        LabelsError: If there is no query, there are not so many shots, a query is among them, or the longest
            conversation is longer than the model's context.
    """
    _check_queries(conversation, shots, queries)
    asked = [conversation.starting(shots, query) for query in queries]
    laid = _lay_queries(loaded, conversation, shots, asked)
    whole = [one.tokens[: one.places[-1]] for one in laid]
    start = min(common_prefix_length(whole), laid[0].spans[-1][0])
    begun = Row(whole[0][:start], _edits(laid[0], asked[0], range(shots)))
    prefix = run_prefix(anatomy, [begun])[0]
    rows = [
        Row(tokens[start:], _edits(one, conv, (shots,)), _captures(one, sites, (shots,)))
        for tokens, one, conv in zip(whole, laid, asked, strict=True)
    ]
    values: dict[int, Tensor] = {}
    readings: dict[int, dict[str, Tensor]] = {}

    def work(chunk: Sequence[int]) -> None:
        found = run_rows(anatomy, [rows[i] for i in chunk], prefix=prefix, prefix_rows=[0] * len(chunk))
        values.update(zip(chunk, _read(found.logprobs_RV, laid[0].answers), strict=True))
        readings.update(zip(chunk, found.captures, strict=True))
        if advance is not None:
            advance(len(chunk))

    for chunk in chunked(range(len(rows)), lambda i: len(rows[i].tokens), tokens_at_once(anatomy)):
        halving(chunk, work)
    kept = torch.stack([values[i] for i in range(len(rows))])
    return _predictions(queries, kept, [readings[i] for i in range(len(rows))], sites, shots)


def most_shots(loaded: LoadedModel, conversation: Conversation) -> int:
    """How many shots of a conversation fit into the model's context, teacher forced.

    Raises:
        ElicitationError: If the conversation cannot be expressed exactly.
    """
    return sum(place <= _longest(loaded) for place in lay_out(loaded.tokenizer, conversation).places)


def _check_queries(conversation: Conversation, shots: int, queries: Sequence[Shot]) -> None:
    if not queries or not 0 <= shots <= len(conversation.shots):
        raise LabelsError(
            f"{len(queries)} queries cannot be asked after {shots} of {len(conversation.shots)} shots.",
            "Give at least one query, and a number of shots that there are.",
        )
    given = {shot.text for shot in conversation.shots[:shots]}
    known = [query.text for query in queries if query.text in given]
    if known:
        raise LabelsError(
            f"The query {known[0][:60]!r} is among the shots, so its label can be copied.",
            "Ask about texts that are not among the shots.",
        )


def _lay_queries(
    loaded: LoadedModel, conversation: Conversation, shots: int, asked: Sequence[Conversation]
) -> list[Laid]:
    """Conversations that differ in their last shot, as tokens; refused if the longest of them does not fit."""
    pieces = template_pieces(loaded.tokenizer, asked[0])
    for one in asked:  # the pieces are the first one's: a text that the template does not leave alone is refused
        template_pieces(loaded.tokenizer, conversation.starting(0, one.shots[-1]))
    laid = [lay_between(loaded.tokenizer, pieces, one) for one in asked]
    if len({one.answers for one in laid}) > 1:
        raise ElicitationError("A label is another token after other queries.", "Use other names, such as digits.")
    longest = max(laid, key=lambda one: one.places[-1])
    tail = longest.places[-1] - longest.spans[-1][0]
    fitting = sum(span[0] + tail <= _longest(loaded) for span in longest.spans) - 1
    _refuse_long(loaded, shots, longest.places[-1], fitting)
    return laid


def _longest(loaded: LoadedModel) -> float:
    longest = getattr(loaded.model.config.get_text_config(decoder=True), "max_position_embeddings", None)
    return math.inf if longest is None else float(longest)


def _refuse_long(loaded: LoadedModel, shots: int, length: int, fitting: int) -> None:
    if length > _longest(loaded):
        raise LabelsError(
            f"{shots} shots make a conversation of {length} tokens, and {loaded.name} can take {_longest(loaded):.0f}.",
            f"Use at most {fitting} shots." if fitting > 0 else "Use shorter texts: not even one shot fits.",
        )


def _edits(laid: Laid, conversation: Conversation, numbers: Sequence[int]) -> tuple[Edit, ...]:
    return tuple(edit.at(laid.spans[i]) for i in numbers for edit in conversation.shots[i].edits)


def _captures(laid: Laid, sites: Sequence[Site], numbers: Sequence[int]) -> tuple[Capture, ...]:
    return tuple(Capture(_name(site, i), site, laid.spans[i]) for site in sites for i in numbers)


def _name(site: Site, number: int) -> str:
    return f"{site} {number}"


def _read(logprobs_EV: Tensor, labels: Sequence[int]) -> Tensor:
    """Log-probabilities of all labels, coverage, and the answer (NaN if invalid), ``[reads, classes + 2]`` float64."""
    parts = []
    for part_EV in torch.split(logprobs_EV, _CHUNK):
        full_EV = part_EV.double().cpu()
        if bool(full_EV.isnan().any()):
            raise EngineError("A log-probability is not a number.", "Use a smaller dose, or float32.")
        own_EC = full_EV[:, list(labels)]
        best_E1 = own_EC.amax(1, keepdim=True)
        clear_E = (best_E1[:, 0] == full_EV.amax(1)) & ((own_EC == best_E1).sum(1) == 1)
        answer_E = torch.where(clear_E, own_EC.argmax(1).double(), math.nan)
        parts.append(torch.cat([own_EC, own_EC.exp().sum(1, keepdim=True), answer_E[:, None]], 1))
    return torch.cat(parts)


def _predictions(
    shots: Sequence[Shot],
    values_ND: Tensor,
    readings: Sequence[dict[str, Tensor]],
    sites: Sequence[Site],
    only: int | None = None,
) -> Predictions:
    """Answers as they are returned; ``only`` is the number of the one shot that was read in every reading."""
    values = values_ND.double().numpy()
    numbers = [i if only is None else only for i in range(len(shots))]
    means = {
        site: [reading[_name(site, n)].mean(0).numpy() for n, reading in zip(numbers, readings, strict=True)]
        for site in sites
    }
    return Predictions(
        np.array([shot.label for shot in shots], dtype=np.int64),
        values[:, :-2],
        values[:, -2],
        tuple(None if math.isnan(value) else int(value) for value in values[:, -1]),
        {site: np.stack(of).astype(np.float32) for site, of in means.items()},
    )
