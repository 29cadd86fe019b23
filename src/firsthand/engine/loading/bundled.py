"""Models that come as Python packages: found without importing the package, and checked before use.

The packages hold data. One of them imports a compiled library that is not needed here and need not be installed, so
none is ever imported.
"""

import importlib.util
from pathlib import Path

from firsthand.engine.loading.hashes import file_sha256
from firsthand.engine.loading.names import BundledModel
from firsthand.errors import ModelError

_CHUNK = 1 << 22


def find_parts(bundled: BundledModel) -> list[Path]:
    """The installed files that make up a bundled model's GGUF file, in order.

    Raises:
        ModelError: If a package or file is missing; the remedy is the exact install command.
    """
    paths = []
    for package, file_name in bundled.parts:
        spec = importlib.util.find_spec(package)
        folders = list(spec.submodule_search_locations or []) if spec else []
        candidates = [Path(folder) / inner / file_name for folder in folders for inner in ("", "data")]
        found = next((path for path in candidates if path.is_file()), None)
        if found is None:
            missing = file_name if spec else f"the package {package}"
            raise ModelError(
                f"The model {bundled.name!r} is not installed: {missing} was not found.", f"Run: {bundled.install}"
            )
        paths.append(found)
    return paths


def provide_gguf(bundled: BundledModel, scratch: Path) -> Path:
    """The whole GGUF file of a bundled model, put together in ``scratch`` if it comes in parts, and checked.

    Args:
        bundled: Which model.
        scratch: A folder for temporary files.

    Raises:
        ModelError: If it is not installed, or is not the file that the name stands for.
    """
    parts = find_parts(bundled)
    path = parts[0]
    if len(parts) > 1:
        path = scratch / bundled.file_name
        with path.open("wb") as whole:
            for part in parts:
                with part.open("rb") as stream:
                    while chunk := stream.read(_CHUNK):
                        whole.write(chunk)
    digest = file_sha256(path)
    if digest != bundled.sha256:
        raise ModelError(
            f"The installed file of {bundled.name!r} is not the one of {bundled.package} {bundled.version}: its "
            f"SHA-256 is {digest}, not {bundled.sha256}.",
            f"Run: {bundled.install} --force-reinstall",
        )
    return path
