"""Prices of models: a table in a file that its user edits. What is in no table has no price, which is not zero."""

from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, ValidationError

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.usage import Entry
from firsthand.errors import CounterfactualError

MILLION = 1_000_000

Money = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class Price(Part):
    """What a model costs, per million tokens.

    Attributes:
        model: Pattern of its name, with ``*`` for anything; letters' case does not matter.
        input: Tokens read.
        output: Tokens generated.
        cache_write: Tokens written to a cache. ``None``: not known.
        cache_read: Tokens read from a cache. ``None``: not known.
        batch: What is paid of these prices for calls in batches. ``None``: no reduction is known, so the full price.
        date: When it was so.
        source: Who says so.
    """

    model: Annotated[str, Field(min_length=1)]
    input: Money
    output: Money
    cache_write: Money | None = None
    cache_read: Money | None = None
    batch: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    date: date
    source: Annotated[str, Field(min_length=1)]

    def fits(self, model: str) -> bool:
        """Whether it is the price of a model of some name."""
        return fnmatchcase(model.casefold(), self.model.casefold())

    def at_most(self, entry: Entry) -> float:
        """What one line of a ledger costs at most: cache tokens of unknown price count like tokens read anew."""
        read = self.input or 0.0
        return (
            self.model_copy(
                update={
                    "cache_write": self.cache_write if self.cache_write is not None else read,
                    "cache_read": self.cache_read if self.cache_read is not None else read,
                }
            ).of(entry)
            or 0.0
        )

    def of(self, entry: Entry) -> float | None:
        """What one line of a ledger costs; ``None`` if it has tokens of a kind whose price is not known."""
        used = entry.usage
        paid = 0.0
        for tokens, price in (
            (used.input, self.input),
            (used.output, self.output),
            (used.cache_write, self.cache_write),
            (used.cache_read, self.cache_read),
        ):
            if tokens and price is None:
                return None
            paid += tokens * (price or 0.0) / MILLION
        return paid * (self.batch if entry.batch and self.batch is not None else 1.0)


class PriceTable(Part):
    """Prices, all in one currency; of several that fit, the first counts.

    Attributes:
        currency: In what they are.
        prices: The prices.
    """

    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    prices: tuple[Price, ...] = ()

    def price(self, model: str) -> Price | None:
        """The price of a model; ``None`` if it is not known."""
        return next((price for price in self.prices if price.fits(model)), None)


def load_prices(path: Path | str | None = None) -> PriceTable:
    """The package's prices, after those of a file if there is one.

    Raises:
        CounterfactualError: If the file cannot be read, is no table of prices, or is in another currency.
    """
    ours = _read(resources.files("firsthand.counterfactual").joinpath("prices.yaml").read_text("utf-8"), "prices.yaml")
    if path is None:
        return ours
    try:
        theirs = _read(Path(path).read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise CounterfactualError(f"The prices in {path} could not be read: {error}.", "Check the path.") from error
    if theirs.currency != ours.currency:
        # Prices in two currencies cannot be added up, so a file in another one stands alone.
        return theirs
    return PriceTable(currency=ours.currency, prices=(*theirs.prices, *ours.prices))


def _read(text: str, name: str) -> PriceTable:
    example = "Begin with a copy of the prices that come with the package."
    try:
        found: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise CounterfactualError(f"{name} is no YAML: {' '.join(str(error).split())}.", example) from error
    if not isinstance(found, dict):
        raise CounterfactualError(f"{name} holds no table of prices.", example)
    try:
        return PriceTable.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise CounterfactualError(f"{name}: {place}: {first['msg']}.", example) from error


def unpriced(table: PriceTable, models: Sequence[str]) -> tuple[str, ...]:
    """Those models whose price is not known, each once."""
    return tuple(dict.fromkeys(model for model in models if table.price(model) is None))
