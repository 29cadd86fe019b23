"""Which concept was injected, in the model's own words; and how high does it rank there (reconstruction)?

Naming reads what the model writes, reconstruction the next-token distribution in its place. The no-question arm asks
for any word in the same conversation: a concept that is named there as often was promoted, not reported. Without a word
about injections (``untold``) what is written there is the model's visible answer Y: an observer may see it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import pandas as pd
import torch
from torch import Tensor

from firsthand.engine import Row, run
from firsthand.engine.generation import generate
from firsthand.engine.sampling import Sampling
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import JUDGED, Arm, matched_strength
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.drafts import Draft, naming, no_question
from firsthand.studies.injection.free_text import answers_with, hear_naming
from firsthand.studies.injection.prompts import naming_tokens
from firsthand.studies.injection.questions import identification
from firsthand.studies.injection.questions.base import Fits, Setting
from firsthand.studies.injection.questions.detection import YES_NO, of_prompt, unrelated_prompt
from firsthand.studies.injection.trials import Trial, described

WORDS: Final = 6
"""Tokens of a free answer."""
TOP: Final = (1, 5, 10)
"""Ranks among all tokens within which a concept counts as recalled."""


def trials(bench: InjectionBench, concept: str, cells: Sequence[Cell], setting: Setting) -> list[Trial]:
    """The naming question in every arm, and a request for any word in the same conversation, told of injections."""
    made: list[Trial] = []
    fits = fits_of(bench, concept, cells, setting)
    for wording in bench.asked(concept, setting.framing):
        made += _of_draft(bench, concept, cells, naming(wording), fits)
        told = Trial(concept, Arm.CLEAN, bench.led(no_question(wording, told=True), concept), name="told")
        made += of_prompt(bench, told, cells, (Arm.TARGET,), fits)
    return made


def visible_trials(bench: InjectionBench, concept: str, cells: Sequence[Cell], setting: Setting) -> list[Trial]:
    """A request for any word in every arm, in a conversation that says nothing about injections."""
    made: list[Trial] = []
    fits = fits_of(bench, concept, cells, setting)
    for wording in bench.asked(concept, setting.framing):
        made += _of_draft(bench, concept, cells, no_question(wording, told=False), fits)
    return made


def _of_draft(bench: InjectionBench, concept: str, cells: Sequence[Cell], draft: Draft, fits: Fits) -> Iterator[Trial]:
    clean = Trial(concept, Arm.CLEAN, bench.led(draft, concept), name=draft.detail)
    yield from of_prompt(bench, clean, cells, JUDGED, fits)
    yield replace(clean, arm=Arm.PUSH, prompt=bench.led(draft, concept, towards=concept))


def table(bench: InjectionBench, concept: str, made: Sequence[Trial]) -> pd.DataFrame:
    """What is written, and what ranks high in its place.

    Args:
        bench: What is fixed.
        concept: The concept.
        made: Trials of :func:`trials` or :func:`visible_trials`.

    Returns:
        The columns of :func:`~firsthand.studies.injection.trials.described`, ``said`` (the text), ``named`` (whether
        it says that this is the concept, by rule; NaN if it says nothing that could be judged), ``percentile`` (share
        of the other concepts of its part that the concept's first token is likelier than, ties half) and ``rank`` (of
        that token among all, from 1).
    """
    texts = written(bench, made)
    named = answers_with(hear_naming, texts, [concept] * len(texts)).table["named"].to_numpy()
    return _read(bench, concept, made).assign(said=texts, named=named)


def written(bench: InjectionBench, trials: Sequence[Trial]) -> list[str]:
    """What the model writes on each trial, greedily."""
    rows = [Row(trial.prompt.tokens, trial.edits) for trial in trials]
    found = generate(
        bench.anatomy, bench.loaded.tokenizer, rows, max_tokens=WORDS, sampling=Sampling(greedy=True), stop=('"', "\n")
    )
    return [samples[0].text for samples in found]


def explained(bench: InjectionBench, concept: str, table: pd.DataFrame, setting: Setting) -> pd.DataFrame:
    """Visible answers, and for those of the target arm how likely each concept of the list would have made them.

    The strongest reading of Y that we know: the same model, with the same conversation, as a measure of what each
    concept would have made it say.

    Returns:
        The table with ``order`` (the concepts of the list) and ``logprobs`` (of Y after a text that pushes towards
        each) on the target's rows.
    """
    listed = identification.lists(bench, concept)[0]
    order, values = [], []
    for arm, said in zip(table["arm"], table["said"], strict=True):
        wanted = arm == str(Arm.TARGET)
        order.append("|".join(listed) if wanted else "")
        values.append(_likelihoods(bench, concept, said, listed, setting) if wanted else [])
    return table.assign(order=order, logprobs=pd.Series(values, dtype=object))


def _likelihoods(
    bench: InjectionBench, concept: str, said: str, listed: Sequence[str], setting: Setting
) -> list[float]:
    """Log-probability of a text after a conversation that pushes towards each of some concepts."""
    tail = tuple(bench.loaded.tokenizer.encode(said, add_special_tokens=False))
    if not tail:
        return [0.0] * len(listed)
    draft = no_question(bench.asked(concept, setting.framing)[0], told=False)
    rows = []
    for other in listed:
        tokens = bench.led(draft, concept, towards=other).tokens
        rows.append(Row((*tokens, *tail), read=tuple(range(len(tokens) - 1, len(tokens) + len(tail) - 1))))
    output = run(bench.anatomy, rows)
    places = torch.tensor(tail)[:, None]
    return [float(output.of(i).gather(1, places).sum()) for i in range(len(rows))]


def fits_of(bench: InjectionBench, concept: str, cells: Sequence[Cell], setting: Setting) -> Fits:
    """The content-free direction's strength in each cell, matched where something unrelated is asked."""
    asked = unrelated_prompt(bench, concept, bench.asked(concept, setting.framing)[0], YES_NO)
    return {cell: matched_strength(bench, cell, concept, asked) for cell in cells}


def _read(bench: InjectionBench, concept: str, trials: Sequence[Trial]) -> pd.DataFrame:
    """Percentile among the part's concepts and rank among all tokens, from the next-token distribution."""
    part = bench.part(concept)
    forms = [
        {
            c: sorted({t[0] for t in tokens})
            for c, tokens in naming_tokens(bench.loaded.tokenizer, t.prompt, part).items()
        }
        for t in trials
    ]

    def keep(logprobs_RV: Tensor, owners: Sequence[int]) -> Tensor:
        return torch.tensor(
            [_ranks(logprobs_V, forms[i], concept) for i, logprobs_V in zip(owners, logprobs_RV, strict=True)]
        )

    read = run(bench.anatomy, [Row(t.prompt.tokens, t.edits) for t in trials], reduce=keep).logprobs_RV
    percentile, rank = read.double().T.tolist()
    return pd.DataFrame([described(trial) for trial in trials]).assign(percentile=percentile, rank=rank)


def _ranks(logprobs_V: Tensor, forms: dict[str, list[int]], concept: str) -> tuple[float, float]:
    """Percentile of a concept among all of them, and rank of its likeliest first token among all tokens."""
    mass = {c: float(logprobs_V[tokens].logsumexp(0)) for c, tokens in forms.items()}
    others = [value for c, value in mass.items() if c != concept]
    below = sum((value < mass[concept]) + 0.5 * (value == mass[concept]) for value in others)
    best = logprobs_V[forms[concept]].max()
    return below / len(others), 1.0 + float((logprobs_V > best).sum())
