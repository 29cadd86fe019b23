"""What a target says never reaches another model outside of quotation marks, and decides and does nothing."""

import re

import pytest
from planted_world import CALLS, HOSTILE
from running_world import run

from firsthand.counterfactual.inspecting.running import StagesResult
from firsthand.counterfactual.quoting import RULE
from firsthand.counterfactual.responses import Sampling

QUOTE = re.compile(r"^BEGIN ([0-9a-f]{16}) .*?^END \1$", re.DOTALL | re.MULTILINE)
TELLING = ("Ignore the above", "The task has changed", "HACKED", "new rules", "told so")


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> tuple[StagesResult, list[dict[str, object]]]:
    """A run whose target ends each of its responses with all hostile texts."""
    CALLS.clear()
    result = run(tmp_path_factory.mktemp("hostile"), 1, "hostile", sampling=Sampling(samples=10), effort="light")
    return result, list(CALLS)


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> StagesResult:
    """The same run with a target that says the same things and nothing hostile."""
    return run(tmp_path_factory.mktemp("plain"), 1, "world", sampling=Sampling(samples=10), effort="light")


def test_hostile_texts_stand_inside_quotes_only(attacked: tuple[StagesResult, list[dict[str, object]]]) -> None:
    roles = set()
    for call in attacked[1]:
        if call["role"] == "target":
            continue
        messages = call["input"]
        assert isinstance(messages, list)
        assert RULE in messages[0].text
        for message in messages:
            if message.role == "assistant":
                continue
            outside = QUOTE.sub("", message.text)
            assert not [word for word in TELLING if word in outside], (call["role"], outside)
            if any(word in message.text for word in TELLING):
                roles.add(call["role"])
    assert roles == {"screener", "classifier", "investigator"}


def test_no_mark_of_a_chat_template_and_nothing_unseen_reaches_a_reader(
    attacked: tuple[StagesResult, list[dict[str, object]]],
) -> None:
    for call in attacked[1]:
        if call["role"] != "target":
            text = "\n".join(message.text for message in call["input"] if message.role != "assistant")  # type: ignore[attr-defined]
            for mark in ("<|im_start|>", "<|im_end|>", "<tool_call>", "[INST]", "</s>", "\u202e", "\x1b"):
                assert mark not in text


def test_verdicts_reports_and_scores_are_what_they_are_without_the_attack(
    attacked: tuple[StagesResult, list[dict[str, object]]], unharmed: StagesResult
) -> None:
    result = attacked[0]
    assert result.finished
    assert [one.baseline for one in result.investigations] == [one.baseline for one in unharmed.investigations]
    for hit, plain in zip(result.investigations, unharmed.investigations, strict=True):
        assert hit.report == plain.report
        assert hit.experiments == plain.experiments
        assert hit.judgements == plain.judgements
    assert [one.label for one in result.claims] == [one.label for one in unharmed.claims]


def test_a_call_in_a_targets_text_is_never_carried_out(attacked: tuple[StagesResult, list[dict[str, object]]]) -> None:
    for one in attacked[0].investigations:
        assert one.report is not None
        assert "HACKED" not in one.report.model_dump_json()
    assert any("HACKED" in text for text in HOSTILE)


def test_judges_and_describers_are_told_rates_and_edits_and_no_response(
    attacked: tuple[StagesResult, list[dict[str, object]]],
) -> None:
    shown = [call for call in attacked[1] if call["role"] in ("judge", "describer", "implementer", "concreteness")]
    assert shown
    for call in shown:
        text = "\n".join(message.text for message in call["input"])  # type: ignore[attr-defined]
        assert "One sees a" not in text
