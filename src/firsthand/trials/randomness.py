"""Named random streams: every draw in a run comes from a stream that says what it is for.

A stream is seeded by hashing its name, so adding a draw in one place never shifts the draws of another, and a resumed
run draws what an uninterrupted one would have drawn.
"""

import hashlib

import numpy as np

from firsthand.trials.canonical import canonical_json


def stream(*name: str | int) -> np.random.Generator:
    """A generator whose seed is the SHA-256 of its name.

    Args:
        name: What the stream is for, from general to particular, e.g. ``(seed, "confirmation", 3, "cue")``.

    Returns:
        An independent PCG64 generator; the same name gives the same draws on every machine.
    """
    seed = int.from_bytes(hashlib.sha256(canonical_json(list(name))).digest()[:16], "big")
    return np.random.Generator(np.random.PCG64(seed))
