"""What the command ``inject`` does."""

from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from firsthand.auditing.injection import inject
from firsthand.auditing.injection.cost import Cost, cost_of
from firsthand.auditing.injection.published import compare, read_published
from firsthand.auditing.running import bindings_of
from firsthand.claims import FrozenInjection, InjectionClaim, lock_path, read_frozen
from firsthand.claims.files import listed, read_injection_claim
from firsthand.claims.injection import EVERY
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import LoadedModel, load
from firsthand.errors import ClaimError, InstrumentError
from firsthand.report.files import write_text
from firsthand.report.injection_files import export, write_json
from firsthand.report.injection_html import write_injection_html
from firsthand.report.injection_terminal import print_injection
from firsthand.studies.injection.bench import prepare
from firsthand.studies.injection.concepts import CONCEPTS, read_concepts
from firsthand.studies.injection.files import read_pushes, read_wordings


@dataclass(frozen=True)
class Options:
    """What the command line gave; ``None`` or nothing where it said nothing.

    Attributes:
        claim: A claim in YAML, frozen or not.
        model: Name, folder, GGUF file or Hugging Face id.
        concepts: A file of concepts.
        prompts: A file of wordings.
        pushes: A file of texts that push.
        fields: Fields of the claim that were given as text.
        full_grid: Whether every arm is run in every cell.
    """

    claim: Path | None
    model: str | None
    concepts: Path | None
    prompts: Path | None
    pushes: Path | None
    fields: dict[str, str]
    full_grid: bool


def run_inject(
    options: Options,
    out: Path,
    report: Path | None,
    json: Path | None,
    published: Path | None,
    device: str | None,
    dtype: str,
) -> None:
    """Run a study, print its profile, and write page, figures and data."""
    rates = () if published is None else read_published(published)
    claim, frozen = _claim(options)
    with TerminalProgress() as progress:
        progress.say(f"loading {claim.model}")
        loaded = load(claim.model, device=device, dtype=dtype, progress=progress.say)
        if frozen is not None:
            frozen.refuse_if_changed(claim, bindings_of(loaded))
        done = inject(frozen or claim, loaded, out, progress)
        document = done.document
        if rates:
            pictures, sources = compare(document.findings, rates, loaded.name, claim.analysis.alpha)
            document = document.model_copy(update={"published": pictures, "published_sources": sources})
            write_json(document, out / "result.json")
        progress.say("writing the report")
        page = write_injection_html(document, report or out / "report.html")
        export(document, out, {f"trials-{name}": table for name, table in done.tables.items()})
    print_injection(document, Console())
    if json is not None:
        write_json(document, json)
    where = f"\nReport:  {page}\nFigures: {out / 'figures'}\nData:    {out / 'data'}\nTrace:   {out / 'trace'}"
    Console(stderr=True).print(where, markup=False, highlight=False)
    if not document.instrument_ok:
        failed = [f"{item.reporter} ({item.description})" for item in document.known_answers if not item.passed]
        raise InstrumentError(
            f"A check of the instrument failed, so no verdict is given: {'; '.join(failed)}.",
            f"See {page} for the reasons; the trace is kept.",
        )


def plan_inject(options: Options, size: float | None, json: Path | None, device: str | None, dtype: str) -> None:
    """Print what a study would cost, and run nothing of it."""
    if size is not None and not 1.0 <= size < 1e15:
        raise ClaimError(f"--size is {size:g}.", "Give a number of parameters, e.g. 8e9.")
    claim, _ = _claim(options)
    with TerminalProgress() as progress:
        progress.say(f"loading {claim.model}")
        loaded = load(claim.model, device=device, dtype=dtype, progress=progress.say)
        progress.say("counting")
        cost = cost_of(prepare(loaded, claim), None if size is None else round(size))
    _print_cost(cost, claim, loaded, Console())
    if json is not None:
        write_text(json, dumps(_cost_json(cost), indent=2) + "\n")


def _claim(options: Options) -> tuple[InjectionClaim, FrozenInjection | None]:
    """The claim to be run: one from a file, frozen or not, or the standard one with the options given."""
    if options.claim is not None:
        given = [options.model, options.concepts, options.prompts, options.pushes, *options.fields.values()]
        if any(value is not None for value in given) or options.full_grid:
            raise ClaimError(
                "--claim holds all settings; other options would change it.",
                "Put them into the claim and leave the options out.",
            )
        if options.claim.name.endswith(".frozen.json"):
            frozen = read_frozen(options.claim, FrozenInjection)
            return frozen.claim, frozen
        claim, lock = read_injection_claim(options.claim), lock_path(options.claim)
        return claim, read_frozen(lock, FrozenInjection) if lock.exists() else None
    fields: dict[str, Any] = {"concepts": CONCEPTS if options.concepts is None else read_concepts(options.concepts)}
    if options.model is not None:
        fields["model"] = options.model
    if options.prompts is not None:
        own = read_wordings(options.prompts)
        fields["wordings"] = [wording.model_dump(mode="json", exclude_none=True) for wording in own]
        fields["options"] = sorted({len(wording.meanings) for wording in own})
        fields["framings"] = sorted({str(wording.framing) for wording in own}, reverse=True)
    if options.pushes is not None:
        fields["pushes"] = read_pushes(options.pushes)
    for name, text in options.fields.items():
        if (name, text) == ("questions", "all"):
            fields[name] = EVERY
            continue
        fields[name] = text.split(",") if name in ("layers", "doses", "questions", "options", "framings") else text
    if "options" in options.fields:
        fields["options"] = _whole(fields["options"])
    fields["full_grid"] = options.full_grid
    try:
        return InjectionClaim.model_validate(fields), None
    except ValidationError as error:
        raise ClaimError(f"The options do not fit:\n{listed(error)}\n", "Correct them.") from error


def _whole(texts: list[str]) -> list[Any]:
    return [int(text) if text.strip().isdigit() else text for text in texts]


def _print_cost(cost: Cost, claim: InjectionClaim, loaded: LoadedModel, console: Console) -> None:
    table = Table(box=None, title=f"What the study of {claim.model} would run", title_justify="left")
    for heading in ("phase", "question", "concepts", "trials", "tokens"):
        table.add_column(heading, justify="left" if heading in ("phase", "question") else "right")
    for part in cost.parts:
        phase = "choosing" if part.phase == "selection" else "judging"
        table.add_row(phase, part.name, str(part.concepts), f"{part.rows:,}", f"{part.tokens:,}")
    console.print(table)
    console.print(
        f"{cost.rows:,} trials, {cost.tokens:,} tokens; this machine does {cost.rate:,.0f} tokens a second with "
        f"{loaded.name}, {loaded.dtype}.",
        f"For {cost.parameters / 1e6:,.0f} million parameters: about {_duration(cost.seconds)}, "
        f"{cost.memory / 2**30:.1f} GiB of memory.",
        sep="\n",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _cost_json(cost: Cost) -> dict[str, object]:
    return {
        "schema_version": 1,
        "parts": [vars(part) for part in cost.parts],
        "tokens": cost.tokens,
        "trials": cost.rows,
        "tokens_per_second": cost.rate,
        "parameters": cost.parameters,
        "seconds": cost.seconds,
        "memory_bytes": cost.memory,
    }


def _duration(seconds: float) -> str:
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"
