import sys
from collections import Counter
from pathlib import Path

import pytest

from firsthand.counterfactual.training.examples import (
    TOO_LONG,
    UNBALANCED,
    Item,
    both_labels,
    split,
    training_set,
    units_named,
)
from firsthand.errors import CounterfactualError

sys.path.insert(0, str(Path(__file__).parent))
from training_parts import items


def changed(item: Item, **fields: object) -> Item:
    return item.model_copy(update={"question": item.question.model_copy(update=fields)})


def test_nothing_that_hangs_together_is_parted() -> None:
    found = split(items(20), 0.3)
    for unit in range(3):
        ours, theirs = ({item.unit[unit] for item in part} for part in found)
        assert not ours & theirs
    assert len(found.train) + len(found.held_out) == 40
    assert 10 <= len(found.held_out) <= 14


def test_claims_are_linked_through_others() -> None:
    first, second, third, *rest = items(12)
    linked = [first, changed(second, cluster="bridge"), changed(third, cluster="bridge"), *rest]
    for seed in range(20):
        train = {item.id for item in split(linked, 0.3, seed).train}
        assert len({one.id in train for one in linked[:3]}) == 1  # first and second share an investigation


def test_the_units_of_a_verdict_are_those_that_claims_were_split_by() -> None:
    first, second, third, *rest = items(12)
    linked = [first, changed(second, cluster="bridge"), changed(third, cluster="bridge"), *rest]
    named = units_named(linked)
    assert len({named[one.id] for one in linked[:3]}) == 1  # clusters alone would make them two
    assert len(set(named.values())) == 11
    assert units_named(linked[::-1]) == named
    parts = split(linked, 0.3)
    assert not {named[one.id] for one in parts.train} & {named[one.id] for one in parts.held_out}


def test_claims_of_one_label_are_refused_before_anything_is_trained() -> None:
    both_labels(items(3), "held-out claims")
    with pytest.raises(CounterfactualError, match="both kinds are needed"):
        both_labels([item for item in items(3) if item.label], "held-out claims")


def test_prompts_that_begin_alike_are_one_family() -> None:
    some = items(6)
    prompt = some[0].question.prompt
    longer = prompt.turns[1].model_copy(update={"content": "same beginning " * 20})
    alike = [
        changed(
            item,
            prompt=prompt.model_copy(
                update={"turns": (prompt.turns[0], longer.model_copy(update={"content": f"{longer.content} {n}"}))}
            ),
        )
        for n, item in enumerate(some)
    ]
    with pytest.raises(CounterfactualError, match="hang together"):
        split(alike, 0.3)


def test_both_labels_are_as_frequent_and_what_is_left_out_is_counted() -> None:
    some = items(10)
    uneven = [
        item.model_copy(update={"claim": item.claim.model_copy(update={"label": n < 14})})
        for n, item in enumerate(some)
    ]
    made = training_set(uneven, 1, 0)
    assert Counter(one.answer for one in made.examples) == {"Yes": 6, "No": 6}
    assert made.dropped == {UNBALANCED: 8}
    assert made.examples == training_set(uneven[::-1], 1, 5).examples  # neither order nor seed settles which


def test_one_seed_is_one_order_and_every_epoch_has_its_own() -> None:
    one, same, other = (training_set(items(10), 2, seed) for seed in (0, 0, 1))
    assert one.digest == same.digest != other.digest
    count = len(one.examples)
    assert sorted(one.order[:count]) == sorted(one.order[count:]) == list(range(count))
    assert one.order[:count] != one.order[count:]


def test_what_is_too_long_for_one_model_no_model_gets() -> None:
    some = items(4)
    long = some[0].question.follow_up.id
    refused = training_set(some, 1, 0, (lambda *_: None, lambda prompt, _: TOO_LONG if prompt.id == long else None))
    assert refused.dropped == {TOO_LONG: 1, UNBALANCED: 1}
    assert some[0].id not in {one.id for one in refused.examples}


def test_one_label_alone_cannot_be_trained_on() -> None:
    with pytest.raises(CounterfactualError, match="both are needed"):
        training_set([item for item in items(4) if item.label], 1, 0)
