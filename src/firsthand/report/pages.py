"""How every page is rendered: escaped, with no script, asking for nothing outside itself."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from firsthand.report import formats
from firsthand.report.safe_text import visible


def render_page(template: str, context: Mapping[str, Any]) -> str:
    """Render a template of this package.

    Every text is escaped, and control and bidirectional characters are spelled out.

    Args:
        template: Its file name.
        context: What it shows.

    Returns:
        The page as text that encodes as UTF-8.
    """
    return str(_environment().get_template(template).render(context))


@lru_cache(maxsize=1)
def _environment() -> Any:
    """Templates are compiled once, however many pages are made of them."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("firsthand.report"),
        autoescape=True,
        finalize=_finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": formats.percent,
        "estimate": formats.estimate_text,
        "interval": formats.interval,
        "number": formats.number,
        "rests": lambda estimate: formats.units_text(estimate).replace(" trial", "\u00a0trial"),
        "p": formats.p_text,
        "count": formats.count_text,
        "moment": lambda when: when.strftime("%Y-%m-%d %H:%M:%S %Z"),
        "exact": lambda when: when.isoformat(timespec="microseconds"),
    }
    return environment


def duration(seconds: float) -> str:
    """A time in minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _finalize(value: Any) -> Any:
    """Spell out odd characters of everything that is printed; markup that is already safe is left alone."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
