"""The document of a study of direct and meta judgements."""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from firsthand.analysis.self_results import SelfAdvantage
from firsthand.auditing.labels.direct_meta_findings import finding_of_model, finding_of_models, finding_of_phrasings
from firsthand.auditing.labels.finishing import finish
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.labels import DirectMetaClaim
from firsthand.report.document import KnownAnswer, ModelCard
from firsthand.report.labels_document import DataCard, LabelsDocument
from firsthand.studies.labels.direct_meta.pairs import Pair, PairSet
from firsthand.studies.labels.direct_meta.phrasings import named

LIMITS = (
    "Privileged means here: what a model says follows its own probabilities beyond every other model that was asked, a "
    "common opinion, and the lengths and kinds of the strings. A model that knows the language, and uses what it knows "
    "both when it writes and when it is asked, looks the same as one that looks at itself.",
    "An opinion that models share which were trained alike passes as a model's own where no such model was asked: name "
    "a sibling (another size, another seed) among the models.",
    "A verdict is about these strings and these ways of asking. Where a model answers by the place of the options, "
    "nothing follows about access either way.",
    "Where pairs name two to four phenomena no verdict can be privileged, since phenomena are independent units beside "
    "pairs.",
)


def document_of(
    folder: Path,
    frozen: FrozenLabels,
    cards: Sequence[ModelCard],
    given: PairSet,
    source: str | None,
    table: pd.DataFrame,
    results: Sequence[SelfAdvantage],
    known: Sequence[KnownAnswer],
    notes: Sequence[str],
    reproduce: Sequence[str],
) -> LabelsDocument:
    """Write the document of a finished study; the arguments are those of the study."""
    claim = frozen.claim
    if not isinstance(claim, DirectMetaClaim):
        raise TypeError(f"the claim is of study {claim.study}")
    every = results[0]
    slugs = _slugs(claim.models)
    prompt = _shown(claim, given.pairs[0])
    return finish(
        folder,
        "Direct against meta",
        frozen,
        cards,
        DataCard(
            name=source or "our own pairs",
            sha256=claim.pairs_sha256,
            used={"pairs": len(given.pairs), "phenomena": len({pair.phenomenon for pair in given.pairs})},
            dropped=dict(given.dropped),
        ),
        [
            *(finding_of_model(name, slug, every, prompt) for name, slug in zip(claim.models, slugs, strict=True)),
            finding_of_models(every),
            finding_of_phrasings(results, table, claim),
        ],
        known_answers=known,
        limits=LIMITS,
        reproduce=reproduce,
        notes=notes,
    )


def _shown(claim: DirectMetaClaim, pair: Pair) -> str:
    """The first prompt of each phrasing, one below the other."""
    shown = []
    for one in named(claim.phrasings):
        question = one.asked(pair.good, pair.bad)
        shown.append(f"{question}\n\n{one.stem}")
    return "\n\n---\n\n".join(shown)


def _slugs(names: Sequence[str]) -> list[str]:
    """Identifiers of models, each its own."""
    found: list[str] = []
    for name in names:
        slug = re.sub(r"[^a-z0-9]+", "-", Path(name).name.lower()).strip("-") or "model"
        slug = f"model-{slug}" if slug in ("models", "phrasings") else slug
        found.append(slug if slug not in found else f"{slug}-{len(found) + 1}")
    return found
