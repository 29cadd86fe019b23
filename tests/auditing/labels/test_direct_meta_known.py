"""Statements whose truth is known get the verdict that they must, beside judgements like those of a run."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from direct_meta_simulation import opinions, table_of

from firsthand.auditing.labels import direct_meta_known as module
from firsthand.auditing.labels.direct_meta_known import WORLDS, known_answers
from firsthand.claims.labels import DirectMetaClaim
from firsthand.report.document import KnownAnswer
from firsthand.vocabulary import Verdict

CLAIM = DirectMetaClaim(models=("model-0", "model-1"), pairs_sha256="a", phrasings=("better",), phrasings_sha256="b")


def run_table(direct: np.ndarray) -> pd.DataFrame:
    table = table_of(direct, np.zeros_like(direct))
    return table.assign(item=table["key"])


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    """Fewer draws than in a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DRAWS_OF_WORLD", 8)
        patch.setattr(module, "BOOTSTRAP", 300)
        yield


@pytest.fixture(scope="module")
def found() -> dict[str, KnownAnswer]:
    return {one.reporter: one for one in known_answers(run_table(opinions(3)[0]), CLAIM)}


def test_every_known_answer_passes_beside_similar_models(found: dict[str, KnownAnswer]) -> None:
    assert len(found) == len(WORLDS) * 2
    assert all(one.passed for one in found.values()), [one.failure for one in found.values() if not one.passed]


@pytest.mark.parametrize(
    ("world", "verdict"),
    [
        ("its own judgement", Verdict.PRIVILEGED),
        ("another's judgement", Verdict.PUBLIC_INFERENCE),
        ("an opinion that all share", Verdict.PUBLIC_INFERENCE),
        ("a lot", Verdict.INSUFFICIENT),
    ],
)
def test_each_world_gets_its_verdict(found: dict[str, KnownAnswer], world: str, verdict: Verdict) -> None:
    assert {found[f"{world}, model-{m}"].obtained for m in (0, 1)} == {verdict}


def test_a_plant_beside_a_model_that_is_nothing_like_it_is_stopped_and_that_is_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "DRAWS_OF_WORLD", 3)
    direct = np.random.default_rng(0).normal(size=(2, 120))
    own = known_answers(run_table(direct), CLAIM)[0]
    assert own.obtained is Verdict.INSUFFICIENT
    assert own.passed
    assert "no rival is like it" in " ".join(own.reasons)


def test_a_plant_that_too_few_pairs_cannot_show_is_a_failure_of_the_instrument(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "DRAWS_OF_WORLD", 3)
    direct = opinions(3, pairs=24, quality=(0.98, 0.98))[0]
    own = known_answers(run_table(direct), CLAIM)[0]
    assert not own.passed
    assert own.expected is Verdict.PRIVILEGED
