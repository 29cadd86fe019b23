"""What the command ``labels direct-meta`` does."""

import gc
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console

from firsthand.auditing.labels.direct_meta import PAIRS_AT_ONCE, claim_of, study
from firsthand.auditing.labels.direct_meta_cost import ModelPrice, price_of
from firsthand.claims.labels import DirectMetaClaim
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import load
from firsthand.errors import ClaimError
from firsthand.report.files import write_text
from firsthand.studies.labels.direct_meta.pairs import Pair, PairSet, built_in, read_pairs
from firsthand.studies.labels.direct_meta.phrasings import named


def run_direct_meta(
    models: Sequence[str],
    path: Path | None,
    phrasings: Sequence[str],
    out: Path,
    json: Path | None,
    device: str | None,
    dtype: str,
    dry_run: bool,
) -> None:
    """Run or price a study of direct and meta judgements, and print its verdicts."""
    from firsthand.report.labels_terminal import print_labels

    given = PairSet(built_in(), {}) if path is None else read_pairs(path)
    claim = _claim(models, given.pairs, phrasings)
    with TerminalProgress() as progress:
        loading = partial(load, device=device, dtype=dtype, progress=progress.say)
        if dry_run:
            prices = []
            for name in claim.models:
                progress.say(f"measuring {name}")
                prices.append(price_of(loading(name), given.pairs, named(claim.phrasings), PAIRS_AT_ONCE))
                gc.collect()
        else:
            done = study(claim, given, out, progress, source=None if path is None else str(path), load_model=loading)
    if dry_run:
        _print_prices(prices, claim, given, Console())
        return
    print_labels(done.document, Console())
    if json is not None:
        write_text(json, done.document.model_dump_json(indent=2) + "\n")
    Console(stderr=True).print(
        f"\nResult: {out / 'result.json'}\nTrace:  {out / 'trace'}", markup=False, highlight=False
    )


def _claim(models: Sequence[str], pairs: Sequence[Pair], phrasings: Sequence[str]) -> DirectMetaClaim:
    try:
        return claim_of(models, pairs, phrasings)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc'])) or 'claim'}: {e['msg']}" for e in error.errors()]
        raise ClaimError(
            "The options do not fit:\n" + "\n".join(lines) + "\n", "Correct them, e.g. --models smollm2,gemma3-270m."
        ) from error


def _print_prices(prices: Sequence[ModelPrice], claim: DirectMetaClaim, given: PairSet, console: Console) -> None:
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in given.dropped.items() if count) or "none"
    console.print(
        f"{len(given.pairs):,} pairs (left out: {left_out}) in {len(claim.phrasings)} phrasings, each pair "
        "in both orders, or each string alone.",
        markup=False,
        highlight=False,
    )
    for one in prices:
        console.print(
            f"{one.model}: {one.tokens:,} tokens at {one.rate:,.0f} a second, about {_time(one.seconds)}.",
            markup=False,
            highlight=False,
        )
    console.print(
        f"In all about {_time(sum(one.seconds for one in prices))}, without loading and examining the models.",
        markup=False,
        highlight=False,
    )


def _time(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"
