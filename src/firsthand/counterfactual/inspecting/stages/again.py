"""The baseline of reproductions: the prompt as it is once more, once for all claims of an investigation.

The baseline that made the labels would bring its chance errors along: what it calls true by chance, it would reproduce.
"""

from copy import copy
from dataclasses import dataclass, field

import anyio

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.inspecting.stages.batches import classify, rate_of, respond
from firsthand.counterfactual.inspecting.stages.calling import Calls
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request

BATCH = "reproduce.baseline"


@dataclass
class Baselines:
    """Baselines of reproductions, by investigation; each is drawn, and counted as used, by one of its claims.

    Attributes:
        held: Those that are there.
        drawn_by: The samples that drew them in this process.
    """

    held: dict[str, Rate] = field(default_factory=dict)
    drawn_by: dict[str, str] = field(default_factory=dict)
    _locks: dict[str, anyio.Lock] = field(default_factory=dict)

    async def of(self, calls: Calls, claim: Claim) -> Rate:
        """The baseline of a claim's investigation."""
        name = claim.investigation
        async with self._locks.setdefault(name, anyio.Lock()):
            if name in self.held:
                return self.held[name]
            shared, refused = copy(calls), len(calls.refused)
            shared.scope = name  # whoever draws it, it is kept under the same name
            request = Request(prompt=claim.prompt, batch=BATCH, samples=calls.settings.sampling.samples)
            try:
                rate = rate_of(await classify(shared, claim.behaviour, await respond(shared, request), BATCH))
            finally:
                calls.money = shared.money  # what is used by role is one dictionary
            if len(calls.refused) == refused:  # else each claim of the investigation finds out by itself
                self.held[name], self.drawn_by[name] = rate, calls.sample
            return rate
