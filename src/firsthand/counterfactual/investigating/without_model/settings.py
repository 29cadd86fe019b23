"""How thoroughly the investigator without a model searches, and at which level it judges."""

from typing import Annotated

from pydantic import Field, model_validator

from firsthand.counterfactual.part import Part
from firsthand.errors import CounterfactualError


class SearchSettings(Part):
    """Settings of one search.

    Attributes:
        samples: Responses of the baseline that exploring starts from, of each batch of the baseline that confirmed
            edits are judged against, and of each confirmed edit.
        baselines: Batches of the baseline that confirmed edits are judged against. All edits share it, so that its
            noise counts most.
        batch: Responses that are added at a time while an edit is explored.
        longest: Most responses to an explored edit.
        sureness: By how many standard errors a change has to be away from ``least_change`` before exploring of an edit
            stops early. Exploring decides nothing, so this is no error rate.
        least_change: Least change of the rate that counts, from 0 to 1.
        level: Error rate. That any confirmed edit is wrongly said to change the rate is at most so likely, over all
            edits of the investigation; that one edit is wrongly said not to change it is about so likely for each.
        confirmed: Most confirmed edits, controls included.
        controls: How many of them are held back for controls, which are drawn for edits that turn out to change the
            rate.
        responses: Most responses in all, baselines included.
        causes: Most causes that are looked for.
        parts: Most parts of one cause before a coarser part that holds them is taken instead.
    """

    samples: Annotated[int, Field(ge=2)] = 30
    baselines: Annotated[int, Field(ge=1)] = 2
    batch: Annotated[int, Field(ge=1)] = 8
    longest: Annotated[int, Field(ge=1)] = 24
    sureness: Annotated[float, Field(ge=0.0)] = 1.28
    least_change: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.30
    level: Annotated[float, Field(gt=0.0, lt=0.5)] = 0.05
    confirmed: Annotated[int, Field(ge=1)] = 12
    controls: Annotated[int, Field(ge=0)] = 2
    responses: Annotated[int, Field(ge=2)] = 1200
    causes: Annotated[int, Field(ge=1)] = 3
    parts: Annotated[int, Field(ge=1)] = 3

    @model_validator(mode="after")
    def _has_responses_for_an_edit(self) -> "SearchSettings":
        needed = (2 + self.baselines) * self.samples
        if self.responses < needed:
            raise ValueError(f"{self.responses} responses are fewer than the {needed} of baselines and one edit")
        return self

    @classmethod
    def named(cls, name: str) -> "SearchSettings":
        """Settings by name: ``thorough`` confirms up to 12 edits, ``light`` up to 7.

        Raises:
            CounterfactualError: If there are none of that name.
        """
        if name == "thorough":
            return cls()
        if name == "light":
            return cls(confirmed=7, controls=1, responses=600, causes=1)
        raise CounterfactualError(f"There are no settings named {name!r}.", "Name thorough or light.")
