"""The document: what it refuses, and that it survives JSON."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from firsthand.report import AuditDocument, KnownAnswer
from firsthand.vocabulary import Capability, Verdict


def test_json_round_trip(document: AuditDocument) -> None:
    assert AuditDocument.model_validate_json(document.model_dump_json()) == document


def test_schema_is_versioned_and_closed() -> None:
    schema = AuditDocument.model_json_schema()
    assert schema["properties"]["schema_version"]["const"] == 1
    assert schema["additionalProperties"] is False
    json.dumps(schema)


def test_unknown_fields_are_refused(make: SimpleNamespace) -> None:
    with pytest.raises(ValidationError, match="surprise"):
        make.document(surprise=1)


def test_a_broken_instrument_carries_no_verdict_anywhere(make: SimpleNamespace) -> None:
    broken = make.document(instrument_ok=False, instrument_failures=("An edit was not consumed.",), known_answers=())
    assert broken.profile is None
    dumped = json.loads(broken.model_dump_json())
    assert dumped["profile"] is None
    assert not any(verdict.value in json.dumps(dumped) for verdict in Verdict)


def test_instrument_may_not_be_called_ok_when_a_known_answer_failed(make: SimpleNamespace) -> None:
    failed = make.known()[0].model_copy(update={"passed": False, "obtained": Verdict.INSUFFICIENT})
    with pytest.raises(ValidationError, match="wire, identification: expected privileged, got insufficient"):
        make.document(known_answers=(failed,))
    assert make.document(known_answers=(failed,), instrument_ok=False).failed_checks == (
        "wire, identification: expected privileged, got insufficient",
    )


def test_a_broken_instrument_must_say_what_broke(make: SimpleNamespace) -> None:
    with pytest.raises(ValidationError, match="no failed check is named"):
        make.document(instrument_ok=False)


def test_a_sound_instrument_must_bring_a_profile(make: SimpleNamespace) -> None:
    with pytest.raises(ValidationError, match="profile is missing"):
        make.document(profile=None)
    assert make.document(profile=make.profile()).profile is not None


def test_a_known_answer_passes_only_with_an_accepted_verdict() -> None:
    fields = {
        "reporter": "constant",
        "description": "Always the same.",
        "capability": Capability.DETECTION,
        "expected": Verdict.INSUFFICIENT,
        "passed": True,
    }
    with pytest.raises(ValidationError, match="marked passed"):
        KnownAnswer(**fields, obtained=Verdict.NO_ACCESS)
    assert KnownAnswer(**fields, obtained=Verdict.NO_ACCESS, also_accepted=(Verdict.NO_ACCESS,)).passed


def test_importing_the_package_loads_no_heavy_library() -> None:
    code = (
        "import sys, firsthand.report\n"
        "print([m for m in ('altair', 'vl_convert', 'jinja2', 'rich', 'torch', 'transformers') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == "[]"


def test_text_that_no_file_can_hold_is_spelled_out(make: SimpleNamespace) -> None:
    document = make.document(trials=make.trials(make.hostile))
    assert "⟨U+D800⟩" in document.trials[0].prompt
    assert AuditDocument.model_validate_json(document.model_dump_json()) == document
