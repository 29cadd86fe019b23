"""Vectors made by others: control vectors in GGUF, and files that hold one tensor a layer.

What a number in a name means differs between tools by one layer, so it is never guessed. A name that says the site
itself is believed (``resid_post[12]``, ``blocks.12.hook_resid_post``); for ``layer_12`` or ``12`` the caller says
whether that is what block 12 is given (also ``hidden_states[12]`` of Transformers) or what it returns.

Nothing here runs code from a file: pickles are read by PyTorch's restricted reader, which takes tensors and refuses
anything else.
"""

import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import torch
from torch import Tensor

from firsthand.engine.loading.gguf_header import read_header
from firsthand.engine.loading.hashes import file_sha256
from firsthand.engine.sites import Site, Stream, parse_site
from firsthand.errors import EngineError, ModelError, StatesError
from firsthand.states.tensor_files import read_tensors
from firsthand.states.vectors import Origin, Vectors

LayersAre = Literal["resid_pre", "resid_post"]

_ARCHITECTURE: Final = "controlvector"
_DIRECTION: Final = re.compile(r"direction\.(\d+)")
_HOOKED: Final = re.compile(r"blocks\.(\d+)\.hook_(resid_pre|resid_mid|resid_post)")
_LAYER: Final = re.compile(r"(?:.*?(?:^|[._\-/ ])(?:layers?|blocks?|h)[._/ ]?)?(\d+)(?:[._\-/ ]\D*)?")
_ELSEWHERE: Final = re.compile(r"attn|attention|mlp|ffn|feed|head|norm|query|key|value", re.IGNORECASE)
_PICKLES: Final = (".pt", ".pth")


def load_foreign(
    path: str | Path,
    *,
    layers_are: LayersAre | None = None,
    sites: Mapping[str, Site | str] | None = None,
) -> Vectors:
    """Read vectors that another tool made, by the ending of the file's name.

    Their weights are unknown, so :meth:`Vectors.require` takes them only with ``other_weights=True``.

    Args:
        path: A ``.safetensors``, ``.pt`` or ``.pth`` file, or ``.gguf`` (see :func:`load_control_vector`).
        layers_are: What a bare layer number in a tensor's name means.
        sites: A site for each tensor by name, in place of reading the names. Tensors that it leaves out are not read.
            A file that is one tensor has the name of the file, without its ending.

    Returns:
        One vector a tensor, called by the tensor's name, as it is in the file but in float32.

    Raises:
        StatesError: If the file is missing, damaged, of another kind, pickled with more than tensors, made by this
            package, a tensor is not one finite vector, or a name does not say one site.
    """
    place = Path(path).expanduser()
    if not place.is_file():
        raise StatesError(f"{place} does not exist.", "Check the path.")
    if place.suffix == ".gguf":
        if layers_are is not None or sites is not None:
            raise StatesError(f"{place} is a control vector, whose layers have one meaning.", "Leave both options out.")
        return load_control_vector(place)
    if place.suffix == ".safetensors":
        manifest, tensors = read_tensors(place)
        if manifest is not None:
            raise StatesError(f"{place} was made by firsthand.", "Use Vectors.load, which checks its manifest.")
    elif place.suffix in _PICKLES:
        tensors = _unpickled(place)
    else:
        raise StatesError(
            f"{place} is of a kind that is not read, or not safe to read.", "Save its tensors as .safetensors."
        )
    chosen = _sites(place, tensors, layers_are, sites)
    recipe: dict[str, Any] = {"layers_are": layers_are, "sites": {name: str(site) for name, site in chosen.items()}}
    return _vectors(place, {name: tensors[name] for name in chosen}, chosen, recipe)


def load_control_vector(
    path: str | Path, *, site: Literal["added", "measured_by_llama_cpp"] = "added", name: str | None = None
) -> Vectors:
    """Read a control vector in GGUF, as repeng and llama.cpp write it.

    ``direction.N`` is *added* to the output of block N, counted from 0, by both: repeng wraps block N and adds to what
    it returns (``repeng/control.py``, ``ControlModule.forward``); llama.cpp adds it to ``l_out`` of layer N
    (``llama_adapter_cvec::apply_to``, called by ``build_cvec(cur, il)``). So it is ``resid_post[N]``, which is
    ``hidden_states[N + 1]`` of Transformers, and that is also where repeng *measures* it (``repeng/extract.py``:
    ``hidden_idx = layer + 1``). llama.cpp's own cvector-generator measures ``l_out`` of layer i and stores it as
    ``direction.(i + 1)`` (``mean.hpp``, ``pca.hpp``), one block before the place where llama.cpp then adds it.

    Args:
        path: The file.
        site: ``"added"``: ``resid_post[N]``. ``"measured_by_llama_cpp"``: ``resid_post[N - 1]``, for files of
            cvector-generator that are to be used where they were measured.
        name: What the vector is called at each layer; by default the name of the file, without its ending.

    Raises:
        StatesError: If the file is damaged, not a control vector, or has tensors that are not one finite vector a
            layer in float32 or float16.
    """
    from gguf import GGUFReader

    place = Path(path).expanduser()
    if not place.is_file():
        raise StatesError(f"{place} does not exist.", "Check the path.")
    try:
        header = read_header(place)
        stored = {tensor.name: np.array(tensor.data) for tensor in GGUFReader(place).tensors}
    except (ModelError, ValueError, KeyError, IndexError, OSError, TypeError) as error:
        raise StatesError(f"{place} is not a whole GGUF file: {error}", "Download or copy it again.") from error
    if header.architecture != _ARCHITECTURE:
        raise StatesError(
            f"{place} has the architecture {header.architecture!r}, not {_ARCHITECTURE!r}.",
            "Give a control vector; models are loaded by load().",
        )
    found = {key: _DIRECTION.fullmatch(key) for key in stored}
    odd = sorted(key for key, match in found.items() if match is None)
    if odd or not found:
        raise StatesError(
            f"{place} has tensors that are no direction.N: {', '.join(odd) or 'none at all'}.", "Use another file."
        )
    shift = 0 if site == "added" else 1
    layers = {key: int(match[1]) - shift for key, match in found.items() if match is not None}
    if min(layers.values()) < 0:
        raise StatesError(f"{place} has a direction.0, which cvector-generator never writes.", "Use site='added'.")
    recipe = {
        "site": site,
        "model_hint": header.metadata.get("controlvector.model_hint"),
        "layer_count": header.metadata.get("controlvector.layer_count"),
    }
    called = place.stem if name is None else name
    ordered = sorted(stored, key=lambda key: layers[key])
    places = {key: Site(layers[key], Stream.POST) for key in ordered}
    tensors = {key: torch.from_numpy(stored[key]) for key in ordered}
    return _vectors(place, tensors, places, recipe, names=[called] * len(ordered))


def _unpickled(place: Path) -> dict[str, Tensor]:
    try:
        content = torch.load(place, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise StatesError(
            f"{place} holds pickled objects beside tensors, which can run code when opened, so it is refused: "
            f"{str(error).splitlines()[0]}",
            "Save its tensors as .safetensors, on a machine where that risk is acceptable.",
        ) from error
    except (RuntimeError, EOFError, ValueError, KeyError, OSError, TypeError, AttributeError) as error:
        raise StatesError(f"{place} is not a whole file of PyTorch: {error}", "Copy it again.") from error
    named = {place.stem: content} if isinstance(content, Tensor) else content
    good = isinstance(named, dict) and all(
        isinstance(key, str | int) and isinstance(value, Tensor) for key, value in named.items()
    )
    if not good or len({str(key) for key in named}) != len(named):
        raise StatesError(
            f"{place} holds neither a tensor nor a dictionary of tensors by name or layer.", "Save it in that form."
        )
    return {str(key): value for key, value in named.items()}


def _sites(
    place: Path,
    tensors: Mapping[str, Tensor],
    layers_are: LayersAre | None,
    sites: Mapping[str, Site | str] | None,
) -> dict[str, Site]:
    """The site of each tensor that is wanted, from what the caller says or from the names."""
    if sites is not None:
        missing = sorted(set(sites) - set(tensors))
        if missing or not sites:
            raise StatesError(
                f"{place} has no tensor {', '.join(missing)}.", f"It has {', '.join(sorted(tensors)) or 'none'}."
            )
        return {name: parse_site(site) if isinstance(site, str) else site for name, site in sites.items()}
    found = {name: _site(place, name, layers_are) for name in tensors}
    if len(set(found.values())) != len(found):
        twice = sorted(name for name, site in found.items() if list(found.values()).count(site) > 1)
        raise StatesError(
            f"{place} has several tensors for one site: {', '.join(twice)}.", "Say which is which by sites={...}."
        )
    return found


def _site(place: Path, name: str, layers_are: LayersAre | None) -> Site:
    try:
        return parse_site(name)
    except EngineError:
        pass
    hooked = _HOOKED.fullmatch(name)
    if hooked is not None:
        return Site(int(hooked[1]), Stream(hooked[2]))
    layer = _LAYER.fullmatch(name)
    if layer is None or len(re.findall(r"\d+", name)) != 1 or _ELSEWHERE.search(name):
        raise StatesError(
            f"The name {name!r} in {place} does not say one layer of the residual stream.",
            "Give its site by sites={...}.",
        )
    if layers_are not in ("resid_pre", "resid_post"):
        raise StatesError(
            f"The name {name!r} in {place} may mean what block {layer[1]} is given (hidden_states[{layer[1]}] of "
            "Transformers) or what it returns.",
            "Say layers_are='resid_pre' or layers_are='resid_post', or give sites={...}.",
        )
    return Site(int(layer[1]), Stream(layers_are))


def _vectors(
    place: Path,
    tensors: Mapping[str, Tensor],
    sites: Mapping[str, Site],
    recipe: dict[str, Any],
    names: list[str] | None = None,
) -> Vectors:
    rows = []
    for name, tensor in tensors.items():
        flat = tensor.detach().reshape(-1)
        if not tensor.is_floating_point() or flat.numel() != tensor.shape[-1:].numel() or flat.numel() < 2:
            raise StatesError(
                f"The tensor {name} of {place} has shape {list(tensor.shape)} and kind {tensor.dtype}; needed is one "
                "vector of floating-point numbers.",
                "Store one vector a tensor.",
            )
        rows.append(flat.to(torch.float32))
    if len({len(row) for row in rows}) != 1:
        raise StatesError(
            f"The tensors of {place} have the widths {sorted({len(row) for row in rows})}.", "Store one model's."
        )
    return Vectors(
        tuple(names or tensors),
        tuple(sites[name] for name in tensors),
        torch.stack(rows),
        tuple({"raw_norm": float(row.double().norm())} for row in rows),
        Origin(kind="foreign", source=f"{place.name}, SHA-256 {file_sha256(place)}", recipe=recipe, model=None),
    )
