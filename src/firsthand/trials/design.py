"""Balanced blocks: which kind and which pre-state each trial gets, and when that may be drawn.

The hidden assignment of a block is drawn from a stream that is seeded by the *hash of the block's frozen public
evidence*. It therefore cannot exist before that evidence does, and it changes if the evidence is touched.
"""

from dataclasses import dataclass

from firsthand.trials.randomness import stream
from firsthand.vocabulary import Kind, Subset

PRE_STATES = (0, 1)


@dataclass(frozen=True)
class BlockPlan:
    """One block before anything hidden is decided.

    Attributes:
        index: Position of the block in its subset.
        subset: Whether the block chooses or judges.
        kinds: The kinds that its trials will be given.
        pre_states: Pre-state of each trial, balanced; it shapes the public evidence and is drawn first.
    """

    index: int
    subset: Subset
    kinds: tuple[Kind, ...]
    pre_states: tuple[int, ...]

    @property
    def name(self) -> str:
        """Identifier of the block, unique in a run."""
        return f"{self.subset[0]}{self.index:04d}"

    def trial_id(self, slot: int) -> str:
        """Identifier of the trial in ``slot``, unique in a run."""
        return f"{self.name}-{slot:02d}"


def plan_block(seed: int, subset: Subset, index: int, kinds: tuple[Kind, ...] = tuple(Kind)) -> BlockPlan:
    """Plan a block that will hold each of ``kinds`` once for each pre-state.

    Args:
        seed: The claim's seed.
        subset: Selection or confirmation.
        index: Position of the block.
        kinds: Kinds of the block.

    Returns:
        A plan with the pre-states in random order and no kinds assigned yet.
    """
    states = list(PRE_STATES) * len(kinds)
    order = stream(seed, subset, index, "pre-state").permutation(len(states))
    return BlockPlan(index, subset, kinds, tuple(states[i] for i in order))


def assign_kinds(seed: int, plan: BlockPlan, public_hash: str) -> tuple[Kind, ...]:
    """Draw the hidden assignment: the kind of each trial, balanced over pre-states.

    Args:
        seed: The claim's seed.
        plan: The block.
        public_hash: SHA-256 of the block's frozen public evidence.

    Returns:
        One kind a trial; within each pre-state every kind occurs equally often.
    """
    rng = stream(seed, plan.subset, plan.index, "assignment", public_hash)
    pools = {state: [plan.kinds[i] for i in rng.permutation(len(plan.kinds))] for state in PRE_STATES}
    return tuple(pools[state].pop() for state in plan.pre_states)
