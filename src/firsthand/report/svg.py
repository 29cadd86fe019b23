"""Vega-Lite charts as inline SVG: drawn when the page is made, so the page itself runs no script and asks for nothing.

Colours in a chart are stand-ins from :data:`LIGHT`. The page's style sheet restyles them by attribute, which is how one
drawing serves light, dark and print.
"""

import re
import textwrap
from typing import Any

from markupsafe import Markup, escape

from firsthand.report.files import ReportError
from firsthand.report.safe_text import visible

LIGHT = {
    "ink": "#1b1f24",
    "muted": "#59616b",
    "line": "#d9d5cc",
    "accent": "#0a6672",
    "other": "#6f7782",
    "chance": "#a8500a",
    "paper": "#fffefb",
}
"""Name of a role to its colour on light paper; the style sheet names the colours for dark."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
VEGA_LITE = "6.1"

_OPENING = re.compile(r"<svg\b[^>]*\bviewBox=\"([\d.\s-]+)\"[^>]*>")


def render(spec: dict[str, Any], *, identifier: str, title: str, description: str, halo: bool = True) -> Markup:
    """Draw a chart as inline SVG that scales with its container and has a name and a description.

    Args:
        spec: A Vega-Lite specification.
        identifier: Unique within the page; letters, digits and hyphens.
        title: Short name, read out by screen readers.
        description: What the chart shows, in one or two sentences.
        halo: Whether labels stand out from lines behind them; for charts on plain paper.

    Returns:
        Safe markup: an ``<svg>`` element.

    Raises:
        ReportError: If the chart cannot be drawn.
    """
    import vl_convert

    try:
        drawn = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    except ValueError as error:
        raise ReportError(f"The chart '{title}' could not be drawn: {error}.", "Report this as a bug.") from error
    found = _OPENING.search(drawn)
    if found is None:
        raise ReportError(f"The chart '{title}' was drawn in an unknown form.", "Install the pinned vl-convert-python.")
    body = drawn[found.end() :].replace('role="graphics-object"', "").replace('role="graphics-symbol"', "")
    opening = Markup(
        '<svg class="{name}" role="img" viewBox="{box}" aria-labelledby="{id}-t {id}-d" preserveAspectRatio="xMidYMid">'
        '<title id="{id}-t">{title}</title><desc id="{id}-d">{description}</desc>'
    ).format(
        name="chart halo" if halo else "chart",
        box=found.group(1),
        id=escape(identifier),
        title=title,
        description=description,
    )
    return opening + Markup(_slim(body))  # noqa: S704 - Vega escapes text, and nothing else in it comes from outside


def to_svg(spec: dict[str, Any], *, title: str) -> str:
    """Draw a chart as an SVG file of its own, on paper and under its title.

    Raises:
        ReportError: If the chart cannot be drawn.
    """
    import vl_convert

    try:
        return str(vl_convert.vegalite_to_svg(_alone(spec, title), vl_version=VEGA_LITE, allowed_base_urls=[]))
    except ValueError as error:
        raise ReportError(f"The chart '{title}' could not be drawn: {error}.", "Report this as a bug.") from error


def to_png(spec: dict[str, Any], *, title: str, scale: float = 2.0) -> bytes:
    """Draw a chart as a PNG file, ``scale`` pixels to a point, on paper and under its title.

    Raises:
        ReportError: If the chart cannot be drawn.
    """
    import vl_convert

    try:
        drawn = vl_convert.vegalite_to_png(_alone(spec, title), vl_version=VEGA_LITE, scale=scale, allowed_base_urls=[])
    except ValueError as error:
        raise ReportError(f"The chart '{title}' could not be drawn: {error}.", "Report this as a bug.") from error
    return bytes(drawn)


def _alone(spec: dict[str, Any], title: str) -> dict[str, Any]:
    """Give a chart what the page around it gives otherwise: paper, room and its title."""
    heading = {"text": textwrap.wrap(visible(title), 52) or [""], "anchor": "start", "fontSize": 14, "offset": 12}
    config = {**spec.get("config", {}), "background": LIGHT["paper"], "padding": 16}
    return {**spec, "title": {**heading, "color": LIGHT["ink"]}, "config": config}


def _slim(body: str) -> str:
    """Drop accessibility attributes of single marks (the chart has one name and a table) and excess digits."""
    body = re.sub(r' (?:aria-[a-z]+|pointer-events)="[^"]*"', "", body)
    body = re.sub(r'<path class="(?:background|foreground)" d="(?:M0,0h0v0h0Z)?"(?: display="none")?/>', "", body)
    return re.sub(r"(\d+\.\d{2})\d+", r"\1", body)
