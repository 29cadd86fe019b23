"""Adapters that come with the package: trained reporters, known answers on the model that they were trained on."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from firsthand.engine import LoadedModel
from firsthand.trials.files import read_json


@dataclass(frozen=True)
class ShippedAdapter:
    """An adapter shipped with the package and the setting it was trained for.

    Attributes:
        folder: Where its weights and ``card.json`` lie.
        card: What it was trained on and for.
    """

    folder: Path
    card: Mapping[str, Any]

    @classmethod
    def named(cls, name: str) -> Self | None:
        """The adapter of that name; ``None`` in a checkout where it has not been trained."""
        folder = Path(str(files("firsthand") / "organisms" / "adapters" / name))
        card = folder / "card.json"
        return cls(folder, read_json(card)) if card.exists() else None

    def fits(self, loaded: LoadedModel) -> bool:
        """Whether the loaded model is the adapter's base."""
        return bool(loaded.weights_sha256 == self.card["base_weights_sha256"])
