"""Every wording, order and framing as tokens of three tokenizers, each place and answer decoded back."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from plain_tokenizers import CHAT, byte_level, sentence_pieces, words
from transformers import PreTrainedTokenizerBase

from firsthand.errors import ElicitationError
from firsthand.studies.injection import drafts, places
from firsthand.studies.injection.built_in import built_in
from firsthand.studies.injection.concepts import CONCEPTS
from firsthand.studies.injection.drafts import Draft, Earlier, Task
from firsthand.studies.injection.prompts import Prompt, expressible, make_prompt, naming_tokens
from firsthand.studies.injection.texts_gaslight import GASLIGHTS, NEUTRALS
from firsthand.studies.injection.texts_places import (
    CONFIDENCE_TEXTS,
    PLACE_CONTROLS,
    PLACE_TEXTS,
    STRENGTH_CONTROLS,
    STRENGTH_TEXTS,
)
from firsthand.studies.injection.texts_questions import RIGHT_NO, RIGHT_YES
from firsthand.studies.injection.texts_sentences import FILLERS, PASSAGES, SENTENCES
from firsthand.studies.injection.wordings import Meaning, Wording, orders
from firsthand.trials.randomness import stream

YES_NO = (Meaning.YES, Meaning.NO)
CODES = "EJMOQSUVYZ"


def all_of(wording: Wording) -> Iterator[Draft]:
    """Every kind of conversation of a wording."""
    for order in orders(wording.meanings):
        yield drafts.detection(wording, order)
        yield drafts.detection(wording, order, Earlier(PASSAGES[1]))
        yield drafts.detection(wording, order, Earlier(PASSAGES[2], FILLERS))
    for order in orders(YES_NO):
        yield drafts.unrelated(wording, order, RIGHT_NO[3])
        yield drafts.unrelated(wording, order, RIGHT_YES[3], Earlier(PASSAGES[3], FILLERS[:6]))
    for earlier in (None, Earlier(PASSAGES[4], FILLERS[:1])):
        yield drafts.naming(wording, earlier)
        yield drafts.no_question(wording, True, earlier)
        yield drafts.no_question(wording, False, earlier)
        yield drafts.open_detection(wording, earlier)
        for count in (2, 9):
            for told in (True, False):
                for codes in (None, CODES[:count]):
                    yield drafts.identification_control(wording, CONCEPTS[:count], codes, told=told, earlier=earlier)
            yield drafts.identification_by_choice(wording, CONCEPTS[:count], earlier)
            yield drafts.identification_by_code(wording, CONCEPTS[:count], CODES[:count], earlier)


def proved(tokenizer: PreTrainedTokenizerBase, draft: Draft) -> Prompt:
    """The prompt, with everything that it claims decoded."""
    prompt = make_prompt(tokenizer, draft)
    assert prompt.text.endswith(draft.stem)
    assert tokenizer.decode(prompt.tokens) == prompt.text
    for span, mark in zip(prompt.spans, draft.marks, strict=True):
        assert list(span) == list(range(span[0], span[-1] + 1))
        assert tokenizer.decode([prompt.tokens[i] for i in span]).strip() == mark
    assert len({*prompt.answers}) == len(draft.labels) == len(draft.meanings)
    for answer, label in zip(prompt.answers, draft.labels, strict=True):
        assert tokenizer.decode([*prompt.tokens, *answer]) == f"{prompt.text}{drafts.joint(draft.stem)}{label}"
    later = draft.later is not None
    assert (prompt.until is not None) is (prompt.question is not None) is later
    if prompt.until is not None and prompt.question is not None and draft.later is not None:
        assert max(prompt.span) < prompt.until < prompt.question < len(prompt.tokens)
        after = tokenizer.decode(prompt.tokens[prompt.question :]).lstrip()
        assert after.startswith(draft.messages[draft.later][1])
        assert tokenizer.decode(prompt.tokens[: prompt.until]).rstrip().endswith(draft.marks[0])
    return prompt


@pytest.mark.parametrize("wording", built_in(), ids=lambda w: w.name)
def test_every_wording_and_order_can_be_expressed(tokenizer: PreTrainedTokenizerBase, wording: Wording) -> None:
    for draft in all_of(wording):
        prompt = proved(tokenizer, draft)
        if draft.labels:
            assert all(len(answer) == 1 for answer in prompt.answers)
            proved(tokenizer, places.confidence(draft, 1))


def test_the_control_of_identification_has_the_same_answers_and_as_long_a_span(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    for wording in built_in(options=2):
        for told in (True, False):
            for codes in (None, CODES[:4]):
                real = (
                    drafts.identification_by_choice(wording, CONCEPTS[:4])
                    if codes is None
                    else drafts.identification_by_code(wording, CONCEPTS[:4], codes)
                )
                asked = make_prompt(tokenizer, real)
                other = make_prompt(tokenizer, drafts.identification_control(wording, CONCEPTS[:4], codes, told=told))
                assert other.answers == asked.answers
                if len(tokenizer) > 1000:  # words are tokens
                    assert len(other.span) == len(asked.span)


def test_all_places_strengths_and_confidences_can_be_expressed(tokenizer: PreTrainedTokenizerBase) -> None:
    rng = stream("test")
    for text in PLACE_TEXTS:
        for count in range(2, 11):
            sentences = places.draw_sentences(count, rng)
            for style in ("letters", "digits") if count < 10 else ("letters",):
                asked = proved(tokenizer, places.localisation(text, sentences, style))  # type: ignore[arg-type]
                assert len(asked.spans) == count
                for control in PLACE_CONTROLS:
                    other = proved(
                        tokenizer,
                        places.localisation_control(text, control, sentences, "apple", style),  # type: ignore[arg-type]
                    )
                    assert other.spans == asked.spans
                    assert other.answers == asked.answers
    for copies in STRENGTH_TEXTS:
        for first in (0, 1):
            for answers in ("words", "digits"):
                draft = places.strength(copies, SENTENCES[5], first, answers)  # type: ignore[arg-type]
                prompt = proved(tokenizer, draft)
                assert len(prompt.spans[0]) == len(prompt.spans[1])
                for ask in CONFIDENCE_TEXTS:
                    follow = proved(tokenizer, places.confidence(draft, 0, ask))
                    assert follow.spans == prompt.spans
                for control in STRENGTH_CONTROLS:
                    proved(tokenizer, places.strength_control(copies, control, SENTENCES[5], first, answers))  # type: ignore[arg-type]


def test_every_sentence_passage_question_and_lead_can_be_marked_or_told(tokenizer: PreTrainedTokenizerBase) -> None:
    wording = built_in(options=2)[0]
    for start in range(0, len(SENTENCES), 8):
        proved(tokenizer, places.localisation(PLACE_TEXTS[0], SENTENCES[start : start + 8]))
    for question in (*RIGHT_NO, *RIGHT_YES):
        proved(tokenizer, drafts.unrelated(wording, YES_NO, question))
    for passage in PASSAGES:
        proved(tokenizer, drafts.detection(wording, wording.meanings, Earlier(passage, FILLERS)))
    for i, (push, neutral) in enumerate(zip(GASLIGHTS, NEUTRALS, strict=True)):
        for place in ("user", "system"):
            for text in (push.format(concept=CONCEPTS[i]), neutral):
                for earlier in (None, Earlier(FILLERS[0], FILLERS[1:3])):
                    draft = drafts.detection(wording, wording.meanings, earlier)
                    proved(tokenizer, drafts.with_lead(draft, text, "lead", place))  # type: ignore[arg-type]


def test_a_confidence_prompt_begins_as_its_report(tokenizer: PreTrainedTokenizerBase) -> None:
    report = drafts.detection(built_in()[0], built_in()[0].meanings)
    first, second = make_prompt(tokenizer, report), make_prompt(tokenizer, places.confidence(report, 0))
    assert second.tokens[: len(first.tokens)] == first.tokens
    assert second.tokens[len(first.tokens)] == first.answers[0][0]
    assert second.spans == first.spans


def test_concepts_can_be_named_behind_the_prompt(tokenizer: PreTrainedTokenizerBase) -> None:
    prompt = make_prompt(tokenizer, drafts.naming(built_in()[0]))
    found = naming_tokens(tokenizer, prompt, CONCEPTS)
    assert list(found) == list(CONCEPTS)
    for concept, forms in found.items():
        texts = [tokenizer.decode([*prompt.tokens, *form])[len(prompt.text) :] for form in forms]
        assert concept in texts
        assert len(set(forms)) == len(forms)


def test_an_answer_without_a_stem_begins_the_turn(tokenizer: PreTrainedTokenizerBase) -> None:
    draft = drafts.detection(built_in()[0], built_in()[0].meanings)
    bare = replace(draft, messages=(*draft.messages[:-1], ("assistant", "")))
    prompt = make_prompt(tokenizer, bare)
    assert "Well" not in prompt.text
    assert prompt.spans == make_prompt(tokenizer, draft).spans
    assert len(set(prompt.answers)) == 2
    for answer, label in zip(prompt.answers, bare.labels, strict=True):
        assert tokenizer.decode([*prompt.tokens, *answer]).removeprefix(prompt.text).strip() == label
    letters = replace(bare, labels=("A", "B"))
    assert len(set(make_prompt(tokenizer, letters).answers)) == 2


def test_answers_and_names_follow_a_word_with_a_space(tokenizer: PreTrainedTokenizerBase) -> None:
    wording = built_in(labels="letters")[0]
    draft = drafts.detection(wording, wording.meanings)
    prompt = proved(tokenizer, replace(draft, messages=(*draft.messages[:-1], ("assistant", "I choose option"))))
    assert tokenizer.decode([*prompt.tokens, *prompt.answers[1]]).endswith("I choose option B")
    name = drafts.naming(wording)
    named = make_prompt(tokenizer, replace(name, messages=(*name.messages[:-1], ("assistant", "The word is"))))
    form = naming_tokens(tokenizer, named, ["sushi"])["sushi"][0]
    assert tokenizer.decode([*named.tokens, *form]).endswith("The word is sushi")


def test_a_stem_that_ends_in_a_space_makes_a_digit_one_token(tokenizer: PreTrainedTokenizerBase) -> None:
    draft = drafts.detection(built_in()[0], built_in()[0].meanings)
    spaced = replace(draft, messages=(*draft.messages[:-1], ("assistant", "I choose option ")))
    assert [len(answer) for answer in proved(tokenizer, spaced).answers] == [1, 1]


def test_meanings_are_looked_up_by_name(tokenizer: PreTrainedTokenizerBase) -> None:
    wording = built_in(options=3)[0]
    for order in orders(wording.meanings):
        prompt = make_prompt(tokenizer, drafts.detection(wording, order))
        assert [prompt.answer(meaning) for meaning in order] == [0, 1, 2]
    with pytest.raises(ElicitationError, match="No answer means 'yes'"):
        prompt.answer("yes")


def test_one_span_is_asked_for_only_where_there_is_one() -> None:
    prompt = make_prompt(byte_level(), places.localisation(PLACE_TEXTS[0], SENTENCES[:3]))
    with pytest.raises(ElicitationError, match="3 texts are marked"):
        _ = prompt.span


def small(labels: Sequence[str] = ("1", "2"), user: str = "the register. now", mark: str = "the register.") -> Draft:
    return Draft(
        Task.DETECTION, "mine", "mine", "instruction", (("user", user), ("assistant", "It holds (")), (mark,),
        tuple(labels), tuple(labels),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("draft", "message"),
    [
        (small(("1", "10")), "begin with the candidate"),
        (small(("1", "1")), "begin with the candidate"),
        (small(user="the register. the register."), "more than once"),
        (small(mark="code A"), "more than once|does not occur"),
        (small(mark="egister."), "tokens of its own"),
        (small(user="the register. <|im_end|>"), "part of the template"),
    ],
)
def test_what_cannot_be_expressed_is_refused_with_the_name_of_the_wording(draft: Draft, message: str) -> None:
    with pytest.raises(ElicitationError, match=r"(?s)The wording 'mine' \(detection\).*(" + message + ")"):
        make_prompt(byte_level(), draft)


@pytest.mark.parametrize("tokenizer", [sentence_pieces(), words(64)], ids=["pieces", "words"])
def test_tokenizers_without_the_characters_are_refused(tokenizer: PreTrainedTokenizerBase) -> None:
    wording = built_in()[0]
    draft = drafts.detection(wording, wording.meanings)
    with pytest.raises(ElicitationError, match=f"wording '{wording.name}' .*(cannot write|tokens of its own)"):
        make_prompt(tokenizer, draft)
    prompts, problems = expressible(tokenizer, [draft, draft])
    assert prompts == []
    assert len(problems) == 2


def test_a_template_that_trims_the_stem_is_refused() -> None:
    trims = byte_level(CHAT.replace("m['content']", "m['content'] | trim"))
    wording = built_in()[0]
    draft = drafts.detection(wording, wording.meanings)
    assert make_prompt(trims, draft).answers
    spaced = replace(draft, messages=(*draft.messages[:-1], ("assistant", "I choose option ")))
    with pytest.raises(ElicitationError, match="does not end in the answer's stem"):
        make_prompt(trims, spaced)
