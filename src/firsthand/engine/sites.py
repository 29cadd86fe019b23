"""Named places in the residual stream.

``resid_pre[l]`` is what block ``l`` is given, ``resid_mid[l]`` what stands between its attention and its feed-forward
part (blocks that run the two one after the other only), ``resid_post[l]`` what it hands on. Layer 0 is the first block,
the embedding is ``resid_pre[0]``, and the input of the final norm is ``resid_post`` of the last block. There is no
index into a list of hidden states, whose meaning shifts by one between libraries.
"""

from dataclasses import dataclass
from enum import StrEnum
from numbers import Integral
from typing import TypeVar

from firsthand.errors import EngineError


class Stream(StrEnum):
    """Where in a block."""

    PRE = "resid_pre"
    MID = "resid_mid"
    POST = "resid_post"


@dataclass(frozen=True, order=True)
class Site:
    """A place in the residual stream.

    Attributes:
        layer: Index of the block, from 0.
        stream: Where in the block.
    """

    layer: int
    stream: Stream = Stream.POST

    def __post_init__(self) -> None:
        object.__setattr__(self, "stream", chosen("A stream", Stream, self.stream))

    def __str__(self) -> str:
        return f"{self.stream}[{self.layer}]"

    @property
    def stage(self) -> int:
        """How many blocks lie wholly before the site, so that they need not be run for an edit of it."""
        return self.layer + (self.stream is Stream.POST)


E = TypeVar("E", bound=StrEnum)


def chosen(what: str, choices: type[E], given: str) -> E:
    """The choice that a text names; a text that names none is refused, and never taken for another.

    Raises:
        EngineError: If it is none of the choices.
    """
    try:
        return choices(given)
    except ValueError as error:
        raise EngineError(f"{what} cannot be {given!r}.", f"Use one of: {', '.join(choices)}.") from error


def resid_pre(layer: int) -> Site:
    """The input of block ``layer``."""
    return Site(layer, Stream.PRE)


def resid_mid(layer: int) -> Site:
    """Between attention and feed-forward part of block ``layer``."""
    return Site(layer, Stream.MID)


def resid_post(layer: int) -> Site:
    """The output of block ``layer``."""
    return Site(layer, Stream.POST)


def parse_site(text: str) -> Site:
    """Read ``resid_post[12]``.

    Raises:
        EngineError: If the text does not name a site.
    """
    name, bracket, rest = text.strip().partition("[")
    number = rest.removesuffix("]")
    if name not in set(Stream) or not bracket or not rest.endswith("]") or not number.isdecimal():
        raise EngineError(f"{text!r} does not name a site.", "Write it like resid_post[12].")
    return Site(int(number), Stream(name))


def check_site(what: str, site: Site, depth: int) -> None:
    """Refuse a site that a model of this depth does not have.

    Raises:
        EngineError: If the layer is out of range.
    """
    if not (isinstance(site.layer, Integral) and 0 <= site.layer < depth):
        raise EngineError(
            f"{what}: there is no layer {site.layer}, the model has layers 0 to {depth - 1}.",
            "Choose a layer in range.",
        )
