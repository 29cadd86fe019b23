"""Claims from a file, with the responses that their transcripts are made of."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.rows import claim_of
from firsthand.errors import CounterfactualError
from firsthand.trials.files import sha256_file

SETS: Final = ("claims/data/unfiltered.parquet", "data/unfiltered.parquet")
"""Where the claims of a run or of an export lie in its folder: all of them, since filters are looked at anyway."""

CONCRETE: Final = 3
"""Least concreteness of a claim that passes the filters (arXiv 2608.16747, section 2.3)."""


@dataclass(frozen=True, eq=False)
class ReadClaims:
    """What was read.

    Attributes:
        name: Name of the file.
        sha256: Fingerprint of the file.
        claims: The claims, each once.
        responses: Responses to each claim's prompt as it is; none where the file has none ``[claims]``.
        dropped: Rows that were left out, by reason.
    """

    name: str
    sha256: str
    claims: tuple[Claim, ...]
    responses: tuple[tuple[Response, ...], ...]
    dropped: dict[str, int]

    @property
    def targets(self) -> tuple[str, ...]:
        """Identities of the targets."""
        return tuple(dict.fromkeys(claim.target for claim in self.claims))


def read_claims_file(path: Path) -> ReadClaims:
    """Read claims that ``firsthand investigate`` exported, or anyone's in that format.

    Args:
        path: A file of JSON lines or Parquet, or the folder of a run or of an export.

    Raises:
        CounterfactualError: If it cannot be read, a row is no claim, one claim stands there with both labels, or there
            is none.
    """
    file = _file(path)
    claims: dict[str, Claim] = {}
    responses: dict[str, tuple[Response, ...]] = {}
    dropped: Counter[str] = Counter()
    for place, row in _rows(file):
        claim = _claim(row, f"{file}, {place}")
        if claim.id in claims:
            if claims[claim.id].label != claim.label:
                raise CounterfactualError(
                    f"{file} holds the claim {claim.id} as a true and as a false one.", "Leave one of them out."
                )
            dropped["claims that stand there again"] += 1
            continue
        claims[claim.id] = claim
        responses[claim.id] = _responses(row, f"{file}, {place}")
    if not claims:
        raise CounterfactualError(f"{file} holds no claim.", "Give a file that `firsthand investigate` exported.")
    return ReadClaims(file.name, sha256_file(file), tuple(claims.values()), tuple(responses.values()), dict(dropped))


def passes_filters(claim: Claim, rated: bool) -> bool:
    """Whether a claim passes every filter; what nobody judged has not passed.

    Args:
        claim: The claim.
        rated: Whether concreteness was judged in this set at all; where it was not, it is not asked for.
    """
    concrete = not rated or (claim.concreteness or 0) >= CONCRETE
    return concrete and claim.reproduced is True and claim.single_factor is True


def _file(path: Path) -> Path:
    if path.is_dir():
        found = [path / place for place in SETS if (path / place).is_file()]
        if not found:
            raise CounterfactualError(
                f"{path} holds no exported claims.", "Name a run of `firsthand investigate`, or a .jsonl or .parquet."
            )
        return found[0]
    if not path.is_file():
        raise CounterfactualError(f"There is no file {path}.", "Check the path.")
    if path.suffix not in (".jsonl", ".parquet"):
        raise CounterfactualError(
            f"{path.name} is neither .jsonl nor .parquet.", "Give claims as `firsthand investigate` exports them."
        )
    return path


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if file.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            rows = pq.read_table(file).to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise CounterfactualError(
                f"{file} cannot be read as Parquet: {error}.", "Give a file that was exported here."
            ) from error
        yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))
        return
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CounterfactualError(f"{file} cannot be read: {error}.", "Give a text file in UTF-8.") from error
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise CounterfactualError(
                f"{file}, line {number}, is no JSON: {error}.", "Write one JSON object a line."
            ) from error
        if not isinstance(row, dict):
            raise CounterfactualError(f"{file}, line {number}, is no JSON object.", "Write one claim a line.")
        yield f"line {number}", row


def _claim(row: dict[str, Any], place: str) -> Claim:
    try:
        return claim_of(row)
    except CounterfactualError as error:
        raise CounterfactualError(f"{place}: {error.problem}", error.remedy) from error


def _responses(row: dict[str, Any], place: str) -> tuple[Response, ...]:
    """Responses of a row: objects, texts alone, or the JSON of either; those of which nothing came are left out."""
    held = row.get("responses")
    if held is None:
        held = row.get("responses_json") or []
    try:
        if isinstance(held, str):
            held = json.loads(held)
        made = [Response(text=one) if isinstance(one, str) else Response.model_validate(_present(one)) for one in held]
    except (TypeError, ValueError, ValidationError) as error:
        raise CounterfactualError(
            f"{place}: its responses cannot be read: {str(error)[:200]}.",
            "Give a list of texts, or of responses as `firsthand investigate` exports them.",
        ) from error
    return tuple(one for one in made if not one.missing)


def _present(one: Any) -> Any:
    """A response without the empty fields that a table fills in."""
    if not isinstance(one, dict):
        return one
    kept = {name: value for name, value in one.items() if value is not None}
    if isinstance(kept.get("calls"), str):
        kept["calls"] = json.loads(kept["calls"])
    return kept
