"""Claims as YAML files: a commented template, and errors that name the field."""

from pathlib import Path

import yaml
from pydantic import ValidationError

from firsthand.claims.claim import AnalysisSpec, Claim
from firsthand.errors import ClaimError
from firsthand.trials.files import write_atomic
from firsthand.vocabulary import CONTROLS

_HEADER = """\
# A claim: under these conditions the report carries information about the private state
# through a path unavailable to observers of the public evidence X (input) and Y (visible answer).
# Edit it, then:  firsthand claim check THIS  |  firsthand claim freeze THIS  |  firsthand audit --claim THIS
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
    try:
        return Claim.model_validate(value)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc'])) or 'claim'}: {e['msg']}" for e in error.errors()]
        raise ClaimError(
            f"{where} is not a valid claim:\n" + "\n".join(lines) + "\n", "Correct these fields."
        ) from error


def read_claim(path: Path) -> Claim:
    """Read a claim from YAML.

    Raises:
        ClaimError: If the file is missing, not YAML, or not a claim.
    """
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ClaimError(f"{path} does not exist.", "Make a claim with: firsthand claim new PATH") from error
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ClaimError(f"{path} is not readable YAML: {error}", "Correct the file.") from error
    if not isinstance(value, dict):
        raise ClaimError(f"{path} holds no claim.", "Make one with: firsthand claim new PATH")
    return parse_claim(value, str(path))


def write_claim(path: Path, claim: Claim) -> None:
    """Write a claim as commented YAML.

    Raises:
        ClaimError: If the file exists.
    """
    if path.exists():
        raise ClaimError(f"{path} exists already.", "Choose another name, or remove the file first.")
    body = yaml.safe_dump(claim.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=100)
    write_atomic(path, (_HEADER + body).encode())
