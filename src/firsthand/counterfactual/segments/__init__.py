"""Parts of a prompt as exact character spans, and the edits that delete, replace or reorder them.

=======================  ===================================================================================
:mod:`.tree`             a turn as paragraphs and code, those as sentences, items and lines, those as leaves
:mod:`.leaves`           names, numbers, quoted texts, identifiers and content words
:mod:`.exact`            spans of a text as replacements that land where they are meant
:mod:`.removing`         deletion with white space tidied, whole exchanges and the system's turn included
:mod:`.replacing`        something neutral of the same kind instead
:mod:`.reordering`       the same things in another order
=======================  ===================================================================================
"""

from firsthand.counterfactual.segments.removing import kept, removed
from firsthand.counterfactual.segments.reordering import reordered, sequences
from firsthand.counterfactual.segments.replacing import replaced, shortened
from firsthand.counterfactual.segments.tree import Kind, Segment, leaves, outside, segmented, walk

__all__ = [
    "Kind",
    "Segment",
    "kept",
    "leaves",
    "outside",
    "removed",
    "reordered",
    "replaced",
    "segmented",
    "sequences",
    "shortened",
    "walk",
]
