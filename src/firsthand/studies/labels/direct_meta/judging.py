"""Direct and meta judgements of pairs of strings (Song, Hu and Mahowald 2025, arXiv 2503.07513).

The *direct* judgement is what a model does: log P(good) - log P(bad) of the strings themselves. The *meta* judgement is
what it says when it is asked which of the two is better, read exactly as log-odds of the answers. Every pair is put
twice, with its strings in either order (or each alone), so that a liking for one of the labels cancels out. Both are in
nats and positive where they prefer the better string.

An answer whose likeliest next token is no label is *invalid*: it is never taken for a preference, and its log-odds are
kept apart from those that count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from firsthand.engine.anatomy import inspect_model
from firsthand.engine.candidates import candidate_tokens, check_candidates
from firsthand.engine.edits import Row
from firsthand.engine.loading import LoadedModel
from firsthand.engine.prompts import Message, render
from firsthand.engine.sweep import run
from firsthand.errors import ElicitationError, LabelsError
from firsthand.studies.labels.direct_meta.asking import ask, tokens_run
from firsthand.studies.labels.direct_meta.pairs import Pair
from firsthand.studies.labels.direct_meta.phrasings import PHRASINGS, Phrasing

COLUMNS: Final = (
    *("trial_id", "key", "phenomenon", "model", "phrasing"),
    *("direct", "direct_mean", "meta", "contrast", "coverage", "valid", "leaning"),
)
"""Columns of :func:`judgements`."""


@dataclass(frozen=True)
class _Asked:
    """One prompt: its tokens, the tokens of its two labels, and whether the first label speaks for the good string."""

    tokens: tuple[int, ...]
    labels: tuple[tuple[int, ...], tuple[int, ...]]
    sign: int


def judgements(
    loaded: LoadedModel,
    pairs: Sequence[Pair],
    phrasings: Sequence[Phrasing] = PHRASINGS,
    advance: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """Both judgements of a model, side by side.

    Args:
        loaded: The model.
        pairs: The pairs.
        phrasings: The ways of asking.
        advance: Told the number of rows done after each pass; there are :func:`rows_of` in all.

    Returns:
        One row a phrasing and pair, with :data:`COLUMNS`: those of :func:`direct` and :func:`meta` and ``model``.

    Raises:
        ElicitationError: As :func:`direct` and :func:`meta` do.
        EngineError: As they do.
        LabelsError: If there is no pair, or a key is there twice.
    """
    keys = [pair.key for pair in pairs]
    if not keys or len(set(keys)) < len(keys):
        raise LabelsError("There is no pair, or two pairs share a key.", "Give every pair a key of its own.")
    own = direct(loaded, pairs, advance)
    said = meta(loaded, pairs, phrasings, advance)
    table = said.merge(own.drop(columns="phenomenon"), on="key", validate="many_to_one").assign(model=loaded.name)
    table["trial_id"] = table["model"] + "/" + table["phrasing"] + "/" + table["key"]
    return table[list(COLUMNS)]


def rows_of(pairs: Sequence[Pair], phrasings: Sequence[Phrasing] = PHRASINGS) -> int:
    """Rows that a model runs for :func:`judgements`."""
    return 2 * len(pairs) * (1 + len(phrasings))


def token_count(loaded: LoadedModel, pairs: Sequence[Pair], phrasings: Sequence[Phrasing] = PHRASINGS) -> int:
    """Tokens that a model runs for :func:`judgements`; what prompts have in common is counted as often as it is run."""
    count = sum(len(string_tokens(loaded, text)) for pair in pairs for text in (pair.good, pair.bad))
    for some in _shown_alike(phrasings):
        count += tokens_run([[one.tokens for one in row] for row in _asked(loaded.tokenizer, some, pairs)])
    return count


def direct(loaded: LoadedModel, pairs: Sequence[Pair], advance: Callable[[int], None] | None = None) -> pd.DataFrame:
    """How much likelier a model finds the good string of each pair than the bad one.

    A string's log-probability is the sum over all its tokens, each given those before it, after the model's token for
    the beginning of a text.

    Args:
        loaded: The model.
        pairs: The pairs.
        advance: Told the number of strings done after each pass.

    Returns:
        ``key``, ``phenomenon``, ``direct`` (difference of the sums) and ``direct_mean`` (difference of the means over
        tokens), in nats; one row a pair.

    Raises:
        ElicitationError: If the tokenizer has no token that begins a text, or cannot write a string.
        EngineError: If a string is too long for the model.
    """
    begin = begin_token(loaded)
    strings = [string_tokens(loaded, text) for pair in pairs for text in (pair.good, pair.bad)]
    rows = [Row((begin, *own[:-1]), read=tuple(range(len(own)))) for own in strings]

    def said(logprobs_EV: Tensor, owners: Sequence[int]) -> Tensor:
        wanted_E = torch.tensor([token for number in dict.fromkeys(owners) for token in strings[number]])
        return logprobs_EV.gather(1, wanted_E[:, None].to(logprobs_EV.device))

    said_E = run(inspect_model(loaded.model), rows, reduce=said, advance=advance).logprobs_RV[:, 0].double()
    parts = torch.split(said_E, [len(own) for own in strings])
    sums, means = ([float(value(part)) for part in parts] for value in (torch.sum, torch.mean))
    return pd.DataFrame(
        {
            "key": [pair.key for pair in pairs],
            "phenomenon": [pair.phenomenon for pair in pairs],
            "direct": [good - bad for good, bad in zip(sums[::2], sums[1::2], strict=True)],
            "direct_mean": [good - bad for good, bad in zip(means[::2], means[1::2], strict=True)],
        }
    )


def begin_token(loaded: LoadedModel) -> int:
    """The token that stands before a text: the tokenizer's own, or the one that parts texts where it has none.

    Raises:
        ElicitationError: If it has neither.
    """
    tokenizer = loaded.tokenizer
    for token in (tokenizer.bos_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    raise ElicitationError(
        f"The tokenizer of {loaded.name} has no token for the beginning of a text, so first words have no probability.",
        "Use a model with such a token.",
    )


def string_tokens(loaded: LoadedModel, text: str) -> tuple[int, ...]:
    """The tokens of a string, without any for its beginning.

    Raises:
        ElicitationError: If there is none, or one that stands for what the tokenizer does not know or for a special
            token.
    """
    tokenizer = loaded.tokenizer
    tokens = tuple(int(token) for token in tokenizer.encode(text, add_special_tokens=False))
    if not tokens or set(tokens) & {tokenizer.unk_token_id, *tokenizer.all_special_ids}:
        raise ElicitationError(
            f"The tokenizer of {loaded.name} cannot write {text[:60]!r} as text.",
            "Leave out the pair, or what is unusual in it.",
        )
    return tokens


def meta(
    loaded: LoadedModel,
    pairs: Sequence[Pair],
    phrasings: Sequence[Phrasing] = PHRASINGS,
    advance: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """What a model says about each pair when it is asked.

    Args:
        loaded: The model.
        pairs: The pairs.
        phrasings: The ways of asking.
        advance: Told the number of prompts done after each pass.

    Returns:
        One row a phrasing and pair: ``key``, ``phenomenon``, ``phrasing``; ``contrast``, the mean over the pair's two
        prompts of the log-odds for the good string, in nats; ``meta``, the same, NaN where an answer is invalid;
        ``coverage``, mean probability mass on the labels; ``valid``; ``leaning``, mean probability of the first label
        among the labels (0.5 where order means nothing).

    Raises:
        ElicitationError: If a label is not one token of its own in the context of a prompt.
        EngineError: If a prompt cannot be rendered or run.
    """
    anatomy = inspect_model(loaded.model)
    tables = {}
    for some in _shown_alike(phrasings):
        asked_TQ = _asked(loaded.tokenizer, some, pairs)

        def read(logprobs_V: Tensor, text: int, question: int, asked: Sequence[Sequence[_Asked]] = asked_TQ) -> Tensor:
            return _read(logprobs_V, asked[text][question])

        read_TQ3 = ask(anatomy, [[one.tokens for one in row] for row in asked_TQ], read, advance)
        for q, phrasing in enumerate(some):
            tables[phrasing.name] = _table(phrasing, pairs, [row[q] for row in asked_TQ], read_TQ3[:, q])
    return pd.concat([tables[phrasing.name] for phrasing in phrasings], ignore_index=True)


def _shown_alike(phrasings: Sequence[Phrasing]) -> list[list[Phrasing]]:
    """Phrasings that show the same of a pair together: they are questions about the same texts."""
    groups: dict[str, list[Phrasing]] = {}
    for one in phrasings:
        groups.setdefault(one.shows, []).append(one)
    return list(groups.values())


def _asked(
    tokenizer: PreTrainedTokenizerBase, phrasings: Sequence[Phrasing], pairs: Sequence[Pair]
) -> list[list[_Asked]]:
    """For each pair twice (the good string first, then the other) the questions about it, ``[2 pairs][phrasings]``."""
    prompts = [[_prompts(tokenizer, phrasing, pair) for phrasing in phrasings] for pair in pairs]
    return [[both[way] for both in of_pair] for of_pair in prompts for way in (0, 1)]


def _prompts(tokenizer: PreTrainedTokenizerBase, phrasing: Phrasing, pair: Pair) -> tuple[_Asked, _Asked]:
    """A pair's two prompts: both orders of its strings, or each of them alone; the good one first."""
    found = []
    for (first, second), sign in zip(((pair.good, pair.bad), (pair.bad, pair.good)), (1, -1), strict=True):
        messages: list[Message] = [("user", phrasing.asked(first, second)), ("assistant", phrasing.stem)]
        rendered = render(tokenizer, messages)
        found.append(_Asked(rendered.tokens, label_tokens(tokenizer, phrasing, rendered.text), sign))
    return found[0], found[1]


def label_tokens(
    tokenizer: PreTrainedTokenizerBase, phrasing: Phrasing, text: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The tokens by which each label can continue a rendered prompt; forms of several tokens are left out.

    Raises:
        ElicitationError: If a label has no form of one token, or the two share one.
    """
    every = [form for forms in phrasing.labels for form in forms]
    tokens = dict(zip(every, candidate_tokens(tokenizer, text, every), strict=True))
    first, second = ([tokens[form] for form in forms if len(tokens[form]) == 1] for forms in phrasing.labels)
    if not first or not second:
        raise ElicitationError(
            f"A label of the phrasing {phrasing.name!r} is not one token after {phrasing.stem!r} for this model.",
            "Leave this phrasing out, or use another stem.",
        )
    check_candidates(list(dict.fromkeys([*first, *second])))
    if set(first) & set(second):
        raise ElicitationError(
            f"The two labels of the phrasing {phrasing.name!r} share a token for this model.", "Use other labels."
        )
    return tuple(t for (t,) in dict.fromkeys(first)), tuple(t for (t,) in dict.fromkeys(second))


def _read(logprobs_V: Tensor, asked: _Asked) -> Tensor:
    """Log-probability of each label, and whether the likeliest token of the vocabulary is one, ``[3]`` float64."""
    full_V = logprobs_V.double()
    both = [full_V[list(forms)].logsumexp(0) for forms in asked.labels]
    named = full_V[[token for forms in asked.labels for token in forms]].amax() == full_V.amax()
    return torch.stack([*both, named.double()])


def _table(phrasing: Phrasing, pairs: Sequence[Pair], asked: Sequence[_Asked], read_R3: Tensor) -> pd.DataFrame:
    first_R, second_R, named_R = read_R3.double().unbind(1)
    odds_R = first_R - second_R
    signs_R = torch.tensor([one.sign for one in asked], dtype=torch.float64)

    def of_pair(values_R: Tensor) -> Tensor:
        return values_R.reshape(len(pairs), 2).mean(1)

    contrast_N, valid_N = of_pair(signs_R * odds_R), of_pair(named_R) == 1.0
    return pd.DataFrame(
        {
            "key": [pair.key for pair in pairs],
            "phenomenon": [pair.phenomenon for pair in pairs],
            "phrasing": phrasing.name,
            "meta": torch.where(valid_N, contrast_N, torch.nan).numpy(),
            "contrast": contrast_N.numpy(),
            "coverage": of_pair(first_R.exp() + second_R.exp()).numpy(),
            "valid": valid_N.numpy(),
            "leaning": of_pair(torch.sigmoid(odds_R)).numpy(),
        }
    )
