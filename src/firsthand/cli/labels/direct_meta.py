"""What the command ``labels direct-meta`` does."""

import gc
from collections.abc import Sequence
from pathlib import Path

from firsthand.auditing.labels.direct_meta import PAIRS_AT_ONCE, found_in, study
from firsthand.auditing.labels.direct_meta_cost import ModelPrice, price_of
from firsthand.claims.labels import DirectMetaClaim
from firsthand.cli.labels.ask import Ask
from firsthand.cli.labels.claims import Draft
from firsthand.cli.labels.ending import told, written
from firsthand.cli.labels.prices import print_price, time_of
from firsthand.cli.progress import TerminalProgress
from firsthand.engine import LoadedModel
from firsthand.errors import ClaimError
from firsthand.studies.labels.direct_meta.pairs import PairSet, built_in, read_pairs
from firsthand.studies.labels.direct_meta.phrasings import named


def pairs_of(path: Path | None) -> PairSet:
    """Pairs from a file, or our own.

    Raises:
        LabelsError: If they cannot be read, or none can be used.
    """
    return PairSet(built_in(), {}) if path is None else read_pairs(path)


def run_direct_meta(path: Path | None, ask: Ask) -> None:
    """Run or price a study of direct and meta judgements, and print its verdicts.

    Args:
        path: A file of pairs; ``None`` for our own.
        ask: What was asked for.
    """
    draft = Draft.of(ask.claim, ask.fields, DirectMetaClaim)
    if not draft.value("models"):
        raise ClaimError(
            "No models are named.", "Name two at least, e.g. --models smollm2,gemma3-270m, or give --claim FILE."
        )
    given = pairs_of(path)
    claim = draft.settled(found_in(given.pairs, draft.value("phrasings") or ()))
    with TerminalProgress() as progress:

        def load(name: str) -> LoadedModel:
            loaded = ask.loader(progress)(name)
            if name == claim.model:
                draft.bound_to(claim, loaded)
            return loaded

        if ask.dry_run:
            prices = []
            for name in claim.models:
                progress.say(f"measuring {name}")
                prices.append(price_of(load(name), given.pairs, named(claim.phrasings), PAIRS_AT_ONCE))
                gc.collect()
        else:
            again = ask.commands("direct-meta", {"data": path})
            source = None if path is None else path.name
            done = study(claim, given, ask.out, progress, source=source, load_model=load, reproduce=again)
            written(done.document, ask.out, {"trials": done.table}, progress)
    if ask.dry_run:
        print_price(_told(prices, claim, len(given.pairs)), given.dropped, claim.pairs_sha256)
        return
    told(done.document, ask.out, ask.json)


def _told(prices: Sequence[ModelPrice], claim: DirectMetaClaim, pairs: int) -> list[str]:
    return [
        f"{pairs:,} pairs in {len(claim.phrasings)} phrasings, each pair in both orders, or each string alone.",
        *(
            f"{one.model}: {one.tokens:,} tokens at {one.rate:,.0f} a second, about {time_of(one.seconds)}."
            for one in prices
        ),
        f"In all about {time_of(sum(one.seconds for one in prices))}, without loading and examining the models.",
    ]
