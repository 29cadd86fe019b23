"""What the commands ``labels ...`` do."""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from pydantic import ValidationError
from rich.console import Console

from firsthand.auditing.labels.biofeedback_cost import Price, price_of
from firsthand.auditing.labels.biofeedback_study import biofeedback
from firsthand.claims.labels import BiofeedbackClaim
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import load
from firsthand.errors import ClaimError
from firsthand.report.files import write_text
from firsthand.report.labels_terminal import print_labels
from firsthand.studies.labels.biofeedback import data_hash
from firsthand.studies.labels.examples import read_examples


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

    def commands(self, out: Path) -> tuple[str, ...]:
        """Commands that repeat a study of these texts, which ended in a folder."""
        named = {"text": self.text, "label": self.label, "group": self.group, "positive": self.positive}
        options = [f"--{name} {quote(value)}" for name, value in named.items() if value is not None]
        data = " ".join([f"--data {quote(str(self.path))}", *options, f"--longest {self.longest}"])
        frozen = quote(str(out / "claim.frozen.json"))
        return (
            f"firsthand labels biofeedback --claim {frozen} {data} --out NEW_FOLDER",
            f"firsthand verify {quote(str(out))}",
            f"firsthand report {quote(str(out))}",
        )


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
            done = biofeedback(
                claim,
                examples,
                loaded,
                out,
                progress,
                source=source.path.name,
                reproduce=source.commands(out),
            )
    if dry_run:
        _print_price(price, claim, Console())
        return
    print_labels(done.document, Console())
    if json is not None:
        write_text(json, done.document.model_dump_json(indent=2) + "\n")
    Console(stderr=True).print(
        f"\nResult: {out / 'result.json'}\nTrace:  {out / 'trace'}", markup=False, highlight=False
    )


def _claim(fields: dict[str, Any]) -> BiofeedbackClaim:
    try:
        return BiofeedbackClaim.model_validate(fields)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc'])) or 'claim'}: {e['msg']}" for e in error.errors()]
        raise ClaimError("The options do not fit:\n" + "\n".join(lines) + "\n", "Correct them.") from error


def _print_price(price: Price, claim: BiofeedbackClaim, console: Console) -> None:
    console.print(
        f"{price.conversations} conversations of {claim.shots} shots, about {price.length:,} tokens each, in "
        f"{price.passes:,} passes: {price.tokens:,} tokens, {price.texts:,} texts among them.\nThis machine does "
        f"{price.rate:,.0f} tokens a second: about {max(1, round(price.seconds / 60))} minutes.",
        markup=False,
        highlight=False,
    )
