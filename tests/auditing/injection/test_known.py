"""Reporters of known answer get their verdicts on every question, through the path that judges a model."""

import pandas as pd
import pytest
from synthetic import detection, listed, reported

from firsthand.auditing.injection.choosing import judge_choices
from firsthand.auditing.injection.detecting import judge_detection
from firsthand.auditing.injection.known import known_answers, unexaminable
from firsthand.claims.claim import AnalysisSpec
from firsthand.organisms.injected import REPORTERS, Sensed
from firsthand.vocabulary import Verdict

SPEC = AnalysisSpec(clusters=("concept",))


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    asked = {f"detection-{n}": detection(n) for n in (2, 3)}
    return asked | {name: listed(name) for name in ("localisation", "strength", "choice", "codes")}


def test_every_reporter_of_known_answer_gets_its_verdict_on_every_question(tables: dict[str, pd.DataFrame]) -> None:
    found = known_answers(tables, SPEC)
    assert len(found) == sum(len(reporter.expected) for reporter in REPORTERS)
    assert [f"{k.reporter}, {k.description}: {k.obtained}, {k.reasons}" for k in found if not k.passed] == []


def test_a_smoke_alarm_is_anomaly_only_in_detection_and_not_in_localisation(tables: dict[str, pd.DataFrame]) -> None:
    found = {k.description.rsplit(": ")[1]: k for k in known_answers(tables, SPEC) if k.reporter == "smoke alarm"}
    assert found["detection-2."].obtained is Verdict.ANOMALY_ONLY
    assert found["localisation."].obtained not in (Verdict.ANOMALY_ONLY, Verdict.PRIVILEGED)


def test_an_entropy_shifter_is_rejected_by_the_unrelated_question(tables: dict[str, pd.DataFrame]) -> None:
    (found,) = [k for k in known_answers(tables, SPEC) if k.reporter == "entropy shifter"]
    assert found.obtained is Verdict.ANOMALY_ONLY
    assert "unrelated question" in found.reasons[0]


def test_a_reader_of_the_pushing_text_is_not_privileged(tables: dict[str, pd.DataFrame]) -> None:
    said = reported(tables["detection-2"], "detection-2", lambda sensed: sensed.detects(sensed.about and sensed.pushed))
    assert judge_detection(said, SPEC).result.verdict is not Verdict.PRIVILEGED


def test_a_report_of_how_long_the_vector_is_is_not_privileged(tables: dict[str, pd.DataFrame]) -> None:
    """It rejects the matched direction, whose dose is its own, and fires on any vector of the target's length."""
    found = [k for k in known_answers(tables, SPEC) if k.reporter == "thermometer" and "detection-2" in k.description]
    assert found[0].obtained is Verdict.ANOMALY_ONLY
    assert "in another order" in found[0].reasons[0]


def test_a_control_that_could_not_fail_supports_no_verdict(tables: dict[str, pd.DataFrame]) -> None:
    """Under the unrelated question this model says yes already, so that an injection could not raise it."""

    def says(sensed: Sensed) -> str:
        return sensed.detects(not sensed.about or sensed.along[0] > 0.5)

    result = judge_detection(reported(tables["detection-2"], "detection-2", says), SPEC).result
    assert result.verdict is Verdict.INSUFFICIENT
    assert "could not have failed" in result.reasons[0]


@pytest.mark.parametrize("question", ["localisation", "choice", "codes"])
def test_what_any_question_brings_out_as_often_was_not_reported(tables: dict[str, pd.DataFrame], question: str) -> None:
    """The injection promotes its own answer, whatever is asked: the right answer under the control question too."""
    table = tables[question]
    target = (table["arm"] == "target").to_numpy()
    promoted = table.assign(answer=table["answer"].where(~target, table["truth"]))
    result = judge_choices(promoted, question, SPEC)
    assert result.verdict is Verdict.ANOMALY_ONLY
    assert "question:" in result.reasons[0]


def test_a_question_whose_impact_could_not_be_matched_is_not_examined_and_gets_no_positive_verdict(
    tables: dict[str, pd.DataFrame],
) -> None:
    unmatched = tables["detection-2"].assign(matched=tables["detection-2"]["matched"].where(lambda m: m.isna(), 0.0))
    asked = {"detection-2": unmatched, "localisation": tables["localisation"]}
    assert unexaminable(asked) == {"detection-2": 0.0}
    assert {k.description.rsplit(": ")[1] for k in known_answers(asked, SPEC)} == {"localisation."}
    wire = reported(unmatched, "detection-2", lambda sensed: sensed.detects(sensed.about and sensed.along[0] > 0.5))
    assert judge_detection(wire, SPEC).result.verdict is Verdict.INSUFFICIENT


def test_an_instrument_without_the_question_is_not_examined_on_it(tables: dict[str, pd.DataFrame]) -> None:
    found = known_answers({"strength": tables["strength"]}, SPEC)
    assert {k.reporter for k in found} == {"wire", "thermometer"}
