"""A cell of a study's grid."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One setting that selection may choose: a layer, and a dose in residual norms."""

    layer: int
    dose: float

    @property
    def name(self) -> str:
        """Identifier, usable in file names."""
        return f"L{self.layer:02d}-D{self.dose:g}"
