"""Labels after training: the claims' rates, drawn anew from the trained model.

The labels say what the untrained model does. Where training changed that, a right answer about the model that is asked
counts as wrong; so the same prompts are put to the trained model again, and labels that would change are counted.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from firsthand.analysis.inference import Measured
from firsthand.counterfactual.behaviours import Asked, judged
from firsthand.counterfactual.changes import FIXED, FixedLabels, SequentialLabels, labelled
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request, Target
from firsthand.counterfactual.training.rejudging import Values

Became = Literal["same", "other", "none", "not judged"]


class Relabelled(Part):
    """One claim, measured again.

    Attributes:
        claim: Identifier.
        before: Its label.
        baseline: Counts on the prompt as it is.
        rate: Counts on the edited prompt.
        after: The label that they give; ``None`` if they give none.
        became: ``same``, ``other`` (the opposite), ``none`` (no longer clear), or ``not judged`` (the behaviour is
            judged by a model, which nobody asked).
    """

    claim: str
    before: bool
    baseline: Rate | None = None
    rate: Rate | None = None
    after: bool | None = None
    became: Became


class Relabelling(Part):
    """All claims, measured again.

    Attributes:
        target: Identity of the trained target.
        samples: Responses of each batch.
        claims: One entry a claim.
    """

    target: str
    samples: int
    claims: tuple[Relabelled, ...]

    @property
    def changed(self) -> float | None:
        """Share of the claims that were measured again whose label would be another, or none; ``None`` without any."""
        known = [one for one in self.claims if one.became != "not judged"]
        return sum(one.became != "same" for one in known) / len(known) if known else None

    @property
    def anew(self) -> int:
        """Claims that were judged anew; a rate without a valid response judges nothing."""
        return len(self._judged)

    @property
    def _judged(self) -> list[Relabelled]:
        def valid(rate: Rate | None) -> bool:
            return rate is not None and rate.yes + rate.no > 0

        return [one for one in self.claims if one.became != "not judged" and valid(one.baseline) and valid(one.rate)]

    def turned(self, units: Mapping[str, str]) -> Values | None:
        """Whether the label of every claim that was judged anew would be another or none; ``None`` without any.

        Args:
            units: The independent unit of every claim.
        """
        known = self._judged
        if not known:
            return None
        return Values(
            values=tuple(float(one.became != "same") for one in known), units=tuple(units[one.claim] for one in known)
        )

    def measured(self, units: Mapping[str, str]) -> Measured | None:
        """Share of the labels that would be others or none, with its uncertainty over units; ``None`` without any."""
        turned = self.turned(units)
        return None if turned is None else turned.mean(1.0)


def relabel(
    claims: Sequence[Claim],
    target: Target,
    samples: int,
    rule: FixedLabels | SequentialLabels = FIXED,
    batch: str = "relabel",
) -> Relabelling:
    """Draw the claims' rates anew from a target.

    Args:
        claims: The claims.
        target: The trained model, or any other target.
        samples: Responses to each prompt.
        rule: How labels are made.
        batch: Names the draws.
    """
    able = [claim for claim in claims if not isinstance(claim.behaviour, Asked)]
    prompts = {one.id: one for claim in able for one in (claim.prompt, claim.edited)}
    requests = [Request(prompt=prompt, batch=batch, samples=samples) for prompt in prompts.values()]
    drawn = dict(zip(prompts, target.respond(requests), strict=True)) if requests else {}

    def counted(claim: Claim, prompt: str) -> Rate:
        assert not isinstance(claim.behaviour, Asked)
        return Rate.of(judged(claim.behaviour, one) for one in drawn[prompt])

    found = []
    for claim in claims:
        if isinstance(claim.behaviour, Asked):
            found.append(Relabelled(claim=claim.id, before=claim.label, became="not judged"))
            continue
        baseline, rate = counted(claim, claim.prompt.id), counted(claim, claim.edited.id)
        after = labelled(baseline, rate, rule).label
        became: Became = "none" if after is None else "same" if after is claim.label else "other"
        found.append(
            Relabelled(claim=claim.id, before=claim.label, baseline=baseline, rate=rate, after=after, became=became)
        )
    return Relabelling(target=target.identity, samples=samples, claims=tuple(found))
