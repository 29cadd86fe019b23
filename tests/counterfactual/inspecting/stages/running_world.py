"""Runs of the stages in the planted world."""

from pathlib import Path
from typing import Any

from planted_world import QUESTION, prompt_text

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.inspecting.running import StagesResult, run_stages
from firsthand.counterfactual.inspecting.stages.settings import RoleModel, StagesSettings
from firsthand.counterfactual.prompts import Prompt, Turn

PROGRAM = Pattern(question=QUESTION, pattern="lighthouse")


def prompts(count: int) -> list[Prompt]:
    """Prompts with the cause and all decoys in them."""
    return [Prompt(turns=(Turn(role="user", content=prompt_text(n)),), place=f"line {n}") for n in range(count)]


def prices(folder: Path, read: float, written: float) -> str:
    """A file of prices of the world's models, by the million tokens."""
    place = folder / "prices.yaml"
    place.write_text(
        f"prices: [{{model: 'planted/*', input: {read}, output: {written}, date: 2026-01-01, source: a test}}]\n"
    )
    return str(place)


def settings(folder: Path, model: str = "world", **others: Any) -> StagesSettings:
    """Settings under which one model plays all roles."""
    playing = RoleModel(model=f"planted/{model}", arguments=others.pop("arguments", {}))
    return StagesSettings(folder=str(folder), roles={"target": playing, "investigator": playing}, **others)


def run(folder: Path, count: int, model: str = "world", **others: Any) -> StagesResult:
    """A run on some prompts."""
    return run_stages(settings(folder, model, **others), prompts(count))
