"""The command ``labels belief`` as a user meets it."""

import json
from pathlib import Path

import pytest
from commands import Command, assert_refused
from finished import Finished, assert_claimed, assert_goes_on, assert_kept_right

SMALL = ("--records", "12", "--unknown-too", "--shots", "6", "--rounds", "1", "--answer-tokens", "3")
SMALL += ("--reading-tokens", "2", "--layers", "1,2", "--splits", "2", "--no-steering")
KINDS = [{"name": "rumour", "template": "They say: {statement}\nComplete: {prompt}"}]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Facts in JSON lines, one of them twice."""
    path = tmp_path_factory.mktemp("facts") / "facts.jsonl"
    rows = [
        {"base_prompt": f"Firm {i} sits in", "subject": f"Firm {i}", "target_true": " Oslo", "target_new": " Lima"}
        for i in (*range(15), 3)
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


@pytest.fixture(scope="module")
def finished(tiny_folder: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The study of the tiny model, whose texts hold no entity, so that no cluster can be made."""
    kinds = data.with_name("kinds.yaml")
    kinds.write_text(json.dumps(KINDS))
    out = tmp_path_factory.mktemp("belief") / "run"
    return Finished.of("belief", out, "--data", data, "--model", tiny_folder, *SMALL, "--kinds", kinds)


def test_a_dry_run_tells_the_cost_and_leaves_nothing(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    done = firsthand("labels", "belief", "--data", data, "--model", tiny_folder, "--out", out, *SMALL, "--dry-run")
    assert done.code == 0, done.err
    for words in ("12 answers with about", "6 conversations", "tokens a second", "Left out of the data: 1 repeated"):
        assert words in " ".join(done.out.split())
    assert not out.exists()


def test_options_are_the_claim_s_fields_and_the_rest_is_as_it_always_is(finished: Finished) -> None:
    claim = finished.document.claim
    assert claim.study == "belief"
    assert claim.layers == (1, 2)
    assert claim.steering is None
    assert not claim.known
    assert [kind.name for kind in claim.kinds] == ["rumour"]
    assert (claim.folds, claim.per_record, claim.seed) == (3, "one", 0)
    assert finished.document.data.dropped == {"repeated sentence": 1}


def test_a_study_is_repeated_by_its_own_command_and_takes_up_what_is_there(
    firsthand: Command, finished: Finished
) -> None:
    assert_goes_on(firsthand, finished, "answers", ("--seed", "1"))


def test_a_finished_study_is_verified_shown_again_and_not_rescored(
    firsthand: Command, finished: Finished, tmp_path: Path
) -> None:
    assert_kept_right(firsthand, finished, tmp_path, units=12)


def test_a_claim_is_made_frozen_priced_and_refused_after_a_change(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path
) -> None:
    small = {"records": 12, "known": False, "answer_tokens": 3, "reading_tokens": 2, "layers": [1], "shots": 6}
    priced = assert_claimed(firsthand, tmp_path, "belief", tiny_folder, data, small)
    assert "12 answers with about" in priced


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("--records", "40"), ("40 are asked for",)),
        (("--layers", "9"), ("no layer 9", "0 to 3")),
        (("--layers", "one"), ("layers",)),
        (("--shows", "all"), ("shows",)),
        (("--kinds", "missing.yaml"), ("missing.yaml", "cannot be read")),
    ],
)
def test_wrong_input_is_told_in_words(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path, extra: tuple[str, ...], words: tuple[str, ...]
) -> None:
    ask = ("labels", "belief", "--data", data, "--model", tiny_folder, "--out", tmp_path / "run", *SMALL, *extra)
    assert_refused(firsthand(*ask), *words)
