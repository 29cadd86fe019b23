"""Reporters of known answer go down the path of a biofeedback study, on its own rows."""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from firsthand.auditing.labels import biofeedback_known
from firsthand.auditing.labels.biofeedback import OBSERVED, judge
from firsthand.auditing.labels.biofeedback_known import known_answers
from firsthand.claims.claim import AnalysisSpec
from firsthand.claims.labels import BiofeedbackClaim
from firsthand.report.document import KnownAnswer
from firsthand.studies.labels.biofeedback import REDRAWN, TARGET
from firsthand.vocabulary import Verdict

SPEC = AnalysisSpec(clusters=("group", "experiment"), bootstrap_draws=400)
SHOTS, EXPERIMENTS = 40, 25
CLAIM = BiofeedbackClaim(data_sha256="0", shots=SHOTS, judged_from=10, analysis=SPEC)


def rows(skill: float) -> pd.DataFrame:
    """A study whose report always is right, and whose best observer is right with probability ``skill``."""
    rng = np.random.default_rng(3)
    count = SHOTS * EXPERIMENTS
    truth = rng.integers(0, 2, count)
    base = pd.DataFrame(
        {
            "referent": "probe at 3",
            "experiment": np.repeat(np.arange(EXPERIMENTS), SHOTS),
            "place": np.tile(np.arange(SHOTS), EXPERIMENTS),
            "group": np.arange(count),
            "truth": truth,
            "coverage": 0.95,
            "wire": np.where(truth == 1, 1.0, -1.0),
        }
    )
    seen = {
        f"{OBSERVED}{name}": np.where(rng.random(count) < p, truth, 1 - truth).astype(float)
        for name, p in (("words", skill), ("most frequent", 0.5))
    }
    target = base.assign(arm=TARGET, answer=truth.astype(float), **seen)
    lot = base.assign(arm=REDRAWN, answer=rng.integers(0, 2, count).astype(float))
    table = pd.concat([target, lot], ignore_index=True)
    return table.assign(trial_id=[str(i) for i in range(len(table))])


@lru_cache
def examined(skill: float) -> dict[str, KnownAnswer]:
    table = rows(skill)
    result = judge(table, SPEC, CLAIM.judged_from)
    return {item.reporter: item for item in known_answers({"probe": table}, {"probe": result}, CLAIM)}


def test_the_strongest_observer_as_the_report_is_public_inference() -> None:
    item = examined(0.85)["strongest observer, probe"]
    assert "(words)" in item.description
    assert item.expected is item.obtained is Verdict.PUBLIC_INFERENCE, item.reasons
    assert item.passed


@pytest.mark.parametrize("skill", [0.5, 0.85])
def test_a_lot_knows_nothing_whether_the_words_carry_the_label_or_not(skill: float) -> None:
    item = examined(skill)["lot, probe"]
    assert item.passed, item.reasons
    assert item.obtained not in (Verdict.PRIVILEGED, Verdict.PUBLIC_INFERENCE)


def test_an_observer_at_chance_is_never_privileged() -> None:
    item = examined(0.5)["strongest observer, probe"]
    assert item.passed, item.reasons
    assert item.expected is Verdict.INSUFFICIENT
    assert Verdict.PRIVILEGED not in (item.obtained, *item.also_accepted)


def test_a_verdict_that_a_lot_may_not_have_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        biofeedback_known,
        "judge",
        lambda *_: judge(rows(0.85), SPEC, CLAIM.judged_from).model_copy(update={"verdict": Verdict.PRIVILEGED}),
    )
    table = rows(0.85)
    result = judge(table, SPEC, CLAIM.judged_from)
    found = known_answers({"probe": table}, {"probe": result}, CLAIM)
    assert [item.reporter for item in found if item.passed] in ([], ["planted, probe"])  # the one that must be
