"""Reporters of nothing are seldom called privileged, also after the best of a grid was chosen."""

import numpy as np
import pandas as pd
import pytest
from synthetic import detection, listed

from firsthand.auditing.injection.choosing import judge_choices
from firsthand.auditing.injection.detecting import judge_detection
from firsthand.auditing.injection.selecting import choose, grid
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Verdict

SPEC = AnalysisSpec(clusters=("concept",), bootstrap_draws=400)
RUNS = 200


def allowed(runs: int) -> float:
    """Most false verdicts at level alpha, with three standard errors."""
    return runs * SPEC.alpha + 3 * np.sqrt(runs * SPEC.alpha * (1 - SPEC.alpha))


def steered(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Answers that rest on the prompt, on a label that is preferred, and on an arbitrary steering of each edit.

    Every edit, of whatever arm, moves the concept's answers by one draw: what an arbitrary direction does, too.
    """
    rng = np.random.default_rng(seed)
    prompts = {text: rng.normal(0, 1, 6) for text in table["text"].unique()}
    keys = table["concept"] + table["arm"] + table["layer"].astype(str)
    edits = {key: rng.normal(0, 1, 6) for key in keys.unique()}
    answers, logprobs, surfaces = [], [], []
    for text, key, order, arm in zip(table["text"], keys, table["order"], table["arm"], strict=True):
        meanings = order.split("|")
        logits = prompts[text][: len(meanings)] + (
            0 if arm in ("clean", "push", "sham") else edits[key][: len(meanings)]
        )
        logits[0] += 0.5
        values = logits - np.logaddexp.reduce(logits)
        answers.append(meanings[int(values.argmax())])
        surfaces.append(str(int(values.argmax())))
        logprobs.append(values.tolist())
    return table.assign(answer=answers, surface=surfaces, logprobs=logprobs)


@pytest.mark.parametrize("part", range(4))
def test_detection_by_nothing_is_seldom_privileged(part: int) -> None:
    runs = RUNS // 4
    called = sum(
        judge_detection(steered(detection(2, seed, fitted=False), seed), SPEC).result.verdict is Verdict.PRIVILEGED
        for seed in range(part * runs, (part + 1) * runs)
    )
    assert called <= allowed(runs)


@pytest.mark.parametrize("question", ["localisation", "strength", "choice"])
def test_choices_by_nothing_are_seldom_privileged(question: str) -> None:
    runs = RUNS // 2
    called = sum(
        judge_choices(steered(listed(question, seed), seed), question, SPEC).verdict is Verdict.PRIVILEGED
        for seed in range(runs)
    )
    assert called <= allowed(runs)


def test_the_best_cell_of_a_grid_of_nothing_is_not_privileged_where_it_is_judged() -> None:
    """Every cell steers in its own arbitrary way; the most consistent one is chosen on eight concepts."""
    called, naive, confirmed = 0, [], []
    for seed in range(RUNS):
        cells = [(layer, dose) for layer in range(4) for dose in (1.0, 2.0, 4.0)]
        choosing = [f"s{i}" for i in range(8)]
        plain = detection(2, seed, choosing, fitted=False)
        tried = [plain[plain["layer"] < 0]]
        tried += [plain[plain["arm"] == "target"].assign(layer=layer, dose=dose) for layer, dose in cells]
        table = pd.concat(tried, ignore_index=True)
        chosen = choose({"instruction": grid(steered(table, seed), "instruction", "detection", SPEC)}, SPEC)
        judging = detection(2, seed + 10_000, fitted=False)
        cell = {"layer": chosen.chosen.layer, "dose": chosen.chosen.dose}
        here = steered(judging.assign(**{k: judging[k].where(judging["layer"] < 0, v) for k, v in cell.items()}), seed)
        called += judge_detection(here, SPEC).result.verdict is Verdict.PRIVILEGED
        naive.append(chosen.naive.value)
        confirmed.append(grid(here, "instruction", "detection", SPEC).rows[0].rise.value)
    assert called <= allowed(RUNS)
    assert np.mean(naive) > 3 * np.std(naive) / np.sqrt(RUNS)
    assert abs(np.mean(confirmed)) < 3 * np.std(confirmed) / np.sqrt(RUNS)
