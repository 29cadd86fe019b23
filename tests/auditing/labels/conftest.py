"""Studies that the tests of judgement share."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
