"""What every run does first: examine the model, and bind its folder to one claim, one model and one arithmetic."""

from datetime import UTC, datetime
from pathlib import Path

from firsthand.claims import Bindings, Frozen, read_frozen, write_frozen
from firsthand.engine import LoadedModel
from firsthand.engine.doctor import Finding, diagnose
from firsthand.errors import ClaimError, InstrumentError
from firsthand.progress import Progress
from firsthand.report.document import ModelCard
from firsthand.trials.canonical import digest
from firsthand.trials.files import read_json, write_json
from firsthand.version import __version__


def bindings_of(loaded: LoadedModel) -> Bindings:
    """What a claim about this model is bound to."""
    return Bindings(
        weights_sha256=loaded.weights_sha256,
        tokenizer_sha256=loaded.tokenizer_sha256,
        config_sha256=loaded.config_sha256,
        package_version=__version__,
    )


def examined(loaded: LoadedModel, progress: Progress) -> tuple[str, ...]:
    """Examine the model before anything is concluded from it, and return what a reader should know.

    Raises:
        InstrumentError: If edits or readings of this model would be wrong.
    """
    progress.say("examining the model")
    diagnosis = diagnose(loaded, precisions=False, answers=False)
    if diagnosis.failed:
        raise InstrumentError(
            "The examination before the audit failed: "
            + "; ".join(f"{check.name}: {check.measured}" for check in diagnosis.failed)
            + ".",
            f"See what it means with: firsthand doctor {loaded.name}",
        )
    warned = [check for check in diagnosis.checks if check.finding is Finding.WARNING]
    return tuple(f"Examination of the model, {c.name}: {c.measured} ({c.meaning})." for c in warned)


def settle(folder: Path, frozen: Frozen, loaded: LoadedModel) -> None:
    """Bind the folder to the claim and to the arithmetic that it runs with; refuse another one."""
    path, begun = folder / "claim.frozen.json", folder / "begun.json"
    arithmetic = {"dtype": loaded.dtype, "device": loaded.device}
    if not path.exists():
        if folder.exists() and any(not name.name.startswith(".") for name in folder.iterdir()):
            raise ClaimError(f"{folder} is not empty and holds no run.", "Choose another folder with --out.")
        write_frozen(path, frozen)
    read_frozen(path, type(frozen)).refuse_if_changed(frozen.claim, frozen.bindings)
    if not begun.exists():
        write_json(begun, {"started": datetime.now(UTC).isoformat(), **arithmetic})
    before = {key: read_json(begun)[key] for key in arithmetic}
    if before != arithmetic:
        raise ClaimError(
            f"{folder} was begun with {before['dtype']} on {before['device']}, and cannot go on with {loaded.dtype} on "
            f"{loaded.device}: the trace would mix two precisions.",
            "Use the same --dtype and --device, or another folder.",
        )


def settle_further(folder: Path, loaded: LoadedModel) -> None:
    """Bind the folder to one more model and its arithmetic, where a study needs several; refuse another one.

    The first model is bound with the claim (see :func:`settle`); each further one has an entry in ``models/``.

    Raises:
        ClaimError: If the folder was begun with other weights, another tokenizer or precision under this name.
    """
    path = folder / "models" / f"{digest(loaded.name)[:16]}.json"
    now = {"name": loaded.name, **bindings_of(loaded).model_dump(), "dtype": loaded.dtype, "device": loaded.device}
    if not path.exists():
        write_json(path, now)
    before = read_json(path)
    changed = [name for name in now if before.get(name) != now[name]]
    if changed:
        listed = "; ".join(f"{name} was {before.get(name)}, is {now[name]}" for name in changed)
        raise ClaimError(
            f"{folder} was begun with another {loaded.name}: {listed}.",
            "Use the same model, --dtype and --device, or another folder.",
        )


def card_of(loaded: LoadedModel) -> ModelCard:
    """What a report says of a model."""
    template = loaded.tokenizer.chat_template
    return ModelCard(
        name=loaded.name,
        architecture=loaded.architecture,
        layers=loaded.n_layers,
        parameters=loaded.n_parameters,
        weights_sha256=loaded.weights_sha256,
        tokenizer_sha256=loaded.tokenizer_sha256,
        template_sha256=None if template is None else digest(template),
        dtype=loaded.dtype,
        device=loaded.device,
    )
