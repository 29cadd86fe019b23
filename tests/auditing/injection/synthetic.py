"""Trials of an injection study without a model: every arm with what sensors would read there."""

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from firsthand.auditing.injection.known import answered
from firsthand.auditing.injection.probing import probed
from firsthand.organisms.injected import Reporter, Sensed
from firsthand.studies.injection.arms import KINDS, Arm

CONCEPTS = tuple(f"c{i:02d}" for i in range(24))
EDITED = (Arm.TARGET, Arm.SHAM, Arm.CONTENT_FREE, Arm.SHUFFLED)
LENGTHS = {Arm.TARGET: 1.0, Arm.SHUFFLED: 1.0, Arm.CONTENT_FREE: 0.4}
"""Length of what is added, in target doses."""

Row = dict[str, Any]


def row(
    concept: str, task: str, order: Sequence[str], arm: Arm, text: str, rng: np.random.Generator, **more: Any
) -> Row:
    """One trial with a coin for an answer."""
    changed = arm in (Arm.TARGET, Arm.CONTENT_FREE, Arm.SHUFFLED)
    there = arm is Arm.TARGET
    meanings = list(order)
    values = np.log(rng.dirichlet(np.ones(len(meanings))))
    best = int(values.argmax())
    found = {
        "trial_id": f"{text}/{arm}/{more.get('truth', '')}/{more.get('layer', 3)}",
        "task": task,
        "wording": "w",
        "voice": "w",
        "framing": "instruction",
        "order": "|".join(meanings),
        "detail": "",
        "lead": "push" if arm is Arm.PUSH else "neutral",
        "text": text,
        "arm": str(arm),
        "kind": str(KINDS.get(arm, "")),
        "concept": concept,
        "layer": -1 if arm in (Arm.CLEAN, Arm.PUSH) else 3,
        "dose": 0.0 if arm in (Arm.CLEAN, Arm.PUSH) else 1.0,
        "timing": "prefill",
        "truth": "",
        "impact_kl": 0.3 if changed else 0.0,
        "entropy": 1.0,
        "matched": 1.0 if arm is Arm.CONTENT_FREE else np.nan,
        "answer": meanings[best],
        "surface": str(best),
        "logprobs": values.tolist(),
        "coverage": 1.0,
        "site": [1.0 if there else 0.0],
        "added": [LENGTHS.get(arm, 0.0)],
        "residual": (rng.normal(0, 0.1, 3) + np.array([3.0 * there, 0, 0])).astype(np.float32),
    }
    return {**found, **more}


def detection(
    options: int = 2, seed: int = 0, concepts: Sequence[str] = CONCEPTS, *, fitted: bool = True
) -> pd.DataFrame:
    """The injection question in all orders and arms, with the unrelated one.

    Args:
        options: Number of answers.
        seed: Seed of the coins.
        concepts: The concepts.
        fitted: Whether the probe is fitted; if not, it reads what a perfect one would.
    """
    rng = np.random.default_rng(seed)
    meanings = ("injected", "nothing") if options == 2 else ("injected", "manipulated", "nothing")
    rows: list[Row] = []
    for concept in concepts:
        for task, answers in (("detection", meanings), ("unrelated", ("yes", "no"))):
            for order in permutations(answers):
                base = f"{concept}/{task}/{'|'.join(order)}"
                rows += [row(concept, task, order, arm, base, rng) for arm in (Arm.CLEAN, *EDITED)]
                if task == "detection":
                    rows.append(row(concept, task, order, Arm.PUSH, f"{base}/push", rng))
    table = pd.DataFrame(rows)
    if not fitted:
        return table.assign(probe=np.where(table["arm"] == str(Arm.TARGET), 1.0, -1.0))
    return probed(table, f"detection-{options}")


def listed(question: str, seed: int = 0, concepts: Sequence[str] = CONCEPTS) -> pd.DataFrame:
    """A question with several answers, the state in every place, with its control question and other arms."""
    rng = np.random.default_rng(seed)
    count = {"localisation": 5, "strength": 2}.get(question, 4)
    control = {"localisation": "any", "strength": "any"}.get(question, "untold")
    rows: list[Row] = []
    for number, concept in enumerate(concepts):
        for place in range(count):
            if question == "localisation":
                order = [str(i) for i in range(count)]
            elif question == "strength":
                order = ["first", "second"]
            else:
                others = [concepts[(number + k) % len(concepts)] for k in range(1, count)]
                order = [*others[:place], concept, *others[place:]]
            base = f"{concept}/{place if question in ('choice', 'codes') else 0}"
            site = [1.0 if i == place else (0.5 if question == "strength" else 0.0) for i in range(count)]
            flat = [0.0] * count
            for arm in (Arm.CLEAN, *EDITED):
                length = LENGTHS.get(arm, 0.0)
                rows.append(
                    row(
                        concept,
                        question,
                        order,
                        arm,
                        base,
                        rng,
                        truth="" if arm is Arm.CLEAN else order[place],
                        site=site if arm is Arm.TARGET else flat,
                        added=[length * s for s in site],
                        residual=rng.normal(0, 0.1, count).astype(np.float32) + 3.0 * np.array(site, dtype=np.float32),
                    )
                )
            for arm in (Arm.CLEAN, Arm.TARGET):
                more: Row = {"truth": "" if arm is Arm.CLEAN else order[place], "site": [], "added": []}
                rows.append(
                    row(concept, f"{question}_control", order, arm, f"{base}/{control}", rng, detail=control, **more)
                )
    return probed(pd.DataFrame(rows).drop_duplicates("trial_id").reset_index(drop=True), question)


def reported(table: pd.DataFrame, question: str, says: Callable[[Sensed], str]) -> pd.DataFrame:
    """The table with a reporter's answers."""
    return answered(Reporter("r", "", {}, says), question, table)
