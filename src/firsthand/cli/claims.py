"""What the commands on claims do."""

from pathlib import Path

from rich.console import Console

from firsthand.claims import InjectionClaim, default_claim, lock_path, read_frozen, write_claim, write_frozen
from firsthand.claims.files import read_any_claim
from firsthand.claims.studies import CLAIMS, LABEL_STUDIES, AnyClaim, frozen_kind
from firsthand.cli.progress import TerminalProgress
from firsthand.errors import ClaimError


def _say(text: str) -> None:
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def new(path: Path, model: str, study: str, data: Path | None = None) -> None:
    """Write the standard claim of a study.

    Args:
        path: The YAML file.
        model: Name, folder, GGUF file or Hugging Face id.
        study: Name of the study.
        data: The data that it is made on, where it is made on data.
    """
    if study not in CLAIMS:
        raise ClaimError(f"There is no study {study!r}.", f"Choose one of: {', '.join(CLAIMS)}.")
    if path.exists():
        raise ClaimError(f"{path} exists already.", "Choose another name, or remove the file first.")
    if data is not None and study not in LABEL_STUDIES:
        raise ClaimError(f"The study {study} is made on no data of yours.", "Leave --data out.")
    write_claim(path, _standard(model, study, data))
    _say(f"Wrote {path}. Edit it, then: firsthand claim freeze {path}")


def _standard(model: str, study: str, data: Path | None) -> AnyClaim:
    if study == "register":
        return default_claim(model)
    if study == "injection":
        from firsthand.studies.injection.concepts import CONCEPTS

        return InjectionClaim(model=model, concepts=CONCEPTS)
    from firsthand.cli.labels.standard import standard_claim

    return standard_claim(study, model, data)


def check(path: Path) -> None:
    """Check a claim and its frozen form."""
    claim, lock = read_any_claim(path), lock_path(path)
    if not lock.exists():
        _say(f"{path} is a valid claim. It is not frozen yet: firsthand claim freeze {path}")
        return
    frozen = read_frozen(lock, frozen_kind(claim.study))
    frozen.refuse_if_changed(claim, frozen.bindings)
    _say(f"{path} is a valid claim and unchanged since it was frozen ({frozen.sha256}).")


def freeze(path: Path) -> None:
    """Freeze a claim beside its file."""
    claim = read_any_claim(path)
    from firsthand.auditing.running import bindings_of
    from firsthand.engine.loading import load

    with TerminalProgress() as progress:
        progress.say(f"loading {claim.model}")
        frozen = frozen_kind(claim.study).of(claim, bindings_of(load(claim.model, progress=progress.say)))
    write_frozen(lock_path(path), frozen)
    _say(f"Frozen: {lock_path(path)}\nSHA-256: {frozen.sha256}")
