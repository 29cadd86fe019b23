"""The command ``investigate agents`` as a user meets it."""

import json
from pathlib import Path

import pytest
from commands import Command, assert_refused

ROLES = ("--role", "target=firsthand/smollm2", "--role", "investigator=anthropic/claude-opus-4-6")


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


def test_preparation_and_a_run_on_what_it_wrote_go_together(firsthand: Command, prompts: Path, tmp_path: Path) -> None:
    out = tmp_path / "prepared"
    limits = ("--min-characters", "0", "--per-family", "3")
    done = firsthand("investigate", "prepare", prompts, "--out", out, *limits)
    assert done.code == 0, done.err
    assert (out / "prompts.jsonl").exists()
    priced = firsthand("investigate", "agents", out, *ROLES, "--out", tmp_path / "run", "--dry-run")
    assert priced.code == 0, priced.err
