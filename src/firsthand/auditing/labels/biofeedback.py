"""The judgement of biofeedback: is the report ahead of everyone who reads the same texts and labels?"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.choice import Chosen, judge_choice
from firsthand.analysis.means import mean_of
from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.auditing.labels.onlookers import Seen, informed, matched, meanings
from firsthand.auditing.labels.readers import OWN, READER, by_its_states, refusal
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.labels.biofeedback import REDRAWN, TARGET, Bench, Referent, labels_of
from firsthand.studies.labels.outsiders import READS, READS_OWN, TOLD, Outsider
from firsthand.vocabulary import Capability, Condition, Verdict

OBSERVED = "observer "
"""Begins the names of columns that hold what observers gave."""


def observed(
    bench: Bench,
    referent: Referent,
    rows: pd.DataFrame,
    outsiders: Mapping[str, Outsider] = MappingProxyType({}),
    read: Mapping[str, pd.DataFrame] = MappingProxyType({}),
) -> pd.DataFrame:
    """The target rows of one conversation with a column for what each observer gives.

    Args:
        bench: What is fixed.
        referent: What the labels are made of.
        rows: The rows, in the order of the conversation.
        outsiders: Other language models, by name.
        read: By the same names, what each of them answered in all conversations
            (see :func:`~firsthand.studies.labels.outsiders.outsider_rows`).
    """
    drawn = bench.drawn(int(rows["experiment"].iloc[0]))
    labels, cut = labels_of(bench, referent, drawn)
    texts = rows["number"].to_numpy()
    found = matched(seen(bench, drawn), labels, rows[["place", "at"]].to_numpy(), bench.claim.judged_from)
    others = others_than(bench, drawn)
    scores = referent.axis.scores(bench.states.layers[referent.layer])
    known = (scores[others] > cut).astype(np.int64)
    told = 0 < known.mean() < 1 if len(known) else False
    if told:
        found |= informed(seen(bench, others), known, seen(bench, texts))
        meant = np.asarray(bench.held_out.labels)
        found["label of the data"] = meanings(meant[others], known, meant[texts])
    own: dict[str, NDArray[np.float64]] = {}
    for name, outsider in outsiders.items():
        trials = [str(trial).removesuffix(TARGET) for trial in rows["trial_id"]]
        answers = read[name].set_index("trial_id")
        found[f"{READER}{name}"] = answers["answer"][[f"{trial}{READS}" for trial in trials]].to_numpy()
        mine = answers.loc[[f"{trial}{READS_OWN}" for trial in trials]]
        own[f"{OWN}{name}"] = np.asarray(mine["answer"] == mine["truth"], dtype=np.float64)
        if told:
            groups = np.asarray(bench.held_out.groups)[others]
            found[f"{READER}{name}, its states"] = by_its_states(outsider, others, known, groups, texts)
    return rows.assign(**{f"{OBSERVED}{name}": values for name, values in found.items()}, **own)


def seen(bench: Bench, texts: NDArray[np.int64]) -> Seen:
    """What anybody may see of some held-out texts."""
    return Seen(
        tuple(bench.held_out.texts[i] for i in texts),
        bench.states.embedding_NH[texts],
        tuple(bench.held_out.groups[i] for i in texts),
    )


def others_than(bench: Bench, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """Held-out texts of no group that a conversation shows anything of: observers may learn from them."""
    groups = np.asarray(bench.held_out.groups)
    return np.flatnonzero(~np.isin(groups, groups[drawn])).astype(np.int64)


def judge(table: pd.DataFrame, spec: AnalysisSpec, judged_from: int) -> CapabilityResult:
    """The verdict on one axis, over all its layers and conversations.

    Args:
        table: Target rows with observers (see :func:`observed`), redrawn ones, and those of other models' labels.
        spec: The rules.
        judged_from: Answers after fewer shots are left out.

    Returns:
        Identification: was the state named, beyond every observer, and not where the labels were drawn by lot?

    Raises:
        AnalysisError: If a class is never true.
    """
    here = table[table["place"] >= judged_from].reset_index(drop=True)
    target = here[here["arm"] == TARGET]
    names = [column for column in here if str(column).startswith(OBSERVED) and target[column].notna().any()]
    observers = {str(c).removeprefix(OBSERVED): Chosen(target[c].to_numpy(dtype=np.float64)) for c in names}
    wire = np.asarray(target["wire"] > 0, dtype=np.float64)
    block = here["experiment"].astype(str) + "/" + here["referent"]
    result = judge_choice(
        Capability.IDENTIFICATION,
        Condition.Y_WITHHELD,
        here.assign(block=block),
        2,
        observers,
        {"wire": ("site", wire)},
        spec,
        [REDRAWN, *sorted(arm for arm in set(here["arm"]) if arm.startswith(TOLD))],
        seed=0,
    )
    refused = refusal(target, list(observers), spec) if result.verdict is Verdict.PRIVILEGED else None
    if refused is None:
        return result
    return result.model_copy(update={"verdict": Verdict.INSUFFICIENT, "reasons": (*result.reasons, refused)})


def curve(table: pd.DataFrame, spec: AnalysisSpec, edges: Sequence[int]) -> dict[str, dict[float, Estimate]]:
    """Share of right answers by number of shots, of the report and of the observers; invalid answers are not right.

    Args:
        table: Target rows with observers.
        spec: The rules.
        edges: Ends of the bins of ``place``, from 0.

    Returns:
        For each name the share in each bin in which there are answers, by the middle of the bin.
    """
    target = table[table["arm"] == TARGET].reset_index(drop=True)
    right: Mapping[str, np.ndarray] = {
        "report": (target["answer"] == target["truth"]).to_numpy(dtype=np.float64),
        **{
            str(c).removeprefix(OBSERVED): np.where(target[c].notna(), target[c] == target["truth"], np.nan)
            for c in target
            if str(c).startswith(OBSERVED)
        },
    }
    found: dict[str, dict[float, Estimate]] = {}
    for name, values in right.items():
        found[name] = {}
        for low, high in pairwise(edges):
            inside = ((target["place"] >= low) & (target["place"] < high)).to_numpy() & np.isfinite(values)
            if inside.any():
                some = target[inside].reset_index(drop=True)
                share = mean_of(values[inside], some, spec.clusters).estimate(spec.alpha, 0.5)
                found[name][(low + high - 1) / 2] = share
    return found
