"""Claims to train on, from anyone's file."""

from pathlib import Path

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.reading import read
from firsthand.errors import CounterfactualError


def some_claims(path: Path) -> list[Claim]:
    """Claims of a file or folder, of which there must be some.

    Raises:
        CounterfactualError: If it cannot be read, holds no claims, or a row is no claim.
    """
    claims = list(read(path).claims)
    if not claims:
        raise CounterfactualError(f"{path} holds no claims.", "Give a set that was exported with claims in it.")
    return claims
