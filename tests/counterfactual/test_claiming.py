import random
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from firsthand.analysis.label_errors import label_chances
from firsthand.counterfactual.changes import SequentialLabels
from firsthand.counterfactual.claiming import Claiming, ClaimRule, claims_of, errors_of
from firsthand.counterfactual.describing import Described
from firsthand.counterfactual.edits import Drop, Edit, Replace, Rewrite
from firsthand.counterfactual.investigation import Experiment
from firsthand.counterfactual.prompts import Prompt, Turn

sys.path.insert(0, str(Path(__file__).parent))
from claim_parts import WORDS, deleted, edit, experiment, investigation, prompt, rate


def reasons(found: Claiming) -> dict[int, str]:
    return {one.experiment: one.reason for one in found.left_out}


def test_a_large_change_makes_a_true_claim_and_a_small_one_a_false_one() -> None:
    found = claims_of(investigation(experiment(1, "alpha", rate(2)), experiment(2, "bravo", rate(26))))
    assert [(one.experiment, one.label) for one in found.claims] == [(1, True), (2, False)]
    assert found.left_out == ()
    claim = found.claims[0]
    assert claim.change == pytest.approx((2 - 27) / 30)
    assert claim.intervention == 'In the user\'s turn (turn 2 of 2), "alpha" is deleted.'
    assert claim.single_factor is True
    assert claim.concreteness is None
    assert claim.reproduced is None


def test_the_baseline_of_a_claim_is_never_the_screening_batch() -> None:
    """The screened batch holds 30 of 30: with it as baseline the second edit would make a true claim."""
    made = investigation(experiment(1, "alpha", rate(2)), experiment(2, "bravo", rate(14)), baseline=rate(20))
    found = claims_of(made)
    assert made.screened.rate.yes == 30
    assert {one.baseline for one in found.claims} == {rate(20)}
    assert reasons(found) == {2: "between thresholds"}
    assert "about 67%" in found.claims[0].text


def test_every_experiment_is_a_claim_or_is_left_out_with_a_reason() -> None:
    two_things = edit(Replace(turn=0, find="brief", text="kind"), Replace(turn=1, find="hotel", text="house"))
    experiments = [
        experiment(1, "alpha", rate(0), stage="explored"),
        experiment(2, "alpha", rate(3)),
        experiment(3, "alpha", rate(2), batch="again"),
        experiment(4, "bravo", rate(18)),
        experiment(5, "carol", rate(27, 27, invalid=12)),
        experiment(6, "nowhere", rate(0, 0, 30)),
        experiment(7, "delta", rate(0, 0, 30), error="too long"),
        experiment(8, "echo", rate(4, 7)),
        experiment(9, "foxtrot", rate(5), batch="screen"),
        experiment(10, two_things, rate(5)),
    ]
    rule = ClaimRule(confounded="left out")
    found = claims_of(investigation(*experiments), rule)
    assert [one.experiment for one in found.claims] == [2]
    assert reasons(found) == {
        1: "explored only",
        3: "repeats another",
        4: "between thresholds",
        5: "depends on invalid responses",
        6: "failed",
        7: "failed",
        8: "too few responses",
        9: "not fresh",
        10: "confounded",
    }


def test_what_was_only_explored_is_no_claim_however_large_its_effect() -> None:
    found = claims_of(investigation(experiment(1, "alpha", rate(0), stage="explored")))
    assert found.claims == ()
    assert found.measured == ()


def test_responses_in_which_the_edit_was_found_do_not_confirm_it() -> None:
    explored = experiment(1, "alpha", rate(0), stage="explored", batch="one")
    again = experiment(2, "alpha", rate(0), batch="one")
    assert reasons(claims_of(investigation(explored, again)))[2] == "not fresh"
    assert claims_of(investigation(explored, again.model_copy(update={"batch": "two"}))).claims


def test_a_confounded_edit_is_marked_and_stands_behind_those_that_change_one_thing() -> None:
    two_things = edit(Replace(turn=0, find="brief", text="kind"), Replace(turn=1, find="hotel", text="house"))
    experiments = [experiment(1, two_things, rate(0)), experiment(2, "alpha", rate(3)), experiment(3, "bravo", rate(4))]
    found = claims_of(investigation(*experiments))
    assert [one.experiment for one in found.claims] == [2, 3]
    assert reasons(found) == {1: "others were chosen"}
    alone = claims_of(investigation(experiments[0])).claims
    assert [one.single_factor for one in alone] == [False]


def ten(order: list[int] | None = None, effects: dict[int, int] | None = None) -> tuple[Experiment, ...]:
    made = [experiment(n, WORDS[n - 1], rate((effects or {}).get(n, n % 4))) for n in range(1, 11)]
    return tuple(made[n] for n in order or range(10))


def test_experiments_in_any_order_give_the_same_claims() -> None:
    start = claims_of(investigation(*ten()))
    for seed in range(5):
        order = list(range(10))
        random.Random(seed).shuffle(order)
        assert claims_of(investigation(*ten(order))) == start


def test_the_choice_among_true_claims_does_not_look_at_how_large_their_effects_are() -> None:
    chosen = [one.experiment for one in claims_of(investigation(*ten())).claims]
    assert len(chosen) == 2
    rng = random.Random(0)
    for _ in range(10):
        other = {n: rng.randint(0, 12) for n in range(1, 11)}
        found = claims_of(investigation(*ten(effects=other)))
        assert [one.experiment for one in found.claims] == chosen


def test_small_edits_come_before_large_ones_and_the_second_touches_something_else() -> None:
    start = prompt("red green blue white black")
    experiments = [
        experiment(1, deleted("red green blue"), rate(0)),
        experiment(2, deleted("red"), rate(3)),
        experiment(3, edit(Replace(turn=1, find="red", text="re")), rate(3)),
        experiment(4, deleted("white"), rate(3)),
    ]
    found = claims_of(investigation(*experiments, start=start))
    assert [one.experiment for one in found.claims] == [2, 4]


def test_no_more_claims_are_made_than_the_rule_allows() -> None:
    made = investigation(*ten(effects={n: 1 if n % 2 else 27 for n in range(1, 11)}))
    assert [one.label for one in claims_of(made).claims] == [True, True, False, False]
    assert [one.label for one in claims_of(made, ClaimRule(true=1, false=0)).claims] == [True]


def test_whoever_describes_an_edit_is_shown_the_prompt_and_the_edit_and_nothing_else() -> None:
    shown: list[tuple[Prompt, Edit]] = []

    def describe(prompt: Prompt, edit: Edit) -> Described:
        shown.append((prompt, edit))
        return Described(intervention="The first word goes.", single_factor=None)

    found = claims_of(investigation(experiment(1, "alpha", rate(2)), experiment(2, "bravo", rate(15))), None, describe)
    assert shown == [(prompt(), deleted("alpha"))]
    assert found.claims[0].intervention == "The first word goes."
    assert found.claims[0].single_factor is None


def test_a_claim_reads_the_same_whatever_the_edit_did() -> None:
    one, other = (claims_of(investigation(experiment(1, "alpha", rate(n)))).claims[0] for n in (0, 27))
    assert (one.label, other.label) == (True, False)
    assert one.text == other.text
    assert one.id == other.id


def test_claims_of_one_prompt_are_kept_together_where_it_has_no_cluster_of_its_own() -> None:
    found = claims_of(investigation(experiment(1, "alpha", rate(2))))
    assert found.claims[0].cluster == prompt().id
    start = prompt(cluster="template 3")
    assert claims_of(investigation(experiment(1, "alpha", rate(2)), start=start)).claims[0].cluster == "template 3"


def test_labels_of_a_sequential_test_are_given_from_unequal_batches() -> None:
    experiments = (
        experiment(1, "alpha", rate(0, 8)),
        experiment(2, "bravo", rate(3, 6)),
        experiment(3, "carol", rate(29, 32)),
    )
    found = claims_of(investigation(*experiments), ClaimRule(labels=SequentialLabels()))
    assert [(one.experiment, one.label) for one in found.claims] == [(1, True), (3, False)]
    assert reasons(found) == {2: "undecided"}


def null_investigations(count: int, responses: int, seed: int) -> list[Claiming]:
    """Investigations of edits that change nothing at all."""
    rng, made = np.random.default_rng(seed), []
    for number in range(count):
        share = rng.uniform(0.3, 1.0)
        baseline = rate(int(rng.binomial(responses, share)), responses)
        tried = [
            experiment(n + 1, word, rate(int(rng.binomial(responses, share)), responses))
            for n, word in enumerate(WORDS)
        ]
        start = prompt(" ".join(WORDS) + f" {number}")
        made.append(claims_of(investigation(*tried, baseline=baseline, start=start), ClaimRule(true=10, false=10)))
    return made


def test_edits_that_change_nothing_are_called_true_no_oftener_than_stated() -> None:
    """Stated: the chance at one half, where chance does most."""
    made = null_investigations(60, 10, seed=1)
    true = sum(one.label for claiming in made for one in claiming.claims)
    assert true / (60 * len(WORDS)) <= label_chances(0.5, 0.5, 10, 10).true
    estimated = errors_of(made, draws=10)
    assert estimated is not None
    assert estimated.wrong is not None
    assert estimated.wrong.value == pytest.approx(true / sum(len(one.claims) for one in made), abs=0.03)


def test_errors_are_estimated_from_all_that_was_measured_and_not_from_claims_alone() -> None:
    made = null_investigations(20, 10, seed=2)
    assert sum(len(one.measured) for one in made) == 20 * len(WORDS)
    found = errors_of(made, draws=3)
    assert found is not None
    assert found.true + found.false == sum(len(one.claims) for one in made)
    assert errors_of([]) is None


def test_identifiers_part_claims_of_different_edits() -> None:
    start = Prompt(
        turns=(
            Turn(role="user", content="one two"),
            Turn(role="assistant", content="x"),
            Turn(role="user", content="y"),
        )
    )
    edits = [edit(Drop(turn=0), Drop(turn=0)), edit(Rewrite(turn=0, content="one")), deleted(" two", turn=0)]
    claims = [claims_of(investigation(experiment(1, one, rate(1)), start=start)).claims[0] for one in edits]
    assert claims[0].id != claims[1].id
    assert claims[1].id == claims[2].id, "two ways to write one edit are one claim"
    assert all(one.edited != start for one, _ in pairwise(claims))


def several(prompts: list[Prompt]) -> list[Claiming]:
    """One investigation on each prompt, with two edits that do something and three that do nothing."""
    effects = {1: 2, 2: 5, 3: 26, 4: 25, 5: 14}
    made = [experiment(n, WORDS[n - 1], rate(yes)) for n, yes in effects.items()]
    return [claims_of(investigation(*made, start=one)) for one in prompts]


def test_investigations_of_one_template_family_or_cluster_are_one_unit_of_the_intervals() -> None:
    """Prompts of one template begin alike: their errors come together, and so they count once."""
    words = " ".join(WORDS)
    template = f"{words} {'and this is how every prompt of the template begins, whatever comes then ' * 2}"
    alike = several([prompt(f"{template} number {n}") for n in range(6)])
    apart = several([prompt(f"{n} {words}") for n in range(6)])
    named = several([prompt(f"{n} {words}", cluster=f"task {n % 2}") for n in range(6)])
    counts = []
    for claimings in (alike, apart, named, [*alike, *named]):
        found = errors_of(claimings, draws=2)
        assert found is not None
        counts.append(found.clusters)
    assert counts == [1, 6, 2, 3]


def test_errors_of_a_set_are_those_of_its_claims_by_what_was_measured_in_all() -> None:
    made = null_investigations(20, 10, seed=3)
    claims = [claim for one in made for claim in one.claims]
    some = [one for one in claims if not one.label][:7]
    whole, part, none = (errors_of(made, among=among, draws=3) for among in (None, some, []))
    assert whole is not None
    assert part is not None
    assert none is not None
    assert (part.true, part.false) == (0, 7)
    assert whole.false == len([one for one in claims if not one.label]) > 7
    assert part.clusters == whole.clusters
    assert part.wrong_true is None
    assert part.wrong_false is not None
    assert part.wrong_false.value < 0.1, "no edit does anything, so labels 'false' are right"
    assert (none.true, none.false, none.wrong) == (0, 0, None)


def test_a_claim_asks_its_question_of_a_reader_and_of_the_target_itself() -> None:
    (found,) = claims_of(investigation(experiment(1, "alpha", rate(2)))).claims
    assert (found.question, found.own_question) == ("Why does the model apologise?", "Why did you apologise?")
