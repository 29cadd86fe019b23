"""Reports are read over the whole vocabulary: what is no valid answer is invalid, never "no"."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tokenizers import byte_level, sentence_pieces
from scipy.special import rel_entr
from scipy.stats import entropy
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from firsthand.engine.readout import (
    code_token,
    divergence_and_entropy,
    kl_divergence,
    read_answers,
    usable_codes,
)
from firsthand.engine.readout import entropy as entropy_of
from firsthand.errors import ElicitationError, EngineError


def logprobs(*probabilities: float) -> Tensor:
    return torch.tensor([probabilities], dtype=torch.float64).log()


def test_the_likelier_code_is_the_answer_if_nothing_else_is_likelier() -> None:
    (one,) = read_answers(logprobs(0.1, 0.3, 0.6), [(1, 2)])
    (zero,) = read_answers(logprobs(0.1, 0.3, 0.6), [(2, 1)])
    assert (one.answer, zero.answer) == (1, 0)
    assert one.probability == pytest.approx(0.6 / 0.9)
    assert one.coverage == pytest.approx(0.9)
    assert one.contrast == pytest.approx(math.log(2.0))
    assert zero.contrast == pytest.approx(-one.contrast)
    assert one.entropy == pytest.approx(entropy([0.1, 0.3, 0.6]))


def test_a_likeliest_token_that_is_no_code_is_invalid_however_clear_the_contrast() -> None:
    (answer,) = read_answers(logprobs(0.5, 0.49, 0.01), [(2, 1)])
    assert answer.answer is None
    assert answer.probability == pytest.approx(0.98)
    assert answer.coverage == pytest.approx(0.5)


def test_codes_of_equal_probability_name_neither_class() -> None:
    (answer,) = read_answers(logprobs(0.2, 0.4, 0.4), [(1, 2)])
    assert (answer.answer, answer.probability, answer.contrast) == (None, 0.5, 0.0)


def test_a_certain_distribution_has_no_entropy_and_an_infinite_contrast() -> None:
    (answer,) = read_answers(logprobs(0.0, 1.0, 0.0), [(0, 1)])
    assert (answer.answer, answer.probability, answer.coverage) == (1, 1.0, 1.0)
    assert (answer.contrast, answer.entropy) == (math.inf, 0.0)


def test_impossible_codes_have_no_coverage_and_say_nothing() -> None:
    (answer,) = read_answers(logprobs(1.0, 0.0, 0.0), [(1, 2)])
    assert (answer.answer, answer.probability, answer.coverage, answer.contrast) == (None, 0.5, 0.0, 0.0)


def test_a_uniform_distribution_has_the_entropy_of_its_size() -> None:
    (answer,) = read_answers(torch.full((1, 97), -math.log(97)), [(1, 2)])
    assert answer.entropy == pytest.approx(math.log(97), rel=1e-6)


def test_each_row_is_read_by_its_own_codes() -> None:
    rows = torch.cat([logprobs(0.7, 0.2, 0.1), logprobs(0.1, 0.2, 0.7)])
    assert [a.answer for a in read_answers(rows, [(0, 1), (0, 2)])] == [0, 1]


@pytest.mark.parametrize("pairs", [[], [(0, 1)], [(0, 1)] * 3, [(0, 1), (1, 1)], [(0, 1), (0, 3)], [(0, 1), (-1, 0)]])
def test_codes_that_do_not_fit_the_rows_are_refused(pairs: list[tuple[int, int]]) -> None:
    with pytest.raises(ElicitationError, match="different ones below 3 for each of 2 rows"):
        read_answers(torch.cat([logprobs(0.7, 0.2, 0.1)] * 2), pairs)


def test_what_is_not_a_number_is_neither_an_answer_nor_no_divergence() -> None:
    broken = torch.tensor([[float("nan"), -0.5, -1.0]])
    with pytest.raises(EngineError, match="not a number"):
        read_answers(broken, [(0, 1)])
    for pair in ((broken, logprobs(0.2, 0.3, 0.5)), (logprobs(0.2, 0.3, 0.5), broken)):
        with pytest.raises(EngineError, match="not a number"):
            kl_divergence(*pair)


distributions = st.lists(st.floats(0.0, 1.0), min_size=5, max_size=5).filter(lambda p: sum(p) > 0.1)


@given(distributions, distributions)
@settings(deadline=None)
def test_divergence_matches_scipy(p: list[float], q: list[float]) -> None:
    p_V, q_V = (np.array(x) / sum(x) for x in (p, q))
    with np.errstate(divide="ignore"):
        found = float(kl_divergence(torch.tensor(np.log(p_V))[None], torch.tensor(np.log(q_V))[None])[0])
    assert found == pytest.approx(float(rel_entr(p_V, q_V).sum()), rel=1e-9, abs=1e-9)


def test_divergence_of_equal_rows_is_exactly_zero_and_never_negative() -> None:
    rows = torch.log_softmax(torch.randn(20, 97, generator=torch.Generator().manual_seed(0)) * 5, -1)
    assert torch.equal(kl_divergence(rows, rows.clone()), torch.zeros(20, dtype=torch.float64))
    assert bool((kl_divergence(rows, torch.log_softmax(rows + 1e-7 * torch.randn(20, 97), -1)) >= 0).all())


def test_divergence_from_what_excludes_the_reference_is_infinite() -> None:
    assert float(kl_divergence(logprobs(0.5, 0.5), logprobs(1.0, 0.0))[0]) == math.inf
    assert float(kl_divergence(logprobs(1.0, 0.0), logprobs(0.5, 0.5))[0]) == pytest.approx(math.log(2))


@pytest.mark.parametrize("tokenizer", [byte_level(), sentence_pieces()])
def test_a_code_is_the_one_token_that_continues_the_stem_in_context(tokenizer: PreTrainedTokenizerFast) -> None:
    token = code_token(tokenizer, "It now holds code", "A")
    assert token is not None
    whole = tokenizer.encode("It now holds code A", add_special_tokens=False)
    assert whole == [*tokenizer.encode("It now holds code", add_special_tokens=False), token]
    assert tokenizer.decode(whole) == "It now holds code A"


def test_letters_of_several_tokens_are_dropped_and_the_order_is_kept() -> None:
    tokenizer = byte_level()
    stems = ["It now holds code", "the register holds code"]
    letters = ["X", "zq", "A", "Ω", "Q", "A"]
    assert usable_codes(tokenizer, stems, letters) == ["X", "A", "Q"]
    assert usable_codes(tokenizer, stems, []) == []


def test_a_letter_that_is_only_an_unknown_token_is_dropped() -> None:
    assert code_token(sentence_pieces(), "It now holds code", "Ω") is None
    words = Tokenizer(models.WordLevel({"code": 0, "A": 1, "[U]": 2}, unk_token="[U]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[U]")
    assert usable_codes(tokenizer, ["code"], ["A", "B"]) == ["A"]


def test_a_letter_that_merges_into_the_stem_is_dropped() -> None:
    merging = Tokenizer(models.BPE({"x": 0, " ": 1, "y": 2, "x ": 3, "x y": 4}, [("x", " "), ("x ", "y")]))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=merging)
    assert code_token(tokenizer, "x", "y") is None


def test_codes_that_share_their_token_are_refused_by_both_names() -> None:
    folded = Tokenizer(models.WordLevel({"code": 0, "a": 1}))
    folded.pre_tokenizer = pre_tokenizers.Whitespace()
    folded.normalizer = normalizers.Lowercase()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=folded)
    with pytest.raises(ElicitationError, match="'a' and 'A'"):
        usable_codes(tokenizer, ["code"], ["a", "A"])


def test_divergence_and_entropy_in_one_pass_are_what_they_are_apart() -> None:
    generator = torch.Generator().manual_seed(8)
    logits = torch.randn(7, 300, generator=generator) * 3
    rows = torch.log_softmax(torch.cat([logits, logits[:1], logits[:1] + 1e-4 * logits[1:2]]), -1)
    apart, spread = divergence_and_entropy(rows[0], rows)
    torch.testing.assert_close(apart, kl_divergence(rows[:1].expand_as(rows), rows), rtol=1e-9, atol=1e-13)
    torch.testing.assert_close(spread, entropy_of(rows), rtol=1e-12, atol=1e-12)
    assert apart[0] < 1e-12
    assert apart[7] < 1e-12


def test_divergence_from_an_impossible_token_is_infinite_and_no_number_is_refused() -> None:
    possible = torch.log_softmax(torch.zeros(1, 4), -1)
    without = torch.tensor([[-torch.inf, -1.0986, -1.0986, -1.0986]])
    apart, _ = divergence_and_entropy(possible[0], torch.cat([possible, without]))
    assert apart[0] == 0.0
    assert apart[1] == torch.inf
    with pytest.raises(EngineError, match="not a number"):
        divergence_and_entropy(possible[0], torch.full((1, 4), torch.nan))
