"""What identifies a local model by its files, without loading it: another model in the same place is another target."""

from pathlib import Path
from typing import Final

from firsthand.engine.loading.hashes import file_sha256, weights_sha256
from firsthand.engine.loading.names import BUNDLED, NameKind, classify
from firsthand.trials.canonical import digest

LOCAL: Final = "firsthand/"


def weights_of(model: str) -> str:
    """Hash of the files of a model of this machine; empty for what is served elsewhere or comes from a hub.

    Args:
        model: Its name as Inspect has it, such as ``firsthand/FOLDER``.

    Raises:
        ModelError: If there is no such model, or a file is damaged.
    """
    if not model.startswith(LOCAL):
        return ""
    name = model.removeprefix(LOCAL)
    match classify(name):
        case NameKind.BUNDLED:
            return BUNDLED[name].sha256[:16]
        case NameKind.GGUF:
            return file_sha256(Path(name).expanduser())[:16]
        case NameKind.FOLDER:
            folder = Path(name).expanduser()
            rest = [[one.name, file_sha256(one)] for one in sorted(folder.glob("*.json"))]
            return digest([weights_sha256(sorted(folder.glob("*.safetensors"))), rest])[:16]
        case NameKind.HUB:
            return ""
