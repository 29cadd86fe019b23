"""Sparse autoencoders on disk: SAELens' folders, Gemma Scope's, and what in them cannot be carried out exactly.

===============  ====================================================================================================
SAELens          ``cfg.json`` and ``sae_weights.safetensors``, with what is said of the model at the top level, or under
                 ``metadata`` (version 6) or ``meta``
Gemma Scope      ``params.npz`` in a folder whose path names ``layer_N`` and, for other streams than the output of a
                 block, the kind (``-mlp``, ``-att``)
Gemma Scope 2    ``config.json`` with ``hf_hook_point_in`` and ``params.safetensors``
===============  ====================================================================================================

Only the residual stream is read: ``blocks.N.hook_resid_pre``, ``_mid`` and ``_post`` of TransformerLens are our sites
of the same names. Whatever an autoencoder needs that is not done here is refused by name.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from firsthand.counterfactual.tools.sae_encoding import Architecture, Autoencoder, Normalisation
from firsthand.engine import Site, resid_post
from firsthand.engine.loading.hashes import file_sha256, json_sha256, weights_sha256
from firsthand.engine.sites import Stream
from firsthand.errors import CounterfactualError
from firsthand.trials.files import read_json

_HOOK: Final = re.compile(r"blocks\.(\d+)\.hook_(resid_pre|resid_mid|resid_post)")
_HF_HOOK: Final = re.compile(r"model\.layers\.(\d+)\.output")
_LAYER: Final = re.compile(r"(?:^|/)layer_(\d+)(?:[/_]|$)")
_KNOWN: Final = ("standard", "jumprelu", "topk", "batchtopk")


def load_autoencoder(folder: Path, *, centred: bool = False) -> Autoencoder:
    """Read a sparse autoencoder.

    Args:
        folder: Its folder.
        centred: Whether the target has layer norms. TransformerLens centres what such a model writes, unless the file
            says that it did not, and the autoencoder was trained on that.

    Raises:
        CounterfactualError: If the folder is of no known layout, a tensor is missing or of another shape, or something
            is wanted that is not done here.
    """
    if (folder / "cfg.json").is_file():
        return _saelens(folder, centred)
    if (folder / "params.npz").is_file():
        return _gemma_scope(folder)
    if (folder / "config.json").is_file() and (folder / "params.safetensors").is_file():
        return _gemma_scope_2(folder)
    raise CounterfactualError(
        f"{folder} is no sparse autoencoder of a layout that is read here.",
        "Give a folder with cfg.json and sae_weights.safetensors, or Gemma Scope's params.npz or params.safetensors.",
    )


def site_of(hook: str) -> Site:
    """The site that a hook of TransformerLens names.

    Raises:
        CounterfactualError: If it is not one of the residual stream.
    """
    found = _HOOK.fullmatch(hook)
    if found is None:
        raise CounterfactualError(
            f"The autoencoder reads {hook!r}, which is no place in the residual stream.",
            "Use one of blocks.N.hook_resid_pre, hook_resid_mid or hook_resid_post.",
        )
    return Site(int(found[1]), Stream(found[2]))


def _saelens(folder: Path, centred: bool) -> Autoencoder:
    stored = read_json(folder / "cfg.json")
    place = folder / "sae_weights.safetensors"
    if not isinstance(stored, dict) or not place.is_file():
        raise CounterfactualError(f"{folder} has no sae_weights.safetensors.", "Copy the folder whole.")
    settings: dict[str, Any] = {**(stored.get("meta") or {}), **(stored.get("metadata") or {}), **stored}
    tensors = {name: one.float() if one.is_floating_point() else one for name, one in load_file(place).items()}
    architecture, threshold, k = _architecture(settings, tensors)
    _refuse_others(settings)
    said = settings.get("model_from_pretrained_kwargs") or {}
    made = Autoencoder(
        site=site_of(str(settings.get("hook_name") or settings.get("hook_point"))),
        architecture=architecture,
        **_matrices(folder, tensors),
        threshold=threshold,
        k=k,
        apply_b_dec_to_input=bool(settings.get("apply_b_dec_to_input", True)),
        normalise=_normalisation(settings),
        by_decoder=bool(settings.get("rescale_acts_by_decoder_norm", False)),
        centred=centred and bool(said.get("center_writing_weights", True)),
        sha256=json_sha256([weights_sha256([place]), stored]),
    )
    return _checked(folder, made, settings.get("d_in"), settings.get("d_sae"))


def _architecture(
    settings: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> tuple[Architecture, Tensor | None, int | None]:
    name = str(settings.get("architecture") or "standard").lower().replace("_", "")
    function = str(settings.get("activation_fn_str") or settings.get("activation_fn") or "relu").lower()
    if name == "standard" and function not in ("relu", "topk"):
        raise _refused(f"the activation function {function!r}")
    if name == "standard" and function == "topk":
        name = "topk"
    if name not in _KNOWN:
        raise _refused(f"the architecture {name!r}")
    if name == "topk":
        k = settings.get("k", (settings.get("activation_fn_kwargs") or {}).get("k"))
        if not isinstance(k, int) or k < 1:
            raise _refused("a top-k architecture without k")
        return "topk", None, k
    if name == "standard":
        return "standard", None, None
    width = len(tensors["b_enc"]) if "b_enc" in tensors else 0
    if "threshold" in tensors:
        threshold = tensors["threshold"].flatten()
    elif "log_threshold" in tensors:
        threshold = tensors["log_threshold"].exp().flatten()
    elif "topk_threshold" in tensors:
        threshold = tensors["topk_threshold"].float().flatten()
    else:
        raise _refused(f"{name} without a threshold, which has to be found over a batch")
    return "jumprelu", threshold.expand(width).clone() if len(threshold) == 1 else threshold, None


def _normalisation(settings: Mapping[str, Any]) -> Normalisation:
    wanted = settings.get("normalize_activations", "none")
    wanted = {None: "none", False: "none", True: "expected_average_only_in"}.get(wanted, wanted)
    if wanted == "expected_average_only_in":
        raise _refused("normalize_activations = 'expected_average_only_in', whose factor the file does not hold")
    if wanted not in ("none", "constant_norm_rescale", "layer_norm"):
        raise _refused(f"normalize_activations = {wanted!r}")
    return wanted  # type: ignore[no-any-return]


def _refuse_others(settings: Mapping[str, Any]) -> None:
    for name, harmless in (
        ("reshape_activations", ("none", None)),
        ("finetuning_scaling_factor", (False, None)),
        ("hook_head_index", (None,)),
    ):
        if settings.get(name) not in harmless:
            raise _refused(f"{name} = {settings[name]!r}")


def _gemma_scope(folder: Path) -> Autoencoder:
    place = folder / "params.npz"
    path = str(folder.resolve()).replace("\\", "/")
    layer = _LAYER.search(path)
    if layer is None or re.search(r"-(mlp|att|transcoders)(/|$)", path):
        raise CounterfactualError(
            f"The path {folder} does not name the layer of a residual stream.",
            "Keep the folders as they were published, such as gemma-scope-2b-pt-res/layer_20/width_16k/average_l0_71.",
        )
    with np.load(place, allow_pickle=False) as file:
        tensors = {name: torch.from_numpy(np.array(file[name])).float() for name in file.files}
    return _jumping(folder, tensors, resid_post(int(layer[1])), file_sha256(place))


def _gemma_scope_2(folder: Path) -> Autoencoder:
    settings = read_json(folder / "config.json")
    hook = str(settings.get("hf_hook_point_in"))
    found = _HF_HOOK.search(hook)
    if found is None or hook != found[0] or settings.get("hf_hook_point_out", hook) != hook:
        raise _refused(f"the place {hook!r}")
    if settings.get("affine_connection"):
        raise _refused("an affine connection")
    if str(settings.get("architecture", "")).replace("_", "") != "jumprelu":
        raise _refused(f"the architecture {settings.get('architecture')!r}")
    place = folder / "params.safetensors"
    named = {"w_enc": "W_enc", "w_dec": "W_dec"}
    tensors = {named.get(name, name): one.float() for name, one in load_file(place).items()}
    return _jumping(folder, tensors, resid_post(int(found[1])), json_sha256([weights_sha256([place]), settings]))


def _jumping(folder: Path, tensors: Mapping[str, Tensor], site: Site, sha256: str) -> Autoencoder:
    if "threshold" not in tensors:
        raise _refused("jumprelu without a threshold")
    made = Autoencoder(
        site=site,
        architecture="jumprelu",
        **_matrices(folder, tensors),
        threshold=tensors["threshold"],
        apply_b_dec_to_input=False,
        sha256=sha256,
    )
    return _checked(folder, made, None, None)


def _matrices(folder: Path, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    missing = [name for name in ("W_enc", "b_enc", "W_dec", "b_dec") if name not in tensors]
    if missing:
        raise CounterfactualError(
            f"The autoencoder {folder} has no tensor {missing[0]}; it has {', '.join(sorted(tensors)) or 'none'}.",
            "Copy it again, or convert it to SAELens' names.",
        )
    return {name: tensors[name].contiguous() for name in ("W_enc", "b_enc", "W_dec", "b_dec")}


def _checked(folder: Path, made: Autoencoder, width: object, features: object) -> Autoencoder:
    """The autoencoder, if all of its tensors fit together."""
    hidden, count = made.W_enc.shape
    shapes = {
        "W_dec": (made.W_dec.shape, (count, hidden)),
        "b_enc": (made.b_enc.shape, (count,)),
        "b_dec": (made.b_dec.shape, (hidden,)),
        "threshold": (made.b_enc.shape if made.threshold is None else made.threshold.shape, (count,)),
        "cfg.json": ((width or hidden, features or count), (hidden, count)),
    }
    for name, (shape, wanted) in shapes.items():
        if tuple(shape) != wanted:
            raise CounterfactualError(
                f"In the autoencoder {folder} {name} says {list(shape)}, and W_enc {list(wanted)}.",
                "Copy it again; W_enc is [hidden, features], W_dec [features, hidden].",
            )
    if made.k is not None and made.k > count:
        raise _refused(f"k = {made.k} of {count} features")
    return replace(made)


def _refused(what: str) -> CounterfactualError:
    return CounterfactualError(
        f"The autoencoder wants {what}, which is not done here.",
        "Use a standard, top-k, JumpReLU or batch-top-k autoencoder of the residual stream, saved for inference.",
    )
