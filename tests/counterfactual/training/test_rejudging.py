"""A verdict is compiled again from what a folder holds; what was altered is found. Nothing is trained here."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.self_cross import SelfCrossResult, SelfCrossSpec
from firsthand.counterfactual.training.rejudging import (
    Kept,
    Recalled,
    Values,
    columns_of,
    compiled,
    judged_again,
    judged_together,
    keep,
    slug,
)
from firsthand.errors import TraceError
from firsthand.trials.files import write_json
from firsthand.vocabulary import Verdict

SPEC = SelfCrossSpec()
UNITS = tuple(f"u{n // 2}" for n in range(40))
MODELS = (
    ("self", "The target", (0, 1, 2)),
    ("cross", "twin", (0, 1, 2)),
    ("base", "untrained", (None,)),
    ("floor", "f", (None,)),
)


def table() -> pd.DataFrame:
    """A target that knows, a twin that does not, and a floor."""
    rng = np.random.default_rng(0)
    rows = []
    for kind, model, seeds in MODELS:
        for seed in seeds:
            for n in range(40):
                known = 0.25 * (2 * (n % 2) - 1) if kind == "self" else 0.0
                p = 0.5 if seed is None else 0.5 + known + 0.2 * rng.uniform(-1, 1)
                rows.append((f"c{n}", UNITS[n], bool(n % 2), kind, model, seed, p, 0.9))
    names = ["claim", "cluster", "label", "kind", "model", "seed", "probability", "coverage"]
    return pd.DataFrame(rows, columns=names).astype({"seed": "Int64"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frame = table()
    truth = tuple(float(n % 2) for n in range(40))
    rng = np.random.default_rng(1)
    scores = tuple(tuple(np.array(truth) + 0.2 * rng.standard_normal(40)) for _ in range(3))
    one = Kept(
        name="private",
        about="The target",
        table=columns_of(frame),
        rivals=("twin",),
        siblings=("twin",),
        twins=("twin",),
        drift=(Values(values=(0.01, 0.02, 0.01), units=("a", "b", "c")),),
        learnt={"twin": Recalled(truth=truth, units=UNITS, scores=scores)},
    )
    keep(tmp_path, [one])
    for (model, seed), part in frame[frame["kind"] != "floor"].groupby(["model", "seed"], dropna=False):
        said = [{"claim": c, "probability": p} for c, p in zip(part["claim"], part["probability"], strict=True)]
        place = "untrained" if model == "untrained" else f"{slug(str(model))}/seed-{seed}"
        write_json(tmp_path / "private" / place / "predictions.json", {"value": said})
    return tmp_path


def result(folder: Path) -> SelfCrossResult:
    kept = Kept.model_validate_json((folder / "judged" / "private.json").read_text())
    return compiled(kept, {"private": kept}, SPEC)


def test_the_verdict_of_a_folder_is_compiled_again(folder: Path) -> None:
    found = result(folder)
    assert found.verdict is Verdict.PRIVILEGED, found.reasons
    judged_again(folder, {"private": found}, SPEC)


def test_a_verdict_that_the_predictions_do_not_give_is_found(folder: Path) -> None:
    altered = result(folder).model_copy(update={"verdict": Verdict.PUBLIC_INFERENCE})
    with pytest.raises(TraceError, match="give privileged for private"):
        judged_again(folder, {"private": altered}, SPEC)


def test_predictions_that_are_not_those_that_were_judged_are_found(folder: Path) -> None:
    found, path = result(folder), folder / "private" / "the-target" / "seed-1" / "predictions.json"
    held = json.loads(path.read_text())
    held["value"][3]["probability"] = 0.123
    path.write_text(json.dumps(held))
    with pytest.raises(TraceError, match="other predictions than were judged"):
        judged_again(folder, {"private": found}, SPEC)


def test_a_result_without_what_it_rests_on_is_found(folder: Path) -> None:
    with pytest.raises(TraceError, match="does not hold what its verdicts rest on"):
        judged_again(folder, {"other": result(folder)}, SPEC)


def test_a_study_that_cannot_be_privileged_costs_the_others_nothing(folder: Path) -> None:
    kept = Kept.model_validate_json((folder / "judged" / "private.json").read_text())
    one = result(folder).model_copy(update={"p": 0.02})
    bare = one.model_copy(update={"verdict": Verdict.INSUFFICIENT, "p": 1.0})
    others = {f"other {n}": bare for n in range(3)}
    without = {name: kept.model_copy(update={"siblings": ()}) for name in others}
    held = judged_together({"private": one, **others}, {"private": kept, **without}, SPEC)
    assert held["private"].p == one.p
    assert held["private"].verdict is Verdict.PRIVILEGED
    with_sibling = judged_together({"private": one, **others}, {"private": kept, **dict.fromkeys(others, kept)}, SPEC)
    assert with_sibling["private"].verdict is Verdict.INSUFFICIENT
