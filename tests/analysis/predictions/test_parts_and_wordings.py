"""Parts of the claims, and what the wording of the question does."""

import numpy as np
import pytest
from predictions_plain import drawn, panel, table
from sklearn.metrics import roc_auc_score

from firsthand.analysis.predictions import Panel, judged_predictions
from firsthand.analysis.predictions.subsets import subsets
from firsthand.analysis.predictions.wordings import Worded, combined, wording_effect


def test_parts_are_made_by_what_is_known_of_claims_and_by_what_the_baseline_is_unsure_of() -> None:
    truth, codes, first, second = drawn(0)
    rows = table(truth, codes, base=second, tool=first)
    number = rows["claim"].str[1:].astype(int)
    rows = rows.assign(
        concreteness=np.where(number % 3 == 0, np.nan, 2 + number % 2),
        source=np.where(number < 60, "chats", "agents"),
        filtered=number % 2 == 0,
    )
    found = {one.name: one for one in subsets(Panel.of(rows), "base")}
    assert {"concreteness 2", "concreteness 3", "concreteness not judged", "source chats"} <= set(found)
    assert found["source chats"].claims == 60
    assert found["filtered: passes every filter"].claims + found["left out by a filter"].claims == 120
    unsure = found["base is unsure (0.25 to 0.75)"]
    kept = (second >= 0.25) & (second <= 0.75)
    assert unsure.claims == kept.sum()
    assert "chosen by base's own answers" in unsure.note
    scores = {one.name: one for one in unsure.scores}
    assert scores["tool"].auroc is not None
    assert scores["tool"].auroc.value == pytest.approx(roc_auc_score(truth[kept], first[kept]))
    assert scores["base"].lead is None
    assert scores["tool"].lead is not None


def test_invalid_answers_in_a_part_are_counted_and_bounded() -> None:
    truth, codes, first, second = drawn(2)
    rows = table(truth, codes, base=second, tool=np.where(np.arange(len(truth)) % 3 == 0, np.nan, first))
    rows = rows.assign(source=np.where(rows["claim"].str[1:].astype(int) < 60, "chats", "agents"))
    part = next(one for one in subsets(Panel.of(rows), "base") if one.name == "source chats")
    base, tool = part.scores
    assert (base.invalid, tool.invalid) == (0, 20)
    assert base.auroc == base.auroc_worst == base.auroc_best
    kept, holes = truth[:60], np.arange(60) % 3 == 0
    worst = np.where(holes, np.where(kept == 1, -9.0, 9.0), first[:60])
    assert tool.auroc_worst is not None
    assert tool.auroc_worst.value == pytest.approx(roc_auc_score(kept, worst))
    for low, value, high in (
        (tool.auroc_worst, tool.auroc, tool.auroc_best),
        (tool.accuracy_worst, tool.accuracy, tool.accuracy_best),
        (tool.lead_worst, tool.lead, tool.lead_best),
    ):
        assert low is not None
        assert value is not None
        assert high is not None
        assert low.value < value.value < high.value


def test_an_unsure_part_flatters_whoever_is_not_the_baseline_even_if_both_are_as_good() -> None:
    rng = np.random.default_rng(1)
    truth = np.tile([1.0, 0.0], 1500)
    both = [1 / (1 + np.exp(-(1.5 * (2 * truth - 1) + rng.normal(0, 1.5, 3000)))) for _ in range(2)]
    made = panel(truth, base=both[0], twin=both[1])
    (unsure,) = subsets(made, "base")
    scores = {one.name: one for one in unsure.scores}
    assert scores["twin"].lead is not None
    assert scores["twin"].lead.low > 0.05  # the note says so


def test_what_order_and_wording_do_is_told_apart_from_what_claims_do() -> None:
    truth, codes, _, _ = drawn(2)
    claim = np.random.default_rng(3).normal(0, 1.0, len(truth))
    # Two wordings, 0.8 apart; naming Yes first adds 0.5.
    odds = np.column_stack([claim + shift for shift in (0.9, 0.4, 0.1, -0.4)])
    said = Worded(("a1", "a2", "b1", "b2"), (0, 0, 1, 1), (True, False, True, False), odds, np.full(odds.shape, 0.7))
    found = wording_effect(panel(truth, codes, one=np.full(len(truth), 0.5)), "one", said)
    assert found.between is not None
    assert found.between.value == pytest.approx(0.8 / np.sqrt(2))
    assert found.within == pytest.approx(claim.std(ddof=1))
    assert found.order is not None
    assert 0.05 < found.order.value < 0.15
    areas = [one.auroc.value for one in found.wordings if one.auroc is not None]
    assert areas == pytest.approx([roc_auc_score(truth, claim)] * 4)


def test_whoever_answers_to_the_order_of_the_answers_is_named() -> None:
    truth, codes, first, _ = drawn(4)
    odds = np.column_stack([np.full(len(truth), 1.5), np.full(len(truth), -1.5)]) + first[:, None]
    said = Worded(("a", "b"), (0, 0), (True, False), odds, np.ones(odds.shape))
    made = panel(truth, codes, floor=np.full(len(truth), 0.5), one=first)
    effects = [wording_effect(made, "one", said)]
    notes = judged_predictions(made, {"one": "observer", "floor": "floor"}, wordings=effects).notes
    assert any("not to the claim" in note and "one" in note for note in notes)
    assert not any(
        "not to the claim" in note for note in judged_predictions(made, {"one": "observer", "floor": "floor"}).notes
    )


def test_wordings_are_combined_by_their_mean_log_odds() -> None:
    assert combined([2.0, -2.0]) == 0.5
    assert combined([1.0, 3.0]) == pytest.approx(1 / (1 + np.exp(-2.0)))
