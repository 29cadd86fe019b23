"""Load a model by name, folder, GGUF file or Hugging Face id."""

import re
from functools import partial
from pathlib import Path
from typing import NamedTuple

from firsthand.engine.loading import gguf, hub
from firsthand.engine.loading.bundled import find_parts, provide_gguf
from firsthand.engine.loading.folder import devices_of, load_folder, resolve_device, resolve_dtype
from firsthand.engine.loading.hashes import config_sha256, file_sha256, tokenizer_sha256, weights_sha256
from firsthand.engine.loading.loaded import LoadedModel, count_parameters
from firsthand.engine.loading.names import BUNDLED, NameKind, classify
from firsthand.engine.loading.quiet import Progress, ignore, quiet
from firsthand.engine.loading.refuse import check_folder
from firsthand.errors import ModelError


class _Place(NamedTuple):
    folder: Path
    source: str
    weights_sha256: str | None


def load(
    name: str,
    *,
    device: str | None = None,
    dtype: str = "float32",
    revision: str | None = None,
    progress: Progress | None = None,
) -> LoadedModel:
    """Load a model for evaluation.

    Args:
        name: A bundled name (``smollm2``, ``gemma3-270m``), a folder with safetensors, a ``.gguf`` file, or a Hugging
            Face id. A GGUF file is dequantised once and then kept as safetensors in the cache.
        device: Such as ``cpu`` or ``cuda:0``; None takes CUDA if there is one; ``auto`` spreads over all GPUs.
        dtype: ``float32``, ``bfloat16``, or on a GPU ``float16``.
        revision: Branch, tag or commit of a Hugging Face id.
        progress: Called with one short message at each step.

    Returns:
        The model in evaluation mode, its tokenizer and its identity.

    Raises:
        ModelError: If the model is not found, is refused (pickled weights, remote code), is damaged or incomplete,
            or does not fit.
    """
    say = progress or ignore
    kind = classify(name)
    if revision is not None and kind is not NameKind.HUB:
        raise ModelError(f"{name!r} is not a Hugging Face id, so it has no revisions.", "Leave revision out.")
    spread = device == "auto"
    target = resolve_device(None if spread else device)
    torch_dtype = resolve_dtype(dtype, target)
    with quiet():
        place = _find(name, kind, revision, say)
        weights = check_folder(place.folder)
        digest = place.weights_sha256 or weights_sha256(weights)
        say(f"Loading {name} in {dtype} on {'all devices' if spread else target}")
        model, tokenizer = load_folder(place.folder, torch_dtype, target, spread=spread)
    text_config = model.config.get_text_config()
    return LoadedModel(
        name=name,
        source=place.source,
        model=model,
        tokenizer=tokenizer,
        dtype=dtype,
        device=f"auto ({devices_of(model)})" if spread else str(target),
        weights_sha256=digest,
        tokenizer_sha256=tokenizer_sha256(tokenizer),
        config_sha256=config_sha256(place.folder / "config.json"),
        architecture=str(model.config.model_type),
        n_layers=int(text_config.num_hidden_layers),
        hidden_size=int(text_config.hidden_size),
        n_parameters=count_parameters(model),
    )


def _find(name: str, kind: NameKind, revision: str | None, say: Progress) -> _Place:
    """The folder that a name stands for, converted or downloaded if need be."""
    if kind is NameKind.HUB:
        folder, commit = hub.fetch(name, revision, say)
        return _Place(folder, f"huggingface.co/{name} at commit {commit}", None)
    if kind is NameKind.BUNDLED:
        bundled = BUNDLED[name]
        find_parts(bundled)
        folder, digest = gguf.converted(bundled.sha256, name, partial(provide_gguf, bundled), say)
        source = f"{bundled.package} {bundled.version}: {bundled.file_name}, SHA-256 {bundled.sha256} ({bundled.note})"
        return _Place(folder, source, digest)
    path = Path(name).expanduser().resolve()
    if kind is NameKind.FOLDER:
        return _Place(path, f"folder {path}", None)
    sha256 = file_sha256(path)
    title = re.sub(r"[^\w.-]+", "-", path.stem)[:60]
    folder, digest = gguf.converted(sha256, title, lambda _scratch: path, say)
    return _Place(folder, f"file {path}, SHA-256 {sha256}", digest)
