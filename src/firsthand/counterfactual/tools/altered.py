"""The error that a tool which changes anything is."""

from firsthand.errors import CounterfactualError


class AlteredError(CounterfactualError):
    """A tool changed what it may only read. It stops a run: what comes after it would be about another target."""
