"""What Inspect finds of this package: the entry point ``inspect_ai`` names this module.

Every command of Inspect imports it, so the engine is imported only where a model of ours is made.
"""

from inspect_ai.model import ModelAPI, modelapi

from firsthand.counterfactual.inspecting.predicting import tasks as predicting
from firsthand.counterfactual.inspecting.stages import tasks as tasks

__all__ = ["firsthand", "predicting", "tasks"]


@modelapi(name="firsthand")
def firsthand() -> type[ModelAPI]:
    """The provider of local models: ``firsthand/smollm2``, ``firsthand/FOLDER``, ``firsthand/FILE.gguf``."""
    from firsthand.counterfactual.inspecting.provider import FirsthandAPI

    return FirsthandAPI
