"""One request after the other, one response after the other: the plain way to drive investigations."""

from collections.abc import Sequence

from firsthand.counterfactual.behaviours import Program, judged
from firsthand.counterfactual.investigating.without_model import Search
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request, Target


def drive_plain(
    searches: Sequence[Search], target: Target, behaviour: Program
) -> tuple[list[Investigation], list[list[Request]]]:
    """Every investigation to its end, and what each of them asked for."""
    done, asked = [], []
    for search in searches:
        requests: list[Request] = []
        try:
            wanted = next(search)
            while True:
                requests += wanted
                batches = [target.respond([request])[0] for request in wanted]
                wanted = search.send([Rate.of(judged(behaviour, one) for one in batch) for batch in batches])
        except StopIteration as end:
            done.append(end.value)
        asked.append(requests)
    return done, asked
