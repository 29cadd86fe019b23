"""What the command ``labels prediction`` does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console

from firsthand.auditing.labels.prediction_cost import Price, price_of
from firsthand.auditing.labels.prediction_study import predict
from firsthand.claims.labels import PredictionClaim
from firsthand.cli.progress import TerminalProgress
from firsthand.engine import LoadedModel
from firsthand.engine.loading import load
from firsthand.errors import ClaimError
from firsthand.report.files import write_text
from firsthand.report.labels_document import LabelsDocument
from firsthand.studies.labels.prediction.prompts import PromptSet, built_in, read_prompts

USUAL = 80
"""Prompts to learn from, and prompts to judge, where there are enough."""


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
    text: str | None
    group: str | None
    ask: str
    longest: int

    def read(self, loaded: LoadedModel) -> PromptSet:
        """The prompts."""
        if self.path is None:
            return built_in()
        return read_prompts(
            self.path, loaded.tokenizer, text=self.text, group=self.group, ask=self.ask, longest=self.longest
        )


def run_prediction(
    source: Source,
    fields: dict[str, Any],
    out: Path,
    json: Path | None,
    device: str | None,
    dtype: str,
    dry_run: bool,
    reproduce: str = "",
) -> None:
    """Run or price a study of self-prediction, and print its verdicts."""
    with TerminalProgress() as progress:
        name = fields.get("model", "smollm2")
        progress.say(f"loading {name}")
        loaded = load(name, device=device, dtype=dtype, progress=progress.say)
        prompts = source.read(loaded)
        usual = {part: max(20, min(USUAL, len(prompts.prompts) // 2)) for part in ("fit", "judged")}
        claim = _claim({**usual, **fields, "data_sha256": prompts.sha256})
        if dry_run:
            progress.say("answering the prompts, which decides what can be asked")
            price = price_of(loaded, prompts, claim)
        else:
            done = predict(
                claim,
                prompts,
                loaded,
                out,
                progress,
                loader=lambda reader: load(reader, device=device, dtype=dtype, progress=progress.say),
                reproduce=[reproduce] if reproduce else [],
            )
    if dry_run:
        _print_price(price, claim, Console())
        return
    _print(done.document, Console())
    if json is not None:
        write_text(json, done.document.model_dump_json(indent=2) + "\n")
    Console(stderr=True).print(
        f"\nResult: {out / 'result.json'}\nTrace:  {out / 'trace'}", markup=False, highlight=False
    )


def _claim(fields: dict[str, Any]) -> PredictionClaim:
    try:
        return PredictionClaim.model_validate(fields)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc'])) or 'claim'}: {e['msg']}" for e in error.errors()]
        raise ClaimError("The options do not fit:\n" + "\n".join(lines) + "\n", "Correct them.") from error


def _print(document: LabelsDocument, console: Console) -> None:
    from firsthand.report.labels_terminal import print_labels

    print_labels(document, console)


def _print_price(price: Price, claim: PredictionClaim, console: Console) -> None:
    asked = ", ".join(price.properties) or "none"
    lines = [f"Properties that can be asked about: {asked}."]
    lines += [f"Not asked about: {name} ({reason})." for name, reason in price.refused.items()]
    lines.append(
        f"{price.questions:,} questions, each in both orders, and {claim.fit + claim.judged} prompts that are "
        f"answered: {price.tokens:,} tokens."
    )
    if claim.readers:
        lines.append(f"Each other model runs {price.reader_tokens:,} tokens.")
    if price.properties:
        lines.append(
            f"This machine does {price.rate:,.0f} tokens a second with {claim.model}: about "
            f"{max(1, round(price.seconds / 60))} minutes."
        )
    console.print("\n".join(lines), markup=False, highlight=False)
