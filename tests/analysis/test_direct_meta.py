"""Correlations from totals equal those of NumPy, SciPy and statsmodels; what cannot be compared is refused."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from direct_meta_simulation import opinions, table_of

from firsthand.analysis.direct_meta import Follows, arranged, over_phrasings, similarity, tetrad
from firsthand.errors import AnalysisError


def made(seed: int = 0, **changes: float) -> pd.DataFrame:
    return table_of(*opinions(seed, models=3, **changes))


def without_some(table: pd.DataFrame) -> pd.DataFrame:
    """Some invalid answers of the first model, others of the second."""
    table = table.copy()
    for model, start in (("model-0", 3), ("model-1", 11)):
        rows = table.index[table["model"] == model]
        table.loc[rows[start : start + 9], "meta"] = np.nan
    return table


def test_every_correlation_is_pearsons_over_valid_answers() -> None:
    judged = arranged(without_some(made()))
    for m in range(3):
        keep = judged.valid(m)
        follows = Follows(judged, m)
        assert follows.pairs == keep.sum()
        for n in range(3):
            wanted = np.corrcoef(judged.meta_MN[m, keep], judged.direct_MN[n, keep])[0, 1]
            assert follows.correlation(n).value == pytest.approx(wanted, abs=1e-9)
            signs = np.sign(judged.meta_MN[m, keep]) == np.sign(judged.direct_MN[n, keep])
            assert follows.same_sign(n).value == pytest.approx(signs.mean())
            if n != m:
                own = np.corrcoef(judged.meta_MN[m, keep], judged.direct_MN[m, keep])[0, 1]
                assert follows.advantage(n).value == pytest.approx(own - wanted, abs=1e-9)
                assert similarity(judged, m, n).value == pytest.approx(
                    np.corrcoef(judged.direct_MN[m], judged.direct_MN[n])[0, 1], abs=1e-9
                )


def test_the_partial_correlation_is_that_of_residuals() -> None:
    judged = arranged(made())
    given = sm.add_constant(judged.direct_MN[1])
    meta, own = (sm.OLS(values, given).fit().resid for values in (judged.meta_MN[0], judged.direct_MN[0]))
    assert Follows(judged, 0).partial(1).value == pytest.approx(np.corrcoef(meta, own)[0, 1], abs=1e-9)


def test_the_tetrad_is_a_difference_of_products_over_pairs_that_both_answered() -> None:
    judged = arranged(without_some(made()))
    keep = judged.valid(0, 1)
    assert keep.sum() < min(judged.valid(0).sum(), judged.valid(1).sum())
    r = np.corrcoef(np.concatenate([judged.meta_MN[:2, keep], judged.direct_MN[:2, keep]]))
    assert tetrad(judged, 0, 1).value == pytest.approx(r[0, 2] * r[1, 3] - r[0, 3] * r[1, 2], abs=1e-9)
    assert tetrad(judged, 1, 0).value == pytest.approx(tetrad(judged, 0, 1).value)
    assert tetrad(judged, 0, 1).n_trials == keep.sum()


def test_scale_and_offset_of_a_judgement_do_not_matter() -> None:
    table = made()
    moved = table.assign(meta=table["meta"] * 3 + 40, direct=table["direct"] * 0.01 - 900)
    one, other = (Follows(arranged(t), 0).advantage(1) for t in (table, moved))
    assert other.value == pytest.approx(one.value, abs=1e-9)
    assert other.low(0.05) == pytest.approx(one.low(0.05), abs=1e-4)


def test_an_interval_covers_what_many_pairs_show() -> None:
    truth = Follows(arranged(table_of(*opinions(99, models=2, pairs=40_000))), 0).advantage(1).value
    missed = 0
    for seed in range(60):
        found = Follows(arranged(table_of(*opinions(seed, models=2))), 0).advantage(1)
        missed += not found.low(0.05) <= truth <= found.high(0.05)
    assert missed <= 60 * 0.1 + 3 * np.sqrt(60 * 0.1 * 0.9)


def test_pairs_of_one_phenomenon_that_err_together_widen_the_interval() -> None:
    table = made()
    shift = dict(zip(sorted(set(table["phenomenon"])), np.random.default_rng(0).normal(0, 3, 12), strict=False))
    table["meta"] += table["phenomenon"].map(shift)
    table["direct"] += table["phenomenon"].map(shift)
    alone = Follows(arranged(table, ["key"]), 0).correlation(0)
    both = Follows(arranged(table), 0).correlation(0)
    assert both.high(0.05) - both.low(0.05) > 1.3 * (alone.high(0.05) - alone.low(0.05))


def test_an_answer_that_does_not_vary_has_no_correlation() -> None:
    follows = Follows(arranged(made().assign(meta=1.5)), 0)
    assert follows.correlation(0).unknown
    assert follows.correlation(0).p_above(0.0) == 1.0


def test_a_tetrad_without_common_answers_is_unknown() -> None:
    table = made()
    keys = sorted(set(table["key"]))
    first, second = table["key"].isin(keys[:60]), table["key"].isin(keys[60:])
    table.loc[(table["model"] == "model-0") & first, "meta"] = np.nan
    table.loc[(table["model"] == "model-1") & second, "meta"] = np.nan
    assert tetrad(arranged(table), 0, 1).unknown
    assert tetrad(arranged(table), 0, 1).p_above(0.0) == 1.0


def phrased(key: str, phrasing: str, meta: float, coverage: float) -> dict[str, object]:
    fixed = {"model": "m", "direct": 1.0, "phenomenon": "x"}
    return {"key": key, "phrasing": phrasing, "meta": meta, "coverage": coverage, **fixed}


def test_phrasings_are_averaged_over_valid_answers_only_and_count_alike() -> None:
    small = [phrased("a", "p", 0.1, 0.5), phrased("b", "p", 0.3, 0.1), phrased("c", "p", np.nan, 0.2)]
    large = [phrased("a", "q", 40.0, 0.7), phrased("b", "q", np.nan, 0.9), phrased("c", "q", -20.0, 0.2)]
    found = over_phrasings(pd.DataFrame(small + large)).set_index("key")
    assert found["meta"].tolist() == pytest.approx([(0.1 / 0.1 + 40 / 30) / 2, 0.3 / 0.1, -20 / 30])
    assert found["coverage"].tolist() == pytest.approx([0.6, 0.5, 0.2])


def test_a_phrasing_that_hardly_moves_the_answer_is_not_blown_up() -> None:
    still = [phrased(key, "p", 0.5 + i * 1e-7, 0.9) for i, key in enumerate("abcd")]
    assert over_phrasings(pd.DataFrame(still))["meta"].tolist() == [0.0] * 4
    never = [phrased(key, "p", np.nan, 0.9) for key in "abcd"]
    assert over_phrasings(pd.DataFrame(never))["meta"].isna().all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="coverage"), "lack coverage"),
        (lambda t: t.drop(columns="phenomenon"), "lack phenomenon"),
        (lambda t: t[t["model"] == "model-0"], "of 1 model: with no other"),
        (lambda t: pd.concat([t, t.head(1)]), "judged a pair twice"),
        (lambda t: t.drop(index=t.index[4]), "Not every model"),
        (lambda t: t.assign(direct=t["direct"].where(t.index != 4)), "Not every model"),
        (lambda t: t.assign(phenomenon=t["phenomenon"] + t["model"]), "different clusters"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused(change: object, message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        arranged(change(made()))  # type: ignore[operator]
