"""What calls cost: a ledger and a table of prices in, costs by stage and role out. An unknown price stays unknown."""

from collections.abc import Iterable

from pydantic import Field

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prices import PriceTable
from firsthand.counterfactual.usage import Entry, Usage, summed


class Cost(Part):
    """What one line of the ledger cost.

    Attributes:
        entry: The line.
        money: Its cost; ``None`` if it is not known, or nobody bills it.
        price: Whose price that is: pattern, source and date.
    """

    entry: Entry
    money: float | None = Field(default=None, ge=0.0)
    price: str = ""

    @property
    def unknown(self) -> bool:
        """Whether it costs something, and nobody knows how much."""
        return self.entry.billed and self.money is None and self.entry.usage.calls + self.entry.usage.tokens > 0


class Costs(Part):
    """What everything cost.

    Attributes:
        currency: In what.
        rows: One line for each stage, role, model and way of billing.
    """

    currency: str = "USD"
    rows: tuple[Cost, ...] = ()

    @property
    def known(self) -> float:
        """Sum of what is known: the least that was paid."""
        return sum(row.money or 0.0 for row in self.rows)

    @property
    def total(self) -> float | None:
        """Sum of all; ``None`` if something in it is not known."""
        return None if self.unknown else self.known

    @property
    def unknown(self) -> tuple[str, ...]:
        """Models whose price is not known, each once."""
        return tuple(dict.fromkeys(row.entry.model for row in self.rows if row.unknown))

    @property
    def usage(self) -> Usage:
        """Everything that was used."""
        return sum((row.entry.usage for row in self.rows), Usage())

    def by_stage(self) -> dict[str, "Costs"]:
        """The costs of each stage."""
        return self._by([row.entry.stage for row in self.rows])

    def by_role(self) -> dict[str, "Costs"]:
        """The costs of each role."""
        return self._by([row.entry.role for row in self.rows])

    def _by(self, keys: list[str]) -> dict[str, "Costs"]:
        return {
            wanted: Costs(
                currency=self.currency,
                rows=tuple(row for key, row in zip(keys, self.rows, strict=True) if key == wanted),
            )
            for wanted in dict.fromkeys(keys)
        }


def costs_of(ledger: Iterable[Entry], prices: PriceTable) -> Costs:
    """Price a ledger.

    Args:
        ledger: Entries in any order; those of one stage, role, model and way of billing are added up.
        prices: The prices.
    """
    return Costs(currency=prices.currency, rows=tuple(_cost(entry, prices) for entry in summed(ledger)))


def _cost(entry: Entry, prices: PriceTable) -> Cost:
    if not entry.billed:
        return Cost(entry=entry)
    price = prices.price(entry.model)
    if price is None:
        return Cost(entry=entry)
    return Cost(entry=entry, money=price.of(entry), price=f"{price.model} ({price.source}, {price.date.isoformat()})")


def money_text(money: float | None, currency: str = "USD") -> str:
    """Write a sum: small ones with more decimals, an unknown one as such."""
    if money is None:
        return "unknown"
    sign = {"USD": "$", "EUR": "€", "GBP": "£"}.get(currency, f"{currency} ")
    decimals = 2 if money >= 1 or money == 0 else 4 if money < 0.01 else 3
    return f"{sign}{money:,.{decimals}f}"


def cost_text(cost: Cost, currency: str = "USD") -> str:
    """Write what a line cost."""
    return money_text(cost.money, currency) if cost.entry.billed else "not billed"


def total_text(costs: Costs) -> str:
    """Write a sum; where something in it is unknown, say so and give what is known as the least."""
    if costs.total is not None:
        billed = any(row.entry.billed for row in costs.rows)
        return money_text(costs.total, costs.currency) if billed or not costs.rows else "not billed"
    if costs.known:
        return f"{money_text(costs.known, costs.currency)} and what is unknown"
    return "unknown"
