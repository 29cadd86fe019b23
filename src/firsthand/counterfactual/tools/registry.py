"""Tools by name, as they are written on a command line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firsthand.counterfactual.tools.autoencoder import Verbaliser
from firsthand.counterfactual.tools.guard import Guarded
from firsthand.counterfactual.tools.logit_lens import LogitLens
from firsthand.counterfactual.tools.oracle import Oracle
from firsthand.counterfactual.tools.plugged import Plugged, imported
from firsthand.counterfactual.tools.reading import Tool
from firsthand.counterfactual.tools.sparse_autoencoder import SparseAutoencoder
from firsthand.counterfactual.tools.subject import Subject
from firsthand.errors import CounterfactualError


@dataclass(frozen=True)
class Kind:
    """A kind of tool.

    Attributes:
        written: How it is asked for.
        what: What it is, in a few words.
        make: Makes it, for a target and a folder; a kind without a folder is given none.
        folder: Whether it needs a folder.
    """

    written: str
    what: str
    make: Callable[[Subject, Path], Tool]
    folder: bool = True


def _features(subject: Subject, folder: Path) -> Tool:
    place, _, labels = str(folder).partition(",labels=")
    return SparseAutoencoder(subject, local_folder(place), Path(labels).expanduser() if labels else None)


TOOLS: Final[dict[str, Kind]] = {
    "logit-lens": Kind("logit-lens", "likeliest next tokens by layer", lambda subject, _: LogitLens(subject), False),
    "sae": Kind("sae:FOLDER[,labels=FILE]", "strongest features of a sparse autoencoder", _features),
    "oracle": Kind(
        "oracle:FOLDER", "answers of an activation oracle", lambda s, folder: Oracle(s, local_folder(str(folder)))
    ),
    "nla": Kind(
        "nla:FOLDER",
        "descriptions of a natural-language autoencoder",
        lambda s, folder: Verbaliser(s, local_folder(str(folder))),
    ),
}
"""Every kind of tool of the package."""


def open_tool(written: str, subject: Subject) -> Guarded:
    """A tool, guarded.

    Args:
        written: A name of :data:`TOOLS`, with a folder after a colon where it needs one, or
            ``package.module:function``.
        subject: The target.

    Raises:
        CounterfactualError: If there is no such tool, or its folder cannot be read.
        ModelError: If an adapter does not match.
    """
    name, _, rest = written.partition(":")
    kind = TOOLS.get(name)
    if kind is None:
        if not rest or "/" in name:
            known = ", ".join(one.written for one in TOOLS.values())
            raise CounterfactualError(
                f"There is no tool {written!r}.", f"Use one of {known}, or package.module:function."
            )
        return Guarded(Plugged(subject, imported(written)), subject)
    if kind.folder is not bool(rest):
        raise CounterfactualError(f"The tool {written!r} is not written like that.", f"Write {kind.written}.")
    return Guarded(kind.make(subject, Path(rest)), subject)


def open_tools(written: Sequence[str], subject: Subject) -> tuple[Guarded, ...]:
    """Several tools, whose names differ.

    Raises:
        CounterfactualError: As :func:`open_tool` does, or if two have one name.
    """
    found = tuple(open_tool(one, subject) for one in written)
    names = [one.name for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CounterfactualError(f"Two tools are called {twice[0]!r}.", "Use one of them at a time.")
    return found


def local_folder(place: str) -> Path:
    """A folder here, or one of the Hugging Face hub: ``owner/name`` or ``owner/name/folder/in/it``.

    Raises:
        CounterfactualError: If it is neither.
    """
    folder = Path(place).expanduser()
    if folder.is_dir():
        return folder
    owner, _, rest = place.partition("/")
    name, _, inside = rest.partition("/")
    if not name or place.startswith((".", "/", "~")):
        raise CounterfactualError(f"There is no folder {place}.", "Check the path.")
    return _from_hub(f"{owner}/{name}", inside)


def _from_hub(repository: str, inside: str) -> Path:
    from huggingface_hub import snapshot_download

    patterns = [f"{inside}/*" if inside else "*"]
    # Pickles can run code when they are opened, so they are not even fetched.
    ignored = ["*.pt", "*.pth", "*.bin", "*.ckpt", "*.pkl"]
    try:
        found = Path(snapshot_download(repository, allow_patterns=patterns, ignore_patterns=ignored)) / inside
    except Exception as error:
        raise CounterfactualError(
            f"There is no folder {repository}{'/' if inside else ''}{inside} here, and it could not be had from the "
            f"Hugging Face hub: {type(error).__name__}.",
            "Check the path, or fetch the folder by hand.",
        ) from error
    if not found.is_dir():
        raise CounterfactualError(f"{repository} on the Hugging Face hub has no folder {inside}.", "Check the path.")
    return found
