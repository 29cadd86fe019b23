"""What a run ends in: sets with their errors and floors, reproductions on batches of their own, transcripts."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scripted_runs import BEHAVIOURS, INVESTIGATOR, PROMPTS, SAMPLES, Scripted

from firsthand.counterfactual.asking import Bench, Budget, by_program
from firsthand.counterfactual.claim_files import read_claims
from firsthand.counterfactual.concluding import BASELINE, Concluded, conclude
from firsthand.counterfactual.edits import edited
from firsthand.counterfactual.finishing import About, document, finish
from firsthand.counterfactual.pricing import price
from firsthand.counterfactual.responses import Response, Sampling
from firsthand.counterfactual.running import RunSettings, investigate
from firsthand.counterfactual.store import Store
from firsthand.counterfactual.transcripts import answered
from firsthand.progress import Silent


def concluded(
    folder: Path, target: Scripted, *, reproduce: int | None = None, budget: Budget | None = None, write: bool = False
) -> Concluded:
    """A whole run, written to its folder if that is asked for."""
    settings = RunSettings(sampling=Sampling(samples=SAMPLES, max_tokens=8), reproduce=reproduce)
    with Store(folder) as store:
        bench = Bench(target, by_program, store, budget, 60)
        ran = investigate(PROMPTS, bench, INVESTIGATOR, BEHAVIOURS, settings, Silent())
        found = conclude(ran.investigations, bench, settings, Silent())
        if write:
            finish(document(ran, found, bench, About({"name": "scripted"})), found, folder)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Concluded]:
    """The folder of a run that was written, and what it found."""
    folder = tmp_path_factory.mktemp("run")
    return folder, concluded(folder, Scripted(), write=True)


def asked(target: Scripted, begins: str) -> list[tuple[str, int]]:
    return [(one.batch, one.samples) for call in target.calls for one in call if one.batch.startswith(begins)]


def test_reproductions_are_drawn_anew_with_a_baseline_of_their_own(tmp_path: Path) -> None:
    target = Scripted()
    found = concluded(tmp_path, target)
    assert found.claims
    for claim in found.claims:
        assert claim.reproduced is True
        assert claim.reproduction is not None
        assert claim.reproduction.baseline is not None
        assert claim.reproduction.baseline.responses == claim.reproduction.rate.responses == SAMPLES
        assert edited(claim.prompt, claim.reproduction.edit).id != claim.edited.id
    batches = [name for name, _ in asked(target, "reproduce.")]
    investigations = {one.investigation for one in found.claims}
    assert batches.count(BASELINE) == len(investigations)
    assert len(batches) == len(investigations) + len(found.claims)


def test_as_many_responses_reproduce_as_are_asked_for_and_with_none_nothing_is_known(tmp_path: Path) -> None:
    few, none = Scripted(), Scripted()
    found = concluded(tmp_path / "few", few, reproduce=10)
    assert {size for _, size in asked(few, "reproduce.")} == {10}
    assert all(one.reproduced is not None for one in found.claims)
    found = concluded(tmp_path / "none", none, reproduce=0)
    assert asked(none, "reproduce.") == []
    assert found.claims
    assert {one.reproduced for one in found.claims} == {None}
    assert found.filtered == (), "what is not known has not passed"


def test_what_the_budget_does_not_allow_for_stays_unknown(tmp_path: Path) -> None:
    target = Scripted()
    concluded(tmp_path / "whole", target, reproduce=0)
    spent = sum(one.samples for call in target.calls for one in call)
    found = concluded(tmp_path / "cut", Scripted(), budget=Budget(responses=spent + SAMPLES))
    assert found.claims
    assert None in {one.reproduced for one in found.claims}


@pytest.mark.parametrize("reproduce", [None, 0, 12])
def test_a_run_with_its_reproductions_costs_no_more_than_its_price(tmp_path: Path, reproduce: int | None) -> None:
    target = Scripted()
    settings = RunSettings(sampling=Sampling(samples=SAMPLES, max_tokens=8), reproduce=reproduce)
    told = price(PROMPTS, settings, INVESTIGATOR, rate=None)
    concluded(tmp_path, target, reproduce=reproduce)
    drawn = sum(size for _, size in asked(target, "reproduce."))
    assert drawn <= told.reproducing
    assert (told.reproducing == 0) is (reproduce == 0)
    assert told.tokens == (told.screening + told.investigating + told.reproducing) * 8


def test_the_exported_claims_carry_transcripts_questions_and_flags(run: tuple[Path, Concluded]) -> None:
    folder, found = run
    claims = read_claims(folder / "claims" / "jsonl" / "unfiltered.jsonl")
    assert {one.id for one in claims} == {one.id for one in found.claims}
    for one in claims:
        assert len(one.responses) == 5
        assert {"It may sparkle.", "It is plain."} >= {said.response.text for said in one.responses}
        assert all((said.verdict == "yes") is ("sparkle" in said.response.text) for said in one.responses)
        assert one.question
        assert one.own_question
        assert one.filtered is (one.id in {kept.id for kept in found.filtered})
        assert one.matched is (one.id in {kept.id for kept in found.matched})


def test_a_finished_run_that_is_begun_again_asks_for_nothing(run: tuple[Path, Concluded]) -> None:
    folder, found = run
    again = Scripted()
    assert concluded(folder, again).claims == found.claims
    assert again.calls == []


def test_every_set_has_its_errors_and_its_floor_on_the_card_and_in_the_document(run: tuple[Path, Concluded]) -> None:
    folder, found = run
    assert set(found.floors) == set(found.errors) == {"unfiltered", "filtered", "matched"}
    card = json.loads((folder / "claims" / "card.json").read_text())
    assert set(card["floors"]) == set(card["label_errors"]) == set(card["sets"])
    made = json.loads((folder / "result.json").read_text())
    assert {one["claims"] for one in made["label_errors"]} >= {"true claims, unfiltered"}
    assert any("is not known: its claims come from" in note for note in made["notes"])
    assert found.funnel.steps[-1].name == "+ matched"
    assert found.funnel.steps[-1].dropped == {
        "without a matched partner": len(found.filtered) - len(found.matched)
    } or (len(found.filtered) == len(found.matched))


def test_half_characters_of_a_response_are_spelled_out_so_that_any_file_can_hold_them() -> None:
    (one,) = answered([Response(text="a \ud800 b", reasoning="\udfff")])
    assert (one.response.text, one.response.reasoning) == ("a \\ud800 b", "\\udfff")
    assert len(answered([Response(text=str(n)) for n in range(9)])) == 5
