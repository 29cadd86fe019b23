"""What the command ``labels prediction`` does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from firsthand.auditing.labels.prediction_cost import Price, price_of
from firsthand.auditing.labels.prediction_study import predict
from firsthand.claims.labels import PredictionClaim
from firsthand.cli.labels.ask import Ask
from firsthand.cli.labels.claims import Draft
from firsthand.cli.labels.ending import told, written
from firsthand.cli.labels.prices import print_price, speed
from firsthand.cli.progress import TerminalProgress
from firsthand.studies.labels.prediction.prompts import ONE_WORD, PromptSet, built_in, read_prompts

USUAL: Final = 80
"""Prompts to learn from, and prompts to judge, where there are enough."""
LEAST: Final = 20
"""The fewest of each that a claim may name."""


@dataclass(frozen=True)
class Source:
    """Prompts and how they are read.

    Attributes:
        path: The file or folder; ``None`` for the prompts that come with the package.
        text: Column of the texts.
        group: Column of what belongs together.
        ask: What is asked of each text.
        longest: Most tokens of a prompt.
    """

    path: Path | None
    text: str | None = None
    group: str | None = None
    ask: str = ONE_WORD
    longest: int = 96

    def read(self, tokenizer: PreTrainedTokenizerBase) -> PromptSet:
        """The prompts.

        Raises:
            LabelsError: If they cannot be read, or none can be used.
        """
        if self.path is None:
            return built_in()
        return read_prompts(self.path, tokenizer, text=self.text, group=self.group, ask=self.ask, longest=self.longest)

    @property
    def options(self) -> dict[str, object]:
        """The options that read the same prompts."""
        if self.path is None:
            return {}
        return {
            "data": self.path,
            "text": self.text,
            "group": self.group,
            "ask": self.ask,
            "longest": self.longest,
        }


def found_in(prompts: PromptSet) -> dict[str, Any]:
    """What the prompts give a claim: their hash, and how many to learn from and to judge, if options do not say."""
    usual = max(LEAST, min(USUAL, len(prompts.prompts) // 2))
    return {"fit": usual, "judged": usual, "data_sha256": prompts.sha256}


def run_prediction(source: Source, ask: Ask) -> None:
    """Run or price a study of self-prediction, and print its verdicts."""
    draft = Draft.of(ask.claim, ask.fields, PredictionClaim)
    with TerminalProgress() as progress:
        loaded = ask.load(draft.value("model"), progress)
        prompts = source.read(loaded.tokenizer)
        claim = draft.settled(found_in(prompts))
        draft.bound_to(claim, loaded)
        if ask.dry_run:
            progress.say("answering the prompts, which decides what can be asked")
            price = price_of(loaded, prompts, claim)
        else:
            again = ask.commands("prediction", source.options)
            done = predict(
                claim,
                prompts,
                loaded,
                ask.out,
                progress,
                loader=ask.loader(progress),
                reproduce=again,
            )
            written(done.document, ask.out, {"trials": done.table, "answers": done.behaviour}, progress)
    if ask.dry_run:
        print_price(_told(price, claim), prompts.dropped, claim.data_sha256)
        return
    told(done.document, ask.out, ask.json)


def _told(price: Price, claim: PredictionClaim) -> list[str]:
    asked = ", ".join(price.properties) or "none"
    lines = [f"Properties that can be asked about: {asked}."]
    lines += [f"Not asked about: {name} ({reason})." for name, reason in price.refused.items()]
    lines.append(
        f"{price.questions:,} questions, each in both orders, and {claim.fit + claim.judged} prompts that are "
        f"answered: {price.tokens:,} tokens."
    )
    if claim.readers:
        lines.append(f"Each other model runs {price.reader_tokens:,} tokens.")
    return [*lines, speed(price.rate, price.seconds)] if price.properties else lines
