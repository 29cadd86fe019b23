"""What the commands on claims do."""

from pathlib import Path

from rich.console import Console

from firsthand.claims import default_claim, lock_path, read_claim, read_frozen, write_claim, write_frozen
from firsthand.cli.progress import TerminalProgress


def _say(text: str) -> None:
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def new(path: Path, model: str) -> None:
    """Write the standard claim."""
    write_claim(path, default_claim(model))
    _say(f"Wrote {path}. Edit it, then: firsthand claim freeze {path}")


def check(path: Path) -> None:
    """Check a claim and its frozen form."""
    claim, lock = read_claim(path), lock_path(path)
    if not lock.exists():
        _say(f"{path} is a valid claim. It is not frozen yet: firsthand claim freeze {path}")
        return
    frozen = read_frozen(lock)
    frozen.refuse_if_changed(claim, frozen.bindings)
    _say(f"{path} is a valid claim and unchanged since it was frozen ({frozen.sha256}).")


def freeze(path: Path) -> None:
    """Freeze a claim beside its file."""
    claim = read_claim(path)
    from firsthand.auditing.audit import freeze as bind
    from firsthand.engine.loading import load

    with TerminalProgress() as progress:
        progress.say(f"loading {claim.model}")
        frozen = bind(claim, load(claim.model, progress=progress.say))
    write_frozen(lock_path(path), frozen)
    _say(f"Frozen: {lock_path(path)}\nSHA-256: {frozen.sha256}")
