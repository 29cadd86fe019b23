"""Texts and labels lie in the tokens where they are said to lie, and what cannot be expressed exactly is refused."""

from collections import Counter
from dataclasses import replace

import pytest
from plain_tokenizers import byte_level, sentence_pieces
from transformers import PreTrainedTokenizerBase

from firsthand.engine import LoadedModel
from firsthand.errors import ElicitationError, EngineError, LabelsError
from firsthand.studies.labels.conversations import (
    INSTRUCTIONS,
    NAMES,
    Conversation,
    Shot,
    draw_wording,
    lay_out,
    template_pieces,
    usable_names,
)

TEXTS = ("user", "I gave 7 dogs a bath.", "assistant", "7", 'He said "no",\nand left.', "I gave 7 dogs a bath, too")
SHOTS = tuple(Shot(text, i % 3 % 2) for i, text in enumerate(TEXTS))


def talk(instruction: str = "Give the label, 3 or 7.", names: tuple[str, str] = ("3", "7")) -> Conversation:
    return Conversation(instruction, names, SHOTS)


@pytest.fixture(scope="module")
def tokenizer(tiny: LoadedModel) -> PreTrainedTokenizerBase:
    return tiny.tokenizer


def test_every_text_and_label_is_found_even_where_the_template_or_another_text_says_the_same(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    laid = lay_out(tokenizer, talk())
    assert [tokenizer.decode([laid.tokens[p] for p in span]) for span in laid.spans] == list(TEXTS)
    labels = [talk().names[shot.label] for shot in SHOTS]
    assert [tokenizer.decode([laid.tokens[p]]) for p in laid.places] == labels
    assert laid.places[-1] == len(laid.tokens) - 1
    order = [p for span, place in zip(laid.spans, laid.places, strict=True) for p in (span[0], span[-1], place)]
    assert order == sorted(order)
    assert [tokenizer.decode([token]) for token in laid.answers] == ["3", "7"]


def test_the_whole_is_what_the_chat_template_makes_of_the_turns(tokenizer: PreTrainedTokenizerBase) -> None:
    turns = [{"role": "system", "content": talk().instruction}]
    for shot in SHOTS:
        turns += [
            {"role": "user", "content": shot.text},
            {"role": "assistant", "content": talk().names[shot.label]},
        ]
    plain = tokenizer.apply_chat_template(turns, tokenize=False, continue_final_message=True)
    assert lay_out(tokenizer, talk()).tokens == tuple(tokenizer.encode(plain, add_special_tokens=False))


def test_fewer_shots_are_the_beginning_of_more(tokenizer: PreTrainedTokenizerBase) -> None:
    whole = lay_out(tokenizer, talk())
    for count in range(1, len(SHOTS)):
        part = lay_out(tokenizer, talk().starting(count))
        assert part.tokens == whole.tokens[: len(part.tokens)]
        assert (part.spans, part.places) == (whole.spans[:count], whole.places[:count])


def test_exchanged_names_change_the_labels_and_nothing_else(tokenizer: PreTrainedTokenizerBase) -> None:
    one, other = (lay_out(tokenizer, talk(names=names)) for names in (("3", "7"), ("7", "3")))
    assert one.answers == other.answers[::-1]
    assert [i for i, (a, b) in enumerate(zip(one.tokens, other.tokens, strict=True)) if a != b] == list(one.places)


def test_letters_are_labels_in_a_plain_rendering_too() -> None:
    laid = lay_out(byte_level(template=None), talk("Give the label, X or Q.", ("X", "Q")))
    assert len(laid.places) == len(SHOTS)


@pytest.mark.parametrize("names", [("yes indeed", "7"), ("3", "37")])
def test_labels_of_several_tokens_are_refused(tokenizer: PreTrainedTokenizerBase, names: tuple[str, str]) -> None:
    with pytest.raises(ElicitationError, match="not one token each"):
        lay_out(tokenizer, talk(names=names))


def test_a_text_with_a_special_token_is_refused(tokenizer: PreTrainedTokenizerBase) -> None:
    with pytest.raises(EngineError, match="read as part of the template"):
        lay_out(tokenizer, talk().starting(2, Shot("a <|im_end|> b", 0)))


def test_a_template_that_alters_a_turn_is_refused() -> None:
    altering = byte_level()
    altering.chat_template = altering.chat_template.replace(
        "m['content']", "m['content'] | replace('hello', 'hellohello')"
    )
    conversation = Conversation("so be brief", ("X", "Q"), (Shot("hello there", 0), Shot("code", 1)))
    with pytest.raises(ElicitationError, match="alters the turns"):
        template_pieces(altering, conversation)


def test_a_tokenizer_without_the_label_is_refused() -> None:
    """A tokenizer that cannot write a name would have the same unknown token for both."""
    conversation = Conversation("so be brief", ("界", "世"), (Shot("hello there", 0), Shot("code", 1)))
    with pytest.raises(ElicitationError):
        lay_out(sentence_pieces(), conversation)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"shots": ()}, "needs shots"),
        ({"shots": (Shot("a", 2),)}, "labels are 0 or 1"),
        ({"shots": (Shot(" a", 1),)}, "holds ' a'"),
        ({"shots": (Shot("", 1),)}, "holds ''"),
        ({"instruction": ""}, "holds ''"),
        ({"names": ("3", "3")}, "Two labels are called '3'"),
    ],
)
def test_a_conversation_that_means_nothing_is_refused(change: dict[str, object], problem: str) -> None:
    with pytest.raises(LabelsError, match=problem):
        replace(talk(), **change)  # type: ignore[arg-type]


def test_only_names_of_one_token_are_used(tokenizer: PreTrainedTokenizerBase) -> None:
    assert usable_names(tokenizer, NAMES["digits"]) == NAMES["digits"]
    assert usable_names(tokenizer, NAMES["letters"]) == NAMES["letters"]
    assert usable_names(tokenizer, ("both of them", "37", "3", "B", "3")) == ("3", "B")
    assert usable_names(tokenizer, ("37",)) == ()


def test_over_two_experiments_no_name_means_one_class_and_none_is_mentioned_first_for_one() -> None:
    means: Counter[tuple[str, int]] = Counter()
    first: Counter[int] = Counter()
    for experiment in range(40):
        instruction, names = draw_wording(NAMES["digits"], 0, experiment)
        means.update((name, label) for label, name in enumerate(names))
        first[int(instruction.index(names[0]) > instruction.index(names[1]))] += 1
    assert all(means[name, 0] == means[name, 1] for name in NAMES["digits"])
    assert first[0] == first[1] == 20
    one, other = draw_wording(NAMES["digits"], 0, 6), draw_wording(NAMES["digits"], 0, 7)
    assert (one[0], one[1]) == (other[0], other[1][::-1])


def test_wordings_and_names_are_drawn_anew_by_seed_and_experiment() -> None:
    drawn = {draw_wording(NAMES["digits"], 0, experiment) for experiment in range(0, 60, 2)}
    assert len({names for _, names in drawn}) > 15
    assert draw_wording(NAMES["digits"], 0, 4) == draw_wording(NAMES["digits"][::-1], 0, 4)
    assert len({draw_wording(NAMES["letters"], seed, 0) for seed in range(10)}) > 5
    said = {instruction.split()[0] for instruction, _ in drawn}
    assert said == {instruction.split()[0] for instruction in INSTRUCTIONS}


def test_instructions_say_nothing_of_what_labels_stand_for() -> None:
    betraying = (
        "activation",
        "hidden",
        "state",
        "model",
        "moral",
        "wrong",
        "ethic",
        "internal",
        "neur",
        "feel",
        "mean",
    )
    assert not [word for text in INSTRUCTIONS for word in betraying if word in text.lower()]


def test_fewer_than_two_names_are_refused() -> None:
    with pytest.raises(ElicitationError, match="usable with this model: 3"):
        draw_wording(("3", "3"), 0, 0)


def test_three_classes_have_a_token_each_wherever_they_stand(tokenizer: PreTrainedTokenizerBase) -> None:
    shots = tuple(Shot(text, i % 3) for i, text in enumerate(TEXTS))
    one = Conversation("Give the label: 3, 7 or 5.", ("3", "7", "5"), shots)
    laid = lay_out(tokenizer, one)
    assert [tokenizer.decode([token]) for token in laid.answers] == ["3", "7", "5"]
    assert [tokenizer.decode([laid.tokens[p]]) for p in laid.places] == [one.names[s.label] for s in shots]
    with pytest.raises(ElicitationError, match="'3', '7' and '55' are not one token"):
        lay_out(tokenizer, replace(one, names=("3", "7", "55")))
    with pytest.raises(LabelsError, match="labels are 0, 1 or 2"):
        replace(one, shots=(Shot("a", 3),))


def test_over_three_experiments_with_three_classes_no_name_means_one_and_each_is_mentioned_first() -> None:
    drawn = [draw_wording(NAMES["digits"], 0, experiment, 3) for experiment in range(60)]
    means = Counter((name, label) for _, names in drawn for label, name in enumerate(names))
    assert all(means[name, 0] == means[name, 1] == means[name, 2] for name in NAMES["digits"])
    for begin in range(0, 60, 3):
        told = {instruction for instruction, _ in drawn[begin : begin + 3]}
        assert len(told) == 1
        instruction = told.pop()
        assert all(name in instruction for name in drawn[begin][1])
        assert len({min(names, key=instruction.index) for _, names in drawn[begin : begin + 3]}) == 1
        first = [min(range(3), key=lambda c, n=names: instruction.index(n[c])) for _, names in drawn[begin : begin + 3]]
        assert sorted(first) == [0, 1, 2]
    with pytest.raises(ElicitationError, match="Three names for labels are needed"):
        draw_wording(("3", "7"), 0, 0, 3)
