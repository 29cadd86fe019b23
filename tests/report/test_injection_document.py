"""The document of an injection study: what it refuses, and what a broken instrument takes from it."""

from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from firsthand.report.injection_document import InjectionDocument
from firsthand.vocabulary import Verdict


def test_json_round_trip(injection: InjectionDocument) -> None:
    assert InjectionDocument.model_validate_json(injection.model_dump_json()) == injection


def test_findings_have_names_of_their_own(injected: SimpleNamespace) -> None:
    first = injected.document().findings[0]
    with pytest.raises(ValidationError, match="names of their own"):
        injected.document(findings=(first, first))


@pytest.mark.parametrize("name", ["", "Has Space", "../up", "<b>"])
def test_a_name_is_what_links_and_files_can_be_made_of(injection: InjectionDocument, name: str) -> None:
    fields = injection.findings[0].model_dump() | {"name": name}
    with pytest.raises(ValidationError, match="name"):
        type(injection.findings[0]).model_validate(fields)


def test_a_broken_instrument_takes_every_result_and_names_every_failure(injected: SimpleNamespace) -> None:
    known = injected.document().known_answers
    failed = known[1].model_copy(update={"obtained": None, "passed": False})
    document = injected.document(
        instrument_ok=False, known_answers=(known[0], failed), instrument_failures=("An edit was not consumed.",)
    )
    assert not any(finding.results for finding in document.findings)
    assert document.failed_checks == (
        f"smoke alarm, detection: expected {Verdict.ANOMALY_ONLY}, got no verdict",
        "An edit was not consumed.",
    )


def test_an_instrument_in_order_has_no_failed_check(injected: SimpleNamespace) -> None:
    with pytest.raises(ValidationError, match="a check failed"):
        injected.document(instrument_failures=("An edit was not consumed.",))
