"""How much a predictor may read, as data."""

from typing import Annotated, Final

from pydantic import Field

from firsthand.counterfactual.part import Part


class Limits(Part):
    """Most of what a predictor may do before it answers (arXiv 2608.16747, sections 3.2 and C.1).

    Attributes:
        calls: Calls of tools for one claim, all tools together.
        positions: Tokens of one call, where they are chosen one by one.
        segment: Tokens of one call that asks about a segment.
        refused: Calls that may be refused before the predictor has to answer without any more.
    """

    calls: Annotated[int, Field(ge=1)] = 5
    positions: Annotated[int, Field(ge=1)] = 32
    segment: Annotated[int, Field(ge=1)] = 256
    refused: Annotated[int, Field(ge=0)] = 5


CALLS_SWEPT: Final = (2, 5, 10)
POSITIONS_SWEPT: Final = (16, 32, 64)
"""What the paper sweeps (its Table 4): calls at 32 positions each, and positions at 5 calls."""


def sweep(limits: Limits | None = None) -> tuple[Limits, ...]:
    """The limits of the paper's sweep, the usual ones first and each once."""
    usual = limits or Limits()
    others = [usual.model_copy(update={"calls": n}) for n in CALLS_SWEPT]
    others += [usual.model_copy(update={"positions": n}) for n in POSITIONS_SWEPT]
    return tuple(dict.fromkeys((usual, *others)))
