"""A whole run: sample, screen, investigate. The same for every target, investigator and source of prompts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from firsthand.counterfactual.asking import Bench, sample
from firsthand.counterfactual.driving import drive
from firsthand.counterfactual.investigation import Investigation, Screened
from firsthand.counterfactual.investigators import Investigator
from firsthand.counterfactual.library.candidates import Candidate
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Request, Sampling
from firsthand.counterfactual.screening.programs import FREQUENT, THRESHOLD, Screening, screen
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress

SCREEN: Final = "screen"
"""Name of the batch that is screened, and kind under which screenings are kept, each under its prompt's id."""


class RunSettings(Part):
    """How prompts are investigated.

    Attributes:
        sampling: How responses are drawn.
        threshold: Lowest rating that is investigated.
        frequent: Lowest share of a behaviour that is looked at.
        own_words: Whether behaviours are made from each prompt's own words, too.
        most: Most investigations; the most frequent behaviours are taken. ``None``: all that were flagged.
        reproduce: Responses to another implementation of each claim's edit, and to its prompt again; 0: none are drawn,
            and no claim is known to be reproduced. ``None``: as many as every batch has.
    """

    sampling: Sampling = Sampling()
    threshold: Annotated[int, Field(ge=1, le=5)] = THRESHOLD
    frequent: Annotated[float, Field(ge=0.0, le=1.0)] = FREQUENT
    own_words: bool = True
    most: Annotated[int, Field(ge=1)] | None = None
    reproduce: Annotated[int, Field(ge=0)] | None = None

    @property
    def reproductions(self) -> int:
        """Responses to another implementation, and to the prompt again."""
        return self.sampling.samples if self.reproduce is None else self.reproduce


@dataclass(frozen=True, eq=False)
class Ran:
    """What a run found.

    Attributes:
        settings: How it was made.
        target: Identity of the target.
        investigator: Who investigated.
        prompts: The prompts, each once.
        repeated: Prompts that were given more than once, and asked once.
        undrawn: Prompts whose responses the budget did not allow for.
        screening: What was found of the others.
        passed_over: Flagged, but more than are investigated.
        investigations: One for each that was investigated.
    """

    settings: RunSettings
    target: str
    investigator: str
    prompts: tuple[Prompt, ...]
    repeated: int
    undrawn: tuple[Prompt, ...]
    screening: Screening
    passed_over: tuple[Screened, ...]
    investigations: tuple[Investigation, ...]

    @property
    def finished(self) -> list[Investigation]:
        """Investigations that ended with a report."""
        return [one for one in self.investigations if one.report is not None]


def investigate(
    prompts: Sequence[Prompt],
    bench: Bench,
    investigator: Investigator,
    candidates: Sequence[Candidate],
    settings: RunSettings,
    progress: Progress,
) -> Ran:
    """Sample, screen and investigate prompts, or go on where a run in the same folder stopped.

    Args:
        prompts: The prompts.
        bench: Where batches come from and are judged.
        investigator: Who investigates.
        candidates: Behaviours that are looked for.
        settings: How.
        progress: Who is told.

    Raises:
        CounterfactualError: If there is no prompt, or a behaviour cannot be judged.
    """
    if not prompts:
        raise CounterfactualError("There is no prompt to investigate.", "Give at least one.")
    unique = list({prompt.id: prompt for prompt in prompts}.values())
    requests = [Request(prompt=prompt, batch=SCREEN, samples=settings.sampling.samples) for prompt in unique]
    drawn = list(zip(unique, sample(bench, requests, "sampling", progress), strict=True))
    progress.say("screening")
    screening = screen(
        [(prompt, responses) for prompt, responses in drawn if responses is not None],
        candidates,
        own_words=settings.own_words,
        threshold=settings.threshold,
        frequent=settings.frequent,
    )
    for one in screening.screened:
        bench.store.keep_part(SCREEN, one.prompt.id, one)
    flagged = screening.flagged(settings.threshold)
    chosen = flagged[: settings.most]
    found = drive(
        [(one, investigator.search(one, bench.identity)) for one in chosen],
        bench,
        progress,
        investigator=investigator.name,
        most=investigator.most,
    )
    return Ran(
        settings=settings,
        target=bench.identity,
        investigator=investigator.name,
        prompts=tuple(unique),
        repeated=len(prompts) - len(unique),
        undrawn=tuple(prompt for prompt, responses in drawn if responses is None),
        screening=screening,
        passed_over=tuple(flagged[len(chosen) :]),
        investigations=tuple(found),
    )
