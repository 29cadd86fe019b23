"""Matched sets: whoever sees kind, size, baseline and direction alone does no better than chance in them."""

import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from firsthand.analysis.floor import floor_of
from firsthand.analysis.units import units_of
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.edits import Replace
from firsthand.counterfactual.filters import Filters, alike, balanced, filtered
from firsthand.counterfactual.funnel import sieved
from firsthand.counterfactual.matching import matched, mostly
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.surface import columns_of, surface_of

sys.path.insert(0, str(Path(__file__).parent))
from claim_parts import claim, edit, rate

WORDS = ["otter", "heron", "badger", "marten", "plover", "weasel", "ferret", "magpie"]


def drawn(number: int, label: bool, *, long: bool, kind: str, yes: int = 27, cluster: str = "") -> Claim:
    """A claim with an edit of a kind and size."""
    find = " ".join(WORDS) if long else WORDS[number % len(WORDS)]
    start = Prompt(
        turns=(Turn(role="user", content=f"number {number}: {' '.join(WORDS)} end"),), cluster=cluster or f"c{number}"
    )
    change = edit(
        Replace(turn=0, find=find, text="" if kind == "deletion" else "lynx" if not long else "lynx hare " * 14)
    )
    made = claim(number, label, prompt=start, edit=change, baseline=rate(yes), cluster=start.cluster)
    return made.model_copy(update={"rate": rate(yes if not label else yes - 16)})


def leaking(count: int, seed: int = 0) -> list[Claim]:
    """True claims are mostly long deletions at high rates, false ones short substitutions at lower ones."""
    rng = random.Random(seed)
    return [
        drawn(
            n,
            label := rng.random() < 0.5,
            long=rng.random() < (0.8 if label else 0.3),
            kind="deletion" if rng.random() < (0.75 if label else 0.35) else "substitution",
            yes=rng.choice((28, 29, 22) if label else (22, 20, 28)),
        )
        for n in range(count)
    ]


def floor(claims: list[Claim]) -> float:
    surfaces = [surface_of(one) for one in claims]
    columns = {name: found for name, found in columns_of(surfaces).items() if not name.startswith("position")}
    units = units_of([one.ties for one in claims])
    found = floor_of([one.label for one in claims], columns, [one.text for one in claims], units, draws=200)
    assert found.best is not None
    return found.best.auroc.value


def test_in_each_cell_as_many_true_as_false_claims_are_kept_and_as_many_as_there_can_be() -> None:
    claims = leaking(300)
    kept = matched(claims)
    every: dict[object, Counter[bool]] = defaultdict(Counter)
    cells: dict[object, Counter[bool]] = defaultdict(Counter)
    for one in claims:
        every[surface_of(one).cell][one.label] += 1
    for one in kept:
        cells[surface_of(one).cell][one.label] += 1
    assert all(found[True] == found[False] for found in cells.values())
    assert len(kept) == 2 * sum(min(found[True], found[False]) for found in every.values())


def test_what_the_surface_told_before_matching_it_does_not_tell_after() -> None:
    claims = leaking(400)
    assert floor(claims) > 0.75
    assert floor(matched(claims)) < 0.6


def test_the_same_claims_are_kept_in_any_order_and_others_for_another_seed() -> None:
    claims = leaking(120)
    shuffled = random.Random(1).sample(claims, len(claims))
    assert matched(shuffled) == matched(claims)
    assert matched(claims, seed=1) != matched(claims)


def test_partners_of_one_investigation_come_first() -> None:
    pair = [drawn(n, bool(n), long=False, kind="deletion").model_copy(update={"investigation": "same"}) for n in (0, 1)]
    others = [drawn(n, True, long=False, kind="deletion") for n in range(2, 12)]
    for seed in range(5):
        assert {one.id for one in matched([*others, *pair], seed)} == {one.id for one in pair}


def test_what_has_no_partner_is_counted_with_its_reason() -> None:
    claims = [drawn(n, n % 2 == 0, long=n % 2 == 0, kind="deletion") for n in range(10)]
    claims += [drawn(20 + n, n % 2 == 0, long=True, kind="deletion") for n in range(4)]
    found = alike(claims)
    assert len(found.claims) == 4
    assert found.dropped == {"without a matched partner": 10}
    last = sieved([found]).steps[-1]
    assert (last.name, last.given, last.kept, last.true) == ("+ matched", 14, 4, 2)


def test_a_matched_set_stands_for_all_only_if_less_than_half_is_lost() -> None:
    claims = [claim(n) for n in range(4)]
    assert mostly(claims, claims[:3])
    assert not mostly(claims, claims[:2])
    assert not mostly([], [])


def test_where_some_must_go_those_with_a_partner_stay() -> None:
    short = [drawn(n, True, long=False, kind="deletion") for n in range(6)]
    long = [drawn(10 + n, True, long=True, kind="deletion") for n in range(6)]
    false = [drawn(20 + n, False, long=True, kind="deletion") for n in range(6)]
    kept = balanced([*short, *long, *false])
    assert {one.id for one in kept} == {one.id for one in (*long, *false)}
    assert len(matched(filtered([*short, *long, *false], Filters(concreteness=None))[-1].claims)) == 12


def test_clusters_are_drawn_from_in_turn_within_a_cell() -> None:
    def same(number: int, label: bool, cluster: str = "") -> Claim:
        return drawn(8 * number, label, long=False, kind="deletion", cluster=cluster)  # all delete the same word

    crowd = [same(n, True, "crowd") for n in range(20)]
    single = [same(30 + n, True) for n in range(3)]
    false = [same(40 + n, False) for n in range(4)]
    kept = [one for one in matched([*crowd, *single, *false]) if one.label]
    assert Counter(one.cluster for one in kept)["crowd"] == 1
    assert np.mean([one.label for one in matched([*crowd, *single, *false])]) == 0.5
