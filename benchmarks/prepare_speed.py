"""Times the preparation of 10,000 WildChat-shaped conversations, and measures its peak memory.

Run with ``python benchmarks/prepare_speed.py``. The conversations are made up, with lengths about as WildChat's paper
gives them: 2.5 exchanges, 300 tokens a user's turn and 440 an answer on average, with a long tail, and a tenth of all
turns from automated templates. The Parquet file has WildChat's columns, most of which are not to be read. Reading is
measured in a process of its own, which has made nothing before.
"""

import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 10_000
SECONDS, MEGABYTES = 30, 500


def words(rng: np.random.Generator) -> list[str]:
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    return ["".join(rng.choice(letters, size)) for size in rng.integers(2, 11, 4000)]


def text(rng: np.random.Generator, vocabulary: list[str], median: float, spread: float) -> str:
    length = int(np.clip(rng.lognormal(np.log(median), spread), 8, 60_000))
    taken = rng.integers(0, len(vocabulary), length // 6 + 1)
    return " ".join(vocabulary[n] for n in taken)[:length]


def turn(role: str, content: str, number: int) -> dict[str, object]:
    return {
        "content": content,
        "role": role,
        "country": "nowhere",
        "hashed_ip": f"{number:064x}",
        "language": "English",
        "redacted": False,
        "timestamp": None,
        "toxic": False,
        "turn_identifier": number,
    }


def conversation(rng: np.random.Generator, vocabulary: list[str], templates: list[str]) -> list[dict[str, object]]:
    turns: list[dict[str, object]] = []
    for number in range(int(np.clip(rng.geometric(0.4), 1, 20))):
        asked = text(rng, vocabulary, 300.0, 1.6)
        if rng.random() < 0.1:
            asked = templates[int(rng.integers(len(templates)))] + asked
        turns += [
            turn("user", asked, 2 * number),
            turn("assistant", text(rng, vocabulary, 1300.0, 0.8), 2 * number + 1),
        ]
    return turns


def write(path: Path) -> None:
    rng = np.random.default_rng(0)
    vocabulary = words(rng)
    templates = [text(rng, vocabulary, 300.0, 0.5) for _ in range(20)]
    writer = None
    for start in range(0, ROWS, 1000):
        rows = [
            {
                "conversation_hash": f"{start + n:032x}",
                "model": "gpt-4",
                "timestamp": None,
                "conversation": conversation(rng, vocabulary, templates),
                "turn": 2,
                "language": "English",
                "openai_moderation": [{"categories": {"hate": False}, "category_scores": {"hate": 0.01}}],
                "toxic": False,
                "redacted": False,
            }
            for n in range(1000)
        ]
        table = pa.Table.from_pylist(rows, schema=writer.schema if writer else None)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


def measure(path: Path) -> None:
    begun = time.perf_counter()
    from firsthand.counterfactual.mixtures import Mixture, MixturePart
    from firsthand.counterfactual.prepared import write_prepared
    from firsthand.counterfactual.preparing import prepare

    prepared = prepare(Mixture(parts=(MixturePart(path=path),)))
    write_prepared(prepared, path.parent / "prepared")
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    account = prepared.accounts[0]
    print(
        f"{account.read:,} conversations of {path.stat().st_size / 1e6:.0f} MB on disk: {len(prepared.prompts):,} kept"
    )
    for count in account.dropped:
        print(f"  {count.count:6,} {count.reason}")
    print(f"{seconds:.1f} s (at most {SECONDS}), {peak:.0f} MB at the most (at most {MEGABYTES})")
    if account.read != ROWS or seconds > SECONDS or peak > MEGABYTES:
        raise SystemExit("too slow, too large, or not all of it")


def main() -> None:
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conversations.parquet"
        write(path)
        print(f"{platform.machine()}, Python {platform.python_version()}, PyArrow {pa.__version__}")
        subprocess.run([sys.executable, __file__, str(path)], check=True)


if __name__ == "__main__":
    main()
