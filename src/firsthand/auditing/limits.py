"""What an audit does not show, said on every report."""

from firsthand.claims.claim import Claim
from firsthand.studies.cells import Cell


def limits_of(claim: Claim, cell: Cell, absent: dict[str, str]) -> tuple[str, ...]:
    """Limits of what may be concluded, for this claim and run."""
    fixed = (
        f"The state is artificial: the sign of one random direction written at layer {cell.layer} with {cell.dose:g} "
        "residual norms. Nothing follows for goals, feelings, uncertainty or any state that occurs by itself.",
        "The meaning of the two signs is told to no one. A model that was never trained on this register could follow "
        "the state only with an arbitrary sign, and a random direction may steer the words zero and one by chance: "
        "repeat a positive result under another direction_seed.",
        "The verdict is about this elicitation: these questions, codes and stems. A denial is not a proof of absence; "
        "another prompt, persona or training may report more, or less.",
        "Observers are the strongest that were run, not the strongest there could be. The trace is stored, and a "
        "stronger observer may shrink a gap: firsthand rescore RUN --observer package.module:Class.",
        "Functional access, where shown, says nothing about experience.",
    )
    missing = tuple(f"The observer {name} did not take part: {reason}" for name, reason in absent.items())
    return (*fixed, *missing)
