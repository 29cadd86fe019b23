"""The whole examination."""

from collections.abc import Callable
from typing import Final

from firsthand.engine.anatomy import inspect_model
from firsthand.engine.doctor import exactness
from firsthand.engine.doctor.checks import Check, Diagnosis, Finding
from firsthand.engine.doctor.exactness import Specimen
from firsthand.engine.doctor.language import language
from firsthand.engine.doctor.precision import noise_floors
from firsthand.engine.loading import LoadedModel
from firsthand.errors import FirsthandError

_TEXT: Final = (
    "The ferry leaves the harbour at seven and reaches the island before noon. On board there is a small shop, a deck "
    "with benches, and a room in which children draw maps of places that they have never seen."
)


def diagnose(loaded: LoadedModel, *, precisions: bool = True, answers: bool = True) -> Diagnosis:
    """Examine a model.

    Args:
        loaded: The model.
        precisions: Whether to measure what coarser precisions would add; this takes a copy of the model for each.
        answers: Whether to look at usual words of answers; a study proves its own ones, in their own place.

    Returns:
        What was found. A check that cannot be carried out counts as failed.

    Raises:
        EngineError: If the model's parts cannot be found, so that nothing can be examined.
    """
    specimen = Specimen(inspect_model(loaded.model), _tokens(loaded))
    checks = [
        *exactness.parts(specimen),
        *_tried("edit norm", lambda: [exactness.edit_norm(specimen)]),
        *_tried("sham edit", lambda: [exactness.sham(specimen)]),
        *_tried("cached, chunked, resumed", lambda: [exactness.split_runs(specimen)]),
        *_tried("batch invariance", lambda: [exactness.batching(specimen)]),
        *_tried("tokens and template", lambda: language(loaded, answers=answers)),
    ]
    if precisions:
        checks += _tried("noise floor", lambda: noise_floors(specimen))
    return Diagnosis(loaded.name, loaded.dtype, loaded.device, tuple(checks))


def _tried(name: str, check: Callable[[], list[Check]]) -> list[Check]:
    try:
        return check()
    except FirsthandError as error:
        return [Check(name, Finding.FAILED, error.problem, error.remedy)]


def _tokens(loaded: LoadedModel) -> tuple[int, ...]:
    """A plain text, or, for a tokenizer that knows none of it, tokens taken at even distances from its vocabulary."""
    tokens = tuple(loaded.tokenizer.encode(_TEXT, add_special_tokens=True))
    known = len(loaded.model.get_input_embeddings().weight)
    if len(set(tokens)) > 12 and max(tokens) < known:
        return tokens
    return tuple((7 * i + 3) % known for i in range(40))
