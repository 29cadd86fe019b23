"""Where prompts come from: one format a file, each of which yields prompts or says why a place gives none.

Nothing is dropped silently: a place gives a :class:`~firsthand.counterfactual.prompts.Prompt` or a :class:`Refused`,
and an :class:`Altered` comes before a prompt that is not all that stood there. Every prompt has its place and cluster.
"""

from firsthand.counterfactual.sources.found import Altered, Found, Refused
from firsthand.counterfactual.sources.reading import files_at, read_file, read_source, records_in, sources_at
from firsthand.counterfactual.sources.registry import SOURCES, Source, kind_of, source_called

__all__ = [
    "SOURCES",
    "Altered",
    "Found",
    "Refused",
    "Source",
    "files_at",
    "kind_of",
    "read_file",
    "read_source",
    "records_in",
    "source_called",
    "sources_at",
]
