"""What a run of the stages would cost, in the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from firsthand.counterfactual.costs import cost_text, total_text
from firsthand.counterfactual.inspecting.stages.settings import ROLES, StagesSettings
from firsthand.counterfactual.plans import PlanModel, PlanSettings, mean_tokens, price_plan
from firsthand.counterfactual.prices import load_prices
from firsthand.counterfactual.prompts import Prompt


def print_plan(settings: StagesSettings, prompts: Sequence[Prompt], console: Console) -> None:
    """Print calls, tokens and money of a run by stage and role, and what was assumed."""
    models = {role: PlanModel(model=one.model, billed=one.billed) for role in ROLES if (one := settings.playing(role))}
    if settings.behaviours:
        models = {role: one for role, one in models.items() if role not in ("screener", "classifier")}
    plan = price_plan(
        PlanSettings(
            prompts=len({prompt.id for prompt in prompts}),
            prompt_tokens=mean_tokens(prompts),
            samples=settings.sampling.samples,
            response_tokens=settings.sampling.max_tokens,
            experiments=12.0 if settings.effort == "thorough" else 6.0,
            confirmed=6.0 if settings.effort == "thorough" else 4.0,
            judges=settings.panel,
            baselines_again=1.0,
            models=models,
        ),
        load_prices(settings.prices),
    )
    table = Table("stage", "role", "model", "calls", "read", "written", "cost", box=None)
    for row in plan.costs.rows:
        entry = row.entry
        table.add_row(
            entry.stage,
            entry.role,
            entry.model,
            f"{entry.usage.calls:,}",
            f"{entry.usage.tokens_in:,}",
            f"{entry.usage.output:,}",
            cost_text(row, plan.costs.currency),
        )
    console.print(table)
    console.print(f"In all: {total_text(plan.costs)}", markup=False)
    for line in plan.assumptions:
        console.print(f"- {line}", markup=False, highlight=False)
