"""A row's next token depends on its seed, its step and its own distribution, which is that of Transformers."""

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from torch import Tensor
from transformers import GenerationConfig, GPT2Config, GPT2Model, PreTrainedModel

from firsthand.engine import sampling as sampling_module
from firsthand.engine.sampling import Sampling, default_sampling, next_tokens, uniform, warped_scores
from firsthand.errors import EngineError

SETTINGS = [
    Sampling(),
    Sampling(temperature=0.6),
    Sampling(top_k=7),
    Sampling(top_p=0.8),
    Sampling(min_p=0.1),
    Sampling(repetition_penalty=1.7),
    Sampling(temperature=1.6, top_k=20, top_p=0.9, min_p=0.05, repetition_penalty=1.3),
    Sampling(temperature=2, top_k=200, top_p=1, min_p=0, repetition_penalty=1),
]


def some_logits(rows: int, size: int = 97, seed: int = 0) -> Tensor:
    return 2.5 * torch.randn(rows, size, generator=torch.Generator().manual_seed(seed))


def some_history(rows: int, size: int = 97) -> list[list[int]]:
    draw = random.Random(0)
    return [[draw.randrange(size) for _ in range(row % 5)] for row in range(rows)]


def plain_draw(probabilities: Sequence[float], number: float) -> int:
    """The inverse of a cumulative function, in the plainest way."""
    passed = 0.0
    for token, probability in enumerate(probabilities):
        passed += probability
        if passed > number:
            return token
    raise AssertionError("The probabilities do not add up.")


@pytest.mark.parametrize("sampling", SETTINGS)
def test_a_row_gets_the_same_token_alone_in_a_batch_and_in_another_order(sampling: Sampling) -> None:
    rows, order = 12, random.Random(1).sample(range(12), 12)
    logits_RV, history, seeds, steps = some_logits(rows), some_history(rows), [7 * r for r in range(rows)], range(rows)
    batch = next_tokens(logits_RV, seeds, steps, sampling, history)
    mixed = next_tokens(logits_RV[order], [seeds[i] for i in order], order, sampling, [history[i] for i in order])
    for row in range(rows):
        alone = next_tokens(logits_RV[row : row + 1], [seeds[row]], row, sampling, [history[row]])
        for name in ("tokens_R", "sampled_logprobs_R", "model_logprobs_R"):
            expected = getattr(batch, name)[row]
            assert torch.equal(getattr(alone, name)[0], expected)
            assert torch.equal(getattr(mixed, name)[order.index(row)], expected)


@pytest.mark.parametrize("sampling", [*SETTINGS, Sampling(greedy=True)])
def test_torchs_own_generator_is_neither_used_nor_moved(sampling: Sampling) -> None:
    tokens = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        state = torch.get_rng_state()
        tokens.append(next_tokens(some_logits(8), range(8), 3, sampling, some_history(8)).tokens_R)
        assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(*tokens)


def test_the_draw_is_the_inverse_of_the_cumulative_function_in_order_of_token_id() -> None:
    probabilities = [0.1, 0.0, 0.25, 0.15, 0.5]
    logits_RV = torch.tensor([probabilities], dtype=torch.float64).log().expand(400, -1)
    drawn = next_tokens(logits_RV, range(400), 0, Sampling(), [[]] * 400)
    assert drawn.tokens_R.tolist() == [plain_draw(probabilities, uniform(seed, 0)) for seed in range(400)]


@pytest.mark.parametrize(
    ("logits", "number", "token"),
    [
        ([-800.0, 0.0, 0.0], 0.0, 1),
        ([-800.0, 0.0, 0.0], 0.5, 2),
        ([0.0, 0.0, -800.0], 1 - 2**-53, 1),
        ([0.3, 0.1, -0.2, -math.inf], 1 - 2**-53, 2),
        ([-math.inf, 0.1, -0.2], 0.0, 1),
    ],
)
def test_a_token_of_probability_zero_is_not_drawn_at_the_boundaries_either(
    monkeypatch: pytest.MonkeyPatch, logits: list[float], number: float, token: int
) -> None:
    monkeypatch.setattr(sampling_module, "uniform", lambda *_: number)
    assert next_tokens(torch.tensor([logits]), [0], 0, Sampling(), [[]]).tokens_R.tolist() == [token]


def test_the_number_of_a_seed_and_a_step_never_changes() -> None:
    numbers = [uniform(0, 0), uniform(0, 1), uniform(1, 0), uniform(2**70, 5)]
    assert numbers == [0.9347457121882002, 0.10692050641241668, 0.315318591981116, 0.24136271274152188]


@pytest.mark.parametrize("of", ["seeds", "steps"])
@pytest.mark.parametrize("sampling", SETTINGS)
def test_tokens_are_as_frequent_as_they_are_probable(sampling: Sampling, of: str) -> None:
    draws, history = 4000, [[2, 5]]
    logits_1V = torch.tensor([[0.5, 2.0, 1.5, -1.0, 1.0, 0.0, -0.7, 1.2, -0.3]])
    seeds, steps = (range(draws), [0] * draws) if of == "seeds" else ([3] * draws, range(draws))
    drawn = next_tokens(logits_1V.expand(draws, -1), seeds, steps, sampling, history * draws)
    expected_V = warped_scores(logits_1V, sampling, history)[0].double().softmax(0).numpy()
    observed_V = np.bincount(drawn.tokens_R.numpy(), minlength=9)
    assert observed_V[expected_V == 0].sum() == 0
    kept_V = expected_V > 0
    assert kept_V.sum() > 1
    assert chisquare(observed_V[kept_V], draws * expected_V[kept_V]).pvalue > 0.001


def test_consecutive_tokens_of_a_row_are_independent() -> None:
    logits_RV = torch.zeros(8000, 3)
    first, second = (next_tokens(logits_RV, range(8000), step, Sampling(), [[]] * 8000).tokens_R for step in (0, 1))
    assert chisquare(np.bincount((3 * first + second).numpy(), minlength=9)).pvalue > 0.001


def test_logits_that_differ_in_their_last_digits_move_only_draws_at_a_boundary() -> None:
    logits_RV = some_logits(1).expand(3000, -1)
    nearby_RV = logits_RV + 1e-5 * some_logits(1, seed=1)
    one, other = (next_tokens(x, range(3000), 0, Sampling(), [[]] * 3000).tokens_R for x in (logits_RV, nearby_RV))
    assert int((one != other).sum()) <= 3


@pytest.mark.parametrize("sampling", SETTINGS)
@pytest.mark.parametrize("padded", [False, True])
def test_the_distribution_is_the_one_that_generate_draws_from(
    shared_llama: PreTrainedModel, sampling: Sampling, padded: bool
) -> None:
    pads = [0, 2, 3] if padded else [0, 0, 0]
    prompts_RT = torch.randint(3, 97, (3, 6), generator=torch.Generator().manual_seed(0))
    mask_RT = torch.tensor([[int(t >= pad) for t in range(6)] for pad in pads])
    prompts_RT = prompts_RT * mask_RT
    given = {name: value for name, value in vars(sampling).items() if value is not None and name != "greedy"}
    given = {name: value if name == "top_k" else float(value) for name, value in given.items()}
    torch.manual_seed(0)
    output = shared_llama.generate(
        prompts_RT,
        attention_mask=mask_RT,
        do_sample=True,
        max_new_tokens=5,
        output_scores=True,
        output_logits=True,
        return_dict_in_generate=True,
        **{"top_k": 0, **given},
    )
    assert len(output.scores) == 5
    for step, (logits_RV, scores_RV) in enumerate(zip(output.logits, output.scores, strict=True)):
        history = [tokens[pad : 6 + step] for tokens, pad in zip(output.sequences.tolist(), pads, strict=True)]
        assert torch.equal(warped_scores(logits_RV, sampling, history), scores_RV)
        drawn = next_tokens(logits_RV, [1, 2, 3], step, sampling, history)
        chosen_R1 = drawn.tokens_R[:, None]
        sampled_R1 = scores_RV.double().log_softmax(1).gather(1, chosen_R1)
        plain_R1 = logits_RV.double().log_softmax(1).gather(1, chosen_R1)
        assert torch.allclose(drawn.sampled_logprobs_R, sampled_R1[:, 0], atol=1e-12)
        assert torch.allclose(drawn.model_logprobs_R, plain_R1[:, 0], atol=1e-12)


def test_greedy_tokens_are_those_that_generate_chooses(shared_llama: PreTrainedModel) -> None:
    prompt = [5, 9, 11, 9]
    output = shared_llama.generate(
        torch.tensor([prompt]),
        attention_mask=torch.ones(1, 4),
        do_sample=False,
        repetition_penalty=1.4,
        max_new_tokens=8,
        output_logits=True,
        return_dict_in_generate=True,
    )
    tokens = output.sequences[0].tolist()
    sampling = Sampling(greedy=True, repetition_penalty=1.4, temperature=3.0, top_k=2)
    for step, logits_RV in enumerate(output.logits):
        drawn = next_tokens(logits_RV, [0], step, sampling, [tokens[: 4 + step]])
        assert drawn.tokens_R.tolist() == [tokens[4 + step]]
        assert drawn.sampled_logprobs_R.tolist() == [0.0]
        assert drawn.model_logprobs_R[0] == pytest.approx(logits_RV.log_softmax(1)[0, tokens[4 + step]].item())


def test_greedy_takes_the_lowest_id_of_several_likeliest_tokens() -> None:
    logits_RV = torch.tensor([[0.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 3.0], [-math.inf, -9.0, -math.inf, -9.0]])
    assert next_tokens(logits_RV, [1, 2, 3], 0, Sampling(greedy=True), [[]] * 3).tokens_R.tolist() == [1, 0, 1]


def test_greedy_cuts_nothing_off_and_needs_no_temperature() -> None:
    logits_RV, sampling = some_logits(2), Sampling(greedy=True, temperature=1e-38, top_k=2, top_p=0.1, min_p=0.9)
    assert torch.equal(warped_scores(logits_RV, sampling, [[], []]), logits_RV)


def test_only_a_repetition_penalty_looks_at_the_history_and_each_row_at_its_own() -> None:
    logits_RV, history = some_logits(3), [[], [4, 4, 9], [96]]
    assert torch.equal(warped_scores(logits_RV, Sampling(), history), logits_RV)
    scores_RV = warped_scores(logits_RV, Sampling(repetition_penalty=2.0), history)
    changed = (scores_RV != logits_RV).nonzero().tolist()
    assert changed == [[1, 4], [1, 9], [2, 96]]


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_logits_are_taken_in_single_precision_and_never_changed(dtype: torch.dtype) -> None:
    logits_RV = some_logits(4).to(dtype)
    before_RV = logits_RV.clone()
    sampling = SETTINGS[-2]
    drawn = next_tokens(logits_RV, range(4), 0, sampling, some_history(4))
    assert torch.equal(logits_RV, before_RV)
    single = next_tokens(logits_RV.float(), range(4), 0, sampling, some_history(4))
    assert torch.equal(drawn.tokens_R, single.tokens_R)
    assert drawn.sampled_logprobs_R.dtype == drawn.model_logprobs_R.dtype == torch.float64


@given(
    logits=st.lists(st.floats(-80, 80, width=32) | st.just(-math.inf), min_size=2, max_size=12).filter(
        lambda x: max(x) > -math.inf
    ),
    seed=st.integers(-(2**40), 2**70),
    sampling=st.builds(
        Sampling,
        temperature=st.none() | st.floats(0.05, 20),
        top_k=st.none() | st.integers(0, 20),
        top_p=st.none() | st.floats(0.01, 1),
        min_p=st.none() | st.floats(0, 1),
        repetition_penalty=st.none() | st.floats(0.5, 2),
        greedy=st.booleans(),
    ),
)
@settings(deadline=None)
def test_whatever_the_settings_a_token_that_the_distribution_allows_is_drawn(
    logits: list[float], seed: int, sampling: Sampling
) -> None:
    logits_1V = torch.tensor([logits])
    drawn = next_tokens(logits_1V, [seed], 0, sampling, [[0]])
    token = int(drawn.tokens_R[0])
    assert warped_scores(logits_1V, sampling, [[0]])[0, token] > -math.inf
    assert -math.inf < float(drawn.model_logprobs_R[0]) <= 1e-12
    assert -math.inf < float(drawn.sampled_logprobs_R[0]) <= 1e-12


def test_no_rows_get_no_tokens() -> None:
    assert next_tokens(torch.zeros(0, 97), [], 0, Sampling(), []).tokens_R.shape == (0,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"temperature": 0.0}, "greedy=True"),
        ({"temperature": -1.0}, "above 0"),
        ({"temperature": math.nan}, "temperature"),
        ({"temperature": math.inf}, "temperature"),
        ({"top_k": -1}, "top_k is -1"),
        ({"top_k": 5.0}, "whole number"),
        ({"top_p": 0.0}, "above 0 and at most 1"),
        ({"top_p": 1.01}, "at most 1"),
        ({"top_p": math.nan}, "top_p"),
        ({"min_p": -0.1}, "between 0 and 1"),
        ({"min_p": 1.1}, "between 0 and 1"),
        ({"repetition_penalty": 0.0}, "1 is no penalty"),
        ({"repetition_penalty": True}, "repetition_penalty"),
    ],
)
def test_settings_out_of_their_range_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(EngineError, match=message):
        Sampling(**given)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.0, math.nan, 1.0], "not a finite number"),
        ([0.0, math.inf, 1.0], "not a finite number"),
        ([-math.inf] * 3, "no token at all"),
    ],
)
@pytest.mark.parametrize("greedy", [False, True])
def test_broken_logits_are_refused(row: list[float], message: str, greedy: bool) -> None:
    with pytest.raises(EngineError, match=message):
        next_tokens(torch.tensor([[1.0, 2.0, 3.0], row]), [0, 1], 0, Sampling(greedy=greedy), [[], []])


def test_a_temperature_under_which_logits_overflow_is_refused() -> None:
    with pytest.raises(EngineError, match="larger temperature"):
        next_tokens(torch.tensor([[9.0, 1.0]]), [0], 0, Sampling(temperature=1e-38), [[]])


def test_seeds_steps_and_histories_are_one_a_row() -> None:
    for seeds, step, history in (([0], 0, [[], []]), ([0, 1], [0], [[], []]), ([0, 1], 0, [[]])):
        with pytest.raises(EngineError, match="2 rows"):
            next_tokens(some_logits(2), seeds, step, Sampling(), history)
    with pytest.raises(EngineError, match="without padding"):
        next_tokens(some_logits(1), [0], 0, Sampling(), [[3, -100]])


def test_a_configuration_that_leaves_top_k_open_has_transformers_own_of_50(llama: PreTrainedModel) -> None:
    assert llama.generation_config.top_k is None
    assert default_sampling(llama) == Sampling(
        temperature=1.0, top_k=50, top_p=1.0, min_p=None, repetition_penalty=1.0, greedy=False
    )


def test_what_the_configuration_sets_is_taken_over_and_zero_top_k_stays_off(llama: PreTrainedModel) -> None:
    llama.generation_config = GenerationConfig(do_sample=True, temperature=0.6, top_k=0, top_p=0.95, min_p=0.02)
    assert default_sampling(llama) == Sampling(temperature=0.6, top_k=0, top_p=0.95, min_p=0.02, repetition_penalty=1.0)


@pytest.mark.parametrize("own", [{}, {"temperature": 0.7, "top_k": 5, "repetition_penalty": 1.2}, {"top_p": 0.7}])
def test_the_default_is_what_generate_samples_from_when_given_nothing(
    llama: PreTrainedModel, own: dict[str, Any]
) -> None:
    llama.generation_config.update(**own)
    output = llama.generate(
        torch.tensor([[5, 9, 11]]),
        attention_mask=torch.ones(1, 3),
        do_sample=True,
        max_new_tokens=1,
        output_scores=True,
        output_logits=True,
        return_dict_in_generate=True,
    )
    found_RV = warped_scores(output.logits[0], default_sampling(llama), [[5, 9, 11]])
    assert torch.equal(found_RV, output.scores[0])
    assert bool(found_RV.isneginf().any())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_beams", 4),
        ("bad_words_ids", [[3]]),
        ("min_length", 5),
        ("min_new_tokens", 5),
        ("no_repeat_ngram_size", 3),
        ("forced_bos_token_id", 0),
        ("forced_eos_token_id", 0),
        ("suppress_tokens", [4]),
        ("begin_suppress_tokens", [4]),
        ("sequence_bias", [[[4], 2.0]]),
        ("constraints", ["one"]),
        ("typical_p", 0.9),
        ("top_h", 0.4),
        ("epsilon_cutoff", 0.001),
        ("eta_cutoff", 0.001),
        ("encoder_repetition_penalty", 1.2),
        ("exponential_decay_length_penalty", (3, 1.1)),
        ("guidance_scale", 1.5),
        ("watermarking_config", {"bias": 2.0}),
        ("token_healing", True),
        ("max_time", 3.0),
        ("penalty_alpha", 0.6),
        ("prompt_lookup_num_tokens", 2),
        ("use_mtp", True),
    ],
)
def test_what_is_not_carried_out_is_refused_by_name(llama: PreTrainedModel, name: str, value: object) -> None:
    setattr(llama.generation_config, name, value)
    with pytest.raises(EngineError, match=rf"sets {name}=.*generation_config\.{name} to None"):
        default_sampling(llama)
    setattr(llama.generation_config, name, None)
    default_sampling(llama)


def test_settings_that_move_no_token_are_no_hindrance(llama: PreTrainedModel) -> None:
    llama.generation_config.update(
        max_new_tokens=30,
        eos_token_id=[2, 5],
        stop_strings=["\n"],
        renormalize_logits=True,
        guidance_scale=1.0,
        min_new_tokens=0,
        suppress_tokens=None,
        num_beams=1,
        token_healing=False,
        use_cache=False,
    )
    llama.generation_config.chat_format = "unknown to Transformers"
    assert default_sampling(llama).top_k == 50


def test_a_model_or_a_configuration_that_cannot_generate_is_refused(llama: PreTrainedModel) -> None:
    bare = GPT2Model(GPT2Config(vocab_size=97, n_embd=8, n_layer=1, n_head=1))
    with pytest.raises(EngineError, match="cannot generate"):
        default_sampling(bare)
    llama.generation_config.max_new_tokens = -1
    with pytest.raises(EngineError, match="Transformers refuses"):
        default_sampling(llama)
    llama.generation_config.max_new_tokens = None
    llama.generation_config.temperature = 0.0
    with pytest.raises(EngineError, match="temperature of 0"):
        default_sampling(llama)
