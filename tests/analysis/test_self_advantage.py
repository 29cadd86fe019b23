"""Known answers: what a model says of its own, what any model could say, and what says nothing."""

import numpy as np
import pandas as pd
import pytest
from direct_meta_simulation import opinions, table_of

from firsthand.analysis.direct_meta import Follows, arranged, tetrad
from firsthand.analysis.outsiders import STRINGS
from firsthand.analysis.self_advantage import ALPHA, SelfAdvantage, rule, self_advantage
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Verdict

NULLS = 60
AT_MOST = ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / NULLS)


def verdicts(result: SelfAdvantage) -> set[Verdict]:
    return {one.verdict for one in result.reporters}


def changed(table: pd.DataFrame, model: int, **columns: object) -> pd.DataFrame:
    table = table.copy()
    for name, values in columns.items():
        table.loc[table["model"] == f"model-{model}", name] = values
    return table


def test_what_follows_ones_own_judgement_beyond_a_similar_model_is_privileged() -> None:
    result = self_advantage(table_of(*opinions(1)), "scripted")
    assert verdicts(result) == {Verdict.PRIVILEGED}
    for one in result.advantages:
        assert one.advantage.low > 0
        assert one.advantage.p is not None
        assert one.advantage.p <= ALPHA
        assert one.partial.low > 0
        assert (one.tetrad is None) == (one.rival == STRINGS)
        assert one.tetrad is None or one.tetrad.low > 0
    own, other = result.agreements[:2]
    assert own.similarity is None
    assert other.similarity is not None
    assert other.similarity.value == pytest.approx(0.7, abs=0.1)


def test_what_follows_a_common_opinion_alone_is_public_inference() -> None:
    result = self_advantage(table_of(*opinions(1, follow=0.0)))
    assert verdicts(result) == {Verdict.PUBLIC_INFERENCE}
    assert "as well as its own" in result.reporters[0].reasons[0]


def test_the_partial_correlation_alone_would_call_a_common_opinion_ones_own() -> None:
    found = [self_advantage(table_of(*opinions(seed, follow=0.0))).advantages[0] for seed in range(10)]
    assert sum((one.partial.p or 0) <= ALPHA for one in found) >= 5
    assert sum((one.advantage.p or 0) <= ALPHA for one in found) <= 2


def test_a_better_measure_of_a_common_opinion_is_not_ones_own() -> None:
    result = self_advantage(table_of(*opinions(1, follow=0.0, quality=(0.95, 0.3))))
    better = result.reporters[0]
    assert (result.advantages[0].advantage.p or 0) <= ALPHA  # it is ahead,
    assert better.verdict is Verdict.PUBLIC_INFERENCE  # but so is it in what the other says
    assert any("one common opinion explains it" in reason for reason in better.reasons)


def test_with_a_rival_that_says_nothing_usable_an_advantage_is_not_judged() -> None:
    table = table_of(*opinions(1))
    for columns in ({"meta": 0.0}, {"meta": np.nan}, {"coverage": 0.1}):
        first, second = self_advantage(changed(table, 1, **columns)).reporters
        assert first.verdict is Verdict.INSUFFICIENT
        assert "only the better measure cannot be told" in first.reasons[1]
        assert second.verdict is Verdict.INSUFFICIENT
    noise = np.random.default_rng(3).normal(size=120)
    assert self_advantage(changed(table, 1, meta=noise)).reporters[0].verdict is Verdict.INSUFFICIENT


def test_every_rival_must_be_beaten() -> None:
    direct, meta = opinions(1, models=3)
    direct[2] = direct[0] + 0.05 * np.random.default_rng(0).normal(size=direct.shape[1])
    result = self_advantage(table_of(direct, meta))
    first = result.reporters[0]
    assert first.verdict is Verdict.PUBLIC_INFERENCE  # a twin of the first does as well
    assert "model-2" in first.reasons[0]
    assert result.reporters[1].verdict is Verdict.PRIVILEGED


def test_the_same_answer_for_every_pair_is_insufficient() -> None:
    table = table_of(*opinions(1))
    assert verdicts(self_advantage(table.assign(meta=2.0))) == {Verdict.INSUFFICIENT}
    jitter = table["meta"] * 1e-5
    result = self_advantage(table.assign(meta=jitter))
    assert verdicts(result) == {Verdict.INSUFFICIENT}
    assert "nearly the same for every pair" in result.reporters[0].reasons[0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"coverage": 0.3}, "the labels hold 30.0% of the probability"),
        ({"meta": [np.nan if i % 3 else 1.0 + i for i in range(120)]}, "40 of 120 pairs have valid answers, and 60"),
        ({"direct": 1.0}, "its direct judgement is the same"),
    ],
)
def test_answers_that_cannot_be_used_say_why(columns: dict[str, object], message: str) -> None:
    result = self_advantage(changed(table_of(*opinions(1)), 0, **columns))
    assert result.reporters[0].verdict is Verdict.INSUFFICIENT
    assert message in result.reporters[0].reasons[0]


def test_few_pairs_allow_no_verdict() -> None:
    result = self_advantage(table_of(*opinions(1, pairs=15)))
    assert verdicts(result) == {Verdict.INSUFFICIENT}
    assert result.agreements == ()


def test_saying_the_reverse_of_ones_own_judgement_is_inverted() -> None:
    table = table_of(*opinions(1))
    assert verdicts(self_advantage(table.assign(meta=-table["meta"]))) == {Verdict.INVERTED}


def test_shares_of_right_answers_count_strings_that_are_preferred() -> None:
    table = table_of(*opinions(1))
    result = self_advantage(
        changed(table, 0, direct=np.arange(120) - 29.5, meta=[np.nan] * 20 + [1.0, -1.0, 2, 3] * 25)
    )
    first = result.reporters[0]
    assert first.right_direct.value == pytest.approx(90 / 120)
    assert first.right_meta is not None
    assert first.right_meta.value == pytest.approx(0.75)
    assert first.right_direct.low < 90 / 120 < first.right_direct.high
    assert first.right_direct.units in (10, 120)
    assert result.reporters[0].valid == 100


def test_two_models_have_no_regression_and_three_have_one() -> None:
    two = self_advantage(table_of(*opinions(1)))
    assert two.regression is None
    assert "with 2 models" in (two.regression_refused or "")
    three = self_advantage(table_of(*opinions(1, models=3, quality=(0.9, 0.6, 0.4))))
    assert three.regression is not None
    assert three.regression.models == 3
    assert three.regression_refused is None


def test_one_model_is_refused() -> None:
    with pytest.raises(AnalysisError, match="with no other"):
        self_advantage(table_of(*opinions(1, models=1)))


def test_the_result_is_the_same_when_it_is_made_again() -> None:
    one, other = (self_advantage(table_of(*opinions(5, models=3))) for _ in range(2))
    assert one == other


WORLDS = {
    "noise": {"noise": 50.0},
    "a common opinion": {"follow": 0.0},
    "a common opinion that one model measures better": {"follow": 0.0, "quality": (0.95, 0.3)},
    "a common opinion that nobody measures well": {"follow": 0.0, "quality": (0.3, 0.25), "noise": 1.5},
}


@pytest.mark.parametrize("world", WORLDS)
def test_models_without_access_are_called_privileged_at_most_as_often_as_alpha(world: str) -> None:
    false = sum(
        rule(table_of(*opinions(seed, **WORLDS[world])), draws=1000, thorough=False).rulings[0][0] is Verdict.PRIVILEGED  # type: ignore[arg-type]
        for seed in range(NULLS)
    )
    assert false / NULLS <= AT_MOST


@pytest.mark.parametrize("pairs", [40, 120])
def test_the_tests_of_an_advantage_and_of_a_tetrad_keep_their_level(pairs: int) -> None:
    advantages = tetrads = 0
    for seed in range(NULLS):
        judged = arranged(table_of(*opinions(seed, pairs=pairs, follow=0.0)), draws=1000)
        advantages += Follows(judged, 0).advantage(1).p_above(0.0) <= ALPHA
        tetrads += tetrad(judged, 0, 1).p_above(0.0) <= ALPHA
    assert advantages / NULLS <= AT_MOST
    assert tetrads / NULLS <= AT_MOST
