import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.filters import Filters, balanced, filtered, spread

sys.path.insert(0, str(Path(__file__).parent))
from claim_parts import claim


def many(true: int, false: int, clusters: int = 1000) -> list[Claim]:
    return [claim(n, n < true, cluster=f"c{n % clusters}") for n in range(true + false)]


def kept(*claims: Claim, filters: Filters | None = None) -> set[str]:
    return {one.investigation for one in filtered(claims, filters or Filters(balanced=False))[-1].claims}


@pytest.mark.parametrize(
    "lacking",
    [
        {"concreteness": 2},
        {"concreteness": None},
        {"reproduced": False},
        {"reproduced": None},
        {"single_factor": False},
        {"single_factor": None},
    ],
    ids=str,
)
def test_what_failed_or_was_never_judged_is_not_in_the_filtered_set(lacking: dict[str, object]) -> None:
    assert kept(claim(1), claim(2, **lacking)) == {"i1"}


def test_a_filter_that_is_not_asked_for_is_not_made() -> None:
    loose = Filters(concreteness=None, reproduced=False, single_factor=False, balanced=False)
    assert kept(claim(1, concreteness=1, reproduced=None, single_factor=False), filters=loose) == {"i1"}
    assert [one.stage for one in filtered([claim(1)], loose)] == ["balanced"]


def test_every_claim_is_kept_or_counted_at_each_stage() -> None:
    claims = [
        claim(n, n % 3 == 0, concreteness=n % 5 or None, reproduced=[True, False, None][n % 3]) for n in range(60)
    ]
    left = len(claims)
    for stage in filtered(claims, Filters(cap=20)):
        assert len(stage.claims) + sum(stage.dropped.values()) == left
        left = len(stage.claims)


def test_stages_come_in_the_order_of_the_papers_table() -> None:
    stages = [one.stage for one in filtered(many(2, 2))]
    assert stages == ["concrete", "balanced", "reproduced", "single factor"]


def test_balancing_keeps_as_many_true_claims_as_false_ones_up_to_the_cap() -> None:
    claims = many(30, 12)
    assert Counter(one.label for one in balanced(claims)) == {True: 12, False: 12}
    assert Counter(one.label for one in balanced(claims, cap=11)) == {True: 5, False: 5}
    assert balanced(many(5, 0)) == []


def test_the_choice_is_the_same_for_any_order_and_another_for_another_seed() -> None:
    claims = many(40, 40)
    start = balanced(claims, cap=20, seed=1)
    shuffled = random.Random(0).sample(claims, len(claims))
    assert balanced(shuffled, cap=20, seed=1) == start
    assert filtered(shuffled, Filters(cap=20)) == filtered(claims, Filters(cap=20))
    assert balanced(claims, cap=20, seed=2) != start


def test_as_many_clusters_as_possible_stay_in_a_set_that_is_cut() -> None:
    crowd = [claim(n, cluster="crowd") for n in range(50)]
    single = [claim(100 + n, cluster=f"single {n}") for n in range(9)]
    first = spread([*crowd, *single])[:10]
    assert {one.cluster for one in first} == {"crowd", *(f"single {n}" for n in range(9))}


def test_all_kept_claims_are_those_that_were_given() -> None:
    claims = many(6, 6)
    assert {one.id for one in filtered(claims)[-1].claims} == {one.id for one in claims}
