"""What a finished run leaves in its folder: the one place where investigations become files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firsthand.counterfactual.asking import Bench
from firsthand.counterfactual.running import Ran
from firsthand.progress import Progress
from firsthand.trials.files import write_atomic, write_json
from firsthand.version import __version__

SCHEMA: Final = 1


@dataclass(frozen=True)
class Left:
    """The files of a finished run.

    Attributes:
        result: What was found, as JSON.
        investigations: Every investigation, one a line.
    """

    result: Path
    investigations: Path


@dataclass(frozen=True)
class About:
    """What a reader should know of a run besides what it found.

    Attributes:
        target: What identifies the target, as plain JSON values; its ``name`` is the one that it goes by.
        reproduce: Commands that repeat the run.
    """

    target: dict[str, Any]
    reproduce: tuple[str, ...] = ()


def finish(ran: Ran, bench: Bench, folder: Path, about: About, progress: Progress) -> Left:
    """Write everything that a run found.

    Args:
        ran: What was found.
        bench: Where batches come from and are judged.
        folder: The run's folder.
        about: What else a reader should know.
        progress: Who is told.

    Returns:
        Where it lies.

    Raises:
        TraceError: If something cannot be written.
    """
    progress.say("writing the result")
    left = Left(folder / "result.json", folder / "investigations.jsonl")
    lines = [one.model_dump_json() + "\n" for one in ran.investigations]
    write_atomic(left.investigations, "".join(lines).encode())
    write_json(left.result, document(ran, about))
    return left


def document(ran: Ran, about: About) -> dict[str, Any]:
    """What a run found, as plain JSON values."""
    return {
        "schema_version": SCHEMA,
        "package_version": __version__,
        "target": {"identity": ran.target, **about.target},
        "investigator": ran.investigator,
        "reproduce": list(about.reproduce),
        "settings": ran.settings.model_dump(mode="json"),
        "prompts": len(ran.prompts) + ran.repeated,
        "accounts": ran.accounts(),
        "spent": ran.spent._asdict(),
        "screened": [one.model_dump(mode="json") for one in ran.screening.screened],
        "nothing": [{"prompt": prompt.id, "place": prompt.place, "why": why} for prompt, why in ran.screening.nothing],
        "investigations": [one.model_dump(mode="json") for one in ran.investigations],
    }
