"""The rules for imported studies: every verdict can be reached, and none without what it needs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.checks.base import Signal
from firsthand.analysis.imported import ImportedEvidence, compile_imported
from firsthand.analysis.imported_judging import judge_imported
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.analysis.inference import Measured
from firsthand.vocabulary import Capability, Kind, Verdict


def at(value: float, se: float = 0.02) -> Measured:
    return Measured.approximate(value, se, 30)


FULL = ImportedEvidence(
    capability=Capability.DETECTION,
    signal=Signal("margin", at(0.5)),
    kinds=frozenset(Kind),
    own_control=True,
    observers={"outsider": at(0.4)},
    alarms={Kind.IMPACT_CONTROL: at(0.0)},
    margins={kind: at(0.5) for kind in Kind if kind is not Kind.TARGET},
    coverage=0.9,
)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, Verdict.PRIVILEGED),
        ({"signal": Signal("margin", at(-0.5))}, Verdict.INVERTED),
        (
            {"alarms": {Kind.IMPACT_CONTROL: at(0.5)}, "margins": {**FULL.margins, Kind.IMPACT_CONTROL: at(0.0)}},
            Verdict.ANOMALY_ONLY,
        ),
        ({"observers": {"outsider": at(0.0)}}, Verdict.PUBLIC_INFERENCE),
        ({"signal": Signal("margin", at(0.0))}, Verdict.INSUFFICIENT),
    ],
)
def test_verdicts(change: dict[str, object], verdict: Verdict) -> None:
    found = compile_imported(replace(FULL, **change))  # type: ignore[arg-type]
    assert found.verdict is verdict
    assert found.reasons
    assert found.concluded


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"kinds": frozenset({Kind.TARGET, Kind.BASELINE})}, "sham, input_control, impact_control"),
        ({"observers": {}}, "no observer"),
        ({"own_control": False}, "an unrelated yes/no question"),
        ({"shift": "affirmative shift: shown"}, "affirmative shift"),
        ({"coverage": 0.1}, "10.0% of the probability"),
        ({"signal": None}, "cannot be computed"),
        ({"missing": ("no pair in both orders",)}, "no pair in both orders"),
    ],
)
def test_each_gate_alone_closes(change: dict[str, object], word: str) -> None:
    found = compile_imported(replace(FULL, **change))  # type: ignore[arg-type]
    assert found.verdict is Verdict.INSUFFICIENT
    assert any(word in reason for reason in found.reasons)


def test_too_few_units_are_said_where_the_interval_alone_would_convince() -> None:
    few = Measured.approximate(0.4, 0.02, 3)
    sparse = replace(few.parts[0], pseudo=np.array([0.38, 0.4, 0.42]))
    found = compile_imported(replace(FULL, observers={}, signal=Signal("lead", Measured((sparse,), 3))))
    assert any("3 units of block are too few" in line for line in found.concluded)


def orders(first: float, second: float, seed: int = 0) -> ImportedStudy:
    """Answers FIRST with these probabilities when the first, or the second, is the truth."""
    rng = np.random.default_rng(seed)
    rows = []
    for concept in range(20):
        for pair in range(5):
            for truth, rate in (("FIRST", first), ("SECOND", second)):
                answer = "FIRST" if rng.random() < rate else "SECOND"
                rows.append(
                    {"concept": f"c{concept}", "pair": f"p{pair}", "layer": 1, "truth": truth, "answer": answer}
                )
    table = pd.DataFrame(rows)
    table["correct"] = table["truth"].eq(table["answer"]).astype(float)
    table["trial_id"], table["repeats"], table["identical"], table["kind"] = range(len(table)), 1, True, "target"
    return ImportedStudy(
        name="orders",
        title="Which is stronger?",
        capability=Capability.CHARACTERISATION,
        table=table,
        clusters=("concept",),
        cells=("layer",),
        options=("FIRST", "SECOND"),
        pair=("pair",),
        published_rows=len(table),
    )


def test_a_constant_place_has_no_excess_and_a_true_report_has() -> None:
    biased, true = (judge_imported([orders(*rates)])[0] for rates in ((0.02, 0.02), (0.9, 0.1)))
    excess = [
        next(
            n.estimate for f in result.findings if f.name == "order" for n in f.numbers if n.name.startswith("balanced")
        )
        for result in (biased, true)
    ]
    assert excess[0] is not None
    assert excess[1] is not None
    assert excess[0].low <= 0 <= excess[0].high
    assert excess[1].low > 0.3
    assert any("the answers follow what was done" in line for line in true.concluded)
    assert not any("the answers follow what was done, by" in line for line in biased.concluded)


def test_null_tables_are_not_called_more_often_than_alpha() -> None:
    """A responder that ignores the order passes for one that follows it in at most 2.5%, plus sampling error."""
    said = [
        any(
            "the answers follow what was done, by" in line
            for line in judge_imported([orders(0.3, 0.3, seed)])[0].concluded
        )
        for seed in range(120)
    ]
    assert np.mean(said) <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / len(said))
