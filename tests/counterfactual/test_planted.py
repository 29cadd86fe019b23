"""Planted targets follow their rule, and a batch is the same however it is pooled."""

import pytest

from firsthand.counterfactual.behaviours import Verdict, judged
from firsthand.counterfactual.planted import (
    BEHAVIOUR,
    Constant,
    First,
    Form,
    Fragile,
    Graded,
    Long,
    PlantedTarget,
    Present,
    Rule,
)
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request


def prompt(text: str, system: str = "") -> Prompt:
    turns = (Turn(role="system", content=system),) if system else ()
    return Prompt(turns=(*turns, Turn(role="user", content=text)))


@pytest.mark.parametrize(
    ("rule", "holds", "fails"),
    [
        (Present(texts=("red",)), "a red kite", "a reddish kite"),
        (Present(texts=("red", "blue")), "red and blue", "red only"),
        (Present(texts=("red", "blue"), need="any"), "blue only", "green"),
        (First(text="apples"), "1. apples\n2. pears", "1. pears\n2. apples"),
        (Form(pattern=r"\b\d{4}\b"), "in 1820", "in 182"),
        (Long(characters=10), "ten characters", "short"),
        (Fragile(intact=prompt("red and blue kites")), "red and blue kites", "red and blue kite"),
        (Fragile(intact=prompt("red and blue kites"), characters=4), "red and a blue kites", "red and kites"),
        (Fragile(intact=prompt("red and blue kites"), characters=5), "red and pink kites", "red and blue"),
    ],
)
def test_the_rate_is_high_where_the_rule_holds(rule: Rule, holds: str, fails: str) -> None:
    assert rule.rate(prompt(holds)) == 0.85
    assert rule.rate(prompt(fails)) == 0.10


def test_a_role_limits_where_a_text_counts() -> None:
    rule = Present(texts=("red",), role="system")
    assert (rule.rate(prompt("red")), rule.rate(prompt("blue", system="red"))) == (0.10, 0.85)


def test_a_graded_rule_adds_and_a_constant_one_does_not_care() -> None:
    rule = Graded(texts=("a", "b", "c"))
    assert [round(rule.rate(prompt(text)), 2) for text in ("x", "a", "a b", "a b c")] == [0.10, 0.35, 0.60, 0.85]
    assert Constant(share=0.6).rate(prompt("a")) == Constant(share=0.6).rate(prompt("b")) == 0.6


def test_batches_do_not_depend_on_what_is_asked_with_them() -> None:
    target = PlantedTarget(rule=Constant(share=0.5), seed=3)
    requests = [Request(prompt=prompt("a"), batch=f"b.{number}", samples=40) for number in range(3)]
    together = target.respond(requests)
    assert together == [target.respond([request])[0] for request in requests]
    assert together[0] != together[1]


def test_responses_have_the_behaviour_as_often_as_the_rule_says() -> None:
    target = PlantedTarget(rule=Present(texts=("red",)), seed=1)
    request = Request(prompt=prompt("red"), batch="b", samples=2000)
    rate = Rate.of(judged(BEHAVIOUR, one) for one in target.respond([request])[0])
    low, high = rate.interval(0.999)
    assert low < 0.85 < high


def test_withheld_responses_are_invalid() -> None:
    target = PlantedTarget(rule=Constant(share=1.0), withheld=1.0)
    request = Request(prompt=prompt("red"), batch="b", samples=5)
    assert {judged(BEHAVIOUR, one) for one in target.respond([request])[0]} == {Verdict.INVALID}


def test_the_identity_tells_rules_and_seeds_apart() -> None:
    rules = (Constant(share=0.5), Constant(share=0.6), Present(texts=("a",)))
    targets = [PlantedTarget(rule=rule, seed=seed) for rule in rules for seed in (0, 1)]
    assert len({target.identity for target in targets}) == 6
