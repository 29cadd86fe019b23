"""What the command ``labels belief`` does."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console

from firsthand.auditing.labels.belief_cost import Price, price_of
from firsthand.auditing.labels.belief_study import belief
from firsthand.claims.labels import BeliefClaim
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import load
from firsthand.errors import ClaimError
from firsthand.report.files import write_text
from firsthand.studies.labels.belief.kinds import read_kinds
from firsthand.studies.labels.belief.records import data_hash, read_facts


@dataclass(frozen=True)
class Ask:
    """What was asked for on the command line.

    Attributes:
        data: The file of facts.
        kinds: A file of kinds of conflict, if not the built-in ones.
        layers: Layers with commas, ``all``, or nothing for six.
        out: The run's folder.
        json: Where the document is written besides.
        device: Where the models run.
        dtype: In which precision.
        dry_run: Whether only the cost is wanted.
    """

    data: Path
    kinds: Path | None
    layers: str | None
    out: Path
    json: Path | None
    device: str | None
    dtype: str
    dry_run: bool


def run_belief(ask: Ask, fields: dict[str, Any]) -> None:
    """Run or price a belief study, and print its verdicts."""
    with TerminalProgress() as progress:
        name = fields.get("model", "smollm2")
        progress.say(f"loading {name}")
        loaded = load(name, device=ask.device, dtype=ask.dtype, progress=progress.say)
        facts = read_facts(ask.data, loaded.tokenizer, fields.get("seed", 0))
        if ask.kinds is not None:
            fields = {**fields, "kinds": read_kinds(ask.kinds)}
        if ask.layers is not None:
            every = range(loaded.n_layers)
            fields = {**fields, "layers": list(every) if ask.layers == "all" else ask.layers.split(",")}
        claim = _claim({**fields, "data_sha256": data_hash(facts)})
        if ask.dry_run:
            progress.say("counting")
            price = price_of(loaded, facts, claim)
        else:
            document = belief(claim, facts, loaded, ask.out, progress, data=ask.data.name, command=_command(ask, claim))
    if ask.dry_run:
        _print_price(price, Console())
        return
    from firsthand.report.labels_terminal import print_labels

    print_labels(document.document, Console())
    if ask.json is not None:
        write_text(ask.json, document.document.model_dump_json(indent=2) + "\n")
    Console(stderr=True).print(
        f"\nResult: {ask.out / 'result.json'}\nTrace:  {ask.out / 'trace'}", markup=False, highlight=False
    )


def _claim(fields: dict[str, Any]) -> BeliefClaim:
    try:
        return BeliefClaim.model_validate(fields)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc'])) or 'claim'}: {e['msg']}" for e in error.errors()]
        raise ClaimError("The options do not fit:\n" + "\n".join(lines) + "\n", "Correct them.") from error


def _command(ask: Ask, claim: BeliefClaim) -> str:
    """The command that repeats a study; options that say what the default says are left out."""
    words = ["firsthand", "labels", "belief", "--data", str(ask.data), "--model", claim.model]
    usual = BeliefClaim(data_sha256=claim.data_sha256)
    for option, field in OPTIONS.items():
        value = getattr(claim, field)
        if value != getattr(usual, field):
            words += [option, str(value)]
    words += ["--unknown-too"] if not claim.known else []
    words += ["--kinds", str(ask.kinds)] if ask.kinds is not None else []
    words += ["--layers", ask.layers] if ask.layers is not None else []
    words += ["--no-steering"] if claim.steering is None else []
    return shlex.join(words)


OPTIONS = {
    "--records": "records",
    "--per-record": "per_record",
    "--answer-tokens": "answer_tokens",
    "--reading-tokens": "reading_tokens",
    "--reading-samples": "reading_samples",
    "--clustered": "clustered",
    "--folds": "folds",
    "--rounds": "rounds",
    "--shots": "shots",
    "--shows": "shows",
    "--splits": "splits",
    "--reader": "reader",
    "--seed": "seed",
}
"""Options that are fields of the claim by another name or none."""


def _print_price(price: Price, console: Console) -> None:
    console.print(
        f"{price.answers} answers with about {price.states:,} states, from which {price.readings:,} tokens are "
        f"generated; {price.steered} answers with a vector added;\n{price.conversations} conversations of about "
        f"{price.length:,} tokens each: {price.tokens:,} tokens in all.\nThis machine reads an answer in "
        f"{price.answer_seconds:.1f} seconds and does {price.rate:,.0f} tokens a second: about "
        f"{max(1, round(price.seconds / 60))} minutes.",
        markup=False,
        highlight=False,
    )
