"""White-box runs: edits and readings as data, carried out exactly or refused.

An edit names a layer, absolute token positions and what is added there; a reading names a layer and one position. A run
takes a batch of token rows, optionally on top of a *shared prefix* that was computed once, and returns the
log-probabilities at one position of each row. Consequences worth knowing:

* Positions are absolute, whatever the prefix, so an edit cannot slip when a prompt is split.
* Every edit must be consumed exactly once or the run raises; hooks never outlive a run.
* A prefix is never changed by being used, so it may be used any number of times.
"""

from firsthand.engine.anatomy import Anatomy, inspect_model
from firsthand.engine.edits import Capture, Edit
from firsthand.engine.loading import LoadedModel, load, load_adapter
from firsthand.engine.session import Prefix, RunOutput, run_prefix, run_rows

__all__ = [
    "Anatomy",
    "Capture",
    "Edit",
    "LoadedModel",
    "Prefix",
    "RunOutput",
    "inspect_model",
    "load",
    "load_adapter",
    "run_prefix",
    "run_rows",
]
