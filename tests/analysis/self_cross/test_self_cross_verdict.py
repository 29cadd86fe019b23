"""Every rule of the verdict, on predictions whose truth is known."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.inference import Measured
from firsthand.analysis.self_cross import (
    Elsewhere,
    Panel,
    SelfCrossResult,
    SelfCrossSpec,
    Support,
    ability,
    controls,
    corrected,
    judge,
    panel_of,
)
from firsthand.analysis.self_cross.contrasts import Contrast, SeedPart, mean_area
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Verdict

sys.path.insert(0, str(Path(__file__).parent))
from simulated_trainings import Models, both, claims, predictions, supported

FAR = Measured.approximate(0.5, 0.01, 30, (0.0, 100.0))
FEW = Measured.approximate(0.02, 0.01, 30, (0.0, 1.0))
MANY = Measured.approximate(0.3, 0.02, 30, (0.0, 1.0))
UNSURE = Measured.approximate(0.1, 0.06, 30, (0.0, 1.0))


def private(seed: int = 0, **options: object) -> tuple[Panel, Support]:
    return both(np.random.default_rng(seed), Models(own=1.5, shared=0.5), **options)  # type: ignore[arg-type]


def without(panel: Panel, *names: str) -> Panel:
    return replace(panel, runs=tuple(one for one in panel.runs if one.name not in names))


def with_own(panel: Panel, **changes: object) -> Panel:
    return replace(panel, runs=(replace(panel.own, **changes), *panel.runs[1:]))  # type: ignore[arg-type]


def reasons(result: SelfCrossResult) -> str:
    return " ".join(result.reasons)


def test_a_private_rule_is_privileged_with_everything_in_order() -> None:
    result = judge(*private())
    assert result.verdict is Verdict.PRIVILEGED
    assert result.p <= 0.05
    assert {one.rival for one in result.leads} == {"sibling", "stranger", "words", "constant"}
    assert all(one.lead.p is not None and one.lead.p <= 0.05 for one in result.leads)
    assert result.standings[0].seeds == (0, 1, 2)
    assert result.standings[0].auroc.value == pytest.approx(np.mean(result.standings[0].by_seed))


@pytest.mark.parametrize(
    ("missing", "why"),
    [
        ({"siblings": frozenset()}, "is a sibling of the target"),
        ({"ability": {}}, "only the better learner cannot be told"),
        ({"drift": ()}, "how far training moved the model was not measured"),
        ({"drift": (Measured.approximate(0.5, 0.01, 30, (0.0, 100.0)),)}, "training moved the model"),
        ({"changed": (MANY,), "anew": 1.0}, "training turned 30% of the labels"),
        ({"changed": (UNSURE,), "anew": 1.0}, "up to 2"),
        ({"changed": (FEW,), "anew": 0.7, "drift": (FAR,)}, "70% of the labels were measured anew"),
        ({"same_data": False}, "not trained on the same claims"),
        ({"shared_clusters": frozenset({"k1"})}, "both trained on and judged on"),
    ],
)
def test_whatever_is_missing_takes_the_verdict_away_and_is_named(missing: dict[str, object], why: str) -> None:
    panel, support = private()
    result = judge(panel, replace(support, **missing))  # type: ignore[arg-type]
    assert result.verdict is Verdict.INSUFFICIENT
    assert why in reasons(result)


def test_labels_that_stayed_make_up_for_a_model_that_moved() -> None:
    panel, support = private()
    found = judge(panel, replace(support, drift=(FAR,), changed=(FEW, FEW), anew=0.9))
    assert found.verdict is Verdict.PRIVILEGED
    assert found.changed is not None
    assert found.changed.low < 0.02 < found.changed.high


def test_a_verdict_that_lacks_something_has_no_small_p_to_lend_to_others() -> None:
    panel, support = private()
    assert judge(panel, replace(support, siblings=frozenset())).p == 1.0


def test_only_claims_about_a_third_target_tell_who_learns_better() -> None:
    there = predictions(np.random.default_rng(3), claims(40, 2), Models(public=0.8), own=False)
    assert ability([there], "target", "sibling") is not None
    for about in ("target", "sibling"):
        assert ability([replace(there, about=about)], "target", "sibling") is None
    itself = replace(there, runs=tuple(replace(r, kind="self") if r.name == "sibling" else r for r in there.runs))
    assert ability([itself], "target", "sibling") is None


def spoilt(panel: Panel, name: str, **changes: object) -> Panel:
    return replace(panel, runs=tuple(replace(r, **changes) if r.name == name else r for r in panel.runs))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("public", "why"),
    [(0.0, "is not shown to foretell anything there"), (5.0, "foretells nearly everything there")],
)
def test_a_control_at_chance_or_at_the_ceiling_is_not_informative(public: float, why: str) -> None:
    panel, support = private()
    there = predictions(np.random.default_rng(5), claims(40, 2), Models(public=public), own=False)
    result = judge(panel, replace(support, ability=supported(there).ability))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "not informative" in reasons(result)
    assert why in reasons(result)


def test_a_control_must_pass_the_gates_that_the_claims_must() -> None:
    there = predictions(np.random.default_rng(5), claims(40, 2), Models(public=0.8), own=False)
    dim = spoilt(there, "sibling", coverage=np.full((3, 80), 0.01))
    deaf = there.runs[1].probability.copy()
    deaf[:, :20] = np.nan
    for one, why in (
        (Elsewhere(dim), "coverage"),
        (Elsewhere(spoilt(there, "sibling", probability=deaf)), "no valid answer"),
        (Elsewhere(there, same_data=False), "same claims in the same order"),
        (Elsewhere(there, shared_clusters=frozenset({"k"})), "both trained on and judged on"),
    ):
        assert why in " ".join(controls([one], "target", ("sibling",), SelfCrossSpec())["sibling"].faults)


def test_invalid_answers_make_the_ability_no_smaller_either_way() -> None:
    there = predictions(np.random.default_rng(5), claims(40, 2), Models(public=0.8), own=False)
    plain = ability([there], "target", "sibling")
    for name in ("target", "sibling"):
        some = next(r for r in there.runs if r.name == name).probability.copy()
        some[:, :6] = np.nan
        larger = ability([spoilt(there, name, probability=some)], "target", "sibling")
        assert plain is not None
        assert larger is not None
        assert larger.value >= plain.value - 1e-12


def test_a_sibling_whose_training_failed_is_no_control() -> None:
    panel, support = private()
    dull = judge(spoilt(panel, "sibling", probability=np.full((3, 80), 0.6)), support)
    assert dull.verdict is Verdict.INSUFFICIENT
    assert "no sibling is a control: sibling gives every claim the same" in reasons(dull)
    unable = {name: replace(one, able=False) for name, one in support.ability.items()}
    for area, verdict in ((0.5, Verdict.INSUFFICIENT), (0.9, Verdict.PRIVILEGED)):
        learnt = {"sibling": Measured.approximate(area, 0.03, 30, (0.0, 1.0))}
        assert judge(panel, replace(support, ability=unable, learnt=learnt)).verdict is verdict


def test_a_sibling_that_learnt_elsewhere_may_say_yes_to_all_of_which_it_knows_nothing() -> None:
    panel, support = private()
    sibling = next(one for one in panel.runs if one.name == "sibling")
    yes = spoilt(panel, "sibling", probability=0.6 + 0.3 * sibling.probability)
    assert judge(yes, support).verdict is Verdict.PRIVILEGED
    unable = {name: replace(one, able=False) for name, one in support.ability.items()}
    assert "no sibling is a control: sibling is constant" in reasons(judge(yes, replace(support, ability=unable)))


def test_siblings_have_half_of_the_level_of_as_good() -> None:
    rng = np.random.default_rng(0)
    base = claims(30, 2)
    right = lambda x: 10.0 * (2.0 * base.truth - 1.0)  # noqa: E731
    panel = predictions(rng, base, Models(public=0.2), change=dict.fromkeys(("target", "sibling"), right))
    assert judge(panel, supported()).verdict is Verdict.PUBLIC_INFERENCE  # a share of a fourth needs 34 clusters
    assert judge(panel, supported(siblings=frozenset())).verdict is Verdict.INSUFFICIENT


def test_a_twin_that_was_made_the_same_way_makes_up_for_claims_about_others() -> None:
    panel, support = private()
    learnt = {"sibling": Measured.approximate(0.9, 0.03, 30, (0.0, 1.0))}
    alone = replace(support, ability={}, learnt=learnt)
    assert judge(panel, alone).verdict is Verdict.INSUFFICIENT
    assert judge(panel, replace(alone, twins=frozenset({"sibling"}))).verdict is Verdict.PRIVILEGED
    unlearnt = {"sibling": Measured.approximate(0.5, 0.03, 30, (0.0, 1.0))}
    failed = judge(panel, replace(alone, twins=frozenset({"sibling"}), learnt=unlearnt))
    assert failed.verdict is Verdict.INSUFFICIENT


def test_one_half_is_neither_yes_nor_no() -> None:
    panel, support = private()
    half = judge(spoilt(panel, "constant", probability=np.full((1, 80), 0.5)), support).standings[-1]
    assert half.accuracy is not None
    assert half.fpr is not None
    assert half.tpr is not None
    assert (half.accuracy.value, half.fpr.value, half.tpr.value) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("names", "why"),
    [(("sibling", "stranger"), "no other model was trained"), (("words", "constant"), "no observer and no floor")],
)
def test_without_rivals_there_is_no_verdict(names: tuple[str, ...], why: str) -> None:
    panel, support = private()
    result = judge(without(panel, *names), support)
    assert result.verdict is Verdict.INSUFFICIENT
    assert why in reasons(result)


def test_one_seed_or_few_clusters_are_not_enough() -> None:
    assert "what another seed would give is not known" in reasons(judge(*private(seeds=1)))
    assert "independent clusters" in reasons(judge(*private(clusters=6)))


def test_one_rival_that_knows_as_much_takes_the_verdict_away() -> None:
    panel, support = private()
    copied = tuple(
        replace(one, probability=panel.own.probability[:1], coverage=panel.own.coverage[:1])
        if one.name == "words"
        else one
        for one in panel.runs
    )
    result = judge(replace(panel, runs=copied), support)
    assert result.verdict is Verdict.PUBLIC_INFERENCE
    assert "words does as well" in reasons(result)


def test_a_constant_yes_has_an_area_of_one_half_and_is_named() -> None:
    panel, support = private()
    result = judge(with_own(panel, probability=np.full_like(panel.own.probability, 0.97)), support)
    assert result.standings[0].auroc.value == 0.5
    assert result.standings[0].tpr is not None
    assert result.standings[0].fpr is not None
    assert (result.standings[0].tpr.value, result.standings[0].fpr.value) == (1.0, 1.0)
    assert "target gives every claim the same probability" in str(result.standings[0].constant)
    assert result.verdict is Verdict.INSUFFICIENT


def test_an_order_of_probabilities_that_all_say_yes_is_no_report() -> None:
    panel, support = private()
    result = judge(with_own(panel, probability=0.6 + 0.4 * panel.own.probability), support)
    assert result.standings[0].auroc.value > 0.9
    assert result.verdict is Verdict.INSUFFICIENT
    assert "target is constant: it answers yes to 100.0%" in reasons(result)


def test_the_reverse_of_what_happens_is_inverted() -> None:
    panel, support = private()
    assert judge(with_own(panel, probability=1.0 - panel.own.probability), support).verdict is Verdict.INVERTED


def test_invalid_answers_count_against_the_target_and_for_its_rivals() -> None:
    panel, support = private()
    probability = panel.own.probability.copy()
    probability[:, np.flatnonzero(panel.truth == 1.0)[:6]] = np.nan
    result = judge(with_own(panel, probability=probability), support)
    assert result.standings[0].auroc.value < judge(panel, support).standings[0].auroc.value
    probability[:, :20] = np.nan
    assert "gave no valid answer" in reasons(judge(with_own(panel, probability=probability), support))


def test_an_absence_needs_a_planted_rule_that_was_read_with_as_much_training() -> None:
    rng = np.random.default_rng(1)
    panel, support = both(rng, Models(shared=0.2), clusters=200)
    seen = Measured.approximate(0.95, 0.02, 40, (0.0, 1.0))
    dim = Measured.approximate(0.7, 0.1, 40, (0.0, 1.0))
    assert judge(panel, replace(support, sensitivity=seen)).verdict is Verdict.NO_ACCESS
    for sense, why in ((None, "has not shown what it would see"), (dim, "is required of its lower bound")):
        result = judge(panel, replace(support, sensitivity=sense))
        assert result.verdict is Verdict.INSUFFICIENT
        assert why in reasons(result)


@pytest.mark.parametrize(
    ("moved", "why"),
    [
        ({"changed": (MANY,), "anew": 1.0}, "training turned 30% of the labels"),
        ({"changed": (), "anew": 0.0, "drift": ()}, "was not measured"),
        ({"changed": (), "anew": 0.0, "drift": (FAR,)}, "training moved the model"),
    ],
)
def test_what_a_target_no_longer_does_shows_neither_absence_nor_the_reverse(moved: dict[str, object], why: str) -> None:
    seen = Measured.approximate(0.95, 0.02, 40, (0.0, 1.0))
    panel, support = both(np.random.default_rng(1), Models(shared=0.2), clusters=200)
    absent = judge(panel, replace(support, sensitivity=seen, **moved))  # type: ignore[arg-type]
    panel, support = private()
    told = with_own(panel, probability=1.0 - panel.own.probability)
    reverse = judge(told, replace(support, **moved))  # type: ignore[arg-type]
    for result in (absent, reverse):
        assert result.verdict is Verdict.INSUFFICIENT
        assert why in reasons(result)


def test_over_many_targets_one_lucky_verdict_does_not_stand() -> None:
    one = judge(*private())
    lucky = one.model_copy(update={"p": 0.04})
    found = corrected({"lucky": lucky, **{f"other {n}": lucky.model_copy(update={"p": 0.6}) for n in range(3)}})
    assert found["lucky"].verdict is Verdict.INSUFFICIENT
    assert "does not hold over 4 targets" in reasons(found["lucky"])
    assert corrected({"alone": one})["alone"].verdict is Verdict.PRIVILEGED


def test_net_of_general_ability_is_the_difference_of_two_differences() -> None:
    rng = np.random.default_rng(3)
    here = predictions(rng, claims(40, 2), Models(own=1.0, learner=0.5))
    there = predictions(rng, claims(40, 2), Models(learner=0.5), own=False)
    known = ability([there], "target", "sibling")
    assert known is not None
    sibling = here.named("sibling")
    assert sibling is not None
    plain = here.area(here.own) - here.area(sibling)
    net = plain - known
    assert net.value == pytest.approx(plain.value - known.value)
    assert net.measured().parts[-1].se > plain.measured().parts[-1].se
    assert ability([there], "target", "nobody") is None


def test_the_variance_has_a_part_for_claims_and_one_for_seeds() -> None:
    truth = np.array([1.0, 0.0] * 20)
    rng = np.random.default_rng(0)
    scores = truth + rng.standard_normal((3, 40))
    found = mean_area(truth, scores, [str(n // 2) for n in range(40)], trained=True)
    assert sum(found.influence.values()) == pytest.approx(0.0, abs=1e-12)
    clusters, seeds, together = found.measured().parts
    assert together.se**2 == pytest.approx(clusters.se**2 + seeds.se**2)
    assert (clusters.units, seeds.units) == (20, 3)
    assert seeds.units <= together.units <= 20


def test_with_two_seeds_what_they_add_has_one_degree_of_freedom() -> None:
    found = Contrast(0.4, {str(n): 0.0001 * (-1) ** n for n in range(40)}, (SeedPart(0.01, 1),), 80, (-1.0, 1.0))
    assert found.measured().p_above(0.0) == pytest.approx(0.078, abs=0.005)  # t = 4 with 1 degree


def table() -> pd.DataFrame:
    rows = [
        {"claim": f"c{n}", "cluster": f"k{n // 2}", "label": bool(n % 2), "kind": kind, "model": model, "seed": seed,
         "probability": 0.4 + 0.2 * (n % 2), "coverage": 1.0}
        for n in range(40)
        for kind, model, seeds in (("self", "a", (0, 1)), ("cross", "b", (0, 1)), ("floor", "f", (None,)))
        for seed in seeds
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_a_table_becomes_a_panel() -> None:
    panel = panel_of(table(), "a")
    assert [(one.name, one.seeds) for one in panel.runs] == [("a", (0, 1)), ("b", (0, 1)), ("f", (-1,))]
    assert panel.area(panel.own).value == 1.0


@pytest.mark.parametrize(
    ("spoilt", "why"),
    [
        (lambda t: t.drop(columns="coverage"), "no column coverage"),
        (lambda t: t.iloc[1:], "predicts 39 of 40 claims"),
        (lambda t: pd.concat([t, t.iloc[:1]]), "twice"),
        (lambda t: t.assign(label=True), "have one label"),
        (lambda t: t.assign(probability=1.2), "outside 0 to 1"),
        (lambda t: t.assign(kind=t["kind"].replace("self", "cross")), "0 predictors are said to be a"),
        (lambda t: t.assign(kind=t["kind"].replace("floor", "guess")), "unknown kind"),
        (lambda t: t.assign(cluster=[str(n) for n in range(len(t))]), "several labels or clusters"),
    ],
)
def test_a_table_that_is_not_whole_is_refused(spoilt: object, why: str) -> None:
    with pytest.raises(AnalysisError, match=why):
        panel_of(spoilt(table()), "a")  # type: ignore[operator]


def test_support_of_the_simulations_is_that_of_a_full_design() -> None:
    there = predictions(np.random.default_rng(0), claims(20, 2), Models(), own=False)
    assert set(supported(there).ability) == {"sibling", "stranger"}
