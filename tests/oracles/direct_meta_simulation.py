"""Made-up judgements whose truth is known: what models do is a common opinion and something of their own.

``follow`` says how much of a model's *own* part is in what it says: 1 says what the model does, 0 the common opinion
alone.
"""

import numpy as np
import pandas as pd

SIMILARITY = 0.7


def opinions(
    seed: int,
    models: int = 2,
    pairs: int = 120,
    follow: float = 1.0,
    noise: float = 0.7,
    quality: tuple[float, ...] = (),
) -> tuple[np.ndarray, np.ndarray]:
    """Direct and meta judgements ``[models, pairs]`` each.

    ``quality`` is the share of the common opinion in the variance of each model's direct judgement.
    """
    rng = np.random.default_rng([7, seed])
    share = np.array(quality or [SIMILARITY] * models)[:, None]
    common, own = rng.normal(size=pairs), rng.normal(size=(models, pairs))
    direct = np.sqrt(share) * common + np.sqrt(1 - share) * own
    said = np.sqrt(share) * common + follow * np.sqrt(1 - share) * own
    return direct, said + noise * rng.normal(size=(models, pairs))


def table_of(direct: np.ndarray, meta: np.ndarray, coverage: float = 0.9) -> pd.DataFrame:
    """Judgements as a table; ten pairs, one of each phenomenon, follow one another."""
    models, pairs = direct.shape
    number = np.tile(np.arange(pairs), models)
    return pd.DataFrame(
        {
            "key": [f"pair-{i:05d}" for i in number],
            "phenomenon": [f"phenomenon-{i % 10}" for i in number],
            "model": [f"model-{m}" for m in range(models) for _ in range(pairs)],
            "direct": direct.ravel(),
            "meta": meta.ravel(),
            "coverage": coverage,
        }
    )
