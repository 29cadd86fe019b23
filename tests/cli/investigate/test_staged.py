"""The command ``investigate agents`` as a user meets it."""

import json
import re
from pathlib import Path

import pytest
import yaml
from commands import Command, assert_refused

ROLES = ("--role", "target=firsthand/smollm2", "--role", "investigator=anthropic/claude-opus-4-6")


DOCS = Path(__file__).parents[3] / "docs" / "investigate-with-agents.md"


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    pytest.importorskip("inspect_ai", reason="Inspect is not installed; pip install 'firsthand[investigate]'")
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps({"prompt": f"Tell me about number {n}."}) for n in range(5)))
    return path


def test_a_dry_run_tells_calls_tokens_and_money_by_stage_and_role(
    firsthand: Command, prompts: Path, tmp_path: Path
) -> None:
    done = firsthand("investigate", "agents", prompts, *ROLES, "--out", tmp_path / "run", "--dry-run")
    assert done.code == 0, done.err
    for words in ("target", "investigator", "judge", "not billed", "In all: $"):
        assert words in done.out
    assert "with 30 responses, and the baseline with as many 1 times" in " ".join(done.out.split())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--role", "target"), "names no role and model"),
        (("--role", "target=smollm2"), "names no role and model"),
        (("--role", "target=firsthand/smollm2"), "no model plays the role 'investigator'"),
        ((*ROLES, "--role", "oracle=openai/gpt-5"), "settings cannot be used: roles"),
        ((*ROLES, "--settings", "absent.yaml"), "cannot be read"),
    ],
)
def test_wrong_settings_are_told_in_words(
    firsthand: Command, prompts: Path, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    assert_refused(firsthand("investigate", "agents", prompts, *options, "--out", tmp_path / "run"), words)


def test_the_example_in_the_documentation_is_every_setting_and_can_be_used(
    firsthand: Command, prompts: Path, tmp_path: Path
) -> None:
    from firsthand.counterfactual.inspecting.stages.settings import Budget, Lengths, StagesSettings
    from firsthand.counterfactual.responses import Sampling

    (example,) = [text for text in re.findall(r"```yaml\n(.*?)```", DOCS.read_text(), re.DOTALL) if "roles:" in text]
    held = yaml.safe_load(example)
    settings = StagesSettings.model_validate({**held, "folder": "runs/agents"})
    assert set(held) == set(StagesSettings.model_fields) - {"folder", "weights"}
    for name, form in (("sampling", Sampling), ("budget", Budget), ("lengths", Lengths)):
        assert set(held[name]) == set(form.model_fields)
    plain = StagesSettings(folder="runs/agents", roles=settings.roles)
    as_shown = {name: value for name, value in settings if name not in ("behaviours", "budget")}
    assert as_shown == {name: value for name, value in plain if name in as_shown}
    assert settings.budget == plain.spending
    path = tmp_path / "settings.yaml"
    path.write_text(example)
    done = firsthand("investigate", "agents", prompts, "--settings", path, "--out", tmp_path / "run", "--dry-run")
    assert done.code == 0, done.err
    assert "Qwen3-8B" in done.out


def test_preparation_and_a_run_on_what_it_wrote_go_together(firsthand: Command, prompts: Path, tmp_path: Path) -> None:
    out = tmp_path / "prepared"
    limits = ("--min-characters", "0", "--per-family", "3")
    done = firsthand("investigate", "prepare", prompts, "--out", out, *limits)
    assert done.code == 0, done.err
    assert (out / "prompts.jsonl").exists()
    priced = firsthand("investigate", "agents", out, *ROLES, "--out", tmp_path / "run", "--dry-run")
    assert priced.code == 0, priced.err
