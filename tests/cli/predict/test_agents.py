"""Agents of the command ``predict``: models that Inspect reaches, with tools beside themselves without them."""

import json
import logging
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from commands import Command, Done, assert_refused

sys.path.insert(0, str(Path(__file__).parents[2] / "counterfactual" / "inspecting" / "predicting"))
sys.path.insert(0, str(Path(__file__).parents[2] / "counterfactual"))

from claim_parts import claim

from firsthand.counterfactual.claims import Answered
from firsthand.counterfactual.responses import Response, Sampling
from firsthand.counterfactual.rows import row_of
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.report.predictions_files import read_json

pytestmark = pytest.mark.skipif(find_spec("inspect_ai") is None, reason="Inspect is not installed")

NAME = "mockllm/model"
READING = f"{NAME} + logit_lens"


class Provider:
    """Answers as a provider would: with tools it calls one, and then knows better.

    ``lost`` calls fail first, and those about the prompt of the number ``broken`` always.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self.lost = 0
        self.broken = ""
        from firsthand.counterfactual.inspecting import running

        monkeypatch.setattr(running, "model_of", lambda model, arguments: self.model())

    def model(self) -> Any:
        from inspect_ai.model import get_model

        made = get_model(NAME, custom_outputs=self.reply, memoize=False)
        made.api.should_retry = lambda error: False  # type: ignore[method-assign]
        return made

    def reply(self, messages: list[Any], tools: Any, choice: Any, config: Any) -> Any:
        from scripted import calls, fails, foretells, says

        if len(messages) == 1:  # whether anybody is served
            return says("OK")
        text = messages[1].text
        number = re.search(r"number (\d+)", text)
        assert number is not None
        self.asked.append(number[1])
        if self.lost or number[1] == self.broken:
            self.lost = max(0, self.lost - 1)
            return fails()
        if tools and messages[-1].role != "tool":
            return calls("logit_lens", positions=[2, 3])
        sure = messages[-1].role == "tool"
        even = int(number[1]) % 2 == 0
        return foretells((0.9 if even else 0.1) if sure else 0.6)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Provider:
    logging.disable(logging.INFO)
    for name in ("INSPECT_CACHE_DIR", "INSPECT_LOG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return Provider(monkeypatch)


@pytest.fixture
def claims(tmp_path: Path, tiny: object) -> Path:
    """Claims about the tiny model, of which those of an even number are true."""
    target = LocalTarget(tiny, Sampling(max_tokens=8)).identity  # type: ignore[arg-type]
    said = (Answered(response=Response(text="I am sorry.")),)
    made = [claim(number, number % 2 == 0, target=target, responses=said) for number in range(6)]
    path = tmp_path / "claims.jsonl"
    path.write_text("".join(json.dumps(row_of(one)) + "\n" for one in made))
    return path


def asked(firsthand: Command, path: Path, out: Path, *options: str | Path) -> Done:
    return firsthand("predict", path, "--out", out, "--agent", NAME, "--predictor", "always-yes", *options)


def test_tools_are_held_against_the_same_agent_without_them(
    firsthand: Command,
    provider: Provider,
    tiny_folder: Path,
    claims: Path,
    tmp_path: Path,
) -> None:
    out, tools = tmp_path / "run", ("--tool", "logit-lens", "--target", tiny_folder, "--calls", "2")
    priced = asked(firsthand, claims, out, *tools, "--dry-run")
    assert priced.code == 0, priced.err
    assert f"{NAME}: 6 claims, 6 calls" in priced.out
    assert f"{READING}: 6 claims, 18 calls" in priced.out
    assert "Agents in all: unknown" in priced.out
    assert "No money is spent" not in priced.out
    assert (provider.asked, out.exists()) == ([], False)

    done = asked(firsthand, claims, out, *tools)
    assert done.code == 0, done.err
    document = read_json(out / "result.json")
    assert {one.name: one.kind for one in document.predictors} == {
        "always-yes": "floor",
        NAME: "observer",
        READING: "tools",
    }
    (found,) = document.results.tools
    assert (found.name, found.over, found.claims) == (READING, NAME, 6)
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx(0.5)
    card = document.card(READING)
    assert (card.beside, card.calls, document.card(NAME).calls) == (NAME, 6, 0)
    assert card.tokens == 6 * 2 * 110
    assert document.results.baseline == NAME
    assert (out / "data" / "tools.csv").exists()
    assert "What tools add" in (out / "report.html").read_text()
    assert "What tools add" in done.out
    assert firsthand("verify", out).code == 0

    provider.asked.clear()
    again = asked(firsthand, claims, out, *tools)
    assert (provider.asked, again.out) == ([], done.out)


def test_a_call_that_was_lost_is_no_answer_and_is_made_by_the_same_command(
    firsthand: Command,
    provider: Provider,
    claims: Path,
    tmp_path: Path,
) -> None:
    out, provider.lost = tmp_path / "run", 1
    done = asked(firsthand, claims, out)
    assert done.code == 0, done.err
    document = read_json(out / "result.json")
    assert sum(document.card(NAME).invalid.values()) == 1
    assert any("1 calls of mockllm/model were lost" in note for note in document.notes)
    provider.asked.clear()
    assert asked(firsthand, claims, out).code == 0
    assert len(provider.asked) == 1
    assert read_json(out / "result.json").card(NAME).invalid == {}


def test_a_claim_whose_call_is_lost_in_three_runs_is_invalid_and_asked_no_more(
    firsthand: Command,
    provider: Provider,
    claims: Path,
    tmp_path: Path,
) -> None:
    out, provider.broken = tmp_path / "run", "1"
    for run, told in enumerate((True, True, False)):
        assert asked(firsthand, claims, out).code == 0
        document = read_json(out / "result.json")
        assert sum(document.card(NAME).invalid.values()) == 1
        assert any("were lost" in note for note in document.notes) is told
        assert provider.asked == ["1"] or run == 0
        provider.asked.clear()
    assert asked(firsthand, claims, out).code == 0
    assert not provider.asked


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--agent", "gpt"), "names no provider"),
        (("--agent", NAME), "named twice"),
        (("--tool", "logit-lens"), "--target MODEL"),
    ],
)
def test_agents_that_cannot_be_asked_are_refused_with_what_to_do(
    firsthand: Command,
    claims: Path,
    tmp_path: Path,
    options: tuple[str, ...],
    words: str,
) -> None:
    assert_refused(asked(firsthand, claims, tmp_path / "run", *options), words)
    assert not (tmp_path / "run").exists()


def test_tools_without_an_agent_are_refused(firsthand: Command, claims: Path, tmp_path: Path) -> None:
    done = firsthand("predict", claims, "--out", tmp_path / "run", "--tool", "logit-lens")
    assert_refused(done, "Only agents call tools")
