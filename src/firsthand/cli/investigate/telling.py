"""What a run would cost, in the terminal."""

from rich.console import Console

from firsthand.cli.labels.prices import time_of
from firsthand.counterfactual.asking import Budget
from firsthand.counterfactual.pricing import Price


def print_price(price: Price, budget: Budget, console: Console) -> None:
    """Print what a run costs at most."""
    lines = [
        f"{price.prompts:,} prompts are sampled: {price.screening:,} responses.",
        f"At most {price.investigations:,} investigations: at most {price.investigating:,} responses.",
        f"Claims are reproduced in another way: at most {price.reproducing:,} responses."
        if price.reproducing
        else "Claims are not reproduced: none will be known to be.",
        f"At most {price.tokens:,} generated tokens in all.",
        f"Budget: {budget.words}.",
    ]
    if price.rate is not None and price.seconds is not None:
        lines.append(
            f"This machine does {price.rate:,.0f} tokens a second: at most about {time_of(price.seconds)}; "
            "responses that end early and causes that are found soon make it less."
        )
    console.print("\n".join(lines), markup=False, highlight=False)
