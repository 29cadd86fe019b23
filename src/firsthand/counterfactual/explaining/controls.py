"""What an explanation is held against: the explanation of another investigation, and a neutral text of its length.

A text that merely stands there may move a simulator, and a text that is written as an explanation may make it say
"yes" or "no" whatever it says. Only what an explanation gives beyond both is what it says.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import Final

from firsthand.errors import CounterfactualError
from firsthand.trials.randomness import stream

_NEUTRAL: Final = (
    "The response was read once more from its beginning to its end, and nothing was altered in it.",
    "It has a first sentence and a last one, and what stands between them follows in reading order.",
    "Words of it are long or short, and some of them occur more than once.",
    "It was written after the prompt and stands below it on the page.",
    "Whoever reads it will find the prompt above and the response beneath.",
    "Both are kept in a file, side by side, and can be opened again later.",
)
"""Sentences that are true of any response and say nothing of why it is as it is."""


def neutral_text(words: int) -> str:
    """A text of so many words that explains nothing."""
    every = [word for sentence in _NEUTRAL for word in sentence.split()]
    return " ".join(islice(cycle(every), words))


def others(keys: Sequence[str], clusters: Mapping[str, str], seed: int = 0) -> dict[str, str]:
    """For each investigation another one, of another cluster, whose explanation it is given.

    Each is used once, where no cluster holds more than half of them.

    Args:
        keys: The investigations.
        clusters: The cluster of each.
        seed: Seed of the lot.

    Raises:
        CounterfactualError: If an investigation has none of another cluster.
    """
    ordered = sorted(dict.fromkeys(keys))
    lot = [ordered[i] for i in stream(seed, "other explanations").permutation(len(ordered)).tolist()]
    by_cluster: dict[str, list[str]] = {}
    for key in lot:
        by_cluster.setdefault(clusters[key], []).append(key)
    # Clusters stand one after the other, so going on by the size of the largest leads out of each, where none is more
    # than half of all.
    turned = [key for group in sorted(by_cluster.values(), key=len, reverse=True) for key in group]
    largest = max((len(group) for group in by_cluster.values()), default=0)
    found = {key: turned[(place + largest) % len(turned)] for place, key in enumerate(turned)}
    for key, other in found.items():
        if clusters[key] == clusters[other]:
            strangers = [one for one in turned if clusters[one] != clusters[key]]
            if not strangers:
                raise CounterfactualError(
                    "All explanations are of one cluster, so none can stand for another.", "Give several."
                )
            found[key] = strangers[int(stream(seed, "other explanation", key).integers(len(strangers)))]
    return found
