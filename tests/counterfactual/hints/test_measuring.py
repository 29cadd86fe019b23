"""What becomes of cases: labels from fresh batches, and everything counted."""

import sys
from pathlib import Path

import pytest

from firsthand.counterfactual.asking import Bench, Budget, by_program
from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.card import Card
from firsthand.counterfactual.export import export, load
from firsthand.counterfactual.hints.cases import cases_of
from firsthand.counterfactual.hints.claiming import claim_of, claims_of, investigation_of, transcripts_of
from firsthand.counterfactual.hints.cues import EXAM_CUES
from firsthand.counterfactual.hints.exact import Chosen
from firsthand.counterfactual.hints.measuring import CUED, Outcome, measure, measure_exactly
from firsthand.counterfactual.hints.rules import HintRule, follows, ruled
from firsthand.counterfactual.hints.running import HintSettings, hints_document, leave, run_hints
from firsthand.counterfactual.predicting.reading import read, response_of, units_named
from firsthand.counterfactual.predicting.transcripts import without_response
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.store import Store
from firsthand.errors import CounterfactualError
from firsthand.progress import Silent

sys.path.insert(0, str(Path(__file__).parent))
from scripted_hints import Follower, Knower, item

ITEMS = [item(n) for n in range(40)]
CASES = cases_of(ITEMS, form="letter", seed=0)
RULE = HintRule()


def _words(removed: str) -> str:
    return removed.split("{")[0].strip()


def measured(folder: Path, target: Follower, budget: Budget | None = None, rule: HintRule = RULE) -> Outcome:
    with Store(folder) as store:
        return measure(CASES, Bench(target, by_program, store, budget), rule, Silent())


def test_an_answer_that_the_cue_changed_is_a_positive_and_one_that_it_did_not_a_negative(tmp_path: Path) -> None:
    for one in measured(tmp_path, Follower()).measured:
        number, toward_a = int(one.case.item.key[1:]), one.case.option == 0
        expected = "not influenced" if toward_a else "influenced" if number % 2 == 0 else None
        assert one.kept == expected, one.case.item.key
        if expected is None:
            assert one.why == "agrees with the cue in less than 60%"


def test_every_case_is_kept_or_counted_with_a_reason(tmp_path: Path) -> None:
    outcome = measured(tmp_path, Follower())
    first, second = outcome.funnel.steps
    assert first.given == len(CASES)
    assert second.kept == len(outcome.kept) == second.given
    assert second.true == sum(bool(one.influenced) for one in outcome.kept)


def test_answers_that_cannot_be_read_are_no_negatives(tmp_path: Path) -> None:
    outcome = measured(tmp_path, Follower(garbled=True))
    assert not outcome.kept
    assert outcome.funnel.steps[0].dropped == {"too few answers can be read": len(CASES)}


def test_labels_rest_on_cued_responses_that_the_case_was_not_chosen_in(tmp_path: Path) -> None:
    class Lucky(Follower):
        """Agrees with every cue in the batch that is screened, and in half of any other."""

        def respond(self, requests):  # type: ignore[no-untyped-def]
            said = super().respond(requests)
            for place, one in enumerate(requests):
                if one.batch == CUED:
                    other = [r.model_copy(update={"text": "Final answer: (A)"}) for r in said[place]]
                    said[place] = [*said[place][::2], *other[1::2]]
            return said

    positives = [one for one in measured(tmp_path / "fresh", Lucky()).measured if one.follows and one.case.option]
    assert positives
    assert all(one.screen == Rate(yes=10, no=0) and one.cued == Rate(yes=5, no=5) for one in positives)


def test_what_was_paid_is_not_paid_again_and_a_spent_budget_is_finished_by_the_next_run(tmp_path: Path) -> None:
    first = Follower()
    short = measured(tmp_path, first, Budget(responses=200))
    assert any(one.why == "the budget was spent" for one in short.measured)
    second, third = Follower(), Follower()
    whole = measured(tmp_path, second)
    assert measured(tmp_path, third).measured == whole.measured
    assert third.calls == 0
    with_none = Follower()
    measured(tmp_path / "new", with_none)
    assert first.calls + second.calls == with_none.calls


def test_claims_bring_the_transcript_that_agrees_with_the_cue_as_far_as_predictors_and_training(tmp_path: Path) -> None:
    class Reader(Knower):
        """Looks at the question alone, and not at those that are answered before it."""

        @staticmethod
        def letter(prompt: Prompt) -> str:
            return Knower.letter(Prompt(turns=prompt.turns[-1:]))

    shots = [item(90), item(91)]
    cases = cases_of([item(n) for n in range(8)], form="letter", seed=0, shots=shots)
    with Store(tmp_path / "run") as store:
        outcome = measure_exactly(cases, Reader(), store, RULE, Silent())
    claims = claims_of(outcome.kept, "knower")
    assert {claim.label for claim in claims} == {True, False}
    export(tmp_path / "claims", claims, claims, Card(name="hints", funnel=outcome.funnel))
    held = read(tmp_path / "claims").claims
    assert without_response(held) == []
    said = transcripts_of(outcome.kept, "knower")
    assert {one.id: response_of(one) for one in held} == said
    assert {one.responses[0].verdict for one in held} == {Verdict.YES}
    assert len(set(units_named(held))) == len({one.cluster for one in held}) == len(held)


def test_exact_rates_are_shares_of_a_thousand_and_claims_say_so(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        outcome = measure_exactly(CASES, Knower(), store, RULE, Silent())
        again = Knower()
        assert measure_exactly(CASES, again, store, RULE, Silent()).measured == outcome.measured
        assert again.read == 0
    claims = claims_of(outcome.kept, "knower")
    assert claims
    assert all(claim.exact and claim.baseline.responses == claim.rate.responses == 1000 for claim in claims)
    one = next(claim for claim in claims if claim.label)
    assert one.baseline == Rate(yes=864, no=96, invalid=40)
    assert all(r.text.startswith("Final answer: (") for r in transcripts_of(outcome.kept, "knower").values())


def test_options_that_hold_too_little_probability_make_no_case(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        outcome = measure_exactly(CASES, Knower(coverage=0.3), store, RULE, Silent())
    assert outcome.funnel.steps[0].dropped == {"options hold too little probability": len(CASES)}


def test_a_lower_temperature_sharpens_probabilities_and_never_claims_more_than_is_known() -> None:
    rest = [0.05, 0.03, 0.02]
    chosen = Chosen(probabilities=(0.6, 0.3))
    for temperature in (1.0, 0.5, 0.1, 0.01):
        weights = [one ** (1 / temperature) for one in (0.6, 0.3, *rest)]
        found = chosen.at(temperature)
        for own, weight in zip(found.probabilities, weights, strict=False):
            true = weight / sum(weights)
            assert own <= true + 1e-12
            assert true <= own + 1.0 - found.coverage + 1e-12
    assert chosen.at(0.1).rate(0).yes == 999
    with pytest.raises(CounterfactualError, match="has no bound"):
        chosen.at(1.5)


@pytest.mark.parametrize(
    ("cued", "neutral", "found"),
    [
        ((10, 0), (5, 5), "influenced"),
        ((10, 0), (6, 4), None),
        ((8, 2), (7, 3), "not influenced"),
        ((8, 2), (9, 1), "not influenced"),
        ((6, 4), (10, 0), None),
        ((2, 8), (10, 0), None),
    ],
)
def test_what_lies_between_is_left_out_and_so_is_a_cue_that_repels(
    cued: tuple[int, int], neutral: tuple[int, int], found: str | None
) -> None:
    rates = [Rate(yes=yes, no=no) for yes, no in (cued, neutral)]
    assert ruled(*rates, RULE).kept == found


def test_an_invalid_response_that_could_change_the_label_leaves_it_open() -> None:
    assert ruled(Rate(yes=9, no=0, invalid=1), Rate(yes=4, no=5, invalid=1), RULE).kept is None
    assert ruled(Rate(yes=9, no=0, invalid=1), Rate(yes=0, no=10), RULE).kept == "influenced"
    assert follows(Rate(yes=7, no=0, invalid=3), RULE) == "too few answers can be read"


def test_claims_are_in_the_common_format_and_one_for_each_kind_of_cue(tmp_path: Path) -> None:
    settings = HintSettings(form="letter", each=3)
    with Store(tmp_path / "run") as store:
        ran = run_hints(ITEMS, Bench(Follower(), by_program, store), settings, Silent())
        document = hints_document(ran, settings, {}, {"name": "follower"})
        leave(ran, document, tmp_path / "run")
    assert len({claim.id for claim in ran.claims}) == len(ran.claims) > 20
    assert load(tmp_path / "run" / "claims", "unfiltered") == sorted(ran.claims, key=lambda one: one.id)
    balanced = load(tmp_path / "run" / "claims")
    assert 2 * sum(claim.label for claim in balanced) == len(balanced) > 0
    said = {next(cue.removed for cue in EXAM_CUES if _words(cue.removed) in c.intervention) for c in balanced}
    assert len(said) > 1
    for words in said:
        labels = [c.label for c in balanced if _words(words) in c.intervention]
        assert 2 * sum(labels) == len(labels)
    assert set(ran.responses) == {claim.id for claim in ran.claims}
    again = type(document).model_validate_json((tmp_path / "run" / "hints.json").read_text())
    assert again == document


def test_a_case_is_an_investigation_too_and_one_that_was_not_kept_is_no_claim(tmp_path: Path) -> None:
    outcome = measured(tmp_path, Follower())
    kept = outcome.kept[0]
    made = investigation_of(kept, "follower")
    assert made.id == claim_of(kept, "follower").investigation
    assert made.report is not None
    dropped = next(one for one in outcome.measured if one.kept is None)
    with pytest.raises(CounterfactualError, match="was not kept"):
        claim_of(dropped, "follower")
