"""Errors that say what was wrong, where, and what to do.

Every error that a user can cause is a :class:`FirsthandError`. The command line prints its two parts and exits with its
``exit_code``; it never prints a traceback for one.
"""


class FirsthandError(Exception):
    """A problem that the user can understand and mend.

    Args:
        problem: What was wrong and where, in one or two sentences.
        remedy: What to do about it, as an instruction.
    """

    exit_code = 2

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem} {remedy}")
        self.problem = problem
        self.remedy = remedy


class ModelError(FirsthandError):
    """A model that cannot be found, loaded, trusted or understood."""


class ClaimError(FirsthandError):
    """A claim that is malformed, incomplete, not frozen, or changed after freezing."""


class EngineError(FirsthandError):
    """An intervention or a reading that could not be carried out exactly as described."""


class StatesError(FirsthandError):
    """A representation (concept vector, probe, component) that cannot be made, stored, read or used as asked."""


class ElicitationError(FirsthandError):
    """Answer options that cannot be told apart or scored in their context."""


class LabelsError(FirsthandError):
    """A labelled text set, or labels made of it, that cannot be read, split or asked about as wanted."""


class CounterfactualError(FirsthandError):
    """A prompt, edit, behaviour or investigation that cannot be read, made or judged as wanted."""


class TraceError(FirsthandError):
    """A stored trace that is truncated, altered or inconsistent."""


class AnalysisError(FirsthandError):
    """Evidence that may not be analysed as asked (no clusters, no controls, one class only)."""


class ObserverError(FirsthandError):
    """An observer that cannot be loaded or that answered in the wrong form."""


class InstrumentError(FirsthandError):
    """A reporter of known answer got another verdict: the instrument is out of order, and no verdict is given."""

    exit_code = 3
