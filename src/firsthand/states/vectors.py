"""Directions in the residual stream, with the place where each belongs and how it was made, and their files.

A file is one ``.safetensors``: the tensors, and in its metadata a manifest in JSON with the recipe, the model's
fingerprints, the version of this package and a SHA-256 over the tensors. It is written whole or not at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Final, Literal, Self

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticSerializationError
from safetensors.torch import save
from torch import Tensor

from firsthand.engine.loading import LoadedModel
from firsthand.engine.sites import Site, parse_site
from firsthand.errors import EngineError, StatesError, TraceError
from firsthand.states.tensor_files import MANIFEST, read_tensors, tensors_sha256
from firsthand.trials.files import write_atomic
from firsthand.version import __version__

_FORMAT: Final = "firsthand-vectors/1"
_OPTIONAL: Final = ("offsets", "means")

Kind = Literal["concepts", "probe", "components", "foreign"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ModelIdentity(_Part):
    """The model that vectors were made with; fields as in :class:`~firsthand.engine.loading.LoadedModel`."""

    name: str
    architecture: str
    n_layers: int
    hidden_size: int
    dtype: str
    weights_sha256: str
    tokenizer_sha256: str
    config_sha256: str

    @classmethod
    def of(cls, loaded: LoadedModel) -> Self:
        """The identity of a loaded model."""
        return cls(**{field: getattr(loaded, field) for field in cls.model_fields})


class Origin(_Part):
    """How vectors came to be.

    Attributes:
        kind: What made them.
        source: What they were made from, in words; of a foreign file its name and SHA-256.
        recipe: Settings of the method, as plain JSON values.
        model: The model, or None where a foreign file does not say.
        package_version: Version of this package.
    """

    kind: Kind
    source: str
    recipe: dict[str, Any]
    model: ModelIdentity | None
    package_version: str = __version__


class _Entry(_Part):
    name: str
    site: str
    measures: dict[str, float]


class _Manifest(_Part):
    format: Literal["firsthand-vectors/1"]
    origin: Origin
    entries: tuple[_Entry, ...]
    tensors_sha256: str


@dataclass(frozen=True, eq=False)
class Vectors:
    """Named directions, each at a site.

    Attributes:
        names: What each is called; a name may occur once at each site.
        sites: Where each was read, and is meant to be written.
        vectors_VH: The directions, ``[vectors, hidden]``, float32 on the CPU, in residual units.
        measures: For each, numbers known about it by name: ``raw_norm`` and ``residual_norm`` (both in residual units),
            ``tokens``, ``explained_variance_ratio``, ``balanced_accuracy`` and so on.
        origin: How they were made.
        offsets_V: What is added to ``state . vector`` to give a score, ``[vectors]``, float64; None for zeros.
        means_VH: The state from which each score is counted, where there is one, ``[vectors, hidden]``, float32.

    Raises:
        StatesError: If the parts do not fit together, a place in the list is taken twice, or a vector is zero or not
            finite.
    """

    names: tuple[str, ...]
    sites: tuple[Site, ...]
    vectors_VH: Tensor
    measures: tuple[Mapping[str, float], ...]
    origin: Origin
    offsets_V: Tensor | None = None
    means_VH: Tensor | None = None

    def __post_init__(self) -> None:
        count = len(self.names)
        if self.vectors_VH.ndim != 2 or not count:
            raise StatesError(f"Vectors of shape {list(self.vectors_VH.shape)}.", "Give [vectors, hidden].")
        width = self.vectors_VH.shape[1]
        kinds: list[tuple[Tensor, torch.dtype, tuple[int, ...]]]
        kinds = [(self.vectors_VH, torch.float32, (count, width))]
        if self.offsets_V is not None:
            kinds.append((self.offsets_V, torch.float64, (count,)))
        if self.means_VH is not None:
            kinds.append((self.means_VH, torch.float32, (count, width)))
        fits = all(tensor.dtype is dtype and tuple(tensor.shape) == shape for tensor, dtype, shape in kinds)
        if not fits or len(self.sites) != count or len(self.measures) != count:
            raise StatesError(
                f"{count} names, {len(self.sites)} sites, {len(self.measures)} sets of measures and tensors of shape "
                f"{[list(tensor.shape) for tensor, *_ in kinds]} do not belong together.",
                "Give one of each a vector, vectors and means in float32 and offsets in float64.",
            )
        places = list(zip(self.names, self.sites, strict=True))
        twice = sorted({f"{name} at {site}" for name, site in places if places.count((name, site)) > 1})
        if twice:
            raise StatesError(f"There are two vectors called {', '.join(twice)}.", "Give each a name of its own.")
        for name, site, vector_H in zip(self.names, self.sites, self.vectors_VH, strict=True):
            if not bool(vector_H.isfinite().all()) or not bool(vector_H.any()):
                raise StatesError(f"The vector {name} at {site} is zero or not finite.", "Leave it out.")
        numbers = [value for measures in self.measures for value in measures.values()]
        if any(not bool(tensor.isfinite().all()) for tensor, *_ in kinds) or not all(map(isfinite, numbers)):
            raise StatesError("An offset, mean or measure is not finite.", "Check what the vectors were made from.")

    @property
    def hidden_size(self) -> int:
        """Width of the residual stream that they belong to."""
        return int(self.vectors_VH.shape[1])

    def vector(self, name: str, site: Site) -> Tensor:
        """One direction, ``[hidden]``, as an :class:`~firsthand.engine.Edit` takes it.

        Raises:
            StatesError: If there is none of that name at that site.
        """
        for index, place in enumerate(zip(self.names, self.sites, strict=True)):
            if place == (name, site):
                return self.vectors_VH[index]
        raise StatesError(f"There is no vector {name!r} at {site}.", f"Choose one of {', '.join(self.names)}.")

    def at(self, site: Site) -> "Vectors":
        """Those of one site.

        Raises:
            StatesError: If there are none.
        """
        chosen = [i for i, own in enumerate(self.sites) if own == site]
        if not chosen:
            raise StatesError(
                f"There are no vectors at {site}.", f"Choose one of {', '.join(map(str, sorted(set(self.sites))))}."
            )
        return replace(
            self,
            names=tuple(self.names[i] for i in chosen),
            sites=tuple(self.sites[i] for i in chosen),
            vectors_VH=self.vectors_VH[chosen],
            measures=tuple(self.measures[i] for i in chosen),
            offsets_V=None if self.offsets_V is None else self.offsets_V[chosen],
            means_VH=None if self.means_VH is None else self.means_VH[chosen],
        )

    def scores(self, states_NH: Tensor) -> Tensor:
        """``state . vector + offset`` for each state and vector, ``[states, vectors]``, float64."""
        products_NV = states_NH.double() @ self.vectors_VH.double().T
        return products_NV if self.offsets_V is None else products_NV + self.offsets_V

    def require(self, loaded: LoadedModel, *, other_weights: bool = False) -> None:
        """Refuse a model that these vectors do not belong to.

        Args:
            loaded: The model that they are going to be used with.
            other_weights: Whether vectors of other or of unknown weights may be used, for instance a base model's in
                a tuned one. What is then found is about a transferred vector, and should be reported so.

        Raises:
            StatesError: If the width or the number of layers does not fit, or the weights are not those that the
                vectors were made with and this was not allowed.
        """
        deepest = max(self.sites)
        if self.hidden_size != loaded.hidden_size or deepest.layer >= loaded.n_layers:
            raise StatesError(
                f"The vectors have width {self.hidden_size} and reach {deepest}; {loaded.name} has width "
                f"{loaded.hidden_size} and {loaded.n_layers} layers.",
                "Use the model that they were made with, or make them again.",
            )
        model = self.origin.model
        if not other_weights and (model is None or model.weights_sha256 != loaded.weights_sha256):
            made = "unknown weights" if model is None else f"{model.name} ({model.weights_sha256[:12]}...)"
            raise StatesError(
                f"The vectors were made with {made}, not with {loaded.name} ({loaded.weights_sha256[:12]}...).",
                "Make them again with this model, or say other_weights=True if the transfer is meant.",
            )

    def save(self, path: str | Path) -> None:
        """Write everything to one ``.safetensors`` file, whole or not at all.

        Raises:
            StatesError: If the name has another ending, or the file cannot be written.
        """
        place = Path(path).expanduser()
        if place.suffix != ".safetensors":
            raise StatesError(f"{place} does not end in .safetensors.", "Choose such a name.")
        tensors = {"vectors": self.vectors_VH.contiguous()}
        optional = zip(_OPTIONAL, (self.offsets_V, self.means_VH), strict=True)
        tensors |= {name: tensor.contiguous() for name, tensor in optional if tensor is not None}
        manifest = _Manifest(
            format=_FORMAT,
            origin=self.origin,
            entries=tuple(
                _Entry(name=name, site=str(site), measures=dict(measures))
                for name, site, measures in zip(self.names, self.sites, self.measures, strict=True)
            ),
            tensors_sha256=tensors_sha256(tensors),
        )
        try:
            write_atomic(place, save(tensors, metadata={MANIFEST: manifest.model_dump_json()}))
        except TraceError as error:
            raise StatesError(error.problem, error.remedy) from error
        except PydanticSerializationError as error:
            raise StatesError(f"The recipe is not made of plain JSON values: {error}", "Give such values.") from error

    @classmethod
    def load(cls, path: str | Path, loaded: LoadedModel | None = None, *, other_weights: bool = False) -> Self:
        """Read what :meth:`save` wrote.

        Args:
            path: The file.
            loaded: The model that the vectors are going to be used with; None leaves that unchecked.
            other_weights: As in :meth:`require`.

        Raises:
            StatesError: If the file is missing, damaged, altered or not one of this package, or :meth:`require` raises.
        """
        place = Path(path).expanduser()
        text, tensors = read_tensors(place)
        if text is None:
            raise StatesError(f"{place} has no manifest of firsthand.", "Use load_foreign for other people's vectors.")
        try:
            manifest = _Manifest.model_validate_json(text)
            sites = tuple(parse_site(entry.site) for entry in manifest.entries)
        except (ValidationError, EngineError) as error:
            raise StatesError(f"The manifest of {place} is not valid: {error}", "Restore it from a copy.") from error
        if (
            not {"vectors"} <= tensors.keys() <= {"vectors", *_OPTIONAL}
            or tensors_sha256(tensors) != manifest.tensors_sha256
        ):
            raise StatesError(
                f"The tensors of {place} are not those that its manifest was written for.", "Restore it from a copy."
            )
        vectors = cls(
            tuple(entry.name for entry in manifest.entries),
            sites,
            tensors["vectors"],
            tuple(entry.measures for entry in manifest.entries),
            manifest.origin,
            tensors.get("offsets"),
            tensors.get("means"),
        )
        if loaded is not None:
            vectors.require(loaded, other_weights=other_weights)
        return vectors
