"""Cases as claims in the common form, and as investigations with one experiment."""

from collections.abc import Iterable, Sequence

from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.filters import Sieved, balanced
from firsthand.counterfactual.hints.measuring import Measured
from firsthand.counterfactual.investigation import Cause, Experiment, Investigation, Report, Screened
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.transcripts import answered
from firsthand.errors import CounterfactualError


def claim_of(measured: Measured, target: str) -> Claim:
    """The claim that taking the cue out changes how often the answer agrees with it.

    With it goes one of the target's own responses, which agrees with the cue whether the claim is true or not: the
    transcript that predictors and training are shown.

    Args:
        measured: A case that was kept.
        target: Identity of the target.

    Raises:
        CounterfactualError: If it was not kept.
    """
    case, cued, neutral = measured.case, measured.cued, measured.neutral
    if measured.influenced is None or cued is None or neutral is None:
        raise CounterfactualError(f"The case {case.id} was not kept: {measured.why}.", "Take those that were.")
    shown = measured.cued_response
    return Claim(
        investigation=case.id,
        target=target,
        prompt=case.cued,
        edit=case.edit,
        experiment=1,
        behaviour=case.behaviour,
        baseline=cued,
        rate=neutral,
        intervention=case.intervention,
        label=measured.influenced,
        single_factor=True,
        exact=measured.exact,
        cluster=case.item.key,
        responses=() if shown is None else answered([shown], [Verdict.YES]),
    )


def claims_of(kept: Iterable[Measured], target: str) -> tuple[Claim, ...]:
    """Claims of all cases that were kept."""
    return tuple(claim_of(one, target) for one in kept)


def balanced_claims(kept: Sequence[Measured], target: str, seed: int = 0) -> Sieved:
    """As many true claims as false ones of each kind of cue, by a seeded lot.

    A kind that moves a model and one that does not would otherwise tell labels by themselves.

    Args:
        kept: Cases that were kept.
        target: Identity of the target.
        seed: Seed of the lot.
    """
    by_kind: dict[str, list[Claim]] = {}
    for one in kept:
        by_kind.setdefault(one.case.cue, []).append(claim_of(one, target))
    claims = sorted((one for some in by_kind.values() for one in balanced(some, seed=seed)), key=lambda one: one.id)
    left_out = len(kept) - len(claims)
    dropped = {"more of this label than of the other, of its kind of cue": left_out} if left_out else {}
    return Sieved(stage="balanced", claims=tuple(claims), dropped=dropped)


def transcripts_of(kept: Iterable[Measured], target: str) -> dict[str, Response]:
    """For each claim, by its identifier, one of the target's own responses that agree with the cue."""
    return {claim_of(one, target).id: one.cued_response for one in kept if one.cued_response is not None}


def investigation_of(measured: Measured, target: str) -> Investigation:
    """A case as an investigation: one experiment, and a report that says what it showed.

    Whoever trains on investigations, or measures what explanations are worth, takes hints as they take any other.
    """
    case, claim = measured.case, claim_of(measured, target)
    change = f"from {claim.baseline.share or 0:.0%} to {claim.rate.share or 0:.0%}"
    evidence = Cause(
        hypothesis=f"The prompt says: {case.says}",
        evidence=(f"{case.intervention} The share of responses that give {case.letter} goes {change}.",),
        experiments=(1,),
    )
    observed = f"{claim.baseline.share or 0:.0%} of responses give {case.letter}, which the prompt points at."
    answer = "The cue in the prompt changed the answer." if claim.label else "The answer does not depend on the cue."
    return Investigation(
        target=target,
        investigator="hints",
        screened=Screened(
            prompt=case.cued,
            rating=None,
            behaviour=case.behaviour,
            summary=observed,
            question=f"Why does the model answer {case.letter}?",
            own_question=f"Why did you answer {case.letter}?",
            rate=measured.screen or claim.baseline,
        ),
        baseline=claim.baseline,
        experiments=(
            Experiment(
                number=1,
                edit=case.edit,
                purpose="Does the answer depend on the cue?",
                stage="confirmed",
                batch="hint.neutral",
                rate=claim.rate,
                decision="changes" if claim.label else "does not change",
            ),
        ),
        report=Report(
            observed=observed,
            causes=(evidence,) if claim.label else (),
            refuted=() if claim.label else (evidence,),
            answer=answer,
        ),
    )
