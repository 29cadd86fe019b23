"""A text ends where it should, and reads what the model wrote after its prompt."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tokenizers import byte_level, sentence_pieces
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerFast

from firsthand.engine import load
from firsthand.engine.stopping import Stopper, end_tokens, stopper_for
from firsthand.errors import EngineError

FALLBACK_WORDS = ["<unk>", "<s>", "</s>", "▁", *"abcdefghijklmnopqrstuvwxyz.", "▁is", "▁Paris"]


def byte_fallback() -> PreTrainedTokenizerFast:
    """As Llama 2's and Gemma's: what is no piece is written as one token for each of its bytes."""
    vocabulary = {word: i for i, word in enumerate([*FALLBACK_WORDS, *(f"<0x{byte:02X}>" for byte in range(256))])}
    backend = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


@pytest.fixture(scope="module")
def smol() -> PreTrainedTokenizerFast:
    return load("smollm2").tokenizer


@pytest.fixture(scope="module", params=["byte level", "pieces", "byte fallback", "smollm2"])
def tokenizer(request: pytest.FixtureRequest) -> PreTrainedTokenizerFast:
    if request.param == "smollm2":
        return request.getfixturevalue("smol")
    return {"byte level": byte_level, "pieces": sentence_pieces, "byte fallback": byte_fallback}[request.param]()


def continuation(tokenizer: PreTrainedTokenizerFast, text: str, stem: str = "hello") -> list[int]:
    """Tokens by which ``text`` continues a stem."""
    before, whole = (tokenizer.encode(x, add_special_tokens=False) for x in (stem, stem + text))
    assert whole[: len(before)] == before
    return whole[len(before) :]


def stopper(tokenizer: PreTrainedTokenizerFast, *stops: str, max_tokens: int = 1000) -> Stopper:
    return Stopper(tokenizer, max_tokens=max_tokens, eos_tokens=[tokenizer.eos_token_id], stop_strings=stops)


def grown(stopper: Stopper, tokens: list[int]) -> tuple[str | None, int, str]:
    """Why and after how many tokens a row ends that is asked after each, and what it then reads."""
    for length in range(1, len(tokens) + 1):
        reason = stopper.ended(tokens[:length])
        if reason is not None:
            return reason, length, stopper.text(tokens[:length])
    return None, len(tokens), stopper.text(tokens)


def test_the_space_before_the_first_word_is_kept(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens = continuation(tokenizer, " there is")
    assert stopper(tokenizer).text(tokens) == " there is"
    assert stopper(tokenizer).text([]) == ""


def test_a_text_that_continues_a_word_gets_no_space(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens = tokenizer.convert_tokens_to_ids(["o", "e"])
    assert tokenizer.unk_token_id not in tokens
    assert stopper(tokenizer).text(tokens) == "oe"


def test_a_text_that_goes_on_has_no_reason(tokenizer: PreTrainedTokenizerFast) -> None:
    assert grown(stopper(tokenizer), continuation(tokenizer, " there is"))[0] is None


def test_an_end_token_ends_a_text_and_is_not_shown(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens, end = continuation(tokenizer, " there"), tokenizer.eos_token_id
    assert grown(stopper(tokenizer), [*tokens, end, *tokens]) == ("eos", len(tokens) + 1, " there")
    assert stopper(tokenizer).text([*tokens, end, *tokens]) == " there"
    assert grown(stopper(tokenizer), [end]) == ("eos", 1, "")


def test_an_end_token_that_is_no_special_token_is_not_shown_either(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens = continuation(tokenizer, " there is")
    ends = Stopper(tokenizer, max_tokens=99, eos_tokens=[tokens[-1]])
    reason, length, text = grown(ends, tokens)
    assert (reason, length <= len(tokens)) == ("eos", True)
    assert " there is".startswith(text)
    assert text != " there is"


def test_special_tokens_within_a_text_are_skipped(tokenizer: PreTrainedTokenizerFast) -> None:
    one, two = continuation(tokenizer, " there"), continuation(tokenizer, " is")
    row = [tokenizer.bos_token_id, *one, tokenizer.bos_token_id, *two]
    assert grown(stopper(tokenizer), row) == (None, len(row), " there is")


def test_the_longest_length_counts_the_end_token(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens = continuation(tokenizer, " there is a code")
    assert len(tokens) > 3
    assert grown(stopper(tokenizer, max_tokens=3), tokens)[:2] == ("length", 3)
    assert grown(stopper(tokenizer, max_tokens=3), [*tokens[:2], tokenizer.eos_token_id])[:2] == ("eos", 3)
    assert grown(stopper(tokenizer, max_tokens=3), [*tokens[:3], tokenizer.eos_token_id])[:2] == ("length", 3)
    assert stopper(tokenizer, max_tokens=3).text(tokens) == stopper(tokenizer).text(tokens[:3])


def test_a_stop_string_of_several_tokens_is_found_at_its_last(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens = continuation(tokenizer, " there is a code")
    stop = "there is a"
    reason, length, text = grown(stopper(tokenizer, stop), tokens)
    assert (reason, text) == ("stop", " ")
    assert stop in stopper(tokenizer).text(tokens[:length])
    assert stop not in stopper(tokenizer).text(tokens[: length - 1])
    assert len(continuation(tokenizer, " " + stop)) > 1


def test_a_stop_string_that_begins_and_ends_within_a_token_is_found(smol: PreTrainedTokenizerFast) -> None:
    tokens = continuation(smol, " Paris is nice")
    assert smol.convert_ids_to_tokens(tokens)[0] == "ĠParis"
    assert grown(stopper(smol, "ari"), tokens) == ("stop", 1, " P")
    assert grown(stopper(smol, "ris i"), tokens) == ("stop", 2, " Pa")


def test_a_stop_string_may_be_the_space_before_the_first_word(tokenizer: PreTrainedTokenizerFast) -> None:
    reason, _, text = grown(stopper(tokenizer, " "), continuation(tokenizer, " there"))
    assert (reason, text) == ("stop", "")


def test_text_is_cut_at_the_first_of_several_stop_strings(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens = continuation(tokenizer, " there is a code")
    assert grown(stopper(tokenizer, "code", "is", "nowhere"), tokens)[::2] == ("stop", " there ")
    assert stopper(tokenizer, "code", "is").text(tokens) == " there "


def test_a_stop_string_precedes_the_end_token_and_the_longest_length(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens = continuation(tokenizer, " there")
    last = stopper(tokenizer, "there", max_tokens=len(tokens))
    assert grown(last, tokens) == ("stop", len(tokens), " ")
    assert last.ended([*tokens, tokenizer.eos_token_id]) == "stop"
    after = [tokenizer.eos_token_id, *tokens]
    assert stopper(tokenizer, "there").ended(after) == "eos"


def test_what_the_prompt_holds_is_never_found(tokenizer: PreTrainedTokenizerFast) -> None:
    letters = [*"abcdefghijklmnopqrstuvwxyz", "hello"]
    for letter in letters:
        assert stopper(tokenizer, letter).ended([]) is None
    assert grown(stopper(tokenizer, "lo t", "a"), continuation(tokenizer, " there"))[0] is None


@pytest.mark.parametrize("kind", ["byte level", "byte fallback"])
def test_half_a_character_neither_stops_a_text_nor_is_shown(kind: str) -> None:
    tokenizer = byte_level() if kind == "byte level" else byte_fallback()
    word = continuation(tokenizer, " is")
    for character in ("ω", "€", "𝄞"):
        pieces = continuation(tokenizer, character)
        assert len(pieces) == len(character.encode())
        for part in range(1, len(pieces)):
            row = word + pieces[:part]
            assert grown(stopper(tokenizer, character), row) == (None, len(row), " is")
        whole = word + pieces
        assert stopper(tokenizer).text(whole) == f" is{character}"
        assert grown(stopper(tokenizer, character), whole) == ("stop", len(whole), " is")


@pytest.mark.parametrize("kind", ["byte level", "byte fallback"])
def test_half_a_character_hides_no_stop_before_it(kind: str) -> None:
    tokenizer = byte_level() if kind == "byte level" else byte_fallback()
    row = continuation(tokenizer, " isω") + continuation(tokenizer, "𝄞")[:2]
    assert stopper(tokenizer).text(row) == " isω"
    assert stopper(tokenizer, "ω").ended(row) == "stop"
    assert stopper(tokenizer, "sω").text(row) == " i"
    assert stopper(tokenizer, max_tokens=len(row)).ended(row) == "length"


def test_a_token_that_ends_in_half_a_character_still_shows_its_whole_ones(smol: PreTrainedTokenizerFast) -> None:
    token = smol.convert_tokens_to_ids("ĠâĢ")
    assert smol.decode([token]) == " \ufffd"
    word = continuation(smol, " is")
    assert stopper(smol).text([*word, token]) == " is "
    assert stopper(smol, "is ").ended([*word, token]) == "stop"


def test_bytes_that_never_become_a_character_are_shown_once_text_follows() -> None:
    tokenizer = byte_level()
    half, word = continuation(tokenizer, "€")[:2], continuation(tokenizer, " is")
    assert stopper(tokenizer).text(half) == ""
    assert stopper(tokenizer).text(half + word) == "\ufffd is"
    assert stopper(tokenizer).text(half * 5) == ""


@given(st.lists(st.integers(0, 255), max_size=12), st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_any_bytes_read_as_python_reads_those_that_are_whole(written: list[int], seed: int) -> None:
    tokenizer = byte_level()
    alphabet = continuation(tokenizer, "x")  # the tokenizer has each byte as a token of its own
    assert len(alphabet) == 1
    byte_token = {character: tokenizer.convert_tokens_to_ids(character) for character in _byte_characters()}
    tokens = [byte_token[_byte_characters()[byte]] for byte in written]
    expected = bytes(written).decode("utf-8", errors="replace").rstrip("\ufffd")
    assert stopper(tokenizer).text(tokens) == expected
    stop = random.Random(seed).choice(expected.replace("\ufffd", "") or "x")
    assert (stopper(tokenizer, stop).ended(tokens) == "stop") == (stop in expected)


def _byte_characters() -> list[str]:
    """The character by which byte-level vocabularies write each byte."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]


def test_end_tokens_are_the_configurations_and_the_tokenizers(llama: PreTrainedModel) -> None:
    tokenizer = byte_level()
    for own, expected in ((7, {7}), ([7, 9], {7, 9}), (None, set())):
        llama.generation_config = GenerationConfig(eos_token_id=own)
        assert end_tokens(llama, tokenizer) == expected | {tokenizer.eos_token_id}
    tokenizer.eos_token = None
    assert end_tokens(llama, tokenizer) == frozenset()


def test_a_models_stopper_has_the_models_ends_and_stop_strings(llama: PreTrainedModel) -> None:
    tokenizer = byte_level()
    llama.generation_config = GenerationConfig(eos_token_id=[77, 88], stop_strings="\n\n")
    found = stopper_for(llama, tokenizer, max_tokens=5, stop_strings="END")
    assert (found.max_tokens, found.eos_tokens) == (5, frozenset({77, 88, tokenizer.eos_token_id}))
    assert found.stop_strings == ("END", "\n\n")
    llama.generation_config = GenerationConfig(stop_strings=["END", "x"])
    assert stopper_for(llama, tokenizer, max_tokens=5, stop_strings=["END"]).stop_strings == ("END", "x")
    llama.generation_config = GenerationConfig()
    assert stopper_for(llama, tokenizer, max_tokens=5).stop_strings == ()


@pytest.mark.parametrize(
    ("stop", "message"), [("", "empty"), ("a<|im_end|>", "special token"), ("a\ufffd", "half a character")]
)
def test_a_stop_string_that_could_not_be_found_is_refused(stop: str, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        stopper(byte_level(), stop)


def test_a_text_of_no_tokens_is_refused() -> None:
    with pytest.raises(EngineError, match="at least one"):
        stopper(byte_level(), max_tokens=0)


def test_a_tokenizer_without_letters_is_refused() -> None:
    backend = Tokenizer(models.WordLevel({"[U]": 0, "[E]": 1}, unk_token="[U]"))
    mute = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[U]", eos_token="[E]")
    with pytest.raises(EngineError, match="no token for any letter"):
        stopper(mute)


def test_no_text_is_decoded_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = byte_level()
    tokens = continuation(tokenizer, " there is")
    plain, stopping = stopper(tokenizer), stopper(tokenizer, "is")

    def refuse(*_: object, **__: object) -> str:
        raise AssertionError("decoded")

    monkeypatch.setattr(tokenizer, "decode", refuse)
    assert grown_reasons(plain, tokens) == {None}
    with pytest.raises(AssertionError, match="decoded"):
        stopping.ended(tokens)


def grown_reasons(stopper: Stopper, tokens: list[int]) -> set[str | None]:
    return {stopper.ended(tokens[:length]) for length in range(len(tokens) + 1)}
