"""Makes the small claims of the tests of claims, and the slow references, importable by name."""

import sys
from pathlib import Path

for folder in (Path(__file__).parents[1], Path(__file__).parents[2] / "oracles"):
    sys.path.insert(0, str(folder))
