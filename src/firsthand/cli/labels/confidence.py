"""What the command ``labels confidence`` does."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console

from firsthand.auditing.labels.confidence_cost import Price, price_of
from firsthand.auditing.labels.confidence_study import confidence
from firsthand.claims.labels import ConfidenceClaim
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import load
from firsthand.errors import ClaimError
from firsthand.report.files import write_text
from firsthand.studies.labels.confidence.files import Columns
from firsthand.studies.labels.confidence.questions import digest_of, read_questions


def run_confidence(
    data: Path,
    columns: Columns,
    longest: int,
    fields: dict[str, Any],
    out: Path,
    json: Path | None,
    device: str | None,
    dtype: str,
    dry_run: bool,
) -> None:
    """Run or price a confidence study, and print its verdicts."""
    with TerminalProgress() as progress:
        name = fields.get("model", "smollm2")
        progress.say(f"loading {name}")
        loaded = load(name, device=device, dtype=dtype, progress=progress.say)
        questions = read_questions(data, columns, tokenizer=loaded.tokenizer, longest=longest)
        claim = _claim({**fields, "data_sha256": digest_of(questions)})
        if dry_run:
            progress.say("counting")
            price = price_of(loaded, questions, claim)
        else:
            done = confidence(claim, questions, loaded, out, progress, name=data.name)
    if dry_run:
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in questions.dropped.items()) or "none"
        _print_price(price, len(questions), left_out, Console())
        return
    from firsthand.report.labels_terminal import print_labels

    print_labels(done.document, Console())
    if json is not None:
        write_text(json, done.document.model_dump_json(indent=2) + "\n")
    Console(stderr=True).print(
        f"\nResult: {out / 'result.json'}\nTrace:  {out / 'trace'}", markup=False, highlight=False
    )


def _claim(fields: dict[str, Any]) -> ConfidenceClaim:
    try:
        return ConfidenceClaim.model_validate(fields)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc'])) or 'claim'}: {e['msg']}" for e in error.errors()]
        raise ClaimError("The options do not fit:\n" + "\n".join(lines) + "\n", "Correct them.") from error


def _print_price(price: Price, usable: int, left_out: str, console: Console) -> None:
    other = "" if not price.reader_tokens else f", and about {price.reader_tokens:,} by the reader"
    console.print(
        f"{price.questions} of {usable:,} questions (left out: {left_out}), {price.pairs} of them again with two "
        f"options: {price.prompts:,} prompts, about {price.tokens:,} tokens{other}.\nThis machine does "
        f"{price.rate:,.0f} tokens a second: about {max(1, round(price.seconds / 60))} minutes.",
        markup=False,
        highlight=False,
    )
