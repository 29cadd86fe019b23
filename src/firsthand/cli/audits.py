"""What the commands on runs do."""

import shutil
from json import dumps
from pathlib import Path

from rich.console import Console

from firsthand.auditing.audit import Run, audit, bindings_of, run_traces
from firsthand.auditing.rescore import rescore
from firsthand.claims import Claim, FrozenClaim, FrozenInjection, default_claim, lock_path, read_claim, read_frozen
from firsthand.claims.files import parse_claim
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import LoadedModel, load
from firsthand.errors import ClaimError, InstrumentError, TraceError
from firsthand.report.files import read_json, write_json, write_text
from firsthand.report.injection_files import read_json as read_injection
from firsthand.report.injection_files import write_json as write_injection
from firsthand.report.injection_html import write_injection_html
from firsthand.report.terminal import print_profile
from firsthand.trials.files import read_json as read_any_json
from firsthand.trials.trace import Trace
from firsthand.trials.verify import verify_trace


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


def run_rescore(folder: Path, observers: tuple[str, ...], json: Path | None) -> None:
    """Judge a stored trace again and print the new profile."""
    if study_of(folder) == "injection":
        raise TraceError(
            f"{folder} holds an injection study, whose observers are not chosen by name.",
            "Read its trials from the folder data, and judge them with firsthand.analysis.",
        )
    with TerminalProgress() as progress:
        made = rescore(folder, observers, progress)
    print_profile(made.profile, Console())
    Console(stderr=True).print(f"\nVersion: {made.path}", markup=False, highlight=False)
    if json is not None:
        shutil.copyfile(made.path, json)


def run_verify(folder: Path, json: Path | None) -> None:
    """Check a stored run and say what was checked."""
    if study_of(folder) == "injection":
        _verify_injection(folder, json)
        return
    frozen = read_frozen(folder / "claim.frozen.json")
    parts = run_traces(folder)
    if folder / "trace" not in parts:
        raise TraceError(f"{folder} holds no finished run.", f"Finish it first with: firsthand audit --out {folder}")
    units = {part.relative_to(folder).as_posix(): verify_trace(part, frozen.claim.design.seed) for part in parts}
    Console().print(
        f"{sum(units.values())} units: files as written, public evidence frozen before assignment, assignment drawn "
        "from its hash.",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    if json is not None:
        checked = {"schema_version": 1, "claim_sha256": frozen.sha256, "units": units}
        write_text(json, dumps(checked, indent=2) + "\n")


def _verify_injection(folder: Path, json: Path | None) -> None:
    """Check the traces of an injection study, whose arms are all run on every prompt: there is no draw to repeat."""
    frozen = read_frozen(folder / "claim.frozen.json", FrozenInjection)
    parts = [part for part in run_traces(folder) if part.parent == folder]
    if folder / "trace" not in parts:
        raise TraceError(f"{folder} holds no finished run.", f"Finish it first with: firsthand inject --out {folder}")
    units = {}
    for part in parts:
        Trace(part).manifest()
        units[part.name] = len(Trace(part).units())
    Console().print(f"{sum(units.values())} units: files as written.", markup=False, highlight=False)
    if json is not None:
        write_text(json, dumps({"schema_version": 1, "claim_sha256": frozen.sha256, "units": units}, indent=2) + "\n")


def study_of(folder: Path) -> str:
    """The study whose frozen claim a run folder holds; ``register`` where there is none."""
    path = folder / "claim.frozen.json"
    held = read_any_json(path) if path.exists() else None
    claim = held.get("claim") if isinstance(held, dict) else None
    return str(claim.get("study", "register")) if isinstance(claim, dict) else "register"


def write_report(folder: Path, out: Path, json: Path | None) -> None:
    """Write the page of a finished run again."""
    path = folder / "result.json"
    if path.exists() and study_of(folder) == "injection":
        found = read_injection(path)
        page = write_injection_html(found, out)
        Console(stderr=True).print(f"Report: {page}", markup=False, highlight=False)
        if json is not None:
            write_injection(found, json)
        return
    if not path.exists():
        raise TraceError(f"{folder} holds no finished run.", f"Finish it first with: firsthand audit --out {folder}")
    document = read_json(path)
    page = Run(folder, document).report(out)
    Console(stderr=True).print(f"Report: {page}", markup=False, highlight=False)
    if json is not None:
        write_json(document, json)
