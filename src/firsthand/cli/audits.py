"""What the command ``audit`` does."""

from pathlib import Path

from rich.console import Console

from firsthand.auditing.audit import Run, audit, bindings_of
from firsthand.claims import Claim, FrozenClaim, default_claim, lock_path, read_claim, read_frozen
from firsthand.claims.files import parse_claim
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import LoadedModel, load
from firsthand.errors import ClaimError, InstrumentError
from firsthand.report.files import write_json
from firsthand.report.terminal import print_profile


def run_audit(
    claim_path: Path | None,
    model: str | None,
    out: Path,
    report: Path | None,
    json: Path | None,
    blocks: int | None,
    observers: tuple[str, ...],
    device: str | None,
    dtype: str,
) -> None:
    """Run an audit, print its profile, and write its report."""
    claim, frozen = _claim(claim_path, model, blocks, observers)
    with TerminalProgress() as progress:
        progress.say(f"loading {claim.model}")
        loaded = load(claim.model, device=device, dtype=dtype, progress=progress.say)
        if frozen is not None:
            frozen.refuse_if_changed(claim, bindings_of(loaded))
        run = _audited(frozen or claim, loaded, out, progress)
    print_profile(run.document, Console())
    page = run.report(report or out / "report.html")
    if json is not None:
        write_json(run.document, json)
    Console(stderr=True).print(f"\nReport: {page}\nTrace:  {out / 'trace'}", markup=False, highlight=False)
    if not run.document.instrument_ok:
        raise InstrumentError(
            "A check of the instrument failed, so no verdict is given: " + "; ".join(run.document.failed_checks) + ".",
            f"See {page} for the reasons; the trace is kept.",
        )


def _audited(claim: Claim | FrozenClaim, loaded: LoadedModel, out: Path, progress: TerminalProgress) -> Run:
    return audit(claim, loaded, out, progress)


def _claim(
    path: Path | None, model: str | None, blocks: int | None, observers: tuple[str, ...]
) -> tuple[Claim, FrozenClaim | None]:
    """The claim to be run: a frozen one from files, or the standard one with the options given."""
    if path is not None:
        if model is not None or blocks is not None or observers:
            raise ClaimError(
                "--model, --blocks and --observer would change a frozen claim.",
                "Put them into the claim, freeze it again, and leave the options out.",
            )
        if path.name.endswith(".frozen.json"):
            frozen = read_frozen(path)
            return frozen.claim, frozen
        claim = read_claim(path)
        return claim, read_frozen(lock_path(path))
    claim = default_claim(model or "smollm2")
    fields = claim.model_dump(mode="json")
    if blocks is not None:
        fields["design"]["confirmation_blocks"] = blocks
    fields["observers"] = [*fields["observers"], *observers]
    return parse_claim(fields, "the claim"), None
