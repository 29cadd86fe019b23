"""Rival explanations of a self advantage that would pass against other models alone, and do not pass here."""

import numpy as np
import pandas as pd
import pytest
from direct_meta_simulation import opinions, table_of

from firsthand.analysis.direct_meta import arranged
from firsthand.analysis.outsiders import STRINGS, TOGETHER, net_of_strings, outsiders, undecided
from firsthand.analysis.self_advantage import rule, self_advantage
from firsthand.vocabulary import Verdict

PAIRS = 120


def mixed(
    seed: int, seen: np.ndarray, own: float = 0.0, weights: tuple[float, float] = (1.0, 0.0)
) -> tuple[np.ndarray, np.ndarray]:
    """Judgements of two models that share an opinion; each also weighs what anybody sees, in both of its judgements."""
    direct, meta = opinions(seed, follow=own, noise=0.5)
    added = np.array(weights)[:, None] * seen
    return direct + added, meta + added


def with_lengths(table: pd.DataFrame, lengths: np.ndarray) -> pd.DataFrame:
    return table.assign(characters=np.tile(lengths, 2))


def test_a_liking_for_short_strings_in_both_judgements_is_nobodys_own() -> None:
    lengths = np.random.default_rng(5).normal(size=PAIRS)
    direct, meta = mixed(1, -1.5 * lengths)
    blind = rule(table_of(direct, meta), minimum_similarity=0.0).rulings[0][0]
    assert blind is Verdict.PRIVILEGED  # other models alone do not unmask it,
    verdict, reasons = rule(with_lengths(table_of(direct, meta), lengths), minimum_similarity=0.0).rulings[0]
    assert verdict is not Verdict.PRIVILEGED, reasons  # and who sees the strings does


def test_being_better_at_some_phenomena_in_both_judgements_is_nobodys_own() -> None:
    kinds = np.repeat(np.random.default_rng(2).normal(size=30), 4)[:PAIRS]
    direct, meta = mixed(1, 1.5 * kinds)
    table = table_of(direct, meta)
    table["phenomenon"] = np.tile([f"kind-{i // 4}" for i in range(PAIRS)], 2)
    unnamed = rule(table.assign(phenomenon=table["key"]), minimum_similarity=0.0).rulings[0][0]
    assert unnamed is Verdict.PRIVILEGED
    assert rule(table, minimum_similarity=0.0).rulings[0][0] is not Verdict.PRIVILEGED


def test_a_few_extreme_pairs_carry_no_verdict() -> None:
    direct, meta = opinions(1, follow=0.0, noise=0.5)
    at = np.arange(0, 36, 3)
    direct[0, at] += 12.0
    meta[0, at] += 12.0
    verdict, reasons = rule(table_of(direct, meta), clusters=["key"]).rulings[0]
    assert verdict is not Verdict.PRIVILEGED, reasons
    found = self_advantage(table_of(direct, meta), clusters=["key"])
    assert (found.advantages[0].advantage.p or 0) <= 0.05  # it is ahead as measured,


def test_without_a_model_that_is_like_it_nothing_is_a_models_own() -> None:
    direct, meta = opinions(1, quality=(0.3, 0.3))
    verdict, reasons = rule(table_of(direct, meta)).rulings[0]
    assert verdict is Verdict.INSUFFICIENT
    assert "no rival is like it" in reasons[1]
    assert rule(table_of(direct, meta), minimum_similarity=0.0).rulings[0][0] is Verdict.PRIVILEGED


def test_what_follows_anothers_judgement_and_not_ones_own_is_no_public_inference() -> None:
    direct = np.random.default_rng(1).normal(size=(2, PAIRS))
    meta = direct[[1, 1]] + 0.3 * np.random.default_rng(0).normal(size=direct.shape)
    verdict, reasons = rule(table_of(direct, meta)).rulings[0]
    assert verdict is Verdict.INSUFFICIENT
    assert "model-1" in reasons[0]


def test_the_other_models_together_measure_a_common_opinion_better_than_any_of_them() -> None:
    direct, meta = opinions(1, models=5, follow=0.0, quality=(0.9, 0.4, 0.4, 0.4, 0.4))
    found = self_advantage(table_of(direct, meta))
    followed = {one.rival: one.followed.value for one in found.advantages if one.reporter == "model-0"}
    assert followed[TOGETHER] > max(value for rival, value in followed.items() if rival.startswith("model-"))
    assert TOGETHER not in outsiders(arranged(table_of(*opinions(1))), 0)


def test_the_largest_p_is_corrected_over_the_models_that_are_asked() -> None:
    found = self_advantage(table_of(*opinions(1, models=3)))
    for one in found.reporters:
        largest = max(hurdle.found.p or 0.0 for hurdle in one.hurdles)
        assert one.p >= largest
    smallest = min(found.reporters, key=lambda one: one.p)
    assert smallest.p == pytest.approx(3 * max(hurdle.found.p or 0.0 for hurdle in smallest.hurdles))


def test_a_reader_of_strings_predicts_only_pairs_that_it_did_not_learn_from() -> None:
    judged = arranged(table_of(*opinions(1)))
    noise = np.random.default_rng(0).normal(size=judged.meta_MN.shape)
    judged = type(judged)(judged.models, judged.direct_MN, noise, judged.coverage_MN, judged.pairs, judged.clusters)
    said = outsiders(judged, 0)[STRINGS]
    assert np.corrcoef(said, noise[0])[0, 1] < 0.2  # twelve numbers were fitted to noise; in sample they would fit it


def test_forms_of_the_judgements_do_what_they_say() -> None:
    table = table_of(*opinions(1))
    table.loc[3, "meta"] = np.nan
    judged = arranged(table)
    assert np.isnan(judged.meta_MN[0]).sum() == 1
    assert not np.isnan(undecided(judged).meta_MN).any()
    net = net_of_strings(judged)
    by_kind = pd.Series(net.direct_MN[0]).groupby(judged.pairs["phenomenon"]).mean()
    assert by_kind.to_numpy() == pytest.approx(0.0, abs=1e-9)
    assert np.isnan(net.meta_MN[0]).sum() == 1
