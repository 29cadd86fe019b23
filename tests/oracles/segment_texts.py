"""Texts of every form and misform, for tests of segments."""

from hypothesis import strategies as st

PIECES = (
    *("word ", "Ada Byron ", "1,200 ", "\n", "\r\n", "\n\n", "- ", "1. ", "```\n", "def f(x):\n", '"so it is" '),
    *("max_size ", ". ", "! ", "é", "数据。", "\u2028", "\t", "    ", "🙂 ", "the ", "don't ", "A", "“ja” ", "`x` "),
    *("'", '"', "e.g. ", "#", "now ", "now "),
)

TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join), st.text(min_size=1, max_size=80)
).filter(str.strip)
