"""Some of what the target said to the prompt as it is, so that a claim can be put to whoever said it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from firsthand.counterfactual.asking import Bench
from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.claims import Answered, Claim
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.responses import Request, Response

SHOWN: Final = 5
"""Responses that go with a claim: the first of their batch, so that nothing chose them."""

Transcripts: TypeAlias = Mapping[str, tuple[Answered, ...]]
"""Responses to the prompt of each investigation, by its identifier."""


def transcripts_of(
    investigations: Iterable[Investigation], bench: Bench, batches: Sequence[tuple[str, int]]
) -> Transcripts:
    """What the target said to the prompt of each investigation, from the first batch that was drawn.

    Args:
        investigations: The investigations.
        bench: Where batches are kept.
        batches: Names and sizes of batches of responses to the prompt as it is, the best first.
    """
    found: dict[str, tuple[Answered, ...]] = {}
    for one in investigations:
        requests = [Request(prompt=one.screened.prompt, batch=name, samples=size) for name, size in batches if size]
        held = ((request, bench.store.responses(request, bench.identity)) for request in requests)
        request, responses = next(((r, some) for r, some in held if some is not None), (None, None))
        if request is not None and responses is not None:
            verdicts = bench.store.verdicts(one.screened.behaviour, request, bench.identity)
            found[one.id] = answered(responses, verdicts)
    return found


def answered(
    responses: Sequence[Response], verdicts: Sequence[Verdict] | None = None, most: int = SHOWN
) -> tuple[Answered, ...]:
    """The first of some responses with their verdicts, as any file can hold them: half characters are spelled out."""
    known: Sequence[Verdict | None] = verdicts or [None] * len(responses)
    return tuple(
        Answered(response=Response.model_validate(_spelled(one.model_dump())), verdict=verdict)
        for one, verdict in list(zip(responses, known, strict=True))[:most]
    )


def with_transcripts(claims: Iterable[Claim], transcripts: Transcripts) -> tuple[Claim, ...]:
    """Claims with the responses of their investigations."""
    return tuple(
        one.model_copy(update={"responses": transcripts.get(one.investigation, one.responses)}) for one in claims
    )


def _spelled(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_spelled(key): _spelled(one) for key, one in value.items()}
    return [_spelled(one) for one in value] if isinstance(value, list | tuple) else value
