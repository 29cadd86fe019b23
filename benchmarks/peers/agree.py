"""How far peers' log-probabilities lie from the reference: ``python agree.py ORACLE.json PEER.json ...``.

Prints the largest absolute difference over the answers of the cells that both have, and over the whole vocabulary of
the sampled cells that both have. Exit code 1 when one exceeds ``--tolerance``.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def by_cell(result: dict[str, Any], folder: Path) -> tuple[dict[int, Any], dict[int, Any]]:
    """Answers' log-probabilities by cell, and the whole vocabulary's."""
    answers = dict(zip(result["cell_indices"], np.array(result["answer_logprobs"]), strict=True))
    full = dict(zip(result["full_cells"], np.load(folder / result["full_logprobs"]), strict=True))
    return answers, full


def worst(one: dict[int, Any], two: dict[int, Any]) -> tuple[int, float]:
    """Number of common cells and the largest absolute difference over them."""
    common = one.keys() & two.keys()
    return len(common), max((float(np.abs(one[cell] - two[cell]).max()) for cell in common), default=float("nan"))


def main() -> None:
    """Print one line for each peer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oracle", type=Path)
    parser.add_argument("peers", type=Path, nargs="+")
    parser.add_argument("--tolerance", type=float, default=5e-5)
    options = parser.parse_args()
    reference = by_cell(json.loads(options.oracle.read_text()), options.oracle.parent)
    far = False
    for path in options.peers:
        result = json.loads(path.read_text())
        if "failed" in result:
            print(f"{result['name']:20} failed: {result['failed']}")
            far = True
            continue
        compared = [worst(*pair) for pair in zip(reference, by_cell(result, path.parent), strict=True)]
        far = far or not all(difference <= options.tolerance for _, difference in compared)
        text = ", ".join(
            f"{kind} {difference:.2e} ({count} cells)"
            for kind, (count, difference) in zip(("answers", "vocabulary"), compared, strict=True)
        )
        print(f"{result['name']:20} {text}")
    sys.exit(int(far))


if __name__ == "__main__":
    main()
