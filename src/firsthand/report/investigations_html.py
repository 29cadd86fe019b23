"""The pages of counterfactual investigations: an index that sorts and filters, and a page or section for each.

Up to :data:`INLINE` investigations stand on one page with their index. More are pages of their own in a folder beside
it, so that the index stays quick with thousands. No page loads anything. Only the index has a script, which its content
security policy names by its hash, so that no other could run; without it the index is a plain table.
"""

import base64
import hashlib
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from firsthand.counterfactual.costs import cost_text, money_text, total_text
from firsthand.counterfactual.investigation import Investigation
from firsthand.report import investigations_words as words
from firsthand.report.files import write_text
from firsthand.report.investigation_page_views import IndexRow, Views
from firsthand.report.investigations_document import InvestigationsDocument
from firsthand.report.pages import duration, render_page

INLINE: Final = 40
"""With more investigations than this, each is a page of its own."""

_CHOICES: Final = 60
"""With more different questions than this, the index offers who judges them instead; all can be searched for."""


def render_index(document: InvestigationsDocument, *, pages: str | None = None) -> str:
    """Render the index, with every investigation on the same page or linked.

    Args:
        document: What to show.
        pages: Folder of the pages, relative to the index. ``None``: everything on this page.

    Returns:
        The page as text that encodes as UTF-8.
    """
    views = Views(document)
    inline = pages is None
    rows = tuple(
        views.row(one, f"#i{one.id}" if inline else f"{pages}/{one.id}.html") for one in document.investigations
    )
    shown = tuple(views.investigation(one) for one in document.investigations) if inline else ()
    script = _script()
    return render_page(
        "investigations.html.j2",
        {
            **_common(document),
            "rows": rows,
            "views": shown,
            "script": Markup(script),  # noqa: S704 - a file of this package
            "script_hash": _hash(script),
            **_choices(rows),
            "counts": _counts(rows),
            "duration": duration((document.finished - document.started).total_seconds()),
            "claims_true": sum(claim.label for claim in document.claims),
        },
    )


def render_investigation(
    document: InvestigationsDocument, investigation: Investigation, *, index: str = "../report.html"
) -> str:
    """Render the page of one investigation.

    Args:
        document: What it belongs to.
        investigation: The investigation.
        index: Where the index is, relative to the page.
    """
    return _page(document, Views(document), investigation, index)


def write_investigations(
    document: InvestigationsDocument,
    path: Path | str,
    *,
    pages: bool | None = None,
    progress: Callable[[], None] | None = None,
) -> list[Path]:
    """Write the index, and pages beside it in ``STEM-pages/``, each file whole or not at all.

    Args:
        document: What to show.
        path: The index, e.g. ``report.html``.
        pages: Whether each investigation is a page of its own. ``None``: if there are more than :data:`INLINE`.
        progress: Called after each page.

    Returns:
        The files written, the index first.

    Raises:
        ReportError: If a file cannot be written.
    """
    path = Path(path)
    apart = len(document.investigations) > INLINE if pages is None else pages
    if not apart:
        return [write_text(path, render_index(document))]
    folder = path.with_name(f"{path.stem}-pages")
    written = []
    for name, text in _pages(document, f"../{path.name}"):
        written.append(write_text(folder / f"{name}.html", text))
        if progress is not None:
            progress()
    return [write_text(path, render_index(document, pages=folder.name)), *written]


def _pages(document: InvestigationsDocument, index: str) -> Iterator[tuple[str, str]]:
    views = Views(document)
    for one in document.investigations:
        yield one.id, _page(document, views, one, index)


def _page(document: InvestigationsDocument, views: Views, investigation: Investigation, index: str) -> str:
    context = {**_common(document), "view": views.investigation(investigation), "index": index}
    return render_page("investigations_page.html.j2", context)


def _common(document: InvestigationsDocument) -> dict[str, Any]:
    return {
        "doc": document,
        "version": document.package_version,
        "words": words,
        "level": f"{100 * document.thresholds.level:g}%",
        "money": money_text,
        "cost_text": cost_text,
        "total_text": total_text,
    }


def _choices(rows: tuple[IndexRow, ...]) -> dict[str, Any]:
    """What the filters offer."""
    questions = sorted({row.source.screened.behaviour.question for row in rows})
    kinds = sorted({row.source.screened.behaviour.kind for row in rows})
    return {
        "sources": sorted({row.source.screened.prompt.source for row in rows}),
        "questions": questions if len(questions) <= _CHOICES else (),
        "kinds": kinds,
        "statuses": [status for status in words.STATUS if any(row.status == status for row in rows)],
        "ratings": sorted({row.rating for row in rows if row.rating is not None}),
    }


def _counts(rows: tuple[IndexRow, ...]) -> dict[str, int]:
    found = {status: sum(row.status == status for row in rows) for status in words.STATUS}
    return {status: count for status, count in found.items() if count}


def _script() -> str:
    return resources.files("firsthand.report").joinpath("templates", "investigations.js").read_text("utf-8")


def _hash(script: str) -> str:
    """What a content security policy names a script by: the hash of exactly what stands between its tags."""
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
