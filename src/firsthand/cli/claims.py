"""What the commands on claims do."""

from pathlib import Path

from rich.console import Console

from firsthand.claims import (
    Claim,
    Frozen,
    FrozenClaim,
    FrozenInjection,
    InjectionClaim,
    default_claim,
    lock_path,
    read_frozen,
    write_claim,
    write_frozen,
)
from firsthand.claims.files import read_any_claim
from firsthand.cli.progress import TerminalProgress
from firsthand.errors import ClaimError


def _say(text: str) -> None:
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def new(path: Path, model: str, study: str) -> None:
    """Write the standard claim of a study."""
    if study not in ("register", "injection"):
        raise ClaimError(f"There is no study {study!r}.", "Choose register or injection.")
    if study == "injection":
        from firsthand.studies.injection.concepts import CONCEPTS

        write_claim(path, InjectionClaim(model=model, concepts=CONCEPTS))
    else:
        write_claim(path, default_claim(model))
    _say(f"Wrote {path}. Edit it, then: firsthand claim freeze {path}")


def check(path: Path) -> None:
    """Check a claim and its frozen form."""
    claim, lock = read_any_claim(path), lock_path(path)
    if not lock.exists():
        _say(f"{path} is a valid claim. It is not frozen yet: firsthand claim freeze {path}")
        return
    frozen = read_frozen(lock, kind_of(claim))
    frozen.refuse_if_changed(claim, frozen.bindings)
    _say(f"{path} is a valid claim and unchanged since it was frozen ({frozen.sha256}).")


def freeze(path: Path) -> None:
    """Freeze a claim beside its file."""
    claim = read_any_claim(path)
    from firsthand.auditing.running import bindings_of
    from firsthand.engine.loading import load

    with TerminalProgress() as progress:
        progress.say(f"loading {claim.model}")
        frozen = kind_of(claim).of(claim, bindings_of(load(claim.model, progress=progress.say)))
    write_frozen(lock_path(path), frozen)
    _say(f"Frozen: {lock_path(path)}\nSHA-256: {frozen.sha256}")


def kind_of(claim: Claim | InjectionClaim) -> type[Frozen]:
    """The frozen form of a claim."""
    return FrozenClaim if isinstance(claim, Claim) else FrozenInjection
