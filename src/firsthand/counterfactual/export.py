"""A set of claims as files that anyone can load: JSON lines, Parquet, a card that says what it is, and checksums.

``datasets.load_dataset(folder)`` gives the filtered set and ``load_dataset(folder, "unfiltered")`` the other; the
card's header says so, and no code of ours is needed. Equal claims make equal bytes.
"""

import json
from collections.abc import Iterable, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from firsthand.counterfactual.card import Card, card_text
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.rows import SCHEMA, claim_of, row_of
from firsthand.errors import CounterfactualError
from firsthand.trials.files import sha256_file, write_atomic

Which = Literal["filtered", "unfiltered"]
SETS: Final[tuple[Which, ...]] = ("filtered", "unfiltered")

CHECKSUMS: Final = "SHA256SUMS"


def export(folder: Path, unfiltered: Sequence[Claim], filtered: Sequence[Claim], card: Card) -> dict[str, str]:
    """Write both sets, the card and the checksums; files of an export before are replaced.

    Args:
        folder: Folder, made if it is not there.
        unfiltered: All claims.
        filtered: Those that passed the filters, which must be among them.
        card: What the card says besides what the claims say themselves.

    Returns:
        SHA-256 of each file, by its path in the folder.

    Raises:
        CounterfactualError: If a claim stands in a set twice, or in the filtered one alone.
        TraceError: If a file cannot be written.
    """
    sets = {"filtered": _checked("filtered", filtered), "unfiltered": _checked("unfiltered", unfiltered)}
    strangers = {one.id for one in sets["filtered"]} - {one.id for one in sets["unfiltered"]}
    if strangers:
        raise CounterfactualError(
            f"{len(strangers)} filtered claims are not among the unfiltered ones, such as {min(strangers)}.",
            "Give all claims as the unfiltered set.",
        )
    digests: dict[str, str] = {}
    for name, claims in sets.items():
        for path, data in ((f"data/{name}.parquet", _parquet(claims)), (f"jsonl/{name}.jsonl", _json_lines(claims))):
            write_atomic(folder / path, data)
            digests[path] = sha256_file(folder / path)
    write_atomic(folder / "README.md", card_text(card, sets["filtered"], sets["unfiltered"], digests).encode())
    digests["README.md"] = sha256_file(folder / "README.md")
    write_atomic(folder / CHECKSUMS, "".join(f"{one}  {path}\n" for path, one in sorted(digests.items())).encode())
    return digests


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


def _parquet(claims: Sequence[Claim]) -> bytes:
    buffer = BytesIO()
    pq.write_table(pa.Table.from_pylist([row_of(one) for one in claims], SCHEMA), buffer, compression="zstd")
    return buffer.getvalue()


def _json_lines(claims: Sequence[Claim]) -> bytes:
    """One object a line, as ASCII: no character of a text can be taken for the end of a line."""
    return "".join(json.dumps(row_of(one), allow_nan=False) + "\n" for one in claims).encode()
