"""Detection of injected thoughts: reporters of known answer get their verdict, and a study goes on where it stopped."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.affirmation import affirmation
from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.injection import SPEC, audit_detection, judge_detection, score_cells, split_concepts
from firsthand.engine import LoadedModel
from firsthand.errors import ClaimError, TraceError
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import KINDS, Arm
from firsthand.studies.injection.bench import InjectionBench, prepare
from firsthand.studies.injection.built_in import built_in
from firsthand.vocabulary import Verdict

CONCEPTS = tuple(f"c{i}" for i in range(24))
FIRES = {
    "wire": {Arm.TARGET},
    "smoke alarm": {Arm.TARGET, Arm.CONTENT_FREE, Arm.PUSH, Arm.SHUFFLED},
    "reader of the text": {Arm.PUSH},
    "ruler": {Arm.TARGET, Arm.SHUFFLED},
    "denier": set(),
}

Says = Callable[[str, str, np.random.Generator], float]


def trials(says: Says, seed: int = 0, concepts: tuple[str, ...] = CONCEPTS) -> pd.DataFrame:
    """Every concept, wording, order and arm; ``says(task, arm, rng)`` is the answer."""
    rng = np.random.default_rng(seed)
    rows = []
    for concept in concepts:
        for wording in ("w0", "w1", "w2", "w3"):
            for task, orders in (("detection", ("injected-nothing", "nothing-injected")), ("unrelated", ("yes-no",))):
                for order in orders:
                    for arm in Arm:
                        if task == "unrelated" and arm is Arm.PUSH:
                            continue
                        answer = says(task, arm, rng)
                        there = float(arm is Arm.TARGET)
                        rows.append(
                            {
                                "trial_id": f"{concept}/{wording}/{task}/{order}/{arm}",
                                "task": task,
                                "arm": str(arm),
                                "kind": str(KINDS[arm]) if arm in KINDS else "",
                                "concept": concept,
                                "wording": wording,
                                "order": order,
                                "layer": 3 if arm not in (Arm.CLEAN, Arm.PUSH) else -1,
                                "dose": 1.0 if arm not in (Arm.CLEAN, Arm.PUSH) else 0.0,
                                "answer": answer,
                                "probability": 0.1 + 0.8 * answer,
                                "coverage": 0.9,
                                "contrast": 4.0 * answer - 2.0 + rng.normal(0, 0.1),
                                "impact_kl": there,
                                "entropy": 1.0,
                                "impact_matched": 1.0 if arm is Arm.CONTENT_FREE else np.nan,
                                "surface": "1" if (answer > 0.5) == order.startswith("injected") else "2",
                                "site": there + rng.normal(0, 0.05),
                                "residual": np.array([there + rng.normal(0, 0.05), rng.normal()], dtype=np.float32),
                            }
                        )
    return pd.DataFrame(rows)


def judged(says: Says) -> CapabilityResult:
    table = trials(says)
    return judge_detection(table, SPEC, affirmation(table, SPEC))


def fires_on(arms: set[Arm]) -> Says:
    return lambda task, arm, rng: float(task == "detection" and arm in arms)


@pytest.mark.parametrize(
    ("reporter", "verdict"),
    [
        ("wire", Verdict.PRIVILEGED),
        ("smoke alarm", Verdict.ANOMALY_ONLY),
        ("denier", Verdict.AVAILABLE_NOT_REPORTED),
    ],
)
def test_a_reporter_of_known_answer_gets_its_verdict(reporter: str, verdict: Verdict) -> None:
    assert judged(fires_on(FIRES[reporter])).verdict is verdict


def test_a_reporter_that_answers_to_the_text_alone_is_not_privileged() -> None:
    assert judged(fires_on(FIRES["reader of the text"])).verdict is not Verdict.PRIVILEGED


def test_a_report_of_how_long_the_vector_is_is_not_privileged() -> None:
    """It rejects the matched direction, whose dose is its own, and fires on any vector of the target's length."""
    result = judged(fires_on(FIRES["ruler"]))
    assert result.verdict is Verdict.ANOMALY_ONLY
    assert "in another order" in result.reasons[0]


def test_a_control_that_could_not_fail_supports_no_verdict() -> None:
    """Under the unrelated question this model says yes already, so that an injection could not raise it."""
    result = judged(lambda task, arm, rng: float(task == "unrelated" or arm == Arm.TARGET))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "could not have failed" in result.reasons[0]


def test_an_inverter_is_inverted() -> None:
    assert judged(lambda task, arm, rng: float(task == "detection" and arm != Arm.TARGET)).verdict is Verdict.INVERTED


def test_an_injection_that_raises_yes_to_anything_is_rejected_by_the_unrelated_question() -> None:
    result = judged(lambda task, arm, rng: float(arm == Arm.TARGET))
    assert result.verdict is Verdict.ANOMALY_ONLY
    assert "unrelated question" in result.reasons[0]


def test_coins_are_called_privileged_no_more_often_than_alpha() -> None:
    called = 0
    for seed in range(40):
        table = trials(lambda task, arm, rng: float(rng.random() < 0.5), seed)
        called += judge_detection(table, SPEC, affirmation(table, SPEC)).verdict is Verdict.PRIVILEGED
    assert called <= 40 * SPEC.alpha + 3 * np.sqrt(40 * SPEC.alpha * (1 - SPEC.alpha))


def test_cells_are_scored_by_what_the_injection_does_to_the_same_prompt() -> None:
    table = trials(fires_on(FIRES["wire"]))
    (score,) = score_cells(table, [Cell(3, 1.0)])
    assert score.concordance.value == 1.0
    assert score.rise.value == 1.0
    assert score.unrelated.value == 0.0
    assert score.rise.units == len(CONCEPTS)


def test_an_invalid_answer_is_not_a_no_when_cells_are_scored() -> None:
    table = trials(lambda task, arm, rng: float(task == "detection" and arm == Arm.TARGET))
    holed = table.assign(answer=table["answer"].where(table["wording"] != "w0"))
    (score,) = score_cells(holed, [Cell(3, 1.0)])
    assert score.rise.value == 1.0


@pytest.fixture(scope="module")
def bench(tiny: LoadedModel) -> InjectionBench:
    concepts = ("apple", "music", "poetry", "sand", "war", "justice")
    return prepare(tiny, concepts, [0, 1], built_in(options=2, labels="digits")[:2])


def test_concepts_that_choose_never_judge(bench: InjectionBench) -> None:
    choosing, judging = split_concepts(bench)
    assert set(choosing) | set(judging) == set(bench.concepts)
    assert not set(choosing) & set(judging)


def test_a_study_of_a_random_model_finds_nothing_and_goes_on_where_it_stopped(
    bench: InjectionBench, tmp_path: Path
) -> None:
    cells = [Cell(0, 0.5), Cell(1, 1.0)]
    done = audit_detection(bench, cells, tmp_path / "study")
    assert done.result.verdict is Verdict.INSUFFICIENT
    assert {score.cell for score in done.cells} == set(cells)
    assert set(done.table["arm"]) == {str(arm) for arm in Arm}
    finished = sorted((tmp_path / "study" / "trace" / "units").glob("*.json"))
    assert len(finished) == 4
    finished[1].unlink()
    again = audit_detection(bench, cells, tmp_path / "study")
    plain = ["trial_id", "answer", "contrast", "impact_kl", "site"]
    pd.testing.assert_frame_equal(again.table[plain], done.table[plain])
    assert again.result == done.result
    with pytest.raises(ClaimError, match="other cells"):
        audit_detection(bench, cells[:1], tmp_path / "study")
    shard = next((tmp_path / "study" / "trace" / "reports").glob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[:100])
    with pytest.raises(TraceError, match="altered"):
        audit_detection(bench, cells, tmp_path / "study")


def test_a_folder_with_something_else_is_refused(bench: InjectionBench, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ClaimError, match="holds no study"):
        audit_detection(bench, [Cell(0, 1.0)], tmp_path)
