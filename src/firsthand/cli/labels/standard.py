"""The standard claim of each label study: its defaults, on the data that are given."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from firsthand.auditing.labels.direct_meta import found_in
from firsthand.claims.labels import LabelsClaim
from firsthand.claims.studies import LABEL_STUDIES
from firsthand.cli.labels import belief, biofeedback, confidence, direct_meta, prediction
from firsthand.cli.labels.claims import claim_from
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import load
from firsthand.errors import ClaimError


def standard_claim(study: str, model: str, data: Path | None) -> LabelsClaim:
    """The standard claim of a label study.

    Args:
        study: Its name.
        model: The model that is judged; several with commas, where each is held against the others.
        data: The data that it is made on, whose columns are guessed.

    Raises:
        ClaimError: If the study needs data or more models, and they are not given.
        LabelsError: If the data cannot be read.
    """
    kind, fields = LABEL_STUDIES[study], FROM_DATA[study](data, model)
    if "model" in kind.model_fields:
        fields["model"] = model
    return claim_from(None, fields, kind)[0]  # type: ignore[return-value]


def _biofeedback(data: Path | None, model: str) -> dict[str, Any]:
    source = biofeedback.Source(_given("biofeedback", data, "labelled texts"))
    return biofeedback.found_in(source.read(_tokenizer(model)))


def _belief(data: Path | None, model: str) -> dict[str, Any]:
    source = belief.Source(_given("belief", data, "facts"))
    return belief.found_in(source.read(_tokenizer(model)))


def _confidence(data: Path | None, model: str) -> dict[str, Any]:
    source = confidence.Source(_given("confidence", data, "questions"))
    return confidence.found_in(source.read(_tokenizer(model)))


def _prediction(data: Path | None, model: str) -> dict[str, Any]:
    source = prediction.Source(data)
    return prediction.found_in(source.read(_tokenizer(model)))


def _direct_meta(data: Path | None, model: str) -> dict[str, Any]:
    models = [name.strip() for name in model.split(",") if name.strip()]
    if len(models) < 2:
        raise ClaimError(
            f"A claim of the study direct-meta holds models against one another, and --model names {model} alone.",
            "Name two at least with commas, e.g. --model smollm2,gemma3-270m. --data FILE takes your pairs for ours.",
        )
    return {"models": models, **found_in(direct_meta.pairs_of(data).pairs)}


FROM_DATA: Final[dict[str, Callable[[Path | None, str], dict[str, Any]]]] = {
    "biofeedback": _biofeedback,
    "belief": _belief,
    "direct-meta": _direct_meta,
    "confidence": _confidence,
    "prediction": _prediction,
}
"""For each study what the data give its claim: their hash, under the name of its field, and what depends on them.

A study whose data come with the package takes ``None`` for them.
"""


def _given(study: str, data: Path | None, what: str) -> Path:
    if data is None:
        raise ClaimError(f"A claim of the study {study} is made on {what}.", "Name them with --data FILE.")
    return data


def _tokenizer(model: str) -> PreTrainedTokenizerBase:
    with TerminalProgress() as progress:
        progress.say(f"loading {model}")
        return load(model, progress=progress.say).tokenizer
