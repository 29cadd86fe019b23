"""What the command ``investigate prepare`` does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from firsthand.cli.progress import TerminalProgress
from firsthand.counterfactual.mixtures import Mixture, MixturePart
from firsthand.counterfactual.prepared import Account, Count, Prepared, write_prepared
from firsthand.counterfactual.preparing import prepare
from firsthand.errors import CounterfactualError
from firsthand.report.safe_text import one_line


def run_prepare(
    files: Sequence[Path],
    out: Path,
    *,
    kind: str | None = None,
    most: int | None = None,
    seed: int = 0,
    min_characters: int | None = None,
    max_characters: int | None = None,
    max_tokens: int | None = None,
    per_family: int | None = None,
    family_characters: int | None = None,
    shares: Sequence[float] = (),
    options: Sequence[str] = (),
    console: Console | None = None,
) -> Prepared:
    """Prepare prompts, print what became of what was read, and write ``prompts.jsonl`` and ``prepared.json``.

    Limits that are not given are those of each file's kind; 0 lifts the limit.

    Args:
        files: Files, or folders of files.
        out: Folder for the result.
        kind: Format of all files; without it each file's is recognised.
        most: How many prompts are wanted; without it as many as there are.
        seed: Seed of all draws.
        min_characters: Fewest characters of a prompt.
        max_characters: Most characters.
        max_tokens: Most tokens, as estimated.
        per_family: Most prompts of one template family.
        family_characters: By how many first characters of user text a family is known.
        shares: One share for each of ``files``, together 1; none for whatever is there.
        options: Options of the format, each as ``name=value``.
        console: Where to print.

    Returns:
        What was prepared.

    Raises:
        CounterfactualError: If something cannot be read or met, or makes no sense.
    """
    given = {
        "min_characters": min_characters,
        "max_characters": max_characters,
        "max_tokens": max_tokens,
        "per_family": per_family,
        "family_characters": family_characters,
    }
    limits = {name: _limit(name, value) for name, value in given.items() if value is not None}
    mixture = _mixture(files, kind, most, seed, shares, limits, _options(options))
    with TerminalProgress() as progress:
        prepared = prepare(mixture, progress=progress)
    write_prepared(prepared, out)
    print_prepared(prepared, console or Console())
    Console(stderr=True).print(f"\nPrompts: {out / 'prompts.jsonl'}", markup=False, highlight=False)
    return prepared


def _limit(name: str, value: int) -> int | None:
    return None if value == 0 and name in ("max_characters", "max_tokens", "per_family") else value


def _options(given: Sequence[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in given]
    for name, equals, _ in pairs:
        if not name or not equals:
            raise CounterfactualError(f"The option {name!r} has no value.", "Write it as name=value.")
    return {name: value for name, _, value in pairs}


def _mixture(
    files: Sequence[Path],
    kind: str | None,
    most: int | None,
    seed: int,
    shares: Sequence[float],
    limits: dict[str, int | None],
    options: dict[str, str],
) -> Mixture:
    if not files:
        raise CounterfactualError("No file is named.", "Name at least one file, or a folder of files.")
    if shares and len(shares) != len(files):
        raise CounterfactualError(
            f"{len(files)} files have {len(shares)} shares.", "Give one share for each, in the same order, or none."
        )
    wanted: list[float | None] = list(shares) or [None] * len(files)
    try:
        parts = tuple(
            MixturePart(path=path, kind=kind, share=share, limits=limits, options=options)
            for path, share in zip(files, wanted, strict=True)
        )
        return Mixture(parts=parts, total=most, seed=seed)
    except ValidationError as error:
        first: Any = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the shares"
        raise CounterfactualError(
            f"{where}: {first['msg'].removeprefix('Value error, ')}.",
            "Give shares between 0 and 1 that add up to 1." if "share" in where else "Give a number above 0.",
        ) from None


def print_prepared(prepared: Prepared, console: Console) -> None:
    """Print what was read, dropped and kept of each part, and what a reader should know.

    Args:
        prepared: What was prepared.
        console: Where to print.
    """
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("Source", overflow="fold")
    table.add_column("", overflow="fold")
    table.add_column("Count", justify="right", no_wrap=True)
    table.add_column("For example", overflow="fold", style="dim")
    for account in prepared.accounts:
        _add(table, account)
    console.print(table)
    console.print(
        Text(f"\n{len(prepared.prompts):,} prompts of {prepared.read:,} places. Tokens are {prepared.counter}.")
    )
    for note in prepared.notes:
        console.print(Text(f"! {one_line(note, 600)}", style="yellow"))


def _add(table: Table, account: Account) -> None:
    kinds = sorted({one.kind for one in account.inputs})
    named = f"{Path(account.path).name} ({', '.join(kinds) or 'nothing'})"
    table.add_row(Text(one_line(named, 80), style="bold"), Text("read"), Text(f"{account.read:,}"), Text(""))
    for count in account.dropped:
        table.add_row(Text(""), *_cells("dropped: ", count))
    table.add_row(Text(""), Text("kept", style="bold"), Text(f"{account.kept:,}", style="bold"), Text(""))
    for count in account.altered:
        table.add_row(Text(""), *_cells("noted: ", count))


def _cells(prefix: str, count: Count) -> tuple[Text, Text, Text]:
    return Text(prefix + one_line(count.reason, 160)), Text(f"{count.count:,}"), Text(one_line(count.example, 120))
