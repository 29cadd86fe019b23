"""A folder of predictions holds nothing else: what another kind of run made there would be taken for a part of it."""

from pathlib import Path
from typing import Final

from firsthand.counterfactual.predicting.transcripts import BATCH
from firsthand.counterfactual.store import NAME, Store
from firsthand.errors import CounterfactualError
from firsthand.report.training_document import MARKER

_OTHERS: Final = {
    "investigations.jsonl": "investigations",
    "settings.json": "investigations by agents",
    "hints.json": "hints",
    MARKER: "a training run",
    "claim.frozen.json": "a study",
}
"""What other kinds of runs leave, by the file that tells."""


def check_folder(folder: Path) -> None:
    """See that a folder is new, or that of a run of predictions.

    Raises:
        CounterfactualError: If another kind of run began there, finished or not.
    """
    found = next((what for file, what in _OTHERS.items() if (folder / file).exists()), None)
    if found is None and (folder / NAME).exists():
        with Store(folder) as store:
            batches = {one["request"]["batch"] for one in store.contents()["batches"].values()}
        found = "responses that were drawn for another kind of run" if batches - {BATCH} else None
    if found is not None:
        raise CounterfactualError(f"{folder} holds {found}, and no predictions.", "Name another folder with --out.")
