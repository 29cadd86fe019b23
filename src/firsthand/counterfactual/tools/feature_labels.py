"""Labels of features, from a file: JSON or CSV, as they are exported or written by hand.

==========  ===========================================================================================================
CSV         columns ``feature`` and ``label`` (also ``index``, and ``description``)
JSON        an object from number to label, or a list of objects with those fields, as Neuronpedia exports
JSONL       such an object a line
==========  ===========================================================================================================
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from firsthand.errors import CounterfactualError

NAMES: Final = ("labels.json", "labels.csv", "labels.jsonl")
"""Where labels are looked for beside an autoencoder."""

_NUMBERS: Final = ("feature", "index", "feature_index")
_TEXTS: Final = ("label", "description", "explanation")


def labels_beside(folder: Path) -> Path | None:
    """The file of labels in an autoencoder's folder, if there is one."""
    return next((folder / name for name in NAMES if (folder / name).is_file()), None)


def read_labels(path: Path, features: int) -> dict[int, str]:
    """Labels by feature.

    Args:
        path: The file.
        features: Number of features of the autoencoder.

    Raises:
        CounterfactualError: If it cannot be read, names a feature that there is not, or labels one twice differently.
    """
    try:
        text = path.read_text(encoding="utf-8")
        rows = list(_rows(path, text))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise CounterfactualError(
            f"{path} holds no labels: {error}", "Give a table with the columns feature and label, as CSV or JSON."
        ) from error
    found: dict[int, str] = {}
    for number, label in rows:
        if not 0 <= number < features:
            raise CounterfactualError(
                f"{path} labels the feature {number}, and the autoencoder has 0 to {features - 1}.",
                "Use the labels of this autoencoder.",
            )
        if found.setdefault(number, label) != label:
            found[number] = f"{found[number]}; {label}"
    return found


def _rows(path: Path, text: str) -> Iterable[tuple[int, str]]:
    if path.suffix == ".csv":
        return [_row(row) for row in csv.DictReader(io.StringIO(text))]
    if path.suffix == ".jsonl":
        return [_row(json.loads(line)) for line in text.split("\n") if line.strip()]
    read = json.loads(text)
    if isinstance(read, Mapping):
        return [(int(number), " ".join(str(label).split())) for number, label in read.items()]
    return [_row(row) for row in read]


def _row(row: Mapping[str, Any]) -> tuple[int, str]:
    return int(_field(row, _NUMBERS)), " ".join(str(_field(row, _TEXTS)).split())


def _field(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    for name in names:
        if name in row:
            return row[name]
    raise KeyError(f"a row has no {' or '.join(names)}, but {', '.join(map(str, row))}")
