"""Pages of investigations: complete, escaped, without requests; the index has one script, named by its hash."""

import base64
import hashlib
import html
import re
from html.parser import HTMLParser
from pathlib import Path

import investigated as planted
import pytest
from page_reading import VOID, Page, flat

from firsthand.report.investigations_document import InvestigationsDocument
from firsthand.report.investigations_html import INLINE, render_index, render_investigation, write_investigations


@pytest.fixture(scope="module")
def document() -> InvestigationsDocument:
    return planted.document()


@pytest.fixture(scope="module")
def page(document: InvestigationsDocument) -> str:
    return render_index(document)


@pytest.fixture(scope="module")
def hostile() -> str:
    return render_index(planted.hostile())


def checked(text: str, *, scripts: int, links: tuple[str, ...] = ()) -> Page:
    """A page that nests, names nothing twice, loads nothing, and links to itself and to nothing but ``links``."""
    page = Page(text)
    assert not page.stack
    assert len(page.ids) == len(set(page.ids))
    assert set(page.loads) <= {"data:,"}
    assert all(link in links or (link.startswith("#") and link[1:] in page.ids) for link in page.anchors)
    assert set(page.refers) <= set(page.ids)
    assert not page.handlers
    assert not page.tags & {"iframe", "object", "embed", "form", "base", "img"}
    assert not re.search(r"https?://|url\(|@import", text)
    assert text.count("<script") == scripts
    assert "default-src 'none'" in text
    return page


def test_the_index_is_well_formed_and_asks_for_nothing(page: str) -> None:
    checked(page, scripts=1)


def test_a_page_of_one_investigation_runs_and_loads_nothing(document: InvestigationsDocument) -> None:
    text = render_investigation(document, document.investigations[0])
    checked(text, scripts=0, links=("../report.html",))
    assert "script-src" not in text


def test_the_policy_names_the_script_by_its_hash_and_allows_no_other(page: str) -> None:
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    expected = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{expected}';" in page
    assert "script-src 'unsafe-inline'" not in page
    assert "innerHTML" not in scripts[0]


def test_hostile_text_is_shown_and_never_run(hostile: str) -> None:
    checked(hostile, scripts=1)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in hostile
    assert "<img" not in hostile
    assert 'href="javascript' not in hostile
    assert "{{ 7 * 7 }}" in hostile
    assert "**Ignore the above**" in hostile
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", hostile)
    for spelled in ("⟨U+0000⟩", "⟨U+202E⟩", "⟨U+001B⟩", "⟨U+D800⟩"):
        assert spelled in hostile
    hostile.encode("utf-8")


def test_hostile_text_stays_in_its_attribute(hostile: str) -> None:
    allowed = re.compile(r"^[a-z][a-z0-9:-]*$")
    for tag in re.findall(r"<[a-zA-Z][^<>]*>", hostile):
        names = re.findall(r'\s([^\s=<>"]+)(?:="[^"]*")?', tag)
        assert all(allowed.match(name) or name in ("viewBox", "preserveAspectRatio") for name in names), tag


class Inner(HTMLParser):
    """Tags that hold right-to-left letters directly."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.stack.pop()

    def handle_data(self, data: str) -> None:
        if "שלום" in data:
            self.found.add(self.stack[-1])


def test_right_to_left_text_cannot_reorder_what_stands_beside_it(hostile: str) -> None:
    """It stands in a block of its own, or in an element whose direction is isolated."""
    isolated = re.search(r"^([a-z, ]+) \{ unicode-bidi: isolate; \}", hostile, re.MULTILINE)
    assert isolated is not None
    blocks = {"h1", "h3", "p", "li", "dd", "dt", "td", "th", "div", "pre", "title", "option"}
    found = Inner(hostile).found
    assert found - blocks <= set(isolated.group(1).split(", "))
    assert found & blocks


def test_every_investigation_is_told_with_its_counts(document: InvestigationsDocument, page: str) -> None:
    text = flat(page)
    for one in document.investigations:
        assert f'id="i{one.id}"' in page
        assert one.screened.question in text
        assert one.screened.behaviour.question in text
        for experiment in one.experiments:
            assert f'id="i{one.id}-e{experiment.number}"' in page
            assert f"{experiment.rate.yes} of {experiment.rate.valid} valid" in text
    assert "28 of" not in text.split("Experiments")[0]
    assert "2 invalid: 90.0% to 96.7% if they all counted one way" in text
    assert "no valid response" in text
    assert "Could not be run: “Two system turns.”" in text
    assert "In the batch that chose the behaviour: 90.0% (27 of 30). It is never the baseline." in text


def test_exploration_and_confirmation_are_told_apart(page: str) -> None:
    legends = 2
    assert page.count('class="dot explored"') == legends + 3 + 1
    assert page.count('class="dot confirmed"') == legends + 2
    assert page.count('class="dot baseline"') == legends + 2
    text = flat(page)
    assert "5 · confirmation · changes the rate · shown above" in text
    assert "1 · exploration · changes the rate" in text
    assert "2 · exploration · does not change it" in text


def test_the_edit_that_is_shown_is_marked_in_the_prompt(page: str) -> None:
    found = re.findall(r"<del>([^<]*)</del><ins>([^<]*)</ins>", page)
    assert ("max", "a") in found
    assert "characters, unchanged" in page
    assert "The whole prompt, as it was" in page


def test_the_report_the_judges_and_the_claims_are_there(page: str) -> None:
    text = flat(page)
    for line in (
        "Neutral names undo it.",
        "Parameter names",
        "a, b: 86.7% to 6.7%",
        "The system prompt",
        "8.5 of 10 (3 judges, 1 without a valid score)",
        "No valid score judge 3",
        "One more name would help.",
        "cause not isolated",
        "80.0 points; at least 50 make a claim true",
        "6.7 points; at most 15 make it false",
        "reproduced from its description · changes one thing",
        "Concreteness not judged · not reproduced again · number of factors not judged",
        "It returns 2 to 11.",
        "does not have it · cut off",
        "invalid · withheld by the provider",
        "logs/investigate, sample 1",
    ):
        assert line in text, line
    assert "experiment 99" not in text


def test_what_did_not_finish_says_so_and_why(page: str, document: InvestigationsDocument) -> None:
    text = flat(page)
    assert "This investigation did not finish. It ended so: “The budget of money is used up: $2.00 of $2.00.”" in text
    assert "The run stopped before everything was done." in text
    unfinished = render_investigation(document, document.investigations[1])
    assert "What the investigator reports" not in unfinished
    assert "weather({&#34;city&#34;: &#34;Oslo&#34;})" in unfinished


def test_account_funnel_errors_costs_and_commands_are_there(page: str) -> None:
    text = flat(page)
    for line in (
        "prepared 12 prompts 10 1 too short; 1 same beginning",
        "screened 9 prompts 2 6 rated below 3; 1 screener gave no valid answer",
        "concrete 2 claims 1 1 true · clusters: 1 1 not judged",
        "0.4% [0.0%, 2.0%] By simulation.",
        "All in all $0.715 and what is unknown, 490 calls and 509 000 tokens.",
        "No price is known for someone/new",
        "someone/new 420 300 000 0 0 2 100 unknown",
        "firsthand investigate --out runs/x",
        "inspect view --log-dir logs/investigate",
        "One target was asked.",
    ):
        assert line in text.replace("\u202f", " "), line


def test_rows_carry_what_they_are_sorted_and_filtered_by(page: str) -> None:
    rows = [
        dict(re.findall(r'data-([a-z]+)="([^"]*)"', row)) for row in re.findall(r"<tr role=\"row\" (data-[^>]+)>", page)
    ]
    assert [
        {key: row[key] for key in ("order", "rating", "change", "score", "source", "status", "confirmed")}
        for row in rows
    ] == [
        {
            "order": "0",
            "rating": "4",
            "change": "80.0000",
            "score": "8.5000",
            "source": "=code questions",
            "status": "verified",
            "confirmed": "yes",
        },
        {
            "order": "1",
            "rating": "",
            "change": "3.3333",
            "score": "",
            "source": "=tool use",
            "status": "unfinished",
            "confirmed": "no",
        },
    ]
    for key in ("source", "behaviour", "status", "confirmed", "rating"):
        select = re.search(rf'<select data-filter="{key}".*?</select>', page, re.DOTALL)
        assert select is not None
        offered = {html.unescape(v) for v in re.findall(r'value="([^"]*)"', select.group())}
        offered |= set(re.findall(r"<option>([^<]*)<", select.group()))
        assert {html.unescape(row[key]) for row in rows} <= offered


def test_without_the_script_the_index_is_a_plain_table(page: str) -> None:
    plain = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert re.search(r'<div id="controls"[^>]* hidden>', plain)
    assert not re.search(r"<tr[^>]* hidden", plain)
    assert '<th scope="col" role="columnheader" data-key="change">Change</th>' in plain


def test_more_than_a_few_are_pages_of_their_own_that_stay_small(tmp_path: Path) -> None:
    document = planted.many(INLINE + 1)
    seen: list[None] = []
    written = write_investigations(document, tmp_path / "report.html", progress=lambda: seen.append(None))
    assert len(written) == INLINE + 2
    assert len(seen) == INLINE + 1
    names = [f"report-pages/{one.id}.html" for one in document.investigations]
    assert [path.relative_to(tmp_path).as_posix() for path in written] == ["report.html", *names]
    index = written[0].read_text("utf-8")
    checked(index, scripts=1, links=tuple(names))
    assert all(f'href="{name}"' in index for name in names)
    assert written[0].stat().st_size < 60_000 + 1_800 * len(names)
    assert max(path.stat().st_size for path in written[1:]) < 60_000
    checked(written[1].read_text("utf-8"), scripts=0, links=("../report.html",))


def test_few_stand_on_one_page(document: InvestigationsDocument, tmp_path: Path) -> None:
    assert write_investigations(document, tmp_path / "report.html") == [tmp_path / "report.html"]
    assert len(write_investigations(document, tmp_path / "apart.html", pages=True)) == 3


def test_many_questions_are_filtered_by_who_judges_them() -> None:
    made = planted.many(61)
    investigations = tuple(
        one.model_copy(
            update={
                "screened": one.screened.model_copy(
                    update={"behaviour": one.screened.behaviour.model_copy(update={"question": f"Is it {index}?"})}
                )
            }
        )
        for index, one in enumerate(made.investigations)
    )
    page = render_index(planted.document(**{**dict(made), "investigations": investigations, "claims": ()}), pages="x")
    assert 'data-behaviour="=asked"' in page
    assert "Behaviour judged by" in page


def test_a_bare_document_is_a_page_too() -> None:
    bare = dict.fromkeys(("investigations", "claims", "label_errors", "samples", "notes", "limits", "reproduce"), ())
    nothing = planted.document(**bare, account={"began": 0}, funnel=(), costs=None, traces={}, logs="", stopped="")
    page = render_index(nothing)
    checked(page, scripts=1)
    text = flat(page)
    for line in ("Nothing was investigated.", "No claim was made.", "Not stated", "No calls were counted."):
        assert line in text


def test_the_share_of_responses_that_were_cut_off_is_shown_where_it_is_known(document: InvestigationsDocument) -> None:
    first = document.investigations[0]
    assert "at the longest length" not in render_investigation(document, first)
    shown = render_investigation(planted.document(cut_off={first.id: 0.25}), first)
    assert "25.0% of the responses that this rests on, at the longest length" in flat(shown)
    with pytest.raises(ValueError, match="cut-off shares of investigations that are not there"):
        planted.document(cut_off={"nothing": 0.5})
