"""What the command ``triangle`` does."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from firsthand.auditing.triangle import TriangleRun, triangle
from firsthand.trials.files import write_json

HEADINGS = ("state_acc", "observer", "priv_gap", "target_tpr", "specificity")


def run_triangle(blocks: int, seed: int, json: Path | None) -> None:
    """Run the miniature, print its table, and say that its checks passed."""
    made = triangle(blocks, seed)
    console = Console()
    console.print(_table(made))
    lines = [f"{row.name}: " + ", ".join(f"{r.capability} {r.verdict}" for r in row.results) for row in made.rows]
    console.print("\n".join(["Verdicts", *lines]), markup=False, highlight=False, soft_wrap=True)
    console.print(
        f"\n{made.trials} trials in {made.blocks} blocks (seed {made.seed}). Design checks passed: every figure lies "
        "within four standard errors\nof its closed form, and every reporter got its known verdict.",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    if json is not None:
        write_json(json, _as_json(made))


def _table(made: TriangleRun) -> Table:
    """Each reporter's figures, and under them what must be expected in closed form."""
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("reporter", no_wrap=True)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in made.rows:
        table.add_row(row.name, *(f"{figure:.3f}" for figure in row.figures))
        table.add_row("  closed form", *(f"{wanted:.3f}" for wanted in row.expected), style="dim")
    return table


def _as_json(made: TriangleRun) -> dict[str, object]:
    rows = [
        {
            "reporter": row.name,
            "figures": dict(zip(HEADINGS, row.figures, strict=True)),
            "expected": dict(zip(HEADINGS, row.expected, strict=True)),
            "results": [result.model_dump(mode="json") for result in row.results],
        }
        for row in made.rows
    ]
    return {"schema_version": 1, "trials": made.trials, "blocks": made.blocks, "seed": made.seed, "rows": rows}
