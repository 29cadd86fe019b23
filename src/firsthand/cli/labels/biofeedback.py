"""What the commands ``labels ...`` do."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from firsthand.analysis.results import Estimate
from firsthand.auditing.labels.biofeedback_cost import Price, price_of
from firsthand.auditing.labels.biofeedback_study import BiofeedbackResult, biofeedback
from firsthand.claims.labels import BiofeedbackClaim
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import load
from firsthand.errors import ClaimError
from firsthand.report.files import write_text
from firsthand.report.words import wording
from firsthand.studies.labels.biofeedback import data_hash
from firsthand.studies.labels.examples import read_examples
from firsthand.vocabulary import Capability


@dataclass(frozen=True)
class Source:
    """A labelled text set and how it is read.

    Attributes:
        path: The file or folder.
        text: Column of the texts.
        label: Column of the labels.
        group: Column of the contrast pairs.
        positive: What class 1 is called.
        longest: Most tokens of a text.
    """

    path: Path
    text: str | None
    label: str | None
    group: str | None
    positive: str | None
    longest: int


def run_biofeedback(
    source: Source, fields: dict[str, Any], out: Path, json: Path | None, device: str | None, dtype: str, dry_run: bool
) -> None:
    """Run or price a biofeedback study, and print its verdicts."""
    with TerminalProgress() as progress:
        name = fields.get("model", "smollm2")
        progress.say(f"loading {name}")
        loaded = load(name, device=device, dtype=dtype, progress=progress.say)
        examples = read_examples(
            source.path,
            text=source.text,
            label=source.label,
            group=source.group,
            positive=source.positive,
            tokenizer=loaded.tokenizer,
            longest=source.longest,
        )
        claim = _claim({**fields, "data_sha256": data_hash(examples)})
        if dry_run:
            progress.say("counting")
            price = price_of(loaded, examples, claim)
        else:
            done = biofeedback(claim, examples, loaded, out, progress)
    if dry_run:
        _print_price(price, claim, Console())
        return
    print_biofeedback(done.result, Console())
    if json is not None:
        write_text(json, done.result.model_dump_json(indent=2) + "\n")
    Console(stderr=True).print(
        f"\nResult: {out / 'result.json'}\nTrace:  {out / 'trace'}", markup=False, highlight=False
    )


def _claim(fields: dict[str, Any]) -> BiofeedbackClaim:
    try:
        return BiofeedbackClaim.model_validate(fields)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc'])) or 'claim'}: {e['msg']}" for e in error.errors()]
        raise ClaimError("The options do not fit:\n" + "\n".join(lines) + "\n", "Correct them.") from error


def print_biofeedback(result: BiofeedbackResult, console: Console) -> None:
    """Print one line for each kind of axis, and the reasons."""
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in result.dropped.items() if count) or "none"
    console.print(f"Claim    {result.claim.title}\nSHA-256  {result.claim_hash}\nLeft out {left_out}", highlight=False)
    table = Table(title="Labels of the model's own states, told in context", title_justify="left")
    for column in ("Labels", "Verdict", "Right answers", "Strongest observer"):
        table.add_column(column)
    for one in result.axes:
        found = one.result
        best = max(found.observers, key=lambda row: row.score.value)
        units = "" if found.score is None else f"\n{found.score.units} {found.score.cluster}s"
        table.add_row(one.axis, str(found.verdict), _share(found.score) + units, f"{best.name}\n{_share(best.score)}")
    console.print(table)
    level = 1 - 2 * result.claim.analysis.alpha
    console.print(f"Brackets hold {level:.0%} intervals over independent units; chance is 50%.", highlight=False)
    for one in result.axes:
        console.print(f"\n{one.axis}: {wording(one.result.verdict, Capability.IDENTIFICATION).title}", markup=False)
        for reason in one.result.reasons:
            console.print(f"  - {reason}", markup=False, highlight=False)


def _share(found: Estimate | None) -> str:
    return "-" if found is None else f"{found.value:.1%} [{found.low:.1%}, {found.high:.1%}]"


def _print_price(price: Price, claim: BiofeedbackClaim, console: Console) -> None:
    console.print(
        f"{price.conversations} conversations of {claim.shots} shots, about {price.length:,} tokens each, in "
        f"{price.passes:,} passes: {price.tokens:,} tokens, {price.texts:,} texts among them.\nThis machine does "
        f"{price.rate:,.0f} tokens a second: about {max(1, round(price.seconds / 60))} minutes.",
        markup=False,
        highlight=False,
    )
