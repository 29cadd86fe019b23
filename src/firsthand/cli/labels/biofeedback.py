"""What the command ``labels biofeedback`` does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerBase

from firsthand.auditing.labels.biofeedback_cost import Price, price_of
from firsthand.auditing.labels.biofeedback_study import biofeedback
from firsthand.claims.labels import BiofeedbackClaim
from firsthand.cli.labels.ask import Ask
from firsthand.cli.labels.claims import Draft
from firsthand.cli.labels.ending import told, written
from firsthand.cli.labels.prices import print_price, speed
from firsthand.cli.progress import TerminalProgress
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

    @property
    def options(self) -> dict[str, object]:
        """The options that read the same texts."""
        named = {"text": self.text, "label": self.label, "group": self.group, "positive": self.positive}
        return {"data": self.path, **named, "longest": self.longest}


def found_in(examples: Examples) -> dict[str, Any]:
    """What the texts give a claim."""
    return {"data_sha256": data_hash(examples)}


def run_biofeedback(source: Source, ask: Ask) -> None:
    """Run or price a biofeedback study, and print its verdicts."""
    draft = Draft.of(ask.claim, ask.fields, BiofeedbackClaim)
    with TerminalProgress() as progress:
        loaded = ask.load(draft.value("model"), progress)
        examples = source.read(loaded.tokenizer)
        claim = draft.settled(found_in(examples))
        draft.bound_to(claim, loaded)
        if ask.dry_run:
            progress.say("counting")
            price = price_of(loaded, examples, claim)
        else:
            name, again = source.path.name, ask.commands("biofeedback", source.options)
            done = biofeedback(claim, examples, loaded, ask.out, progress, source=name, reproduce=again)
            written(done.document, ask.out, {"trials": done.table}, progress)
    if ask.dry_run:
        print_price(_told(price, claim), examples.dropped, claim.data_sha256)
        return
    told(done.document, ask.out, ask.json)


def _told(price: Price, claim: BiofeedbackClaim) -> list[str]:
    return [
        f"{price.conversations} conversations of {claim.shots} shots, about {price.length:,} tokens each, in "
        f"{price.passes:,} passes: {price.tokens:,} tokens, {price.texts:,} of them to read the states of the texts.",
        speed(price.rate, price.seconds),
    ]
