"""What of a run is trained on and what is explained: parted as for predictions, and nothing is left out silently."""

import sys
from pathlib import Path

import pytest

from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.claims import Answered
from firsthand.counterfactual.explaining.target_text import read_text
from firsthand.counterfactual.families import family_of
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.training.explanations.cases import (
    NO_CASE,
    TRAINED_ON,
    divided,
    explanation_set,
    found_in,
    showing,
)
from firsthand.errors import CounterfactualError

sys.path.insert(0, str(Path(__file__).parent))
from explained_parts import claims, investigation, planted


def test_a_run_gives_an_explanation_for_each_investigation_and_says_why_others_give_none(tmp_path: Path) -> None:
    some = [investigation(n) for n in range(6)]
    some[4] = some[4].model_copy(update={"report": None})
    explored = tuple(one.model_copy(update={"stage": "explored"}) for one in some[5].experiments)
    some[5] = some[5].model_copy(update={"experiments": explored})
    found = found_in(planted(tmp_path, some=some))
    assert found.investigations == 6
    assert {case.id for case in found.cases} == {one.id for one in some[:4]}
    assert found.left_out == {"no report was filed, or no valid baseline": 1, "no response to explain": 1}
    first = next(case for case in found.cases if case.id == some[0].id)
    read = read_text(first.example.answer)
    assert read is not None
    assert (len(read.causes), len(read.refuted)) == (1, 1)
    assert first.example.prompt.turns[-1].content == "Why do you name it?"


def test_the_response_that_is_explained_shows_the_behaviour() -> None:
    (one, *_) = claims([investigation(0)])
    shown = showing(one)
    assert shown is not None
    assert shown.text == "plover"
    unjudged = Answered(response=Response(text="A plover."))
    assert showing(one.model_copy(update={"responses": (unjudged,)})) == unjudged.response
    without = Answered(response=Response(text="heron"), verdict=Verdict.NO)
    assert showing(one.model_copy(update={"responses": (without,)})) is None


def test_no_investigation_cluster_or_prompt_family_is_on_both_sides(tmp_path: Path) -> None:
    some = [investigation(n) for n in range(12)]
    prompt = some[3].screened.prompt.model_copy(update={"cluster": "group 9"})  # ties 3 and 9 together
    some[3] = some[3].model_copy(update={"screened": some[3].screened.model_copy(update={"prompt": prompt})})
    found = found_in(planted(tmp_path, some=some))
    for share in (0.3, 0.5, 0.7):
        parts = divided(found, share)
        sides = [{name for case in side for name in case.unit} for side in (parts.train, parts.held_out)]
        assert not sides[0] & sides[1]
        assert parts.units[some[3].id] == parts.units[some[9].id]
        explained = {claim.investigation for claim in parts.claims}
        assert explained == {case.id for case in parts.held_out}
        assert not explained & {claim.investigation for claim in parts.train_claims}
        assert {claim.cluster for claim in parts.claims} == {parts.units[name] for name in explained}
        assert all(family_of(case.prompt) for case in parts.train)


def test_claims_that_are_not_judged_on_are_counted(tmp_path: Path) -> None:
    some = [investigation(n) for n in range(8)]
    some[0] = some[0].model_copy(update={"report": None})
    parts = divided(found_in(planted(tmp_path, some=some)), 0.5)
    assert parts.left_out == {NO_CASE: 2, TRAINED_ON: len(parts.train_claims)}
    assert len(parts.claims) + sum(parts.left_out.values()) == 16


def test_every_seed_has_an_order_of_its_own_and_what_one_model_cannot_read_nobody_gets(tmp_path: Path) -> None:
    cases = found_in(planted(tmp_path, count=6)).cases
    first, second = (explanation_set(cases, 3, seed) for seed in (0, 1))
    assert first.examples == second.examples
    assert first.digest != second.digest
    assert len(first.order) == 18
    refused = explanation_set(
        cases, 1, 0, [lambda prompt, answer: "odd" if cases[0].example.answer == answer else None]
    )
    assert refused.dropped == {"odd": 1}
    with pytest.raises(CounterfactualError, match="None of 6 explanations"):
        explanation_set(cases, 1, 0, [lambda prompt, answer: "too long"])


def test_what_is_no_run_of_investigations_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(CounterfactualError, match="holds no investigations"):
        found_in(tmp_path)
    folder = planted(tmp_path / "run", count=4)
    with pytest.raises(CounterfactualError, match="and two units at least"):
        divided(found_in(folder), 0.05)
    bare = [investigation(n, report=None) for n in range(3)]
    with pytest.raises(CounterfactualError, match="None of 3 investigations"):
        found_in(planted(tmp_path / "bare", some=bare))
    (folder / "investigations.jsonl").write_text('{"no": "investigation"}\n')
    with pytest.raises(CounterfactualError, match="line 1: this is no investigation"):
        found_in(folder)
