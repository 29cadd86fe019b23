"""Makes the small claims of the tests of claims importable by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
