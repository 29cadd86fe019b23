"""Are edits made as they say, and do the fast ways of running a row give the numbers of the plain one?"""

from dataclasses import dataclass

import torch
from torch import Tensor

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.doctor.checks import Check, Finding, graded
from firsthand.engine.edits import Capture, Edit, Operation, Row
from firsthand.engine.session import run_prefix, run_rows
from firsthand.engine.sharing import refusal_to_share
from firsthand.engine.sites import resid_post
from firsthand.engine.sweep import run

_FINE = {torch.float64: 1e-9, torch.float32: 1e-4}
_COARSE = 0.5
_STRENGTH = 3.0


@dataclass(frozen=True, eq=False)
class Specimen:
    """What the checks are made on: a row, a place in its middle, and a direction as long as the residual there."""

    anatomy: Anatomy
    tokens: tuple[int, ...]

    @property
    def layer(self) -> int:
        """A layer in the middle."""
        return self.anatomy.n_layers // 2

    @property
    def place(self) -> int:
        """A position in the last third."""
        return len(self.tokens) * 2 // 3

    def clean(self) -> Row:
        """The row, with a reading at the place."""
        return Row(self.tokens, captures=(Capture("here", resid_post(self.layer), (self.place,)),))

    def edited(self, vector_H: Tensor, strength: float = 1.0, operation: Operation = Operation.ADD) -> Row:
        """The row with an edit at the place, read after it."""
        clean = self.clean()
        edit = Edit(resid_post(self.layer), (self.place,), vector_H, operation, strength)
        return Row(clean.tokens, (edit,), clean.captures)

    def direction(self) -> Tensor:
        """A fixed direction of the mean length of a residual, ``[hidden]``."""
        state_H = run_rows(self.anatomy, [self.clean()]).captures[0]["here"][0]
        vector_H = torch.randn(len(state_H), generator=torch.Generator().manual_seed(0))
        scaled_H: Tensor = vector_H * (state_H.norm() / vector_H.norm())
        return scaled_H


def parts(specimen: Specimen) -> list[Check]:
    """What was found of the model's parts."""
    anatomy = specimen.anatomy
    middles = sum(child is not None for child in anatomy.midpoints)
    reason = refusal_to_share(anatomy)
    return [
        Check(
            "residual stream",
            Finding.OK,
            f"{anatomy.n_layers} blocks at {anatomy.path}, width {anatomy.hidden_size}",
            "resid_pre and resid_post can be edited and read at every layer",
        ),
        Check(
            "resid_mid",
            Finding.OK if middles == anatomy.n_layers else Finding.NOTE,
            f"found and proven in {middles} of {anatomy.n_layers} blocks",
            "can be edited where it was found; elsewhere an edit of it is refused",
        ),
        Check(
            "shared attention",
            Finding.NOTE if reason else Finding.OK,
            reason.rstrip(".") if reason else "tried, and equal to the model's own",
            "every row is run whole: the same numbers, at the price of the whole prompt"
            if reason
            else "rows cost only their own tokens, and the layers above their edit",
        ),
    ]


def edit_norm(specimen: Specimen) -> Check:
    """An edit must change the stream by exactly its strength times its vector, once."""
    vector_H = specimen.direction()
    before, after = (
        run_rows(specimen.anatomy, [row]).captures[0]["here"][0]
        for row in (specimen.clean(), specimen.edited(vector_H, _STRENGTH))
    )
    wanted = float(vector_H.norm()) * _STRENGTH
    error = abs(float((after - before).norm()) / wanted - 1)
    fine = 1e-4 if specimen.anatomy.model.dtype in _FINE else 2e-2
    return graded(
        "edit norm",
        error,
        fine,
        10 * fine,
        f"|change| = {1 + error:.6f} x strength x |vector|",
        ("edits are made once and whole", "rounding of this precision eats part of an edit", "edits are not as asked"),
    )


def sham(specimen: Specimen) -> Check:
    """To write what is there already must change nothing, bit for bit."""
    clean = run_rows(specimen.anatomy, [specimen.clean()])
    state_H = clean.captures[0]["here"][0]
    same = run_rows(specimen.anatomy, [specimen.edited(state_H, 1.0, Operation.REPLACE)])
    equal = torch.equal(clean.logprobs_RV, same.logprobs_RV)
    largest = float((clean.logprobs_RV - same.logprobs_RV).abs().max())
    return Check(
        "sham edit",
        Finding.OK if equal else Finding.FAILED,
        "equal bit for bit" if equal else f"log-probabilities move by {largest:.1e}",
        "a sham differs from no edit in nothing" if equal else "the path of an edit itself leaves a trace",
    )


def split_runs(specimen: Specimen) -> Check:
    """Whole, continued from a prefix, continued twice, and started in the middle: the same numbers."""
    anatomy, vector_H = specimen.anatomy, specimen.direction()
    row = specimen.edited(vector_H, _STRENGTH)
    whole = run(anatomy, [row], path="plain").logprobs_RV
    first, second = specimen.place // 2, specimen.place
    once, _ = run_prefix(anatomy, [Row(row.tokens[:second])])
    begun, _ = run_prefix(anatomy, [Row(row.tokens[:first])])
    twice, _ = run_prefix(anatomy, [Row(row.tokens[first:second])], prefix=begun)
    rest = Row(row.tokens[second:], row.edits, row.captures)
    found = [run_rows(anatomy, [rest], prefix=prefix).logprobs_RV for prefix in (once, twice)]
    found.append(run(anatomy, [row, specimen.clean(), row]).logprobs_RV[:1])
    return _agreement(
        "cached, chunked, resumed",
        anatomy,
        max(float((other - whole).abs().max()) for other in found),
        "a prefix may be computed once and continued",
    )


def batching(specimen: Specimen) -> Check:
    """What else is in a batch must not matter."""
    anatomy, vector_H = specimen.anatomy, specimen.direction()
    rows = [specimen.edited(vector_H, strength) for strength in (0.5, 1.0, 2.0, _STRENGTH)]
    short = Row(specimen.tokens[: specimen.place])
    alone = run(anatomy, rows[:1], path="plain").logprobs_RV[0]
    found = [
        run(anatomy, [short, *rows[::-1]], path="plain").logprobs_RV[-1],
        run(anatomy, [short, *rows[::-1]]).logprobs_RV[-1],
    ]
    return _agreement(
        "batch invariance",
        anatomy,
        max(float((other - alone).abs().max()) for other in found),
        "a row gives the same numbers in any company",
    )


def _agreement(name: str, anatomy: Anatomy, largest: float, fine: str) -> Check:
    ok = _FINE.get(anatomy.model.dtype, _COARSE)
    return graded(
        name,
        largest,
        ok,
        20 * ok,
        f"log-probabilities differ by at most {largest:.1e} nats",
        (
            f"{fine}; smaller differences are noise",
            "differences of this size between rows are noise",
            "results would depend on how rows are run",
        ),
    )
