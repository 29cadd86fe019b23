"""What the command ``labels biofeedback`` does."""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console
from transformers import PreTrainedTokenizerBase

from firsthand.auditing.labels.biofeedback_cost import Price, price_of
from firsthand.auditing.labels.biofeedback_study import biofeedback
from firsthand.auditing.running import bindings_of
from firsthand.claims.labels import BiofeedbackClaim
from firsthand.cli.labels.claims import claim_from
from firsthand.cli.labels.ending import told, written
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import load
from firsthand.errors import ClaimError
from firsthand.studies.labels.biofeedback import data_hash
from firsthand.studies.labels.examples import Examples, read_examples


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
    text: str | None = None
    label: str | None = None
    group: str | None = None
    positive: str | None = None
    longest: int = 64

    def read(self, tokenizer: PreTrainedTokenizerBase) -> Examples:
        """Read the texts.

        Raises:
            LabelsError: If they cannot be read, or do not fit.
        """
        return read_examples(
            self.path,
            text=self.text,
            label=self.label,
            group=self.group,
            positive=self.positive,
            tokenizer=tokenizer,
            longest=self.longest,
        )

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
    source: Source,
    claim_path: Path | None,
    fields: dict[str, Any],
    out: Path,
    json: Path | None,
    device: str | None,
    dtype: str,
    dry_run: bool,
) -> None:
    """Run or price a biofeedback study, and print its verdicts."""
    held = None if claim_path is None else claim_from(claim_path, fields, BiofeedbackClaim)
    name = held[0].model if held is not None else fields["model"] or BiofeedbackClaim.model_fields["model"].default
    with TerminalProgress() as progress:
        progress.say(f"loading {name}")
        loaded = load(name, device=device, dtype=dtype, progress=progress.say)
        examples = source.read(loaded.tokenizer)
        made = {**fields, "data_sha256": data_hash(examples)}
        claim, frozen = held or claim_from(None, made, BiofeedbackClaim)
        if frozen is not None:
            frozen.refuse_if_changed(claim, bindings_of(loaded))
        if dry_run:
            progress.say("counting")
            price = price_of(loaded, examples, claim)
        else:
            name, commands = source.path.name, source.commands(out)
            done = biofeedback(claim, examples, loaded, out, progress, source=name, reproduce=commands)
            written(done.document, out, {"trials": done.table}, progress)
    if dry_run:
        _print_price(price, claim, Console())
        return
    told(done.document, out, json)


def from_data(data: Path | None, model: str) -> dict[str, Any]:
    """What labelled texts give a claim; their columns are guessed.

    Raises:
        ClaimError: If there are no data.
        LabelsError: If they cannot be read.
    """
    if data is None:
        raise ClaimError("A claim of the study biofeedback is made on labelled texts.", "Name them with --data FILE.")
    with TerminalProgress() as progress:
        progress.say(f"loading {model}")
        examples = Source(data).read(load(model, progress=progress.say).tokenizer)
    return {"data_sha256": data_hash(examples)}


def _print_price(price: Price, claim: BiofeedbackClaim, console: Console) -> None:
    console.print(
        f"{price.conversations} conversations of {claim.shots} shots, about {price.length:,} tokens each, in "
        f"{price.passes:,} passes: {price.tokens:,} tokens, {price.texts:,} texts among them.\nThis machine does "
        f"{price.rate:,.0f} tokens a second: about {max(1, round(price.seconds / 60))} minutes.\n"
        f"Data SHA-256: {claim.data_sha256}",
        markup=False,
        highlight=False,
    )
