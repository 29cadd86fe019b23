"""A set of claims as files that anyone can load: JSON lines, Parquet, a card that says what it is, and checksums.

``datasets.load_dataset(folder)`` gives the set that stands for all
(:func:`~firsthand.counterfactual.card.default_of`) and ``load_dataset(folder, "unfiltered")`` another one; the card's
header says so, and no code of ours is needed. The card stands there as Markdown and as JSON. Equal claims make equal
bytes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from firsthand.counterfactual.card import Card, card_json, card_text
from firsthand.counterfactual.claim_files import CARD
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.rows import SCHEMA, claim_of, row_of
from firsthand.errors import CounterfactualError
from firsthand.trials.files import sha256_file, write_atomic

Which = Literal["matched", "filtered", "unfiltered"]
SETS: Final[tuple[Which, ...]] = ("matched", "filtered", "unfiltered")

CHECKSUMS: Final = "SHA256SUMS"


def export(
    folder: Path,
    unfiltered: Sequence[Claim],
    filtered: Sequence[Claim],
    card: Card,
    *,
    matched: Sequence[Claim] | None = None,
) -> dict[str, str]:
    """Write the sets, the card and the checksums; files of an export before are replaced.

    Args:
        folder: Folder, made if it is not there.
        unfiltered: All claims.
        filtered: Those that passed the filters, which must be among them.
        card: What the card says besides what the claims say themselves.
        matched: Those of the filtered ones that have a partner which looks alike; ``None``: no such set is written.

    Returns:
        SHA-256 of each file, by its path in the folder.

    Raises:
        CounterfactualError: If a claim stands in a set twice, or in one and not in the one that it was taken from.
        TraceError: If a file cannot be written.
    """
    sets = {"filtered": _checked("filtered", filtered), "unfiltered": _checked("unfiltered", unfiltered)}
    if matched is not None:
        sets = {"matched": _checked("matched", matched), **sets}
    for name, of in (("filtered", "unfiltered"), ("matched", "filtered")):
        strangers = {one.id for one in sets.get(name, ())} - {one.id for one in sets[of]}
        if strangers:
            raise CounterfactualError(
                f"{len(strangers)} {name} claims are not among the {of} ones, such as {min(strangers)}.",
                f"Take the {name} claims from the {of} ones.",
            )
    digests: dict[str, str] = {}
    for path, data in _files(sets, card):
        write_atomic(folder / path, data)
        digests[path] = sha256_file(folder / path)
    if matched is None:  # of an export before
        for path in ("data/matched.parquet", "jsonl/matched.jsonl"):
            (folder / path).unlink(missing_ok=True)
    write_atomic(folder / "README.md", card_text(card, sets, digests).encode())
    digests["README.md"] = sha256_file(folder / "README.md")
    write_atomic(folder / CHECKSUMS, "".join(f"{one}  {path}\n" for path, one in sorted(digests.items())).encode())
    return digests


def _files(sets: Mapping[str, Sequence[Claim]], card: Card) -> Iterator[tuple[str, bytes]]:
    for name, claims in sets.items():
        rows = [row_of(one) for one in claims]
        yield f"data/{name}.parquet", _parquet(rows)
        yield f"jsonl/{name}.jsonl", _json_lines(rows)
    text = json.dumps(card_json(card, sets), indent=1, allow_nan=False)
    yield CARD, f"{text}\n".encode()


def load(folder: Path, which: Which = "filtered") -> list[Claim]:
    """Claims of an exported set, which are equal to those that were exported.

    Raises:
        CounterfactualError: If there is no such set, or the file is not the one that was written.
    """
    path = folder / "data" / f"{which}.parquet"
    check(folder, f"data/{which}.parquet")
    return [claim_of(row) for row in pq.read_table(path).to_pylist()]


def load_lines(path: Path) -> list[Claim]:
    """Claims of a JSON-lines file.

    Raises:
        CounterfactualError: If it cannot be read, or a line is no claim.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        return [claim_of(json.loads(line)) for line in lines if line]
    except (OSError, ValueError) as error:
        raise CounterfactualError(f"{path} cannot be read as claims: {error}.", "Give an exported .jsonl.") from error


def check(folder: Path, path: str) -> None:
    """See that a file is the one that was exported.

    Raises:
        CounterfactualError: If it or the checksums are not there, or they do not agree.
    """
    try:
        lines = (folder / CHECKSUMS).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CounterfactualError(f"{folder} holds no exported claims.", "Name the folder of an export.") from error
    digests = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    if path not in digests or not (folder / path).is_file():
        raise CounterfactualError(f"{folder} holds no {path}.", "Export again, or name another set.")
    if sha256_file(folder / path) != digests[path]:
        raise CounterfactualError(f"{folder / path} has changed since it was exported.", "Export again.")


def _checked(name: str, claims: Iterable[Claim]) -> list[Claim]:
    ordered = sorted(claims, key=lambda one: one.id)
    twice = [one.id for one, other in pairwise(ordered) if one.id == other.id]
    if twice:
        raise CounterfactualError(f"The {name} set holds claim {twice[0]} twice.", "Give each claim once.")
    return ordered


def _parquet(rows: Sequence[dict[str, Any]]) -> bytes:
    buffer = BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), SCHEMA), buffer, compression="zstd")
    return buffer.getvalue()


def _json_lines(rows: Sequence[dict[str, Any]]) -> bytes:
    """One object a line, as ASCII: no character of a text can be taken for the end of a line."""
    return "".join(json.dumps(one, allow_nan=False) + "\n" for one in rows).encode()
