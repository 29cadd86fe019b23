"""Plans: what the paper reports of its own runs comes out of the plan, and each setting moves what it should."""

import pytest

from firsthand.counterfactual.plans import Plan, PlanModel, PlanSettings, Role, mean_tokens, price_plan
from firsthand.counterfactual.prices import load_prices
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.usage import Usage

OPUS = "anthropic/claude-opus-4-6"
PAPER: dict[Role, PlanModel] = {
    "target": PlanModel(model="vllm/target", billed=False),
    "screener": PlanModel(model=OPUS, batch=True),
    "investigator": PlanModel(model=OPUS),
    "judge": PlanModel(model=OPUS, batch=True),
}
"""Opus everywhere, single calls in batches, the target on the authors' own machines (appendix B.5)."""


def plan(**changed: object) -> Plan:
    settings = {"prompts": 4714, "flagged": 1736 / 4714, "models": PAPER} | changed
    return price_plan(PlanSettings(**settings), load_prices())  # type: ignore[arg-type]


def used(found: Plan, stage: str) -> Usage:
    return found.costs.by_stage()[stage].usage


def test_evaluation_data_cost_what_the_paper_paid() -> None:
    """Table 3, left: 30 responses, about 12 experiments, five judges; lengths are the plan's stated assumptions."""
    found = plan().per_investigation
    assert found["screen"] == pytest.approx(0.20, rel=0.1)
    assert found["investigate"] == pytest.approx(0.96, rel=0.1)
    assert found["verify"] == pytest.approx(0.75, rel=0.1)
    assert plan().costs.total == pytest.approx(3300, rel=0.1)


def test_training_data_cost_what_the_paper_paid() -> None:
    """Table 3, right: 10 responses, 8 experiments, one judge. How many prompts were screened is not told."""
    found = plan(samples=10, experiments=8, judges=1).per_investigation
    assert found["investigate"] == pytest.approx(0.70, rel=0.1)
    assert found["verify"] == pytest.approx(0.15, rel=0.25)


def test_tokens_are_those_that_the_paper_counted() -> None:
    """Appendix B.5: 470,000 read in an investigation, 80% of it cached; 42,000 a judgement; 261,000 for training."""
    found = plan()
    number = found.settings.investigations
    investigating = used(found, "investigate")
    assert investigating.tokens_in / number == pytest.approx(470_000, rel=0.05)
    assert investigating.cache_read / investigating.tokens_in == pytest.approx(0.80, abs=0.03)
    assert used(found, "verify").input / number / 5 == pytest.approx(42_000, rel=0.02)
    light = plan(samples=10, experiments=8, judges=1)
    assert used(light, "investigate").tokens_in / number == pytest.approx(261_000, rel=0.05)


def test_an_investigation_without_a_cache_costs_what_the_paper_says_it_would() -> None:
    assert plan(cache_hits=0.0).per_investigation["investigate"] == pytest.approx(2.6, rel=0.05)


def test_single_calls_in_batches_cost_half_and_an_agents_do_not() -> None:
    alone = {role: who.model_copy(update={"batch": False}) for role, who in PAPER.items()}
    dear, cheap = plan(models=alone).per_investigation, plan().per_investigation
    assert dear["verify"] == pytest.approx(2 * cheap["verify"])  # type: ignore[operator]
    assert dear["investigate"] == cheap["investigate"]


def test_a_role_that_no_model_plays_uses_nothing() -> None:
    found = plan(models={"target": PAPER["target"]})
    assert set(found.costs.by_role()) == {"target"}
    assert set(found.costs.by_stage()) == {"sample", "experiments"}
    calls = used(found, "sample").calls + used(found, "experiments").calls
    assert calls == 4714 * 30 + 1736 * 13 * 30


def test_a_role_without_a_price_is_unknown_and_the_rest_is_priced() -> None:
    found = plan(models={**PAPER, "classifier": PlanModel(model="someone/new")})
    assert found.costs.total is None
    assert found.costs.unknown == ("someone/new",)
    assert found.costs.known > 3000
    assert used(found, "classify").calls == 1736 * 13 * 30


def test_no_prompts_cost_nothing() -> None:
    assert plan(prompts=0).costs.rows == ()


def test_assumptions_name_the_figures_they_rest_on() -> None:
    told = " ".join(plan(prompt_tokens=1234).assumptions)
    for figure in ("1,234", "430", "37%", "1,736", "12 experiments", "92%"):
        assert figure in told


def test_prompts_are_four_characters_a_token() -> None:
    prompts = [Prompt(turns=(Turn(role="user", content="x" * length),)) for length in (400, 800)]
    assert mean_tokens(prompts) == 150
    assert mean_tokens([]) == 0


def test_reproductions_are_priced_with_their_baselines_and_their_number_of_responses() -> None:
    everyone = {**PAPER, "describer": PAPER["judge"], "classifier": PAPER["judge"]}
    whole, few, none = (plan(models=everyone, reproductions=n, baselines_again=1.0) for n in (None, 10, 0))
    number, claims = whole.settings.investigations, whole.settings.claims
    calls = [
        found.costs.by_role()["target"].usage.calls - none.costs.by_role()["target"].usage.calls
        for found in (whole, few)
    ]
    assert calls[0] == pytest.approx((claims + 1.0) * number * 30, rel=0.001)
    assert calls[1] == pytest.approx(calls[0] / 3, rel=0.001)
    assert any("reproduced with 10 responses" in one for one in few.assumptions)
    assert any("No claim is reproduced" in one for one in none.assumptions)
