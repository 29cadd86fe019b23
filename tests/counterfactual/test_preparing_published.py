"""What is left of published sets, as the documentation states it."""

import os
from pathlib import Path

import pytest

from firsthand.counterfactual.mixtures import Mixture, MixturePart
from firsthand.counterfactual.prepared import Prepared, read_prepared, write_prepared
from firsthand.counterfactual.preparing import prepare

DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[3] / "shared" / "data"))
FILES = (
    "prompts/arena-hard-v0.1_question.jsonl",
    "prompts/arena-hard-v2.0_question.jsonl",
    "prompts/mt_bench_question.jsonl",
    "prompts/oasst_en_100_tree.jsonl",
    "prompts/awesome-chatgpt-prompts_prompts.csv",
    "tooluse/tau-bench/gpt-4o-airline.json",
    "inspect_logs",
)
SHORT, LONG, TOKENS = "shorter than 400 characters", "longer than 8,000 characters", "longer than 4,096 tokens"
TWICE, FAMILY = "a duplicate of a prompt read before", "beyond 5 of one template family"


@pytest.fixture(scope="module")
def published() -> Prepared:
    """Seven sets, at the limits of their kinds."""
    if not (DATA / "prompts").is_dir():
        pytest.skip(f"published data is not in {DATA}; set FIRSTHAND_DATA to run against it")
    return prepare(Mixture(parts=tuple(MixturePart(path=DATA / file) for file in FILES)))


def test_every_prompt_is_accounted_for(published: Prepared) -> None:
    figures = [
        (one.inputs[0].kind, one.read, {count.reason: count.count for count in one.dropped}, one.kept)
        for one in published.accounts
    ]
    assert figures == [
        ("chat", 500, {SHORT: 403, LONG: 2}, 95),
        ("chat", 750, {SHORT: 442, LONG: 18, TOKENS: 1}, 289),
        ("chat", 80, {SHORT: 64}, 16),
        ("oasst", 480, {SHORT: 162, LONG: 2}, 316),
        ("csv", 213, {SHORT: 68}, 145),
        ("trajectories", 2454, {TOKENS: 345, TWICE: 8}, 2101),
        (
            "inspect",
            327,
            {FAMILY: 280, TWICE: 20, "a file that cannot be read": 2, "a tool's result without its call": 1},
            24,
        ),
    ]


def test_it_is_kept_and_read_again_as_it_was(published: Prepared, tmp_path: Path) -> None:
    write_prepared(published, tmp_path)
    assert read_prepared(tmp_path) == published


@pytest.mark.parametrize(("characters", "kept"), [(100, 213), (10, 47)])
def test_personas_are_one_family_by_a_beginning_shorter_than_the_paper_s(characters: int, kept: int) -> None:
    """171 of 213 begin with "I want you to" and differ before their hundredth character."""
    path = DATA / "prompts" / "awesome-chatgpt-prompts_prompts.csv"
    if not path.is_file():
        pytest.skip(f"published data is not in {DATA}; set FIRSTHAND_DATA to run against it")
    limits: dict[str, int | None] = {"min_characters": 0, "family_characters": characters}
    made = prepare(Mixture(parts=(MixturePart(path=path, limits=limits),)))
    assert len(made.prompts) == kept
    personas = [prompt for prompt in made.prompts if "".join(prompt.user_text.split()).startswith("Iwantyouto")]
    assert len(personas) == (171 if characters == 100 else 5)
    assert [note[:26] for note in made.notes] == (["171 of 213 begin alike, wi"] if characters == 100 else [])
