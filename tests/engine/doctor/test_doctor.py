"""The examination finds what is wrong with a model, and says what it means."""

import copy
from typing import Any

import pytest
import torch

from firsthand.engine import LoadedModel, hooks, inspect_model, kernels
from firsthand.engine.doctor import Check, Diagnosis, Finding, diagnose
from firsthand.engine.doctor.checks import graded
from firsthand.engine.loading import load
from firsthand.errors import EngineError


def finding(diagnosis: Diagnosis, name: str) -> Check:
    (check,) = [check for check in diagnosis.checks if check.name == name]
    return check


@pytest.fixture
def mine(tiny: LoadedModel) -> LoadedModel:
    """The tiny model, copied, so that a test may spoil it."""
    return copy.deepcopy(tiny)


def test_a_sound_model_passes_every_check_and_learns_its_noise_floors(tiny: LoadedModel) -> None:
    diagnosis = diagnose(tiny)
    assert diagnosis.failed == ()
    for name in ("edit norm", "sham edit", "cached, chunked, resumed", "batch invariance", "resid_mid"):
        assert finding(diagnosis, name).finding is Finding.OK
    coarse = finding(diagnosis, "noise floor of bfloat16")
    assert "nats" in coarse.measured
    assert diagnosis.as_json()["sound"] is True
    assert {check["name"] for check in diagnosis.as_json()["checks"]} == {check.name for check in diagnosis.checks}


def test_the_bundled_model_can_answer_yes_and_no_but_not_digits_in_one_token() -> None:
    diagnosis = diagnose(load("smollm2"), precisions=False)
    assert diagnosis.failed == ()
    assert finding(diagnosis, "answers yes / no").finding is Finding.OK
    assert finding(diagnosis, "answers 1 / 2").finding is Finding.WARNING
    assert finding(diagnosis, "beginning of text").measured == "1 tokens"
    assert not any(check.name.startswith("noise floor") for check in diagnosis.checks)


def test_a_study_that_proves_its_own_answers_is_told_nothing_about_other_words(tiny: LoadedModel) -> None:
    asked, unasked = diagnose(tiny, precisions=False), diagnose(tiny, precisions=False, answers=False)
    assert {c.name for c in asked.checks} - {c.name for c in unasked.checks} == {
        "answers 1 / 2",
        "answers yes / no",
        "answers A / B",
        "letters as codes",
    }


def test_an_edit_that_is_made_twice_is_found(mine: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    once = hooks._OPERATIONS["add"]
    monkeypatch.setitem(hooks._OPERATIONS, "add", lambda old, vector, s: once(once(old, vector, s), vector, s))
    check = finding(diagnose(mine, precisions=False), "edit norm")
    assert check.finding is Finding.FAILED
    assert "2.0" in check.measured


def test_a_sham_that_leaves_a_trace_is_found(mine: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    once = hooks._OPERATIONS["replace"]
    monkeypatch.setitem(hooks._OPERATIONS, "replace", lambda old, vector, s: once(old, vector, s) * (1 + 1e-6))
    assert finding(diagnose(mine, precisions=False), "sham edit").finding is Finding.FAILED


def test_shared_attention_that_goes_wrong_later_is_found(mine: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = kernels._attend

    def spoiled(query: Any, key: Any, value: Any, *rest: Any, causal: bool) -> Any:
        out, lse = exact(query, key, value, *rest, causal=causal)
        return (out, lse - 0.5) if not causal and key.shape[2] > 8 else (out, lse)

    monkeypatch.setattr(kernels, "_attend", spoiled)
    diagnosis = diagnose(mine, precisions=False)
    assert finding(diagnosis, "cached, chunked, resumed").finding is Finding.FAILED


def test_a_model_without_shared_attention_is_told_what_that_costs(monkeypatch: pytest.MonkeyPatch, mine: Any) -> None:
    monkeypatch.setattr("firsthand.engine.doctor.exactness.refusal_to_share", lambda _: "it takes no positions.")
    check = finding(diagnose(mine, precisions=False), "shared attention")
    assert check.finding is Finding.NOTE
    assert "price of the whole prompt" in check.meaning


def test_a_template_that_rewrites_history_is_warned_of(mine: LoadedModel) -> None:
    mine.tokenizer.chat_template = (
        "{% for m in messages %}{{ m['role'] if loop.last else 'old ' + m['role'] }}: {{ m['content'] }}"
        "{% if not loop.last %}\n{% endif %}{% endfor %}"
    )
    check = finding(diagnose(mine, precisions=False), "earlier turns")
    assert check.finding is Finding.WARNING


def test_text_that_begins_twice_is_found(mine: LoadedModel) -> None:
    bos = mine.tokenizer.bos_token
    mine.tokenizer.chat_template = (
        "{{ '" + bos + bos + "' }}{% for m in messages %}{{ m['role'] + ': ' + m['content'] }}"
        "{% if not loop.last %}\n{% endif %}{% endfor %}"
    )
    assert finding(diagnose(mine, precisions=False), "beginning of text").finding is Finding.FAILED


def test_a_coarse_model_is_warned_of_its_rounding(tiny_folder: Any) -> None:
    diagnosis = diagnose(load(str(tiny_folder), dtype="bfloat16"))
    assert finding(diagnosis, "noise floor").finding is Finding.WARNING
    assert finding(diagnosis, "edit norm").finding is not Finding.FAILED


def test_a_check_that_cannot_be_carried_out_counts_as_failed(
    mine: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Any) -> Any:
        raise EngineError("Something broke.", "Mend it.")

    monkeypatch.setattr("firsthand.engine.doctor.exactness.sham", fails)
    check = finding(diagnose(mine, precisions=False), "sham edit")
    assert (check.finding, check.measured, check.meaning) == (Finding.FAILED, "Something broke.", "Mend it.")


def test_the_examination_leaves_the_model_as_it_was(mine: LoadedModel) -> None:
    before = {name: value.clone() for name, value in mine.model.state_dict().items()}
    implementation = mine.model.config._attn_implementation
    diagnose(mine)
    assert mine.model.config._attn_implementation == implementation
    assert all(torch.equal(before[name], value) for name, value in mine.model.state_dict().items())
    assert all(
        "forward" not in block.__dict__ and not block._forward_hooks for block in inspect_model(mine.model).blocks
    )


@pytest.mark.parametrize(("value", "expected"), [(0.5, "ok"), (1.0, "ok"), (2.0, "warning"), (9.0, "failed")])
def test_a_number_is_graded_by_two_limits(value: float, expected: str) -> None:
    check = graded("x", value, 1.0, 3.0, "m", ("fine", "so so", "bad"))
    assert check.finding == expected
    assert graded("x", float("nan"), 1.0, 3.0, "m", ("fine", "so so", "bad")).finding is Finding.FAILED
