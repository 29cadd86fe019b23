"""How much of a log-probability is rounding, in this precision and in coarser ones."""

import copy

import torch

from firsthand.engine.anatomy import Anatomy, inspect_model
from firsthand.engine.chunks import free_bytes
from firsthand.engine.doctor.checks import Check, Finding
from firsthand.engine.doctor.exactness import Specimen
from firsthand.engine.sweep import run
from firsthand.errors import EngineError

_COARSER = (torch.bfloat16, torch.float16)


def noise_floors(specimen: Specimen) -> list[Check]:
    """For a float32 model, what bfloat16 and float16 would add to each log-probability."""
    anatomy = specimen.anatomy
    if anatomy.model.dtype is not torch.float32:
        return [
            Check(
                "noise floor",
                Finding.WARNING,
                f"the model runs in {str(anatomy.model.dtype).removeprefix('torch.')}",
                "rounding moves log-probabilities with the shape of a batch; float32 on the same model tells how much",
            )
        ]
    size = sum(p.numel() * p.element_size() for p in anatomy.model.parameters())
    free = free_bytes(anatomy.model.device)
    if free is not None and free < 2 * size:
        return [Check("noise floor", Finding.NOTE, "not measured: memory is short", "measure it on a larger machine")]
    return [_floor(specimen, dtype) for dtype in _COARSER]


def _floor(specimen: Specimen, dtype: torch.dtype) -> Check:
    name = str(dtype).removeprefix("torch.")
    reference = run(specimen.anatomy, [specimen.clean()]).logprobs_RV[0]
    try:
        coarse: Anatomy = inspect_model(copy.deepcopy(specimen.anatomy.model).to(dtype))
        found = run(coarse, [specimen.clean()]).logprobs_RV[0]
    except (EngineError, RuntimeError) as error:
        return Check(f"noise floor of {name}", Finding.NOTE, f"does not run: {error}", "use float32")
    likely = reference > -10
    largest = float((found - reference)[likely].abs().max())
    return Check(
        f"noise floor of {name}",
        Finding.NOTE,
        f"likely tokens' log-probabilities move by up to {largest:.2g} nats",
        f"in {name} no smaller contrast between two prompts means anything",
    )
