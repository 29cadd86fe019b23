"""Claims come from files and folders; the transcript is the first response that says something, or is drawn."""

import json
from pathlib import Path

import pytest
from claim_parts import claim, prompt

from firsthand.counterfactual.claims import Answered, Claim
from firsthand.counterfactual.predicting.reading import passes_filters, read, response_of, units_named
from firsthand.counterfactual.predicting.transcripts import need_target, questions_of, without_response
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.rows import row_of
from firsthand.errors import CounterfactualError


def said(*texts: str) -> tuple[Answered, ...]:
    return tuple(Answered(response=Response(text=text)) for text in texts)


CLAIMS = [claim(number, label=number % 2 == 0, responses=said("I am sorry.")) for number in range(6)]


def written(path: Path, claims: list[Claim]) -> Path:
    path.write_text("".join(json.dumps(row_of(one)) + "\n" for one in claims))
    return path


def test_a_file_is_read_whole_and_its_fingerprint_is_that_of_its_claims(tmp_path: Path) -> None:
    one, other = (read(written(tmp_path / name, CLAIMS)) for name in ("a.jsonl", "b.jsonl"))
    assert one.claims == tuple(CLAIMS)
    assert one.sha256 == other.sha256
    assert one.sha256 != read(written(tmp_path / "c.jsonl", CLAIMS[1:])).sha256
    assert one.targets == ("tiny@1",)


def test_a_folder_without_claims_and_a_file_that_is_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "claims.jsonl").write_text("{")
    for path in (tmp_path, tmp_path / "none.jsonl", tmp_path / "claims.jsonl"):
        with pytest.raises(CounterfactualError) as refused:
            read(path)
        assert refused.value.remedy


def test_the_first_response_that_says_something_is_the_transcript_and_claims_without_one_are_told() -> None:
    withheld = Answered(response=Response(text="", ended="filter"))
    first = CLAIMS[0].model_copy(update={"responses": (withheld, *said("First.", "Second."))})
    silent, bare = (CLAIMS[n].model_copy(update={"responses": some}) for n, some in ((1, (withheld,)), (2, ())))
    assert response_of(first) == Response(text="First.")
    assert without_response([first, silent, bare]) == [silent, bare]
    questions, left = questions_of([first, silent, bare], {silent.prompt.id: Response(text="Drawn.")})
    assert [one.response.text for one in questions] == ["First.", "Drawn."]
    assert left == [bare]
    assert "--target" in need_target(left).remedy


def test_claims_that_share_anything_are_one_unit() -> None:
    """The first two share a cluster, the second and third a prompt."""
    a, b, c, d = CLAIMS[:4]
    b = b.model_copy(update={"cluster": a.cluster})
    c = c.model_copy(update={"prompt": b.prompt})
    units = units_named([a, b, c, d])
    assert units[0] == units[1] == units[2] != units[3]
    assert units_named([]) == []
    family = [d.model_copy(update={"prompt": prompt("x" * 120 + end), "cluster": ""}) for end in ("one", "two")]
    assert len(set(units_named(family))) == 1


def test_what_nobody_judged_has_not_passed_a_filter_unless_the_run_says_so() -> None:
    one = CLAIMS[0]
    assert passes_filters(one, rated=True)
    assert not passes_filters(one.model_copy(update={"concreteness": None}), rated=True)
    assert passes_filters(one.model_copy(update={"concreteness": None}), rated=False)
    assert not passes_filters(one.model_copy(update={"reproduced": None}), rated=False)
    assert not passes_filters(one.model_copy(update={"single_factor": False}), rated=False)
    assert passes_filters(one.model_copy(update={"single_factor": False, "filtered": True}), rated=True)
