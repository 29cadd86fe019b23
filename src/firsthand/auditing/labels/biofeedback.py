"""The judgement of biofeedback: is the report ahead of everyone who reads the same texts and labels?"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import pandas as pd

from firsthand.analysis.choice import Chosen, judge_choice
from firsthand.analysis.means import mean_of
from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.auditing.labels.onlookers import informed, matched, meanings
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.labels.biofeedback import REDRAWN, TARGET, Bench, Referent, labels_of
from firsthand.studies.labels.outsiders import READS, TOLD, Outsider, by_its_states
from firsthand.vocabulary import Capability, Condition, Verdict

OBSERVED = "observer "
"""Begins the names of columns that hold what observers gave."""
READER = "reader: "
"""Begins the name of an observer that is a language model given the same conversation."""
UNREAD = (
    "no other language model read the same conversations, and one that merely understands the texts may do as well: "
    "ahead of readers of words alone, a report is not yet privileged"
)


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
    shown = [bench.held_out.texts[i] for i in drawn]
    shots = bench.states.embedding_NH[drawn]
    texts = rows["number"].to_numpy()
    words = [bench.held_out.texts[i] for i in texts]
    embedding = bench.states.embedding_NH[texts]
    own = referent.axis.scores(bench.fit_states.layers[referent.layer])
    found = matched(shots, shown, labels, rows[["place", "at"]].to_numpy(), bench.claim.judged_from)
    known = (own > cut).astype(np.int64)
    if 0 < known.mean() < 1:
        found |= informed(bench.fit_states.embedding_NH, bench.fit.texts, known, embedding, words)
    for name, outsider in outsiders.items():
        answers = read[name].set_index("trial_id")["answer"]
        found[f"{READER}{name}"] = answers[[f"{i.removesuffix(TARGET)}{READS}" for i in rows["trial_id"]]].to_numpy()
        if 0 < known.mean() < 1:
            by_states = by_its_states(bench, outsider, referent, known, texts)
            found[f"{READER}{name}, its states of {len(known)} texts"] = by_states
    meant = np.asarray(bench.held_out.labels)[texts]
    found["label of the data"] = meanings(np.asarray(bench.fit.labels), known, meant)
    return rows.assign(**{f"{OBSERVED}{name}": values for name, values in found.items()})


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
    if result.verdict is not Verdict.PRIVILEGED or any(name.startswith(READER) for name in observers):
        return result
    return result.model_copy(update={"verdict": Verdict.INSUFFICIENT, "reasons": (*result.reasons, UNREAD)})


def curve(table: pd.DataFrame, spec: AnalysisSpec, edges: Sequence[int]) -> dict[str, list[Estimate]]:
    """Share of right answers by number of shots, of the report and of the observers; invalid answers are not right.

    Args:
        table: Target rows with observers.
        spec: The rules.
        edges: Ends of the bins of ``place``, from 0.
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
    found: dict[str, list[Estimate]] = {}
    for name, values in right.items():
        found[name] = []
        for low, high in pairwise(edges):
            inside = ((target["place"] >= low) & (target["place"] < high)).to_numpy() & np.isfinite(values)
            if inside.any():
                some = target[inside].reset_index(drop=True)
                found[name].append(mean_of(values[inside], some, spec.clusters).estimate(spec.alpha, 0.5))
    return found
