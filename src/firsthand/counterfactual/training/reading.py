"""Claims with a response of the target to show beside each: from their file, or drawn from the target."""

import json
from collections.abc import Sequence
from pathlib import Path

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.responses import Request, Response, Target
from firsthand.counterfactual.rows import claim_of
from firsthand.errors import CounterfactualError

BATCH = "shown"
"""Name of the batch of responses that are drawn to be shown: no label rests on it."""


def read_told(path: Path) -> tuple[list[Claim], dict[str, Response]]:
    """Claims of a file of JSON lines, and the first response that each row holds, by claim; some rows hold none.

    Raises:
        CounterfactualError: If it cannot be read, holds no claims, or a line is no claim.
    """
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except (OSError, ValueError) as error:
        raise CounterfactualError(f"{path} cannot be read as claims: {error}.", "Give an exported .jsonl.") from error
    claims = [claim_of(row) for row in rows]
    if not claims:
        raise CounterfactualError(f"{path} holds no claims.", "Give an exported .jsonl.")
    responses = {}
    for claim, row in zip(claims, rows, strict=True):
        held = [one for one in row.get("responses") or () if one.get("text", "").strip()]
        if held:
            responses[claim.id] = Response(text=held[0]["text"], ended=held[0].get("ended") or "stop")
    return claims, responses


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
