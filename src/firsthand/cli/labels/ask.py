"""What every command on a label study is given beside its data."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from firsthand.engine import LoadedModel
from firsthand.engine.loading import load
from firsthand.progress import Progress


@dataclass(frozen=True)
class Ask:
    """What was asked for.

    Attributes:
        claim: A claim in YAML, or its frozen form; nothing for one that is made of options.
        fields: Fields of the claim that options gave; ``None`` where an option said nothing.
        out: The run's folder.
        json: Where the document is written besides.
        device: Where models run.
        dtype: In which precision.
        dry_run: Whether only the cost is wanted.
    """

    claim: Path | None
    fields: Mapping[str, Any]
    out: Path
    json: Path | None = None
    device: str | None = None
    dtype: str = "float32"
    dry_run: bool = False

    def loader(self, progress: Progress) -> Callable[[str], LoadedModel]:
        """Loads a model by its name, where and in which precision was asked."""
        return partial(load, device=self.device, dtype=self.dtype, progress=progress.say)

    def load(self, name: str, progress: Progress) -> LoadedModel:
        """Load a model as asked, and say so.

        Raises:
            ModelError: If it cannot be loaded.
        """
        progress.say(f"loading {name}")
        return self.loader(progress)(name)

    def commands(self, study: str, data: Mapping[str, object]) -> tuple[str, ...]:
        """Commands that repeat the study from its own frozen claim, check it, and write its page again.

        Args:
            study: The command's name.
            data: Options that say which data are read and how, by name; those without a value are left out.
        """
        read = {**data, "dtype": None if self.dtype == "float32" else self.dtype}
        options = [(f"--{name}", str(value)) for name, value in read.items() if value is not None]
        words = ["firsthand", "labels", study, "--claim", str(self.out / "claim.frozen.json")]
        return (
            shlex.join([*words, *(word for pair in options for word in pair), "--out", "NEW_FOLDER"]),
            shlex.join(["firsthand", "verify", str(self.out)]),
            shlex.join(["firsthand", "report", str(self.out)]),
        )
