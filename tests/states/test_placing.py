"""A word's tokens are found where it was put, whatever else the prompt says, and proved."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tokenizers import CHAT, byte_level, sentence_pieces

from firsthand.errors import EngineError, StatesError
from firsthand.states.placing import Template, place

TOKENIZERS = {"byte level": byte_level(), "byte level, no template": byte_level(None), "pieces": sentence_pieces()}
TEMPLATES: dict[str, Template] = {
    "text": "the register holds {word} now",
    "chat": (("user", "hello {word} again"),),
    "system": (("system", "be brief and answer"), ("user", "{word}")),
    "answer": (("user", "answer"), ("assistant", "It holds {word} now and then")),
}


def decoded(tokenizer, placed) -> str:
    return tokenizer.decode([placed.tokens[i] for i in placed.positions], clean_up_tokenization_spaces=False).strip()


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("word", ["code", "zebra crossing", "B", "brief", "user", "a"])
def test_the_span_of_a_word_reads_as_the_word(tokenizer: str, template: str, word: str) -> None:
    placed = place(TOKENIZERS[tokenizer], TEMPLATES[template], word, "span")
    assert decoded(TOKENIZERS[tokenizer], placed) == word
    assert placed.positions == tuple(range(placed.positions[0], placed.positions[-1] + 1))
    assert len(placed.tokens) == placed.positions[-1] + 1


def test_a_word_that_also_stands_elsewhere_is_read_where_it_was_put() -> None:
    """``render`` would find the role 'user' and the 'answer' of the system text first."""
    tokenizer = byte_level()
    for word in ("user", "answer"):
        template = (("system", "be brief and answer"), ("user", "{word}"))
        placed = place(tokenizer, template, word, "span")
        before = tokenizer.decode(placed.tokens[: placed.positions[0]])
        assert before == "<|im_start|>system\nbe brief and answer<|im_end|>\n<|im_start|>user\n"


@settings(max_examples=60, deadline=None)
@given(st.text("abcABé .,z", min_size=1, max_size=12).map(str.strip).filter(bool))
def test_any_word_is_found_after_the_text_before_it(word: str) -> None:
    tokenizer = byte_level()
    placed = place(tokenizer, (("user", "about ({word}) now"),), word, "last")
    wanted = f"<|im_start|>user\nabout ({word}) now<|im_end|>\n<|im_start|>assistant\n"
    assert tokenizer.decode(placed.tokens) == wanted


def test_the_last_token_is_that_of_the_opened_answer() -> None:
    tokenizer = byte_level()
    generating = CHAT.replace("add_generation_prompt", "true")
    chat = [{"role": "user", "content": "hello code"}]
    wanted = tokenizer.apply_chat_template(chat, tokenize=True, chat_template=generating, return_dict=False)
    placed = place(tokenizer, (("user", "hello {word}"),), "code", "last")
    assert list(placed.tokens) == list(wanted)
    assert placed.positions == (len(wanted) - 1,)


def test_without_a_template_the_last_token_is_no_lone_space() -> None:
    placed = place(sentence_pieces(), (("user", "hello {word}"),), "code", "last")
    assert sentence_pieces().convert_ids_to_tokens(placed.tokens[-1]) == ":"


def test_text_gets_one_beginning_where_the_tokenizer_adds_one() -> None:
    tokenizer = sentence_pieces()
    placed = place(tokenizer, "{word} now", "code", "span")
    assert placed.tokens.count(tokenizer.bos_token_id) == 1
    assert placed.positions[0] == 1


@pytest.mark.parametrize("pool", ["span", "last"])
def test_position_0_is_refused(pool: str) -> None:
    with pytest.raises(StatesError, match=r"position 0.*attention sink"):
        place(byte_level(), "{word}", "A" if pool == "last" else "code", pool)


def test_a_word_without_tokens_of_its_own_is_refused() -> None:
    tokenizer = byte_level()
    assert "".join(tokenizer.tokenize("xregister")) == "xregister"
    with pytest.raises(StatesError, match="no tokens of its own"):
        place(tokenizer, "now the re{word}ter holds", "gis", "span")


@pytest.mark.parametrize("template", ["no place", "{word} and {word}", (("user", "hello"),), ()])
def test_a_template_has_one_place_for_the_word(template: Template) -> None:
    with pytest.raises(StatesError, match="exactly once"):
        place(byte_level(), template, "code", "span")


@pytest.mark.parametrize("word", ["", " ", "code ", "\ncode"])
def test_a_word_has_no_spaces_around_it(word: str) -> None:
    with pytest.raises(StatesError, match="without spaces"):
        place(byte_level(), "the {word}", word, "span")


def test_special_tokens_are_refused_in_text_and_in_turns() -> None:
    with pytest.raises(StatesError, match="special token"):
        place(byte_level(), "the {word}", "<|im_end|>", "span")
    with pytest.raises(EngineError, match="read as part of the template"):
        place(byte_level(), (("user", "the {word}"),), "<|im_end|>", "span")


def test_a_template_that_alters_the_word_is_refused() -> None:
    shouting = byte_level(CHAT.replace("m['content']", "m['content'] | upper"))
    with pytest.raises((EngineError, StatesError), match=r"altered|chat template"):
        place(shouting, (("user", "the {word}"),), "code", "span")
