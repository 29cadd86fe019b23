"""Reading a rendered page: its tags, what it links to and would load, and its words."""

import html
import re
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br"}
LOADING = {"src", "srcset", "data", "action", "poster", "xlink:href"}


class Page(HTMLParser):
    """Collects tags, ids, links and whatever would load something; checks that tags nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.anchors: list[str] = []
        self.refers: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.stack.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in LOADING or (name == "href" and tag != "a"):
                self.loads.append(value or "")
            if name == "href" and tag == "a":
                self.anchors.append(value or "")
            if name in {"aria-labelledby", "aria-describedby"}:
                self.refers += (value or "").split()
            if name.startswith("on"):
                self.handlers.append(name)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.stack, f"</{tag}> closes nothing"
        assert self.stack.pop() == tag


def check_page(text: str) -> Page:
    """A page that nests, names nothing twice, refers to itself only, and runs and loads nothing."""
    page = Page(text)
    assert not page.stack
    assert len(page.ids) == len(set(page.ids))
    assert set(page.loads) <= {"data:,"}
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.anchors)
    assert set(page.refers) <= set(page.ids)
    assert not page.handlers
    assert not page.tags & {"script", "iframe", "object", "embed", "form", "base", "img"}
    assert not re.search(r"https?://|url\(|@import", text)
    assert "default-src 'none'" in text
    return page


def flat(page: str) -> str:
    """The words of a page, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).replace("\u00a0", " ").split())
