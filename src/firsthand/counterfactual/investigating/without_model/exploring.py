"""Small sequential batches that say whether an edit seems to move the rate. They guide a search and prove nothing.

An edit is drawn in batches until its change is a few standard errors away from the least change that counts, on either
side, or until there are enough responses. Edits that lead to the same prompt are drawn once. Of an edit after which no
more than half of the responses can be judged nothing is known: it is neither taken for one that moves the rate nor for
one that leaves it.
"""

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from firsthand.counterfactual.edits import Edit, edited
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigation import Experiment
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request

T = TypeVar("T")
Steps: TypeAlias = Generator[list[Request], list[Rate], T]
"""Asks for batches, is sent the rate of each, and returns something."""

UNMOVED: Final = 0


class BudgetSpentError(Exception):
    """Exploring may draw no more responses; what was found so far stands."""


@dataclass
class Probe:
    """An edit that is explored.

    Attributes:
        number: Number of the experiment.
        edit: The edit.
        prompt: The edited prompt.
        purpose: What is to be learnt.
        batches: Names of the batches so far.
        rate: Counts so far.
    """

    number: int
    edit: Edit
    prompt: Prompt
    purpose: str
    batches: list[str] = field(default_factory=list)
    rate: Rate | None = None

    @property
    def responses(self) -> int:
        """Responses so far."""
        return self.rate.responses if self.rate else 0


class Explorer:
    """Explores edits of one prompt and remembers them.

    Args:
        prompt: The prompt.
        baseline: Counts on the prompt as it is.
        settings: Settings.
        allowance: Most responses that may be drawn.

    Attributes:
        threshold: Change from which on the rate seems to move.
    """

    def __init__(self, prompt: Prompt, baseline: Rate, settings: SearchSettings, allowance: int) -> None:
        self.prompt = prompt
        self._baseline = baseline
        self._settings = settings
        self.threshold = settings.least_change
        self._left = allowance
        self._probes: dict[str, Probe] = {}

    def moves(self, edits: Sequence[tuple[Edit, str]], least: int = 0) -> Steps[list[int | None]]:
        """Whether edits seem to move the rate: 1 up, -1 down, 0 not enough, ``None`` not known. All side by side.

        Args:
            edits: Edits and what is to be learnt from each.
            least: Fewest responses to each.

        Raises:
            BudgetSpentError: If the allowance is spent before all is known.
        """
        probes = [self._probe(edit, purpose) for edit, purpose in edits]
        while open_ := {probe.number: probe for probe in probes if not self._is_done(probe, least)}:
            requests = [self._request(probe) for probe in open_.values()]
            for probe, request, rate in zip(open_.values(), requests, (yield requests), strict=True):
                probe.batches.append(request.batch)
                probe.rate = rate if probe.rate is None else probe.rate + rate
        return [self._moved(probe) for probe in probes]

    def change(self, edit: Edit) -> float:
        """By how much an edit that was explored seems to change the rate, from -1 to 1; 0 if nothing is known."""
        probe = self._probes.get(edited(self.prompt, edit).id)
        before, after = self._baseline.share, probe.rate.share if probe and probe.rate else None
        return 0.0 if before is None or after is None else after - before

    @property
    def unjudged(self) -> list[str]:
        """What was to be learnt from edits after which most responses could not be judged."""
        return [one.purpose for one in self._probes.values() if one.rate and not _is_known(one.rate)]

    @property
    def experiments(self) -> list[Experiment]:
        """What was explored, in order; the batch is the first of an edit, and the counts are of all of them."""
        return [
            Experiment(
                number=number,
                edit=probe.edit,
                purpose=probe.purpose,
                stage="explored",
                batch=probe.batches[0],
                rate=probe.rate,
            )
            for number, probe in enumerate((one for one in self._probes.values() if one.rate), 1)
            if probe.rate
        ]

    def _probe(self, edit: Edit, purpose: str) -> Probe:
        prompt = edited(self.prompt, edit)
        if prompt.id not in self._probes:
            self._probes[prompt.id] = Probe(len(self._probes) + 1, edit, prompt, purpose)
        return self._probes[prompt.id]

    def _request(self, probe: Probe) -> Request:
        samples = min(self._settings.batch, self._settings.longest - probe.responses)
        if samples > self._left:
            raise BudgetSpentError
        self._left -= samples
        return Request(prompt=probe.prompt, batch=f"explore.{probe.number}.{len(probe.batches)}", samples=samples)

    def _is_done(self, probe: Probe, least: int) -> bool:
        """Whether no more responses are needed: the change is clear, or there are as many as there may be."""
        if probe.responses >= self._settings.longest:
            return True
        if probe.rate is None or probe.responses < least or not _is_known(probe.rate):
            return False
        return abs(self._beyond(probe.rate)) >= self._settings.sureness * math.hypot(
            _error(self._baseline), _error(probe.rate)
        )

    def _moved(self, probe: Probe) -> int | None:
        if probe.rate is None or not _is_known(probe.rate):
            return None
        if self._beyond(probe.rate) < 0.0:
            return UNMOVED
        return 1 if (probe.rate.share or 0.0) > (self._baseline.share or 0.0) else -1

    def _beyond(self, rate: Rate) -> float:
        """By how much a change exceeds the least that counts."""
        return abs((rate.share or 0.0) - (self._baseline.share or 0.0)) - self.threshold


def _is_known(rate: Rate) -> bool:
    """Whether most responses could be judged; a share of the few others would say nothing of them."""
    return 2 * rate.valid > rate.responses


def _error(rate: Rate) -> float:
    """Standard error of a share, with one of each added so that it is never nothing (Agresti & Caffo 2000)."""
    share = (rate.yes + 1) / (rate.valid + 2)
    return math.sqrt(share * (1.0 - share) / (rate.valid + 2))
