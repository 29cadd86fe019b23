"""The response that a claim's transcript ends in: one that was stored with the claim, or one that is drawn now."""

from collections.abc import Sequence
from typing import Final

from firsthand.counterfactual.asking import Bench, by_program, sample
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.predicting.reading import response_of
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Request, Response, Target
from firsthand.counterfactual.store import Store
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress

BATCH: Final = "predict.transcript"
"""Batch of responses that are drawn to be shown: nothing was ever chosen or measured by them."""


def without_response(claims: Sequence[Claim]) -> list[Claim]:
    """Claims that hold no response that could be shown."""
    return [claim for claim in claims if response_of(claim) is None]


def drawn(claims: Sequence[Claim], target: Target, store: Store, progress: Progress) -> dict[str, Response]:
    """One response to each claim's prompt, drawn now or taken from the store, by the prompt's id.

    Args:
        claims: The claims.
        target: Who answers.
        store: Where responses are kept.
        progress: Who is told.
    """
    prompts: dict[str, Prompt] = {claim.prompt.id: claim.prompt for claim in claims}
    requests = [Request(prompt=prompt, batch=BATCH, samples=1) for prompt in prompts.values()]
    batches = sample(Bench(target, by_program, store), requests, "drawing transcripts", progress)
    return {prompt: batch[0] for prompt, batch in zip(prompts, batches, strict=True) if batch and not batch[0].missing}


def questions_of(
    claims: Sequence[Claim], fresh: dict[str, Response] | None = None
) -> tuple[list[Question], list[Claim]]:
    """The question that each claim puts, and the claims that have no response to put it beside.

    Args:
        claims: The claims.
        fresh: Responses that were drawn, by the prompt's id.
    """
    questions: list[Question] = []
    bare: list[Claim] = []
    for claim in claims:
        response = response_of(claim) or (fresh or {}).get(claim.prompt.id)
        if response is None:
            bare.append(claim)
        else:
            questions.append(Question.of(claim, response))
    return questions, bare


def need_target(bare: Sequence[Claim]) -> CounterfactualError:
    """The error where claims have no response and there is no target to draw one from."""
    return CounterfactualError(
        f"{len(bare)} claims, such as {bare[0].id}, hold no response of the target, so there is no transcript to show.",
        "Give --target MODEL, so that one response to each prompt is drawn, or a file with a column 'responses'.",
    )
