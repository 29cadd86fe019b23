"""Which concept was injected, in the model's own words; and how high does it rank there (reconstruction)?

Naming reads what the model writes, reconstruction the next-token distribution in its place. The no-question arm asks
for any word in the same conversation: a concept that is named there as often was promoted, not reported. Without a word
about injections (``untold``) what is written there is the model's visible answer Y: an observer may see it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from firsthand.engine import Row, run
from firsthand.engine.generation import generate
from firsthand.engine.sampling import Sampling
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import JUDGED, Arm, Like
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.drafts import Draft, naming, no_question
from firsthand.studies.injection.free_text import answers_with, hear_naming
from firsthand.studies.injection.prompts import naming_tokens
from firsthand.studies.injection.questions import identification
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.questions.detection import like_unrelated, of_prompt
from firsthand.studies.injection.settling import settled
from firsthand.studies.injection.trials import Trial, described

WORDS: Final = 6
"""Tokens of a free answer."""
TOP: Final = (1, 5, 10)
"""Ranks among all tokens within which a concept counts as recalled."""


def trials(bench: InjectionBench, concept: str, cells: Sequence[Cell], setting: Setting) -> list[Trial]:
    """The naming question in every arm, and a request for any word in the same conversation, told of injections."""
    made: list[Trial] = []
    wordings = bench.asked(concept, setting.framing)
    like = like_unrelated(bench, concept, wordings[0])
    for wording in wordings:
        made += _of_draft(bench, concept, cells, naming(wording), like)
        told = Trial(concept, Arm.CLEAN, bench.led(no_question(wording, told=True), concept), name="told")
        made += of_prompt(bench, told, cells, (Arm.TARGET,))
    return made


def visible_trials(bench: InjectionBench, concept: str, cells: Sequence[Cell], setting: Setting) -> list[Trial]:
    """A request for any word in every arm, in a conversation that says nothing about injections."""
    made: list[Trial] = []
    wordings = bench.asked(concept, setting.framing)
    like = like_unrelated(bench, concept, wordings[0])
    for wording in wordings:
        made += _of_draft(bench, concept, cells, no_question(wording, told=False), like)
    return made


def _of_draft(bench: InjectionBench, concept: str, cells: Sequence[Cell], draft: Draft, like: Like) -> Iterator[Trial]:
    clean = Trial(concept, Arm.CLEAN, bench.led(draft, concept), name=draft.detail)
    yield from of_prompt(bench, clean, cells, JUDGED, like)
    yield replace(clean, arm=Arm.PUSH, prompt=bench.led(draft, concept, towards=concept))


def table(bench: InjectionBench, trials: Sequence[Trial]) -> pd.DataFrame:
    """What is written, and what ranks high in its place.

    Args:
        bench: What is fixed.
        trials: Trials of :func:`trials` or :func:`visible_trials`, of one concept or several.

    Returns:
        The columns of :func:`~firsthand.studies.injection.trials.described`, ``said`` (the text), ``named`` (whether
        it says that this is the concept, by rule; NaN if it says nothing that could be judged), ``percentile`` (share
        of the other concepts of its part that the concept's first token is likelier than, ties half) and ``rank`` (of
        that token among all, from 1).
    """
    trials, tokenizer = settled(bench, trials), bench.loaded.tokenizer
    forms = _forms(bench, trials)
    ranks = np.full((len(trials), 2), np.nan)

    def rank(logprobs_RV: Tensor, numbers: Sequence[int]) -> None:
        for i, logprobs_V in zip(numbers, logprobs_RV, strict=True):
            ranks[i] = _ranks(logprobs_V, forms[trials[i].prompt.text], trials[i].concept)

    rows = [Row(trial.prompt.tokens, trial.edits) for trial in trials]
    greedy = Sampling(greedy=True)
    found = generate(bench.anatomy, tokenizer, rows, max_tokens=WORDS, sampling=greedy, stop=('"', "\n"), first=rank)
    texts = [samples[0].text for samples in found]
    named = answers_with(hear_naming, texts, [trial.concept for trial in trials]).table["named"].to_numpy()
    return pd.DataFrame([described(trial) for trial in trials]).assign(
        percentile=ranks[:, 0], rank=ranks[:, 1], said=texts, named=named
    )


def explained(bench: InjectionBench, table: pd.DataFrame, setting: Setting) -> pd.DataFrame:
    """Visible answers, and for those of the target arm how likely each concept of the list would have made them.

    The strongest reading of Y that we know: the same model, with the same conversation, as a measure of what each
    concept would have made it say.

    Returns:
        The table with ``order`` (the concepts of the list) and ``logprobs`` (of Y after a text that pushes towards
        each) on the target's rows.
    """
    target = (table["arm"] == str(Arm.TARGET)).tolist()
    told = list(zip(table["concept"], table["said"], strict=True))
    wanted = [pair for pair, is_target in zip(told, target, strict=True) if is_target]
    likely = iter(_likelihoods(bench, wanted, setting))
    order = ["|".join(_listed(bench, c)) if is_target else "" for (c, _), is_target in zip(told, target, strict=True)]
    values = [next(likely) if is_target else [] for is_target in target]
    return table.assign(order=order, logprobs=pd.Series(values, dtype=object))


def _listed(bench: InjectionBench, concept: str) -> tuple[str, ...]:
    return identification.lists(bench, concept)[0]


def _likelihoods(bench: InjectionBench, told: Sequence[tuple[str, str]], setting: Setting) -> list[list[float]]:
    """For each concept and text the text's log-probability after a conversation that pushes towards each of the list's
    concepts; zero for a text without tokens.
    """
    tails = [tuple(bench.loaded.tokenizer.encode(said, add_special_tokens=False)) for _, said in told]
    rows: list[Row] = []
    for (concept, _), tail in zip(told, tails, strict=True):
        draft = no_question(bench.asked(concept, setting.framing)[0], told=False)
        for other in _listed(bench, concept) if tail else ():
            tokens = bench.led(draft, concept, towards=other).tokens
            rows.append(Row((*tokens, *tail), read=tuple(range(len(tokens) - 1, len(tokens) + len(tail) - 1))))
    if not rows:
        return [[0.0] * len(_listed(bench, concept)) for concept, _ in told]

    def keep(logprobs_EV: Tensor, owners: Sequence[int]) -> Tensor:
        seen: dict[int, int] = {}
        following = []
        for i in owners:
            place = rows[i].read[seen.setdefault(i, 0)]
            seen[i] += 1
            following.append(rows[i].tokens[place + 1])
        return logprobs_EV.gather(1, torch.tensor(following, device=logprobs_EV.device)[:, None])

    output = run(bench.anatomy, rows, reduce=keep)
    sums = iter([float(output.of(i).sum()) for i in range(len(rows))])
    return [
        [next(sums) if tail else 0.0 for _ in _listed(bench, concept)]
        for (concept, _), tail in zip(told, tails, strict=True)
    ]


def _forms(bench: InjectionBench, trials: Sequence[Trial]) -> dict[str, dict[str, list[int]]]:
    """By prompt, the first tokens of every concept that it may be one of."""
    distinct = {trial.prompt.text: trial for trial in trials}
    return {
        text: {
            concept: sorted({tokens[0] for tokens in forms})
            for concept, forms in naming_tokens(bench.loaded.tokenizer, trial.prompt, bench.part(trial.concept)).items()
        }
        for text, trial in distinct.items()
    }


def _ranks(logprobs_V: Tensor, forms: dict[str, list[int]], concept: str) -> tuple[float, float]:
    """Percentile of a concept among all of them, and rank of its likeliest first token among all tokens."""
    mass = {c: float(logprobs_V[tokens].logsumexp(0)) for c, tokens in forms.items()}
    others = [value for c, value in mass.items() if c != concept]
    below = sum((value < mass[concept]) + 0.5 * (value == mass[concept]) for value in others)
    best = logprobs_V[forms[concept]].max()
    return below / len(others), 1.0 + float((logprobs_V > best).sum())
