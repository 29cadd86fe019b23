"""One way to write a value as bytes, so that equal content has an equal SHA-256."""

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> bytes:
    """Write ``value`` as JSON with sorted keys, no white space and no non-finite numbers.

    Args:
        value: Anything that :func:`json.dumps` takes.

    Returns:
        UTF-8 bytes, equal for equal values.

    Raises:
        ValueError: If a number is not finite.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def digest(value: Any) -> str:
    """The SHA-256 of :func:`canonical_json`, in hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
