"""Makes the planted prompts of ``tests/oracles`` importable by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))
