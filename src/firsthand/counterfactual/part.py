"""What everything that is stored has in common."""

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Data that crosses a boundary: frozen, and without a field that is not its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)
