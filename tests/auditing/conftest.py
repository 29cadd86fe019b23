"""One whole audit of the tiny model, shared by the tests that look at it."""

from pathlib import Path

import pytest

from firsthand.auditing.audit import Run, audit
from firsthand.claims import Claim, DesignSpec, StateSpec, default_claim
from firsthand.engine.loading import LoadedModel


@pytest.fixture(scope="session")
def tiny_claim(tiny_folder: Path) -> Claim:
    """A claim about the tiny model with a small grid and the usual number of confirmation blocks."""
    return default_claim(
        str(tiny_folder),
        state=StateSpec(layers=(0, 1), doses=(0.5,)),
        design=DesignSpec(selection_blocks=2, confirmation_blocks=24),
    )


@pytest.fixture(scope="session")
def tiny_run(tiny: LoadedModel, tiny_claim: Claim, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The finished audit."""
    return audit(tiny_claim, tiny, tmp_path_factory.mktemp("audit") / "run")
