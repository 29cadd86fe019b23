"""Claims as YAML files: a commented template, and errors that name the field."""

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from firsthand.claims.claim import AnalysisSpec, Claim
from firsthand.claims.injection import InjectionClaim
from firsthand.claims.studies import CLAIMS, AnyClaim, command_of
from firsthand.errors import ClaimError
from firsthand.trials.files import write_atomic
from firsthand.vocabulary import CONTROLS

_HEADER = """\
# A claim: under these conditions the report carries information about the private state
# through a path unavailable to observers of the public evidence X (input) and Y (visible answer).
# Edit it, then:  firsthand claim check THIS  |  firsthand claim freeze THIS  |  firsthand {command} --claim THIS
"""


def default_claim(model: str = "smollm2", **changes: object) -> Claim:
    """The claim of the standard audit, for any model.

    Args:
        model: Name, folder, GGUF file or Hugging Face id.
        changes: Top-level fields to set otherwise.

    Raises:
        ClaimError: If a change does not fit.
    """
    fields: dict[str, object] = {
        "model": model,
        "controls": CONTROLS,
        "observers": ("table", "text_classifier", "third_person", "sibling"),
        "analysis": AnalysisSpec(clusters=("block", "carrier")),
        **changes,
    }
    return parse_claim(fields, "the claim")


def parse_claim(value: object, where: str) -> Claim:
    """Validate a claim.

    Raises:
        ClaimError: With one line for each field that is wrong.
    """
    return _valid(Claim, value, where)


def parse_injection_claim(value: object, where: str) -> InjectionClaim:
    """Validate a claim of an injection study.

    Raises:
        ClaimError: With one line for each field that is wrong.
    """
    return _valid(InjectionClaim, value, where)


C = TypeVar("C", bound=BaseModel)


def _valid(kind: type[C], value: object, where: str) -> C:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise ClaimError(f"{where} is not a valid claim:\n{listed(error)}\n", "Correct these fields.") from error


def listed(error: ValidationError) -> str:
    """One line for each field that is wrong."""
    return "\n".join(f"  {'.'.join(map(str, e['loc'])) or 'claim'}: {e['msg']}" for e in error.errors())


def read_claim(path: Path) -> Claim:
    """Read a claim of the register study from YAML.

    Raises:
        ClaimError: If the file is missing, not YAML, or not a claim.
    """
    return parse_claim(_mapping(path), str(path))


def read_injection_claim(path: Path) -> InjectionClaim:
    """Read a claim of an injection study from YAML.

    Raises:
        ClaimError: If the file is missing, not YAML, or not such a claim.
    """
    return parse_injection_claim(_mapping(path), str(path))


def read_claim_as(path: Path, kind: type[C]) -> C:
    """Read a claim of one kind from YAML.

    Raises:
        ClaimError: If the file is missing, not YAML, or not such a claim.
    """
    return _valid(kind, _mapping(path), str(path))


def read_any_claim(path: Path) -> AnyClaim:
    """Read a claim of whatever study it names.

    Raises:
        ClaimError: If the file is missing, not YAML, or not a claim.
    """
    study = _mapping(path).get("study")
    kind = CLAIMS.get(str(study), Claim)
    return read_claim_as(path, kind)  # type: ignore[return-value]


def _mapping(path: Path) -> dict[str, object]:
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ClaimError(f"{path} does not exist.", "Make a claim with: firsthand claim new PATH") from error
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ClaimError(f"{path} is not readable YAML: {error}", "Correct the file.") from error
    if not isinstance(value, dict):
        raise ClaimError(f"{path} holds no claim.", "Make one with: firsthand claim new PATH")
    return value


def write_claim(path: Path, claim: AnyClaim) -> None:
    """Write a claim as commented YAML.

    Raises:
        ClaimError: If the file exists.
    """
    if path.exists():
        raise ClaimError(f"{path} exists already.", "Choose another name, or remove the file first.")
    body = yaml.safe_dump(claim.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=100)
    write_atomic(path, (_HEADER.format(command=command_of(claim.study)) + body).encode())
