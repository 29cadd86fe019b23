"""Prompts are narrowed, mixed and drawn, and everything that was read is accounted for."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.counterfactual.mixtures import Mixture, MixturePart
from firsthand.counterfactual.prepared import Prepared
from firsthand.counterfactual.preparing import prepare
from firsthand.counterfactual.prompts import Prompt
from firsthand.errors import CounterfactualError

ANY = {"min_characters": 0, "max_characters": None, "max_tokens": None, "per_family": None}


def lines(folder: Path, texts: Sequence[str], name: str = "set.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in texts))
    return path


def prepared(*parts: Any, total: int | None = None, seed: int = 0, **limits: int | None) -> Prepared:
    made = tuple(
        part if isinstance(part, MixturePart) else MixturePart(path=part, limits={**ANY, **limits}) for part in parts
    )
    return prepare(Mixture(parts=made, total=total, seed=seed))


def share(path: Path, size: float) -> MixturePart:
    return MixturePart(path=path, share=size, limits=ANY)


def dropped(made: Prepared, part: int = 0) -> dict[str, int]:
    return {count.reason: count.count for count in made.accounts[part].dropped}


def texts(made: Prepared) -> set[str]:
    return {one.user_text for one in made.prompts}


def test_lengths_are_kept_from_the_first_to_the_last_character(tmp_path: Path) -> None:
    sizes = (399, 400, 8000, 8001)
    made = prepare(Mixture(parts=(MixturePart(path=lines(tmp_path, [chr(97 + n) * s for n, s in enumerate(sizes)])),)))
    assert {len(text) for text in texts(made)} == {400, 8000}
    assert dropped(made) == {"shorter than 400 characters": 1, "longer than 8,000 characters": 1}


def test_tokens_are_capped_by_whoever_counts_them(tmp_path: Path) -> None:
    path = lines(tmp_path, ["a b c", "a b c d"])
    part = MixturePart(path=path, limits={**ANY, "max_tokens": 3})

    def by_words(prompt: Prompt) -> int:
        return len(prompt.user_text.split())

    made = prepare(Mixture(parts=(part,)), by_words)
    assert texts(made) == {"a b c"}
    assert dropped(made) == {"longer than 3 tokens": 1}
    assert "by_words" in made.counter
    assert "estimated" in prepare(Mixture(parts=(MixturePart(path=path, limits=ANY),))).counter


def test_of_a_prompt_that_occurs_twice_the_first_stays_over_all_files(tmp_path: Path) -> None:
    one, two = lines(tmp_path, ["a", "b", "a"]), lines(tmp_path, ["b", "c"], "other.jsonl")
    made = prepared(one, two)
    assert Counter(prompt.source for prompt in made.prompts) == {"set.jsonl": 2, "other.jsonl": 1}
    assert [dropped(made, n) for n in (0, 1)] == [{"a duplicate of a prompt read before": 1}] * 2
    assert made.accounts[0].dropped[0].example == "set.jsonl, line 3"


FAMILY = [f"{'x ' * 100}{n}" for n in range(40)]


def test_of_a_family_five_stay_whatever_its_white_space(tmp_path: Path) -> None:
    spaced = [text.replace(" ", "\n") if n % 2 else text for n, text in enumerate(FAMILY)]
    made = prepared(lines(tmp_path, [*spaced, "another"]), per_family=5)
    assert len(made.prompts) == 6
    assert dropped(made) == {"beyond 5 of one template family": 35}


def test_which_of_a_family_stay_is_drawn_and_not_read_off_their_order(tmp_path: Path) -> None:
    forwards, backwards = (prepared(lines(tmp_path, order), per_family=5) for order in (FAMILY, FAMILY[::-1]))
    assert texts(forwards) == texts(backwards) != set(FAMILY[:5])
    kept: Counter[str] = Counter()
    for seed in range(60):
        kept.update(texts(prepared(lines(tmp_path, FAMILY), per_family=5, seed=seed)))
    assert set(kept) == set(FAMILY)
    assert max(kept.values()) < 20  # 7.5 on average, each way equally likely


def test_a_family_is_one_over_all_files(tmp_path: Path) -> None:
    made = prepared(lines(tmp_path, FAMILY[:20]), lines(tmp_path, FAMILY[20:], "other.jsonl"), per_family=5)
    assert len(made.prompts) == 5


def trajectory(task: int, trial: int, turns: int) -> dict[str, Any]:
    said = [{"role": "user", "content": f"{'x' * 120} task {task}"}]
    for n in range(turns):
        said += [{"role": "assistant", "content": f"{task} {trial} {n}"}, {"role": "user", "content": "go on"}]
    return {"task_id": task, "trial": trial, "traj": said}


def test_what_comes_of_one_task_stays_together(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([trajectory(task, trial, 4) for task in range(9) for trial in range(2)]))
    made = prepare(Mixture(parts=(MixturePart(path=path),)))
    by_task = Counter(prompt.cluster for prompt in made.prompts)
    assert len(by_task) == 5
    assert set(by_task.values()) == {7}  # three turns of each trial, and the first, which both share
    assert dropped(made) == {"beyond 5 of one template family": 4 * 7, "a duplicate of a prompt read before": 9}


def test_prompts_that_begin_alike_and_are_no_family_are_pointed_out(tmp_path: Path) -> None:
    personas = [f"I want you to act as {n}, a person." for n in range(30)]
    path = lines(tmp_path, [*personas, *(f"{n} is a number" for n in range(70))])
    made = prepared(path, per_family=5)
    assert len(made.prompts) == 100
    assert "30 of 100 begin alike, with 'Iwantyouto'" in made.notes[0]
    assert len(prepared(path, per_family=5, family_characters=10).prompts) == 75
    assert not prepared(path, per_family=5, family_characters=10).notes
    assert not prepared(path).notes


def test_a_sample_is_drawn_and_a_larger_one_holds_it(tmp_path: Path) -> None:
    path = lines(tmp_path, [f"text {n}" for n in range(200)])
    small, large = (prepared(path, total=total) for total in (20, 60))
    assert large.prompts[:20] == small.prompts
    assert dropped(small) == {"not drawn for the sample": 180}
    assert texts(prepared(path, total=20, seed=1)) != texts(small)
    assert prepared(path, total=20) == small
    numbers = sorted(int(text.split()[1]) for text in texts(large))
    assert numbers[0] < 20
    assert numbers[-1] >= 180


def test_those_that_a_family_keeps_are_drawn_as_often_as_others(tmp_path: Path) -> None:
    """The draw of the sample is another than that of families, in which small numbers won already."""
    others = [f"text {n}" for n in range(15)]
    path = lines(tmp_path, [*FAMILY, *others])
    taken = [
        sum("x " in text for text in texts(prepared(path, total=4, per_family=5, seed=seed))) for seed in range(90)
    ]
    assert 0.8 < sum(taken) / len(taken) < 1.2  # 5 of 20 prompts, 4 drawn: 1 on average


def test_more_than_there_is_is_said(tmp_path: Path) -> None:
    made = prepared(lines(tmp_path, ["a", "b"]), total=5)
    assert len(made.prompts) == 2
    assert made.notes == ("5 prompts were asked for, and there are 2.",)


def test_parts_are_mixed_by_their_shares(tmp_path: Path) -> None:
    one = lines(tmp_path, [f"one {n}" for n in range(100)])
    two = lines(tmp_path, [f"two {n}" for n in range(50)], "other.jsonl")
    made = prepared(share(one, 0.9), share(two, 0.1), total=60)
    assert Counter(prompt.source for prompt in made.prompts) == {"set.jsonl": 54, "other.jsonl": 6}
    assert {prompt.source for prompt in made.prompts[:30]} == {"set.jsonl", "other.jsonl"}
    largest = prepared(share(one, 0.9), share(two, 0.1))
    assert Counter(prompt.source for prompt in largest.prompts) == {"set.jsonl": 100, "other.jsonl": 11}


def test_shares_that_cannot_be_met_are_refused_with_what_can(tmp_path: Path) -> None:
    one, two = lines(tmp_path, [f"one {n}" for n in range(90)]), lines(tmp_path, ["two"], "other.jsonl")
    with pytest.raises(CounterfactualError) as error:
        prepared(share(one, 0.9), share(two, 0.1), total=50)
    assert "A share of 0.1 of 50 prompts is 5, and part 2 has 1 after narrowing" in error.value.problem
    assert "at most 15 prompts" in error.value.remedy
    assert len(prepared(share(one, 0.9), share(two, 0.1), total=15).prompts) == 15


def test_nothing_left_is_an_error_that_says_what_became_of_it(tmp_path: Path) -> None:
    with pytest.raises(CounterfactualError, match="of 2 places that were read, 2 were dropped as: shorter than 400"):
        prepare(Mixture(parts=(MixturePart(path=lines(tmp_path, ["a", "b"])),)))
    (tmp_path / "set.jsonl").write_text("\n\n")
    with pytest.raises(CounterfactualError, match="the files hold none"):
        prepare(Mixture(parts=(MixturePart(path=tmp_path / "set.jsonl", kind="chat"),)))


def test_files_of_a_folder_have_the_limits_of_their_kinds_and_are_accounted_for(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    lines(folder, ["short", "y" * 500])
    (folder / "runs.json").write_text(json.dumps([trajectory(1, 1, 2)]))
    (folder / "README").write_text("hello")
    made = prepare(Mixture(parts=(MixturePart(path=folder),)))
    assert [(one.kind, one.limits.min_characters) for one in made.accounts[0].inputs] == [
        ("trajectories", 0),
        ("chat", 400),
    ]
    assert dropped(made) == {"a file that cannot be read": 1, "shorter than 400 characters": 1}
    assert len(made.prompts) == 3
    assert all(len(one.sha256) == 64 for one in made.accounts[0].inputs)


class Steps:
    """Notes stages and steps."""

    def __init__(self) -> None:
        self.stages: list[list[Any]] = []

    def start(self, stage: str, total: int) -> None:
        self.stages.append([stage, total, 0])

    def step(self) -> None:
        self.stages[-1][2] += 1

    def say(self, message: str) -> None:
        """Ignore."""


def test_progress_goes_by_records_of_a_file_and_by_files_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    path = lines(folder, ["a", "b", "c"])
    (folder / "runs.json").write_text(json.dumps([trajectory(1, 1, 2)]))
    (folder / "README").write_text("hello")
    steps = Steps()
    parts = tuple(MixturePart(path=one, limits=ANY) for one in (path, folder / "runs.json", folder))
    prepare(Mixture(parts=parts), progress=steps)
    assert steps.stages == [["reading set.jsonl", 3, 3], ["reading runs.json", 1, 1], ["reading in", 3, 3]]


def test_what_readers_refuse_and_alter_is_in_the_account(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    path.write_text(json.dumps({"messages": said}) + "\nnot json\n" + json.dumps({"x": 1}) + "\n")
    [account] = prepared(path).accounts
    assert (account.read, account.kept) == (3, 1)
    assert {one.reason: one.example for one in account.altered} == {
        "cut back to where the target speaks": "set.jsonl, line 1"
    }
    assert account.dropped[1].example == "set.jsonl, line 3 (it holds x)"


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.text(alphabet="ab c", max_size=6), max_size=30),
    st.integers(1, 8),
    st.integers(0, 4),
    st.integers(1, 3),
)
def test_every_place_is_kept_or_dropped_for_a_reason(
    tmp_path_factory: pytest.TempPathFactory, contents: list[str], total: int, least: int, per_family: int
) -> None:
    path = lines(tmp_path_factory.mktemp("any"), [*contents, "aaaa"])
    made = prepared(path, total=total, min_characters=least, per_family=per_family)
    [account] = made.accounts
    assert account.read == len(contents) + 1 == account.kept + sum(count.count for count in account.dropped)
    assert len(made.prompts) == account.kept <= total
    families = Counter("".join(prompt.user_text.split()) for prompt in made.prompts)
    assert max(families.values()) <= per_family
    assert len({prompt.id for prompt in made.prompts}) == len(made.prompts)


def test_conversations_of_a_parquet_file_are_prepared(tmp_path: Path) -> None:
    """2,000 rows in several batches: templates, duplicates, short and long ones among them."""
    contents = [f"{n:05d} " * 100 for n in range(1500)] + ["t" * 300 + f"{n:05d} " * 20 for n in range(300)]
    contents += ["00000 " * 100] * 100 + ["short"] * 50 + ["l" * 9000] * 50
    rows = [[{"role": "user", "content": c}, {"role": "assistant", "content": "yes"}] for c in contents]
    path = tmp_path / "train.parquet"
    pq.write_table(pa.Table.from_pydict({"conversation": rows}), path, row_group_size=700)
    made = prepare(Mixture(parts=(MixturePart(path=path),)))
    assert made.read == 2000
    assert dropped(made) == {
        "beyond 5 of one template family": 295,
        "shorter than 400 characters": 50,
        "longer than 8,000 characters": 50,
        "a duplicate of a prompt read before": 100,
    }
