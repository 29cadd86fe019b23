"""Loading of models: names, local folders, GGUF files, Hugging Face ids and LoRA adapters.

Importing this package imports torch and transformers; import it where a model is needed, not at the top of a command.
"""

from firsthand.engine.loading.adapter import load_adapter
from firsthand.engine.loading.load import load
from firsthand.engine.loading.loaded import LoadedModel
from firsthand.engine.loading.names import BUNDLED, BundledModel

__all__ = ["BUNDLED", "BundledModel", "LoadedModel", "load", "load_adapter"]
