"""What the command ``labels confidence`` does."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerBase

from firsthand.auditing.labels.confidence_cost import Price, price_of
from firsthand.auditing.labels.confidence_study import confidence
from firsthand.claims.labels import ConfidenceClaim
from firsthand.cli.labels.ask import Ask
from firsthand.cli.labels.claims import Draft
from firsthand.cli.labels.ending import told, written
from firsthand.cli.labels.prices import print_price, speed
from firsthand.cli.progress import TerminalProgress
from firsthand.studies.labels.confidence.files import Columns
from firsthand.studies.labels.confidence.questions import LONGEST, Questions, digest_of, read_questions


@dataclass(frozen=True)
class Source:
    """A set of questions and how it is read.

    Attributes:
        path: The file or folder.
        columns: Names of columns, where they are not to be guessed.
        longest: Most tokens of a question with its options.
    """

    path: Path
    columns: Columns = field(default_factory=Columns)
    longest: int = LONGEST

    def read(self, tokenizer: PreTrainedTokenizerBase) -> Questions:
        """Read the questions.

        Raises:
            LabelsError: If they cannot be read, or none can be used.
        """
        return read_questions(self.path, self.columns, tokenizer=tokenizer, longest=self.longest)

    @property
    def options(self) -> dict[str, object]:
        """The options that read the same questions."""
        named = self.columns
        columns = {"question": named.question, "options": ",".join(named.options) or None, "answer": named.answer}
        return {"data": self.path, **columns, "group": named.subject, "longest": self.longest}


def found_in(questions: Questions) -> dict[str, Any]:
    """What the questions give a claim."""
    return {"data_sha256": digest_of(questions)}


def run_confidence(source: Source, ask: Ask) -> None:
    """Run or price a confidence study, and print its verdicts."""
    draft = Draft.of(ask.claim, ask.fields, ConfidenceClaim)
    with TerminalProgress() as progress:
        loaded = ask.load(draft.value("model"), progress)
        questions = source.read(loaded.tokenizer)
        claim = draft.settled(found_in(questions))
        draft.bound_to(claim, loaded)
        if ask.dry_run:
            progress.say("counting")
            price = price_of(loaded, questions, claim)
        else:
            name, again = source.path.name, ask.commands("confidence", source.options)
            done = confidence(claim, questions, loaded, ask.out, progress, name=name, reproduce=again)
            written(done.document, ask.out, {"trials": done.table}, progress)
    if ask.dry_run:
        print_price(_told(price, len(questions)), questions.dropped, claim.data_sha256)
        return
    told(done.document, ask.out, ask.json)


def _told(price: Price, usable: int) -> list[str]:
    other = "" if not price.reader_tokens else f", and about {price.reader_tokens:,} by the reader"
    return [
        f"{price.questions} of {usable:,} questions, {price.pairs} of them again with two options: {price.prompts:,} "
        f"prompts, about {price.tokens:,} tokens{other}.",
        speed(price.rate, price.seconds),
    ]
