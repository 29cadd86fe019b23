"""Prompts as this package writes them, one a line."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.sources.files import json_records
from firsthand.counterfactual.sources.found import Found, Refused, why, writable


def read(path: Path) -> Iterator[Found]:
    """The prompts of a file ``prompts.jsonl``; where they came from stays noted, and is filled in where it is not.

    Raises:
        CounterfactualError: If the file cannot be read.
    """
    for place, record in json_records(path):
        if isinstance(record, Refused):
            yield record
            continue
        try:
            prompt = Prompt.model_validate(record)
            _ = prompt.id  # arguments may hold what has no canonical form
        except ValidationError as error:
            yield Refused(place, "a record that is no prompt", why(error))
            continue
        except ValueError:
            yield Refused(
                place, "a record that is no prompt", "text that is no Unicode, or an argument that is no JSON"
            )
            continue
        source, stands = writable(prompt.source or path.name), writable(prompt.place or place)
        cluster = writable(prompt.cluster) or f"{source}: {stands}"
        yield prompt.model_copy(update={"source": source, "place": stands, "cluster": cluster})
