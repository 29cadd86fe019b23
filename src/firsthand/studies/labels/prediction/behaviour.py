"""What a model answers to prompts: the first line, greedily, and the letter that it is likeliest to choose.

Both are deterministic, so that the truth of a prediction is one fact and not a draw. Where a model is sampled too, the
draws say how often that fact holds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from firsthand.engine import Anatomy, LoadedModel, Row, Sampling, candidate_tokens, generate
from firsthand.engine.prompts import Message, render
from firsthand.engine.readout import entropy
from firsthand.errors import ElicitationError
from firsthand.studies.labels.prediction.prompts import BEGIN, LETTERS, Prompt
from firsthand.studies.labels.prediction.properties import Answer

STOP: Final = "\n"
"""An answer ends with its first line."""


@dataclass(frozen=True)
class Behaviour:
    """What a model did with one prompt.

    Attributes:
        answer: The greedy answer.
        entropy: Entropy of the next token before the answer began, in nats.
        coverage: Probability of the letters A to D there; NaN where nothing is to be chosen.
        draws: Sampled answers.
    """

    answer: Answer
    entropy: float
    coverage: float
    draws: tuple[Answer, ...] = field(default=())


def plain(prompt: Prompt) -> list[Message]:
    """A prompt by itself."""
    return [("user", prompt.text), ("assistant", prompt.begin)]


def behaviours(
    loaded: LoadedModel,
    anatomy: Anatomy,
    conversations: Sequence[Sequence[Message]],
    options: Sequence[bool],
    *,
    longest: int,
    draws: int = 0,
    seed: int = 0,
    advance: Callable[[int], None] | None = None,
) -> list[Behaviour]:
    """Let a model answer.

    Args:
        loaded: The model.
        anatomy: The same model's parts.
        conversations: What it answers to; the last turn is the beginning of its answer.
        options: Whether it has letters to choose from.
        longest: Most tokens of an answer.
        draws: Answers to be sampled besides, at temperature 1.
        seed: The run's seed.
        advance: Told the number of greedy answers that have ended.

    Raises:
        ElicitationError: If a letter is not one token of its own.
        EngineError: If a prompt cannot be rendered or run.
    """
    rendered = [render(loaded.tokenizer, list(messages)) for messages in conversations]
    rows = [Row(one.tokens) for one in rendered]
    letters = next((_letters(loaded, one.text) for one, given in zip(rendered, options, strict=True) if given), ())
    first: dict[int, tuple[float, int | None, float]] = {}

    def note(logprobs_RV: Tensor, numbers: Sequence[int]) -> None:
        full_RV = logprobs_RV.double()
        for number, one_V, bits in zip(numbers, full_RV, entropy(full_RV).tolist(), strict=True):
            chosen, coverage = _chosen(one_V, letters) if options[number] else (None, np.nan)
            first[number] = (float(bits), chosen, coverage)

    found = generate(
        anatomy,
        loaded.tokenizer,
        rows,
        max_tokens=longest,
        sampling=Sampling(greedy=True),
        stop=STOP,
        first=note,
        advance=advance,
    )
    drawn = _drawn(loaded, anatomy, rows, longest, draws, seed)
    return [
        Behaviour(_answer(one.text, one.ended, chosen), bits, coverage, tuple(more))
        for (one,), (bits, chosen, coverage), more in zip(
            found, (first[i] for i in range(len(rows))), drawn, strict=True
        )
    ]


def behaviour_rows(
    loaded: LoadedModel, anatomy: Anatomy, prompts: Sequence[Prompt], *, longest: int, draws: int = 0, seed: int = 0
) -> pd.DataFrame:
    """What a model does with prompts, as rows of a trace.

    Returns:
        One row a prompt: ``trial_id``, ``number``, ``group``, ``text``, ``said``, ``finished``, ``option``,
        ``letters``, ``entropy``, ``drawn`` and ``drawn_finished``.
    """
    found = behaviours(
        loaded,
        anatomy,
        [plain(one) for one in prompts],
        [one.options for one in prompts],
        longest=longest,
        draws=draws,
        seed=seed,
    )
    return pd.DataFrame(
        {
            "trial_id": [f"{loaded.name}/{number}" for number in range(len(prompts))],
            "number": np.arange(len(prompts)),
            "group": [one.group for one in prompts],
            "text": [one.shown for one in prompts],
            "said": [one.answer.text for one in found],
            "finished": [one.answer.finished for one in found],
            "option": [np.nan if one.answer.option is None else float(one.answer.option) for one in found],
            "letters": [one.coverage for one in found],
            "entropy": [one.entropy for one in found],
            "drawn": pd.Series([[one.text for one in each.draws] for each in found], dtype=object),
            "drawn_finished": pd.Series([[one.finished for one in each.draws] for each in found], dtype=object),
        }
    )


def answers_of(table: pd.DataFrame) -> list[Answer]:
    """The greedy answers of rows, in order of their number."""
    ordered = table.sort_values("number")
    return [
        Answer(str(said), bool(finished), None if np.isnan(option) else int(option))
        for said, finished, option in zip(ordered["said"], ordered["finished"], ordered["option"], strict=True)
    ]


def draws_of(table: pd.DataFrame) -> list[list[Answer]]:
    """The sampled answers of rows, in order of their number."""
    ordered = table.sort_values("number")
    return [
        [Answer(str(said), bool(finished)) for said, finished in zip(texts, ends, strict=True)]
        for texts, ends in zip(ordered["drawn"], ordered["drawn_finished"], strict=True)
    ]


def _letters(loaded: LoadedModel, text: str) -> tuple[int, ...]:
    found = candidate_tokens(loaded.tokenizer, text, [f" {letter}" for letter in LETTERS])
    if any(len(tokens) != 1 for tokens in found) or len(set(found)) < len(found):
        raise ElicitationError(
            f"The letters A to D are not one token each after {BEGIN!r} for {loaded.name}.",
            "Give prompts without options, or use another model.",
        )
    return tuple(tokens[0] for tokens in found)


def _chosen(logprobs_V: Tensor, letters: Sequence[int]) -> tuple[int | None, float]:
    own = logprobs_V[torch.tensor(list(letters))]
    named = bool(own.amax() == logprobs_V.amax())
    return (int(own.argmax()) if named else None), float(own.exp().sum())


def _drawn(
    loaded: LoadedModel, anatomy: Anatomy, rows: Sequence[Row], longest: int, draws: int, seed: int
) -> list[list[Answer]]:
    if not draws:
        return [[] for _ in rows]
    found = generate(
        anatomy, loaded.tokenizer, rows, samples=draws, max_tokens=longest, sampling=Sampling(), stop=STOP, seed=seed
    )
    return [[_answer(one.text, one.ended, None) for one in each] for each in found]


def _answer(text: str, ended: str, chosen: int | None) -> Answer:
    return Answer(text.strip(), ended != "length", chosen)
