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
        most: Batches that one search wants at most.
    """

    name: str
    search: Callable[[Screened, str], Search]
    most: int


def without_model(samples: int) -> Investigator:
    """The investigator that needs no language model.

    Args:
        samples: Responses of every batch.
    """
    from firsthand.counterfactual.investigating.without_model import NAME, Settings, most_batches, search

    settings = Settings(samples=samples)
    return Investigator(NAME, lambda screened, target: search(screened, target, settings), most_batches(settings))
