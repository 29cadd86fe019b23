"""GGUF files: dequantised once to float32 by Transformers, then kept as safetensors.

The copy is what is loaded, also the first time, so that every start sees the same files.
"""

import errno
import gc
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

from firsthand.engine.loading import cache
from firsthand.engine.loading.gguf_header import GgufHeader, read_header
from firsthand.engine.loading.gguf_tokenizer import repair
from firsthand.engine.loading.quiet import Progress, dequantising_progress
from firsthand.errors import ModelError

CONVERSION = 1
"""Raise it whenever the same GGUF file would be converted to something else."""

_SPARE_BYTES = 100_000_000


def converted(sha256: str, title: str, provide: Callable[[Path], Path], progress: Progress) -> tuple[Path, str]:
    """The folder of the converted copy of a GGUF file, and the fingerprint of its weights.

    Args:
        sha256: SHA-256 of the GGUF file.
        title: Name of the model, for the folder and for messages.
        provide: Given an empty folder for scratch, returns the path of the GGUF file. Called only if there is no copy.
        progress: Told what is going on.

    Raises:
        ModelError: If the file is damaged or cannot be converted, or the cache cannot be written.
    """
    key = f"{title}-{sha256[:16]}-t{transformers.__version__}-c{CONVERSION}"
    models = cache.cache_root() / "models"

    def build(folder: Path) -> None:
        with cache.explained(models, _SPARE_BYTES), tempfile.TemporaryDirectory(dir=models, prefix=".partial-") as work:
            path = provide(Path(work))
            header = read_header(path)
            needed = 4 * header.n_values + _SPARE_BYTES
            if shutil.disk_usage(models).free < needed:
                raise OSError(errno.ENOSPC, "no space left")
            with cache.explained(models, needed):
                convert(path, header, folder, progress)

    return cache.obtain(key, _SPARE_BYTES, build, progress)


def convert(path: Path, header: GgufHeader, folder: Path, progress: Progress) -> None:
    """Dequantise a GGUF file into a folder of safetensors, configuration and tokenizer.

    Args:
        path: The GGUF file.
        header: Its header.
        folder: An empty folder.
        progress: Told what is going on.

    Raises:
        ModelError: If Transformers has no mapping for the architecture, or did not use every tensor of the file.
    """
    with tempfile.TemporaryDirectory(prefix="firsthand-gguf-") as alone:
        # Transformers also reads configuration files and adapters that lie beside the file, so it lies alone here.
        staged = _stage(path, Path(alone))
        try:
            progress("Rebuilding the tokenizer from the GGUF file")
            tokenizer = AutoTokenizer.from_pretrained(alone, gguf_file=staged.name, local_files_only=True)
            repair(tokenizer, header)
            progress("Reading the GGUF file (once; later starts use a converted copy)")
            with dequantising_progress(progress):
                model, report = AutoModelForCausalLM.from_pretrained(
                    alone,
                    gguf_file=staged.name,
                    dtype=torch.float32,
                    local_files_only=True,
                    trust_remote_code=False,
                    output_loading_info=True,
                )
        except ModelError:
            raise
        except (ValueError, NotImplementedError, KeyError, ImportError, RuntimeError, IndexError, TypeError) as error:
            raise _not_convertible(path, header, error) from error
        _check_complete(path, header, model, report)
        progress("Writing the converted copy")
        _save(model, tokenizer, folder)
        del model
        gc.collect()


def _save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Save a model that came from GGUF; Transformers refuses that while the model still says so."""
    with suppress(AttributeError):
        del model.config.quantization_config
    model.hf_quantizer = None
    model.config.name_or_path = ""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _stage(path: Path, folder: Path) -> Path:
    staged = folder / "model.gguf"
    try:
        os.symlink(path.resolve(), staged)
    except OSError:
        shutil.copyfile(path, staged)
    return staged


def _check_complete(path: Path, header: GgufHeader, model: Any, report: dict[str, Any]) -> None:
    """Every value of the file must have found a place in the model, and every place a value."""
    tied_output = header.tensors.get("output.weight", 0) if model.config.get_text_config().tie_word_embeddings else 0
    taken = sum(parameter.numel() for parameter in model.parameters())
    missing = sorted(report.get("missing_keys", ()))
    if not missing and header.n_values in (taken, taken + tied_output):
        return
    unplaced = sorted(name for name in header.tensors if name.startswith("rope_"))
    detail = f"; these have no place: {', '.join(unplaced[:4])}" if unplaced else ""
    lacking = f"; the model lacks {', '.join(missing[:4])}" if missing else ""
    raise ModelError(
        f"Transformers did not use all of {path} (architecture {header.architecture!r}): the file holds "
        f"{header.n_values} values and the model took {taken}{detail}{lacking}. It would not be the same model.",
        "Use a release of the model in safetensors.",
    )


def _not_convertible(path: Path, header: GgufHeader, error: Exception) -> ModelError:
    if isinstance(error, NotImplementedError) or "not supported" in str(error) or "Unrecognized" in str(error):
        return ModelError(
            f"{path} has the architecture {header.architecture!r}, for which Transformers "
            f"{transformers.__version__} has no mapping from GGUF to a causal language model.",
            "Convert the model to safetensors, or use a release in safetensors, and give its folder.",
        )
    return ModelError(
        f"{path} (architecture {header.architecture!r}) could not be converted: {type(error).__name__}: {error}.",
        "Use a release of the model in safetensors.",
    )
