"""The commands ``investigate demo`` and ``investigate run`` as a user meets them, with a tiny model."""

import json
import sys
from pathlib import Path

import pytest
from commands import Command, Done, assert_refused

sys.path.insert(0, str(Path(__file__).parents[2] / "counterfactual"))

from scripted_runs import INVESTIGATOR, SAMPLES

from firsthand.cli.investigate import local
from firsthand.counterfactual.demo_prompts import DEMO
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.library.candidates import found
from firsthand.counterfactual.store import NAME, Store
from firsthand.report.investigations_files import read_json

SMALL = ("--samples", "4", "--max-tokens", "6", "--investigations", "2")


@pytest.fixture(autouse=True)
def _scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """An investigator of a few batches, and behaviours of a random model: what is tested is what stands around them."""
    letters = tuple(found(letter, f"contain the letter {letter}", letter) for letter in "bjkqvwxyz")
    monkeypatch.setattr(local, "BUILT_IN", letters)
    monkeypatch.setattr(local, "without_model", lambda samples, thorough: INVESTIGATOR)


def demo(firsthand: Command, model: Path, out: Path, *options: str | Path) -> Done:
    return firsthand("investigate", "demo", "--model", model, "--out", out, *SMALL, *options)


def test_the_demo_accounts_for_forty_prompts_and_a_second_run_draws_nothing(
    firsthand: Command, tiny_folder: Path, tmp_path: Path
) -> None:
    out, copy = tmp_path / "run", tmp_path / "copy.json"
    done = demo(firsthand, tiny_folder, out, "--json", copy)
    assert done.code == 0, done.err
    assert "Prompts  40" in done.out
    assert "sampling: 40 of 40" in done.err
    result = json.loads((out / "result.json").read_text())
    assert copy.read_bytes() == (out / "result.json").read_bytes()
    document = read_json(out / "result.json")
    assert sum(document.account.places.values()) == document.account.began == len(DEMO)
    assert {name.name for name in out.iterdir()} >= {"report.html", "claims", "data", "store.sqlite"}
    assert set(document.cut_off) == {one.id for one in document.investigations if one.report is not None}
    assert all(0.0 <= share <= 1.0 for share in document.cut_off.values())
    lines = (out / "investigations.jsonl").read_text().splitlines()
    kept = [Investigation.model_validate_json(line) for line in lines]
    assert len(kept) == 2
    assert all(one.baseline.responses == SAMPLES for one in kept if one.report is not None)
    with Store(out) as store:
        spent, contents = store.spent(), store.contents()
    assert spent.tokens == result["costs"]["rows"][0]["entry"]["usage"]["output"]
    page, checked = tmp_path / "again.html", firsthand("verify", out)
    assert "claims" in checked.out, checked.err
    assert firsthand("report", out, "--out", page).code == 0
    assert page.read_bytes() == (out / "report.html").read_bytes()
    again = demo(firsthand, tiny_folder, out)
    assert again.out == done.out
    with Store(out) as store:
        assert (store.spent(), store.contents()) == (spent, contents)


def test_a_dry_run_tells_the_price_and_leaves_nothing(firsthand: Command, tiny_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = demo(firsthand, tiny_folder, out, "--dry-run", "--most-responses", "500")
    assert done.code == 0, done.err
    for words in ("40 prompts are sampled: 160 responses", "At most 2 investigations", "500 responses", "a second"):
        assert words in done.out
    assert not out.exists()


def test_a_budget_ends_the_run_cleanly_and_says_what_is_not_finished(
    firsthand: Command, tiny_folder: Path, tmp_path: Path
) -> None:
    done = demo(firsthand, tiny_folder, tmp_path / "run", "--most-responses", "170")
    assert done.code == 0, done.err
    document = read_json(tmp_path / "run" / "result.json")
    assert document.stopped == "The budget of 170 responses was spent."
    assert document.account.places["investigated", "not finished"] == 2
    with Store(tmp_path / "run") as store:
        assert store.spent().responses <= 170


def test_prompts_and_behaviours_of_one_s_own_go_the_same_way(
    firsthand: Command, tiny_folder: Path, tmp_path: Path
) -> None:
    prompts, behaviours = tmp_path / "mine.jsonl", tmp_path / "mine.yaml"
    prompts.write_text("\n".join(json.dumps({"prompt": f"Tell me about number {n}."}) for n in range(5)))
    behaviours.write_text("- {kind: pattern, question: 'Is there an e?', pattern: e}\n")
    options = ("--behaviours", behaviours, "--model", tiny_folder, "--out", tmp_path / "run", *SMALL)
    done = firsthand("investigate", "run", "--prompts", prompts, *options)
    assert done.code == 0, done.err
    document = read_json(tmp_path / "run" / "result.json")
    assert document.account.began == 5
    assert {one.screened.behaviour.question for one in document.investigations} <= {"Is there an e?"}


def test_a_folder_in_use_and_a_foreign_store_are_told_in_words(
    firsthand: Command, tiny_folder: Path, tmp_path: Path
) -> None:
    with Store(tmp_path):
        assert_refused(demo(firsthand, tiny_folder, tmp_path), "Another process is using")
    (tmp_path / NAME).write_text("notes" * 200)
    assert_refused(demo(firsthand, tiny_folder, tmp_path), "no store of firsthand")


def test_wrong_input_is_told_in_words(firsthand: Command, tmp_path: Path) -> None:
    prompts = tmp_path / "mine.jsonl"
    assert_refused(firsthand("investigate", "run", "--prompts", prompts), "does not exist")
    prompts.write_text('{"prompt": "a"}')
    assert_refused(
        firsthand("investigate", "run", "--prompts", prompts, "--investigator", "oracle"), "no investigator 'oracle'"
    )


def test_what_cannot_be_written_or_judged_is_told_before_a_model_is_loaded(firsthand: Command, tmp_path: Path) -> None:
    prompts, behaviours = tmp_path / "mine.jsonl", tmp_path / "mine.yaml"
    prompts.write_text('{"prompt": "a"}')
    given = ("investigate", "run", "--prompts", prompts, "--model", tmp_path / "no-model")
    assert_refused(firsthand(*given, "--json", tmp_path / "absent" / "it.json"), "folder of")
    behaviours.write_text("- {kind: pattern, question: 'Is there an e?', pattern: e, within: 5}\n")
    assert_refused(
        firsthand(*given, "--behaviours", behaviours, "--max-tokens", "6"),
        "first 5 tokens, and responses have at most 6",
    )
