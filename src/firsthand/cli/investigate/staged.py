"""What the command does that lets models screen, investigate and judge, as stages under Inspect."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from rich.console import Console

from firsthand.counterfactual.prompt_files import read_prompts
from firsthand.errors import CounterfactualError
from firsthand.report.investigations_terminal import print_investigations


def run_staged(
    prompts: Path, settings_file: Path | None, models: Sequence[str], out: Path, dry_run: bool, display: str
) -> None:
    """Run the stages, or tell the price, and say what was found.

    Args:
        prompts: File or folder of prompts.
        settings_file: Settings as YAML; ``None`` for the usual ones.
        models: ``role=provider/name`` for each role that the file does not name.
        out: Folder of the run.
        dry_run: Whether only the price is told.
        display: How Inspect shows its progress.

    Raises:
        CounterfactualError: If Inspect is not installed, or settings, prompts or models cannot be used.
    """
    given = read_prompts(prompts)
    try:
        from firsthand.counterfactual.inspecting.documenting import concluded_of, document_of
        from firsthand.counterfactual.inspecting.running import run_stages
        from firsthand.counterfactual.inspecting.stages.settings import StagesSettings
    except ImportError as error:
        raise CounterfactualError(
            f"Models as investigators need Inspect AI, which is not installed ({error}).",
            "Install it: pip install 'firsthand[investigate]'.",
        ) from None
    from firsthand.cli.investigate.pricing import print_plan
    from firsthand.counterfactual.finishing import finish

    try:
        settings = StagesSettings.model_validate({**_fields(settings_file, models), "folder": str(out)})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "settings"
        raise CounterfactualError(
            f"The settings cannot be used: {where}: {first['msg'].removeprefix('Value error, ')}.",
            "See docs/investigate-with-agents.md; roles are given as --role target=provider/name.",
        ) from None
    if dry_run:
        print_plan(settings, given, Console())
        return
    result = run_stages(settings, given, display=display)  # type: ignore[arg-type]
    concluded = concluded_of(result, settings)
    own = () if settings_file is None else ("--settings", str(settings_file))
    roles = [word for model in models for word in ("--role", model)]
    command = shlex.join(["firsthand", "investigate", "agents", str(prompts), *own, *roles, "--out", "NEW_FOLDER"])
    left = finish(document_of(result, concluded, settings, given, (command,)), concluded, out)
    print_investigations(left.document, Console(), left.files)


def _fields(path: Path | None, models: Sequence[str]) -> dict[str, Any]:
    """Fields of the settings from a file and from options, which win."""
    fields: dict[str, Any] = {}
    if path is not None:
        try:
            held = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise CounterfactualError(f"{path} cannot be read: {error}.", "Name a YAML file of settings.") from None
        if not isinstance(held, dict) or not isinstance(held.get("roles", {}), dict):
            raise CounterfactualError(f"{path} holds no settings.", "Write fields such as roles: and effort:.")
        if "folder" in held:
            raise CounterfactualError(f"{path} names a folder.", "Give it as --out.")
        fields = held
    roles = dict(fields.get("roles") or {})
    for one in models:
        role, found, model = one.partition("=")
        if not found or "/" not in model:
            raise CounterfactualError(
                f"{one!r} names no role and model.", "Write role=provider/name, such as target=firsthand/smollm2."
            )
        before = roles.get(role)
        kept = before if isinstance(before, dict) else {}
        roles[role] = {"billed": not model.startswith("firsthand/"), **kept, "model": model}
    return {**fields, "roles": roles}
