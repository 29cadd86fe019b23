"""The study of direct and meta judgements: from names of models and pairs of strings to verdicts in a folder.

Models are run one after the other, and no two are in memory at once. What a model judged is kept under a name that
depends on all that it depends on (pairs, phrasings, weights, tokenizer, configuration, precision, version), so the same
command after an interruption goes on where it stopped, and a changed one starts anew.
"""

import gc
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, Literal

import pandas as pd
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from firsthand.analysis.direct_meta import over_phrasings
from firsthand.analysis.self_advantage import SelfAdvantage, self_advantage
from firsthand.auditing.running import card_of
from firsthand.engine import LoadedModel, load
from firsthand.errors import LabelsError, TraceError
from firsthand.progress import Progress, Silent
from firsthand.report.document import ModelCard
from firsthand.studies.labels.direct_meta import judgements, rows_of
from firsthand.studies.labels.pairs import Pair, digest_of
from firsthand.studies.labels.phrasings import PHRASINGS, Phrasing
from firsthand.trials.canonical import digest
from firsthand.trials.files import write_atomic, write_json
from firsthand.trials.trace import to_parquet
from firsthand.version import __version__

ALL: Final = "all phrasings"
ALL_PER_TOKEN: Final = "all phrasings, direct judgements per token"  # noqa: S105


class DirectMeta(BaseModel):
    """A finished study.

    Attributes:
        pairs_sha256: Fingerprint of the pairs.
        phenomena: Number of pairs by phenomenon.
        models: The models, in the order given.
        results: Everything about meta averaged over the phrasings; the same with the direct judgement per token; and
            about every phrasing by itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    pairs_sha256: str
    phenomena: dict[str, int]
    models: tuple[ModelCard, ...]
    results: tuple[SelfAdvantage, ...]


def study(
    models: Sequence[str],
    pairs: Sequence[Pair],
    folder: Path,
    progress: Progress | None = None,
    phrasings: Sequence[Phrasing] = PHRASINGS,
) -> DirectMeta:
    """Run the study, or go on with one.

    Args:
        models: Names of at least two models, as :func:`firsthand.engine.load` takes them.
        pairs: The pairs.
        folder: Where ``judgements/`` (one Parquet file a model) and ``result.json`` are kept.
        progress: Who is told how far it is.
        phrasings: The ways of asking.

    Returns:
        The result, which is in ``result.json`` too.

    Raises:
        LabelsError: If there are fewer than two models, one is named twice, two are the same, or there is no pair.
        ModelError: If a model cannot be loaded.
        ElicitationError: If a model's tokenizer cannot express the strings or the labels.
        TraceError: If a file cannot be written, or was damaged.
    """
    progress = progress or Silent()
    if len(models) < 2 or len(set(models)) < len(models) or not phrasings:
        raise LabelsError(
            f"The models are {', '.join(models) or 'none'}: a self advantage needs two different ones at least.",
            "Name each model once, and at least two; three for the regression on similarity.",
        )
    tables: list[pd.DataFrame] = []
    cards: list[ModelCard] = []
    for name in models:
        table, card = _judged(name, pairs, phrasings, folder, progress, cards)
        gc.collect()  # hooks and modules refer to one another; the next model needs the room
        tables.append(table)
        cards.append(card)
    result = DirectMeta(
        pairs_sha256=digest_of(pairs),
        phenomena=dict(Counter(pair.phenomenon for pair in pairs)),
        models=tuple(cards),
        results=compared(pd.concat(tables, ignore_index=True)),
    )
    write_json(folder / "result.json", result.model_dump(mode="json"))
    return result


def compared(table: pd.DataFrame) -> tuple[SelfAdvantage, ...]:
    """Judge models by what they said over all phrasings, and for each phrasing by itself.

    Args:
        table: What :func:`~firsthand.studies.labels.direct_meta.judgements` returned for several models.

    Raises:
        AnalysisError: If the table does not fit.
    """
    per_token = table.assign(direct=table["direct_mean"])
    names = list(dict.fromkeys(table["phrasing"]))
    return (
        self_advantage(over_phrasings(table), ALL),
        self_advantage(over_phrasings(per_token), ALL_PER_TOKEN),
        *(self_advantage(table[table["phrasing"] == name], name) for name in names),
    )


def _judged(
    name: str,
    pairs: Sequence[Pair],
    phrasings: Sequence[Phrasing],
    folder: Path,
    progress: Progress,
    before: Sequence[ModelCard],
) -> tuple[pd.DataFrame, ModelCard]:
    """What a model judged, from the folder if it is there; the model is let go of on return."""
    progress.say(f"loading {name}")
    loaded = load(name)
    card = card_of(loaded)
    for other in before:
        if (other.weights_sha256, other.tokenizer_sha256) == (card.weights_sha256, card.tokenizer_sha256):
            raise LabelsError(
                f"{name} and {other.name} are the same model, so neither can have anything of its own.",
                "Name different models.",
            )
    path = folder / "judgements" / f"{_slug(name)}-{_key(loaded, pairs, phrasings)[:16]}.parquet"
    if path.exists():
        return _read(path), card
    progress.start(f"asking {name}", rows_of(pairs, phrasings))

    def advance(done: int) -> None:
        for _ in range(done):
            progress.step()

    write_atomic(path, to_parquet(judgements(loaded, pairs, phrasings, advance)))
    return _read(path), card


def _key(loaded: LoadedModel, pairs: Sequence[Pair], phrasings: Sequence[Phrasing]) -> str:
    """Fingerprint of everything that a model's judgements depend on."""
    return digest(
        {
            "pairs": digest_of(pairs),
            "phrasings": [asdict(phrasing) for phrasing in phrasings],
            "name": loaded.name,
            "weights": loaded.weights_sha256,
            "tokenizer": loaded.tokenizer_sha256,
            "config": loaded.config_sha256,
            "arithmetic": [loaded.dtype, loaded.device],
            "version": __version__,
        }
    )


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[-60:]


def _read(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise TraceError(f"{path} is damaged: {error}.", "Remove it, and run the same command again.") from error
