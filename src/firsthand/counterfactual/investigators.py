"""Who investigates: each is a name, a search for a screened behaviour, and what a search costs at most."""

from collections.abc import Callable
from dataclasses import dataclass

from firsthand.counterfactual.driving import Search
from firsthand.counterfactual.investigation import Screened


@dataclass(frozen=True)
class Investigator:
    """Someone who investigates.

    Attributes:
        name: Name, as it stands in investigations.
        search: Makes the search for a screened behaviour of a target of some identity.
        most: Responses that one search wants at most.
    """

    name: str
    search: Callable[[Screened, str], Search]
    most: int


def without_model(samples: int, *, thorough: bool = True, responses: int | None = None) -> Investigator:
    """The investigator that needs no language model.

    Args:
        samples: Responses of the baseline and of each confirmed edit.
        thorough: Up to 12 confirmed edits and three causes, or up to 7 and one.
        responses: Most responses of one search; by default what the settings of that name say.
    """
    from firsthand.counterfactual.investigating.without_model import INVESTIGATOR, SearchSettings, search

    named = SearchSettings.named("thorough" if thorough else "light")
    fields = {"samples": samples, "responses": max(2 * samples, responses or named.responses)}
    settings = SearchSettings.model_validate({**named.model_dump(), **fields})
    return Investigator(INVESTIGATOR, lambda screened, target: search(screened, target, settings), settings.responses)
