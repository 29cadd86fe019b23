"""Nothing that hides, reorders or commands gets through."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from firsthand.report.safe_text import one_line, visible


def test_odd_characters_are_spelled_out() -> None:
    assert visible("a\u202egnp.exe") == "a⟨U+202E⟩gnp.exe"
    assert visible("\x1b[31mred\x07") == "⟨U+001B⟩[31mred⟨U+0007⟩"
    assert visible("\ud800\ufeff\u2028") == "⟨U+D800⟩⟨U+FEFF⟩⟨U+2028⟩"
    assert visible("a\r\nb\tc\rd") == "a\nb\tc⟨U+000D⟩d"


def test_ordinary_text_of_any_script_is_left_alone() -> None:
    for text in ("plain", "Füße, naïve — “quoted”", "日本語", "שלום", "x² ≤ ∞", "🙂"):
        assert visible(text) == text


def test_one_line() -> None:
    assert one_line(" a\n b\tc ") == "a b c"
    assert one_line("abcdef", 4) == "abc…"


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_what_comes_out_encodes_and_cannot_act(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert all(c in "\n\t" or unicodedata.category(c)[0] != "C" for c in shown)
    assert visible(shown) == shown
