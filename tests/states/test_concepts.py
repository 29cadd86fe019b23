"""Concept vectors equal a plain twin written by hand; what would make them mean something else is refused."""

import json
import math

import pytest
import torch
from plain_tokenizers import byte_level, sentence_pieces

import firsthand
from firsthand.engine import inspect_model, resid_post, resid_pre
from firsthand.errors import StatesError
from firsthand.states import concepts
from firsthand.states.concepts import ABOUT, Recipe, concept_vectors
from firsthand.states.reading import Readings

WORDS = ["code", "register", "zebra crossing", "Q"]
LIST = ("hello", "brief", "so")
SITES = (resid_pre(1), resid_post(2))


def plain_state(loaded, blocks, text: str, begin: int, end: int, site, pool: str):
    """Mean state and mean norm of one text's tokens ``begin`` to ``end`` by one hook and loops, and how many they are.

    Tokens are placed by decoding longer and longer beginnings of the prompt, not by the tokenizer's offsets.
    """
    tokens = loaded.tokenizer(text, add_special_tokens=False)["input_ids"]
    lengths = [
        len(loaded.tokenizer.decode(tokens[:i], clean_up_tokenization_spaces=False)) for i in range(len(tokens) + 1)
    ]
    assert lengths[-1] == len(text)
    chosen = [i for i in range(len(tokens)) if lengths[i + 1] > begin and lengths[i] < end]
    if pool == "last":
        chosen = [len(tokens) - 1]
    kept = []
    if site.stream == "resid_pre":
        handle = blocks[site.layer].register_forward_pre_hook(
            lambda _, args, kwargs: kept.append(args[0] if args else kwargs["hidden_states"]), with_kwargs=True
        )
    else:
        handle = blocks[site.layer].register_forward_hook(
            lambda _m, _a, out: kept.append(out[0] if isinstance(out, tuple) else out)
        )
    with torch.no_grad():
        loaded.model(torch.tensor([tokens]), use_cache=False)
    handle.remove()
    state, norm = [0.0] * loaded.hidden_size, 0.0
    for i in chosen:
        values = kept[0][0, i].double().tolist()
        state = [a + b / len(chosen) for a, b in zip(state, values, strict=True)]
        norm += math.sqrt(sum(b * b for b in values)) / len(chosen)
    return state, norm, len(chosen)


def plain_vectors(loaded, blocks, before: str, after: str, words, baseline, scale: str, site, pool: str):
    """Concept vectors of one site: loops over words, numbers and the words of the baseline."""
    every = [*words, *(baseline or ())]
    found = [
        plain_state(loaded, blocks, before + word + after, len(before), len(before) + len(word), site, pool)
        for word in every
    ]
    residual = sum(norm for _, norm, _ in found) / len(found)
    vectors, raws = [], []
    for number in range(len(words)):
        others = [i for i in range(len(every)) if (i >= len(words) if baseline else i != number)]
        base = [sum(found[i][0][k] for i in others) / len(others) for k in range(loaded.hidden_size)]
        raw = [a - b for a, b in zip(found[number][0], base, strict=True)]
        length = math.sqrt(sum(x * x for x in raw))
        factor = {"raw": 1.0, "unit": 1 / length, "residual": residual / length}[scale]
        vectors.append([x * factor for x in raw])
        raws.append(length)
    return torch.tensor(vectors), raws, residual, [count for _, _, count in found]


@pytest.mark.parametrize("scale", ["unit", "raw", "residual"])
@pytest.mark.parametrize("baseline", ["others", "words"])
@pytest.mark.parametrize("pool", ["span", "last"])
def test_vectors_and_what_is_recorded_equal_the_plain_twin(tiny_llama, scale: str, baseline: str, pool: str) -> None:
    loaded, anatomy = tiny_llama
    words_of_baseline = LIST if baseline == "words" else ()
    recipe = Recipe(SITES, pool=pool, baseline=baseline, baseline_words=words_of_baseline, scale=scale)
    vectors = concept_vectors(loaded, anatomy, WORDS, recipe)
    before = f"<|im_start|>user\n{ABOUT[0][1].split('{word}')[0]}"
    after = f"{ABOUT[0][1].split('{word}')[1]}<|im_end|>\n<|im_start|>assistant\n"
    for site in SITES:
        wanted, raws, residual, counts = plain_vectors(
            loaded, anatomy.blocks, before, after, WORDS, words_of_baseline, scale, site, pool
        )
        mine = vectors.at(site)
        assert mine.names == tuple(WORDS)
        size = float(wanted.norm(dim=-1).max())
        torch.testing.assert_close(mine.vectors_VH, wanted.float(), rtol=0, atol=2e-5 * size)
        for measures, vector_H, raw, count in zip(mine.measures, mine.vectors_VH, raws, counts, strict=False):
            assert measures["raw_norm"] == pytest.approx(raw, rel=1e-4)
            assert measures["residual_norm"] == pytest.approx(residual, rel=1e-5)
            assert measures["norm"] == pytest.approx(float(vector_H.norm()), rel=1e-6)
            assert measures["tokens"] == count
        lengths = mine.vectors_VH.norm(dim=-1)
        if scale != "raw":
            torch.testing.assert_close(
                lengths, torch.full((4,), 1.0 if scale == "unit" else residual), rtol=1e-4, atol=0
            )
    assert counts[2] > 1 or pool == "last"


def test_plain_text_and_a_tokenizer_that_adds_a_beginning(wrap) -> None:
    """``<s>`` comes once, and the word is not read there."""
    loaded, anatomy = wrap(sentence_pieces())
    recipe = Recipe((resid_post(1),), template="the register holds {word}", scale="raw")
    words = ["code", "register", "hello"]
    vectors = concept_vectors(loaded, anatomy, words, recipe)
    states = []
    for word in words:
        own = loaded.tokenizer(f"the register holds {word}")["input_ids"]
        start = len(loaded.tokenizer("the register holds")["input_ids"])
        assert loaded.tokenizer.decode(own[start:]).strip() == word
        kept: list = []
        handle = anatomy.blocks[1].register_forward_hook(lambda _m, _a, out, kept=kept: kept.append(out))
        loaded.model(torch.tensor([own]), use_cache=False)
        handle.remove()
        states.append(kept[0][0, start:].double().mean(0))
    for i in range(3):
        wanted = states[i] - (sum(states) - states[i]) / 2
        torch.testing.assert_close(vectors.vectors_VH[i], wanted.float(), rtol=0, atol=2e-5)


def test_a_word_is_left_out_of_its_own_baseline_which_changes_the_length_and_not_the_direction(tiny_llama) -> None:
    """The identity that the module states, and that leaving out is not forgotten."""
    loaded, anatomy = tiny_llama
    raw = concept_vectors(loaded, anatomy, WORDS, Recipe((resid_post(2),), scale="raw"))
    for word in WORDS:
        rest = tuple(other for other in WORDS if other != word)
        alone = concept_vectors(
            loaded, anatomy, [word], Recipe((resid_post(2),), scale="raw", baseline="words", baseline_words=rest)
        )
        mine, naive = raw.vector(word, resid_post(2)), alone.vector(word, resid_post(2))
        torch.testing.assert_close(mine, naive, rtol=0, atol=1e-5 * float(naive.norm()))
    # The vectors of all words, each times (n - 1) / n, are h - mean(all): they add up to nothing.
    torch.testing.assert_close(raw.vectors_VH.sum(0), torch.zeros(32), rtol=0, atol=1e-4 * float(raw.vectors_VH.norm()))


def test_two_concepts_are_opposite(tiny_llama) -> None:
    vectors = concept_vectors(*tiny_llama, WORDS[:2], Recipe((resid_post(2),)))
    torch.testing.assert_close(vectors.vectors_VH[0], -vectors.vectors_VH[1])


def test_vectors_do_not_depend_on_which_words_are_run_together(tiny_llama) -> None:
    """Rows of unequal length in one batch, with a baseline that does not change."""
    loaded, anatomy = tiny_llama
    recipe = Recipe(SITES, baseline="words", baseline_words=LIST, scale="raw")
    together = concept_vectors(loaded, anatomy, WORDS, recipe)
    for word in WORDS:
        alone = concept_vectors(loaded, anatomy, [word], recipe)
        for site in SITES:
            torch.testing.assert_close(together.vector(word, site), alone.vector(word, site), rtol=0, atol=2e-5)


@pytest.mark.parametrize(
    ("words", "more", "reason"),
    [
        (["code", "Q", "Code"], {}, "duplicates among the concepts: Code, code"),
        (["zebra crossing", "Zebra  Crossing"], {}, "duplicates among the concepts"),
        (["code"], {}, "too few concepts"),
        ([], {}, "too few concepts"),
        ("code", {}, "too few concepts"),
        ([], {"baseline": "words", "baseline_words": LIST}, "too few concepts"),
        (["code", "Q"], {"baseline": "words", "baseline_words": ("hello", "CODE")}, "own baseline: code"),
        (["code", "Q"], {"baseline": "words", "baseline_words": ("so", "brief", "So")}, "among the baseline words"),
        (["code", "Q"], {"template": "{word} it is"}, "position 0"),
        (["gis", "Q"], {"template": "the re{word}ter"}, "no tokens of its own"),
    ],
)
def test_what_would_mean_something_else_is_refused(tiny_llama, words, more, reason: str) -> None:
    with pytest.raises(StatesError, match=reason):
        concept_vectors(*tiny_llama, words, Recipe(SITES, **more))


def test_a_baseline_word_at_position_0_is_refused_too(tiny_llama) -> None:
    recipe = Recipe(SITES, template="{word}", pool="last", baseline="words", baseline_words=("hello there", "Q"))
    with pytest.raises(StatesError, match="'Q' would be read at position 0"):
        concept_vectors(*tiny_llama, ["zebra crossing"], recipe)


def test_a_state_that_does_not_depend_on_the_word_gives_no_vector(tiny_llama) -> None:
    """The last token's embedding is the same for every word; its difference is zero and not a direction."""
    with pytest.raises(StatesError, match=r"at resid_pre\[0\] does not differ from its baseline"):
        concept_vectors(*tiny_llama, WORDS, Recipe((resid_pre(0),), pool="last"))


@pytest.mark.parametrize(("difference", "is_real"), [(1e-5, True), (1e-7, False), (0.0, False)])
def test_a_difference_of_the_size_of_rounding_is_no_direction(tiny_llama, monkeypatch, difference, is_real) -> None:
    site = resid_post(2)

    def almost_equal(*_args) -> Readings:
        states = torch.full((2, 32), 10.0 / 32**0.5, dtype=torch.float64)
        states[1] *= 1.0 + difference
        return Readings(("code", "Q"), {site: states}, {site: states.norm(dim=-1)}, (1, 1))

    monkeypatch.setattr(concepts, "read_states", almost_equal)
    if is_real:
        assert concept_vectors(*tiny_llama, ["code", "Q"], Recipe((site,))).names == ("code", "Q")
    else:
        with pytest.raises(StatesError, match="does not differ"):
            concept_vectors(*tiny_llama, ["code", "Q"], Recipe((site,)))


def test_vectors_are_not_made_while_a_hook_is_active(wrap) -> None:
    loaded, anatomy = wrap(byte_level())
    handle = anatomy.blocks[0].register_forward_hook(lambda *args: args[2] + 1.0)
    with pytest.raises(StatesError, match=r"a hook at model\.layers\.0"):
        concept_vectors(loaded, anatomy, WORDS, Recipe(SITES))
    handle.remove()
    clean = concept_vectors(loaded, anatomy, WORDS, Recipe(SITES))
    again = concept_vectors(loaded, inspect_model(loaded.model), WORDS, Recipe(SITES))
    assert torch.equal(clean.vectors_VH, again.vectors_VH)


@pytest.mark.parametrize(
    "settings",
    [
        {"pool": "mean"},
        {"scale": "twice"},
        {"baseline": "all"},
        {"baseline": "words"},
        {"baseline": "words", "baseline_words": ("one",)},
        {"baseline_words": ("one", "two")},
        {"template": "nothing"},
    ],
)
def test_a_recipe_that_does_not_hold_together_is_refused(settings) -> None:
    with pytest.raises(StatesError):
        Recipe(SITES, **settings)


def test_a_recipe_survives_json() -> None:
    for recipe in (
        Recipe(("resid_post[2]", resid_pre(1)), scale="residual"),
        Recipe(SITES, template="now {word}", pool="last", baseline="words", baseline_words=["a", "b"]),
    ):
        assert Recipe(**json.loads(json.dumps(recipe.as_json()))) == recipe


def test_the_embedded_model_has_concept_vectors_that_point_its_way() -> None:
    """SmolLM2 (about 5 s once its copy is cached): agreement with the twin, and more of the word's own direction.

    A vector from one prompt must resemble that of the same word from another prompt more than that of any other word.
    """
    loaded = firsthand.load("smollm2")
    anatomy = inspect_model(loaded.model)
    words, site = ["sushi", "astronomy", "democracy", "gardening", "sand", "poetry"], resid_post(15)
    vectors = concept_vectors(loaded, anatomy, words, Recipe((site,), scale="residual"))
    before = (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nLet us talk about "
    )
    wanted, raws, residual, counts = plain_vectors(
        loaded, anatomy.blocks, before, " for a while.<|im_end|>\n", words, None, "residual", site, "span"
    )
    torch.testing.assert_close(vectors.vectors_VH, wanted.float(), rtol=0, atol=1e-4 * residual)
    assert [m["tokens"] for m in vectors.measures] == counts
    assert [m["raw_norm"] for m in vectors.measures] == pytest.approx(raws, rel=1e-3)
    other = concept_vectors(loaded, anatomy, words, Recipe((site,), template="In this book on {word} we find"))
    cosines = torch.nn.functional.normalize(vectors.vectors_VH, dim=-1) @ other.vectors_VH.T
    assert cosines.argmax(-1).tolist() == list(range(len(words)))
    assert float(cosines.diagonal().min()) > 0.4
