"""Where each label study keeps its trials: the traces that a finished run must have."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from firsthand.claims.labels import BiofeedbackClaim, ConfidenceClaim, DirectMetaClaim, LabelsClaim
from firsthand.errors import TraceError
from firsthand.trials.trace import Trace


def expected(claim: LabelsClaim) -> Mapping[str, int]:
    """How many traces the claim calls for, by where they lie within the run's folder."""
    found = {"trace": 1}
    match claim:
        case BiofeedbackClaim():
            found |= {"readers/*": len(claim.readers), "regulation": int(claim.regulated_after > 0)}
        case ConfidenceClaim():
            found |= {"reader-*": int(claim.reader is not None)}
        case DirectMetaClaim():
            found = {"trace/*": len(claim.models)}
        case _:  # belief and prediction keep other models' units beside the judged one's
            pass
    return MappingProxyType({pattern: count for pattern, count in found.items() if count})


def traces_of(folder: Path, claim: LabelsClaim) -> list[Trace]:
    """Every trace of a finished run.

    Args:
        folder: The run's folder.
        claim: What it was run for.

    Raises:
        TraceError: If one is missing or unfinished.
    """
    found: list[Trace] = []
    for pattern, count in expected(claim).items():
        there = [path for path in sorted(folder.glob(pattern)) if (path / "manifest.json").exists()]
        if len(there) < count:
            raise TraceError(
                f"The claim calls for {count} finished traces at {folder / pattern}; {len(there)} are there.",
                "Restore what is missing, or run the same command again, which keeps what is there.",
            )
        found += map(Trace, there)
    return found
