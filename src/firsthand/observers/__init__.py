"""Everything that may see public evidence only.

The wall is real: nothing here imports the engine, sealed state or a study, and what an observer is given has no field
for the private state.
"""

from firsthand.observers.base import Observer, Past, TextModel
from firsthand.observers.registry import BUILT_IN, make_observer
from firsthand.observers.scoring import observe_all

__all__ = ["BUILT_IN", "Observer", "Past", "TextModel", "make_observer", "observe_all"]
