"""A small labelled set, and a claim that fits it."""

import numpy as np

from firsthand.claims.labels import BiofeedbackClaim
from firsthand.studies.labels.biofeedback import data_hash
from firsthand.studies.labels.examples import Examples

NOUNS = ("river", "cat", "letter", "window", "doctor", "song", "garden", "train")


def examples(count: int = 64) -> Examples:
    rng = np.random.default_rng(0)
    labels = tuple(int(i % 2) for i in range(count))
    texts = tuple(
        f"The {rng.choice(NOUNS)} was {'never' if label else 'always'} near the {rng.choice(NOUNS)} {i}."
        for i, label in enumerate(labels)
    )
    return Examples(texts, labels, tuple(range(count)), ("0", "1"), {})


def claim_on(data: Examples, **changes: object) -> BiofeedbackClaim:
    fields = {"fit": 40, "held_out": 24, "experiments": 2, "shots": 8, "judged_from": 4, "layers": (0, 2)}
    fields |= {"data_sha256": data_hash(data), "regulated_after": 6}
    return BiofeedbackClaim.model_validate({**fields, **changes})
