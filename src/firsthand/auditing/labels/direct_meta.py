"""The study of direct and meta judgements: from a claim and pairs of strings to verdicts in a folder.

Models are run one after the other, and no two are in memory at once. What a model judged is kept in a trace of its own,
some pairs at a time, so the same command after an interruption goes on where it stopped.
"""

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pandas as pd

from firsthand.analysis.direct_meta import over_phrasings
from firsthand.analysis.self_advantage import LEAST_PAIRS, self_advantage
from firsthand.analysis.self_results import SelfAdvantage
from firsthand.auditing.labels.direct_meta_document import document_of
from firsthand.auditing.labels.direct_meta_known import known_answers
from firsthand.auditing.running import bindings_of, card_of, examined, settle, settle_further
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.labels import DirectMetaClaim
from firsthand.engine import LoadedModel, load
from firsthand.errors import ClaimError, LabelsError
from firsthand.progress import Progress, Silent
from firsthand.report.document import ModelCard
from firsthand.report.labels_document import LabelsDocument
from firsthand.studies.labels.direct_meta.judging import judgements, rows_of
from firsthand.studies.labels.direct_meta.pairs import Pair, PairSet, digest_of, seen_of_pairs
from firsthand.studies.labels.direct_meta.phrasings import USUAL, Phrasing, digest_of_phrasings, named
from firsthand.trials.keeping import Columns, kept
from firsthand.trials.trace import Trace

ALL: Final = "all phrasings"
ALL_PER_TOKEN: Final = "all phrasings, direct judgements per token"  # noqa: S105
PAIRS_AT_ONCE: Final = 100
"""Pairs of a unit: what is lost by an interruption, and enough for the beginnings of prompts to be worth sharing."""
COLUMNS: Final[Columns] = {
    "public": ("key", "phenomenon", "phrasing", "good", "bad"),
    "sealed": ("direct", "direct_mean"),
    "reports": ("meta", "contrast", "valid"),
    "readings": ("coverage", "leaning"),
}

Load = Callable[[str], LoadedModel]


@dataclass(frozen=True)
class DirectMetaRun:
    """A finished study.

    Attributes:
        folder: Its folder: ``claim.frozen.json``, ``models/``, ``trace/`` (one a model) and ``result.json``.
        document: What was found.
        table: Judgements, one row a model, phrasing and pair.
        results: Everything about meta averaged over the phrasings; the same with the direct judgement per token; and
            about every phrasing by itself.
    """

    folder: Path
    document: LabelsDocument
    table: pd.DataFrame
    results: tuple[SelfAdvantage, ...]


def claim_of(models: Sequence[str], pairs: Sequence[Pair], phrasings: Sequence[str] = ()) -> DirectMetaClaim:
    """A claim about some models and pairs, in two phrasings unless others are named.

    Raises:
        LabelsError: If there is no phrasing of a name.
        ValueError: If the models do not fit (Pydantic's).
    """
    return DirectMetaClaim(models=tuple(models), **found_in(pairs, phrasings))


def found_in(pairs: Sequence[Pair], phrasings: Sequence[str] = ()) -> dict[str, Any]:
    """Fields of a claim that follow from the pairs and the ways of asking: two, unless others are named.

    Raises:
        LabelsError: If there is no phrasing of a name.
    """
    chosen = named(phrasings or USUAL)
    return {
        "pairs_sha256": digest_of(pairs),
        "phrasings": tuple(one.name for one in chosen),
        "phrasings_sha256": digest_of_phrasings(chosen),
    }


def study(
    claim: DirectMetaClaim,
    given: PairSet,
    folder: Path,
    progress: Progress | None = None,
    *,
    source: str | None = None,
    load_model: Load | None = None,
    reproduce: Sequence[str] = (),
) -> DirectMetaRun:
    """Run the study, or go on with one.

    Args:
        claim: The claim; it is frozen before anything is judged.
        given: The pairs that it names.
        folder: The run's folder; one folder holds one claim.
        progress: Who is told how far it is.
        source: The file that the pairs come from; ``None`` for our own.
        load_model: Loads a model by its name.
        reproduce: Commands that repeat the study, for the report.

    Returns:
        The result, whose document is in ``result.json`` too.

    Raises:
        ClaimError: If pairs or phrasings are not those of the claim, or the folder holds another claim or model.
        LabelsError: If two models are the same, or there are too few pairs.
        ModelError: If a model cannot be loaded.
        ElicitationError: If a model's tokenizer cannot express the strings or the labels.
        TraceError: If a file cannot be written, or was damaged.
    """
    progress = progress or Silent()
    pairs, phrasings = given.pairs, named(claim.phrasings)
    _check(claim, pairs, phrasings)
    frames: list[pd.DataFrame] = []
    cards: list[ModelCard] = []
    notes: list[str] = []
    frozen: FrozenLabels | None = None
    for number, name in enumerate(claim.models):
        progress.say(f"loading {name}")
        loaded = (load_model or load)(name)
        if frozen is None:
            frozen = FrozenLabels.of(claim, bindings_of(loaded))
            settle(folder, frozen, loaded)
        else:
            settle_further(folder, loaded)
        cards.append(_card(loaded, name, cards))
        notes += [f"{name}: {note}" for note in examined(loaded, progress)]
        trace = Trace(folder / "trace" / f"{number}")
        frames.append(_asked(loaded, pairs, phrasings, trace, progress).assign(model=name))
        del loaded
        gc.collect()  # hooks and modules refer to one another; the next model needs the room
    if frozen is None:
        raise ClaimError("The claim names no model.", "Name at least two.")
    table = pd.concat(frames, ignore_index=True).merge(
        seen_of_pairs(pairs).drop(columns="phenomenon"), on="key", validate="many_to_one"
    )
    progress.say("comparing what the models say with what they do")
    results = compared(table, claim)
    known = known_answers(over_phrasings(table), claim, progress)
    document = document_of(folder, frozen, cards, given, source, table, results, known, notes, reproduce)
    return DirectMetaRun(folder, document, table, results)


def compared(table: pd.DataFrame, claim: DirectMetaClaim) -> tuple[SelfAdvantage, ...]:
    """Judge models by what they said over all phrasings, and for each phrasing by itself.

    Args:
        table: What :func:`~firsthand.studies.labels.direct_meta.judging.judgements` returned for several models, with
            what anybody sees of the pairs.
        claim: The rules.

    Raises:
        AnalysisError: If the table does not fit.
    """
    spec = claim.analysis
    judged = partial(
        self_advantage,
        clusters=spec.clusters,
        alpha=spec.alpha,
        minimum_coverage=spec.minimum_coverage,
        minimum_similarity=claim.minimum_similarity,
        draws=spec.bootstrap_draws,
    )
    per_token = table.assign(direct=table["direct_mean"])
    return (
        judged(over_phrasings(table), ALL),
        judged(over_phrasings(per_token), ALL_PER_TOKEN),
        *(judged(table[table["phrasing"] == name], name) for name in claim.phrasings),
    )


def _check(claim: DirectMetaClaim, pairs: Sequence[Pair], phrasings: Sequence[Phrasing]) -> None:
    now = {"pairs_sha256": digest_of(pairs), "phrasings_sha256": digest_of_phrasings(phrasings)}
    changed = [name for name, value in now.items() if getattr(claim, name) != value]
    if changed:
        raise ClaimError(
            f"The claim was written for other {' and '.join(name.split('_')[0] for name in changed)}.",
            "Give those that it names, or make a new claim.",
        )
    if len(pairs) < LEAST_PAIRS:
        raise LabelsError(
            f"There are {len(pairs)} pairs; no correlation is judged on fewer than {LEAST_PAIRS}.", "Add pairs."
        )


def _card(loaded: LoadedModel, name: str, before: Sequence[ModelCard]) -> ModelCard:
    card = card_of(loaded)
    for other in before:
        if (other.weights_sha256, other.tokenizer_sha256) == (card.weights_sha256, card.tokenizer_sha256):
            raise LabelsError(
                f"{name} and {other.name} are the same model, so neither can have anything of its own.",
                "Name different models.",
            )
    return card


def _asked(
    loaded: LoadedModel, pairs: Sequence[Pair], phrasings: Sequence[Phrasing], trace: Trace, progress: Progress
) -> pd.DataFrame:
    """What a model judged, unit by unit, from the trace where it is there."""
    chunks = {
        f"pairs.{start // PAIRS_AT_ONCE:04d}": pairs[start : start + PAIRS_AT_ONCE]
        for start in range(0, len(pairs), PAIRS_AT_ONCE)
    }
    progress.start(f"asking {loaded.name}", rows_of(pairs, phrasings))

    def advance(done: int) -> None:
        for _ in range(done):
            progress.step()

    frames = []
    for unit, some in chunks.items():
        if trace.unit_done(unit):
            advance(rows_of(some, phrasings))
        frames += kept(trace, [unit], partial(_made, loaded, some, phrasings, advance), COLUMNS)
    trace.finish(list(chunks), {"study": "direct-meta", "model": loaded.name})
    return pd.concat(frames, ignore_index=True)


def _made(
    loaded: LoadedModel, pairs: Sequence[Pair], phrasings: Sequence[Phrasing], advance: Callable[[int], None]
) -> list[pd.DataFrame]:
    shown: Mapping[str, Pair] = {pair.key: pair for pair in pairs}
    table = judgements(loaded, pairs, phrasings, advance)
    good, bad = ([getattr(shown[key], side) for key in table["key"]] for side in ("good", "bad"))
    texts = [f"{one}\n{other}" for one, other in zip(good, bad, strict=True)]
    return [table.assign(good=good, bad=bad, text=texts)]
