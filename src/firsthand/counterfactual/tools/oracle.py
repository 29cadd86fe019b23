"""Activation oracle: a LoRA adapter on the target's own base that answers questions about activations.

States of a segment are read from the target at some layer. They are then added at the marks of a question to the
adapted model, at the output of its second block, in their direction and with the norm of what stands there,
``h' = h + |h| v / |v|``, while the question is read and not while the answer is written. The question begins with a
line that names the layer. (Karvonen et al. 2026; their released adapters use this prompt, this formula and layers at
25, 50 and 75% of the depth.)

The folder is an adapter in PEFT's format. It may hold an ``oracle.json`` with the fields of :class:`OracleSettings`,
for an oracle that was trained otherwise. An adapter that does not land on the target's base, key by key, is refused.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.marked import Marked, marked
from firsthand.counterfactual.tools.reading import Reading, Takes
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine import (
    Edit,
    LoadedModel,
    Operation,
    Row,
    Sampling,
    generate,
    inspect_model,
    load_adapter,
    resid_post,
)
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest
from firsthand.trials.files import read_json

_SETTINGS: Final = "oracle.json"
GREEDY: Final = Sampling(greedy=True)


class OracleSettings(Part):
    """How an oracle is asked.

    Attributes:
        mark: The token at which a state is written.
        system: The system's turn of its prompt; ``None``: whatever its template says without one.
        written_at: Block at whose output states are written.
        depths: Shares of the depth at whose layers the target is read; each gives an answer of its own.
        max_tokens: Longest answer.
    """

    mark: Annotated[str, Field(min_length=1)] = " ?"
    system: str | None = None
    written_at: Annotated[int, Field(ge=0)] = 1
    depths: Annotated[tuple[Annotated[float, Field(ge=0.0, lt=1.0)], ...], Field(min_length=1)] = (0.25, 0.5, 0.75)
    max_tokens: Annotated[int, Field(ge=1)] = 40


def asked(tokenizer: PreTrainedTokenizerBase, settings: OracleSettings, layer: int, count: int, ask: str) -> Marked:
    """An oracle's prompt about so many states of a layer."""
    return marked(tokenizer, f"Layer: {layer}\n", settings.mark, count, f" \n{ask}", settings.system)


def written(prompt: Marked, states_PH: Tensor, settings: OracleSettings) -> Row:
    """The row in which each state stands at its mark."""
    site = resid_post(settings.written_at)
    edits = tuple(
        Edit(site, (place,), state_H, Operation.ADD_SCALED)
        for place, state_H in zip(prompt.places, states_PH, strict=True)
    )
    return Row(prompt.tokens, edits)


class Oracle:
    """Answers questions about a segment.

    Args:
        subject: The target.
        folder: The adapter's folder.

    Raises:
        ModelError: If the adapter does not match the target's base.
        CounterfactualError: If its settings cannot be read, or its mark is no token.
    """

    name = "oracle"
    takes: Takes = "segment"
    description = (
        "Asks a copy of the model that was trained to answer questions about activations. You name a run of tokens and "
        "a question in plain words; you get one answer for each of several layers. It can be wrong, and it may guess "
        "from what such texts are usually about rather than from the activations."
    )

    def __init__(self, subject: Subject, folder: Path) -> None:
        self._subject, self.settings = subject, _settings(folder)
        base = subject.loaded.base or subject.loaded
        self.reader: LoadedModel = load_adapter(base, folder)
        self._anatomy = inspect_model(self.reader.model)
        self._layers = subject.at_depths(self.settings.depths)
        asked(self.reader.tokenizer, self.settings, self._layers[0], 2, "?")

    @property
    def identity(self) -> str:
        """Says which adapter, base and settings."""
        return f"oracle {digest([self.reader.weights_sha256, self.settings.model_dump(mode='json')])[:16]}"

    def read(self, question: Question, positions: Sequence[int], ask: str) -> tuple[Reading, ...]:
        """One answer for each layer, about all the tokens together."""
        states = self._subject.states(question, [resid_post(layer) for layer in self._layers], positions)
        rows = []
        for layer in self._layers:
            prompt = asked(self.reader.tokenizer, self.settings, layer, len(positions), ask)
            rows.append(written(prompt, states[resid_post(layer)], self.settings))
        answers = generate(
            self._anatomy, self.reader.tokenizer, rows, max_tokens=self.settings.max_tokens, sampling=GREEDY
        )
        text = self._subject.transcript(question).text(positions[0], positions[-1])
        return tuple(
            Reading(position=positions[0], token=text, text=f"layer {layer}: {answer[0].text.strip()}")
            for layer, answer in zip(self._layers, answers, strict=True)
        )


def _settings(folder: Path) -> OracleSettings:
    place = folder / _SETTINGS
    if not place.is_file():
        return OracleSettings()
    try:
        return OracleSettings.model_validate(read_json(place))
    except (ValidationError, ValueError) as error:
        raise CounterfactualError(
            f"{place} does not say how an oracle is asked: {str(error)[:200]}", "Correct it, or leave it out."
        ) from error
