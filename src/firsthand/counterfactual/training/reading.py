"""Claims with a response of the target to show beside each: from their file, or drawn from the target."""

from collections.abc import Sequence
from pathlib import Path

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.reading import read, response_of
from firsthand.counterfactual.responses import Request, Response, Target
from firsthand.errors import CounterfactualError

BATCH = "shown"
"""Name of the batch of responses that are drawn to be shown: no label rests on it."""


def read_told(path: Path) -> tuple[list[Claim], dict[str, Response]]:
    """Claims of a file or folder, and the response that each brings with it, by claim; some bring none.

    Raises:
        CounterfactualError: If it cannot be read, holds no claims, or a row is no claim.
    """
    claims = list(read(path).claims)
    if not claims:
        raise CounterfactualError(f"{path} holds no claims.", "Give a set that was exported with claims in it.")
    return claims, {one.id: held for one in claims if (held := response_of(one)) is not None}


def told(claims: Sequence[Claim], held: dict[str, Response], target: Target) -> dict[str, Response]:
    """A response for every claim: the one that came with it, or one that is drawn now; the same for equal prompts."""
    wanted = {claim.prompt.id: claim.prompt for claim in claims if claim.id not in held}
    requests = [Request(prompt=prompt, batch=BATCH, samples=1) for prompt in wanted.values()]
    drawn = dict(zip(wanted, target.respond(requests), strict=True)) if requests else {}
    found = dict(held)
    for claim in claims:
        if claim.id not in held and not drawn[claim.prompt.id][0].missing:
            found[claim.id] = drawn[claim.prompt.id][0]
    return found
