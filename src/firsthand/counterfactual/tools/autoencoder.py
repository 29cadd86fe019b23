"""Natural-language autoencoder: a model that was trained to put one activation into words, at chosen tokens.

Its verbaliser is a language model with a place in its prompt at which an activation is written; what it then says is
the description. (Fraser-Taliente et al. 2026. Verbaliser and reconstructor are trained together, so that the text holds
what the activation held; only the verbaliser is needed to read.) What differs from one to the next is data:

==================  =================================================================================================
``nla_meta.yaml``   as published with verbalisers: prompt, mark, scale and layer. The activation, scaled to a given
                    norm, takes the place of the mark's embedding
``verbaliser.yaml`` our own, with the fields of :class:`VerbaliserSettings`: any site, added or replaced
==================  =================================================================================================

The folder is a whole model, or a LoRA adapter on the target's base; one that does not land is refused.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import torch
import yaml
from pydantic import Field, ValidationError
from torch import Tensor

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.marked import Marked, marked
from firsthand.counterfactual.tools.oracle import GREEDY
from firsthand.counterfactual.tools.reading import Reading, Takes
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine import (
    Edit,
    LoadedModel,
    Operation,
    Row,
    generate,
    inspect_model,
    load,
    load_adapter,
    parse_site,
)
from firsthand.engine.sites import check_site
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest

_OWN, _PUBLISHED = "verbaliser.yaml", "nla_meta.yaml"
MARK: Final = "{mark}"


class VerbaliserSettings(Part):
    """How a verbaliser is asked.

    Attributes:
        reads: Site of the target whose states it was trained on, such as ``resid_post[20]``.
        writes: Its own site at which a state is written.
        operation: ``replace`` puts the state in the place of what stands there; ``add_scaled`` adds it in its direction
            and with the norm of what stands there.
        scale: With ``replace``, the norm to which a state is brought; ``None``: as it is.
        mark: The token at which it is written.
        prompt: The user's turn, with ``{mark}`` once.
        system: The system's turn; ``None``: whatever the template says without one.
        opens: Text before the description in what it says; empty: from the beginning.
        closes: Text after it; empty: to the end.
        max_tokens: Longest description.
    """

    reads: str
    writes: str = "resid_pre[0]"
    operation: Literal["replace", "add_scaled"] = "replace"
    scale: Annotated[float, Field(gt=0.0)] | None = None
    mark: Annotated[str, Field(min_length=1)]
    prompt: Annotated[str, Field(pattern=r"\{mark\}")]
    system: str | None = None
    opens: str = ""
    closes: str = ""
    max_tokens: Annotated[int, Field(ge=1)] = 150


class Verbaliser:
    """Describes activations in words.

    Args:
        subject: The target.
        folder: The verbaliser's folder.

    Raises:
        ModelError: If it cannot be loaded, or an adapter does not match the target's base.
        CounterfactualError: If its settings cannot be read, its mark is no token of its own, or its width is another.
        EngineError: If target or verbaliser lacks a site.
    """

    name = "description"
    takes: Takes = "positions"
    description = (
        "Describes the model's activation at each token that you choose in a few sentences, by a model that was "
        "trained to put activations into words. Descriptions can be wrong, and often repeat what the text says anyway."
    )

    def __init__(self, subject: Subject, folder: Path) -> None:
        self._subject, self.settings = subject, read_settings(folder)
        self._reads, self._writes = parse_site(self.settings.reads), parse_site(self.settings.writes)
        check_site(f"The verbaliser {folder}", self._reads, subject.anatomy.n_layers)
        adapter = (folder / "adapter_config.json").is_file()
        own = subject.loaded
        self.reader: LoadedModel = (
            load_adapter(own.base or own, folder)
            if adapter
            else load(str(folder), device=own.device.split()[0], dtype=own.dtype)
        )
        self._anatomy = inspect_model(self.reader.model)
        check_site(f"The verbaliser {folder}", self._writes, self._anatomy.n_layers)
        if self._anatomy.hidden_size != subject.anatomy.hidden_size:
            raise CounterfactualError(
                f"The verbaliser {folder} has states of {self._anatomy.hidden_size} numbers, and the target of "
                f"{subject.anatomy.hidden_size}.",
                "Use a verbaliser of this target.",
            )
        self._prompt = self._marked()

    @property
    def identity(self) -> str:
        """Says which weights and settings."""
        return f"description {digest([self.reader.weights_sha256, self.settings.model_dump(mode='json')])[:16]}"

    def read(self, question: Question, positions: Sequence[int], ask: str) -> tuple[Reading, ...]:
        """A description of each token's activation."""
        states_PH = self._subject.states(question, [self._reads], positions)[self._reads]
        rows = [Row(self._prompt.tokens, (self._edit(state_H),)) for state_H in states_PH]
        said = generate(
            self._anatomy, self.reader.tokenizer, rows, max_tokens=self.settings.max_tokens, sampling=GREEDY
        )
        texts = self._subject.transcript(question).texts
        return tuple(
            Reading(position=position, token=texts[position], text=self._described(one[0].text))
            for position, one in zip(positions, said, strict=True)
        )

    def _edit(self, state_H: Tensor) -> Edit:
        if self.settings.operation == "add_scaled":
            return Edit(self._writes, self._prompt.places, state_H, Operation.ADD_SCALED)
        if self.settings.scale is not None:
            state_H = state_H * (self.settings.scale / torch.linalg.vector_norm(state_H).clamp_min(1e-12))
        return Edit(self._writes, self._prompt.places, state_H, Operation.REPLACE)

    def _marked(self) -> Marked:
        before, _, after = self.settings.prompt.partition(MARK)
        return marked(self.reader.tokenizer, before, self.settings.mark, 1, after, self.settings.system)

    def _described(self, text: str) -> str:
        _, found, rest = text.partition(self.settings.opens) if self.settings.opens else ("", "", text)
        inner = rest if found or not self.settings.opens else text
        return (inner.partition(self.settings.closes)[0] if self.settings.closes else inner).strip()


def read_settings(folder: Path) -> VerbaliserSettings:
    """How the verbaliser in a folder is asked.

    Raises:
        CounterfactualError: If the folder does not say, or says what is not done here.
    """
    own, published = folder / _OWN, folder / _PUBLISHED
    place = own if own.is_file() else published
    if not place.is_file():
        raise CounterfactualError(
            f"{folder} does not say how its verbaliser is asked.",
            f"Put {_PUBLISHED}, as it was published with it, or {_OWN} into the folder.",
        )
    try:
        stored = yaml.safe_load(place.read_text(encoding="utf-8"))
        return VerbaliserSettings.model_validate(stored if place == own else _of_published(stored))
    except (ValidationError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
        raise CounterfactualError(
            f"{place} does not say how a verbaliser is asked: {type(error).__name__} {str(error)[:200]}",
            f"Take the file that was published with it, or write {_OWN}.",
        ) from error


def _of_published(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Our settings for a published file.

    The activation is the output of block ``extraction_layer_index``, brought to the norm ``injection_scale``, and takes
    the place of one embedding (as the embedding layer returns it, with whatever scale that has).
    """
    extraction, templates = meta["extraction"], meta["prompt_templates"]
    layer = meta.get("extraction_layer_index", extraction.get("layer_index"))
    scale = extraction["injection_scale"]
    width = meta.get("d_model", extraction.get("d_model"))
    template = str(templates.get("av") or templates["actor"])
    if not re.search(r"\{injection_char\}", template):
        raise ValueError("its prompt has no {injection_char}")
    return {
        "reads": f"resid_post[{int(layer)}]",
        "scale": int(width) ** 0.5 if scale == "sqrt_d_model" else None if scale in (None, "raw") else float(scale),
        "mark": meta["tokens"]["injection_char"],
        "prompt": template.replace("{injection_char}", MARK).replace("{{", "{").replace("}}", "}"),
        "opens": "<explanation>",
        "closes": "</explanation>",
    }
