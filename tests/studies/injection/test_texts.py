"""The texts themselves: enough of each, unique, of like length, and free of what they must not hold."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields

import pytest

from firsthand.studies.injection.concepts import CONCEPTS, mentions
from firsthand.studies.injection.texts_gaslight import GASLIGHTS, NEUTRALS
from firsthand.studies.injection.texts_places import PLACE_CONTROLS, PLACE_TEXTS, STRENGTH_CONTROLS, STRENGTH_TEXTS
from firsthand.studies.injection.texts_questions import RIGHT_NO, RIGHT_YES
from firsthand.studies.injection.texts_sentences import FILLERS, PASSAGES, SENTENCES
from firsthand.studies.injection.texts_voices import VOICES

INNER = re.compile(
    r"\b(thoughts?|minds?|inject\w*|plant\w*|concepts?|introspect\w*|ideas?|neurons?|network)\b", re.IGNORECASE
)
PASSAGE_LINES = [line for line, _ in PASSAGES]
FILLER_TEXTS = [text for exchange in FILLERS for text in exchange]


@pytest.mark.parametrize(
    ("texts", "least"),
    [(GASLIGHTS, 18), (NEUTRALS, 18), (RIGHT_NO, 24), (RIGHT_YES, 24), (SENTENCES, 60), (PASSAGES, 6), (FILLERS, 6)],
)
def test_there_are_enough_and_no_two_are_equal(texts: Sequence[object], least: int) -> None:
    assert len(texts) >= least
    assert [text for text, times in Counter(texts).items() if times > 1] == []


def test_the_input_control_is_of_18_and_each_holds_the_concept() -> None:
    assert len(GASLIGHTS) == len(NEUTRALS) == 18
    assert all("{concept}" in text for text in GASLIGHTS)
    assert not any("{" in text for text in NEUTRALS)


@pytest.mark.parametrize("number", range(18))
def test_the_neutral_text_has_as_many_words_as_its_push(number: int) -> None:
    assert len(GASLIGHTS[number].split()) == len(NEUTRALS[number].split())


def test_no_question_is_on_both_lists() -> None:
    assert not set(RIGHT_NO) & set(RIGHT_YES)


@pytest.mark.parametrize("text", [*RIGHT_NO, *RIGHT_YES, *SENTENCES, *PASSAGE_LINES, *FILLER_TEXTS, *NEUTRALS])
def test_neutral_text_names_no_concept_and_nothing_inner(text: str) -> None:
    assert [c for c in CONCEPTS if mentions(text, c)] == []
    assert not INNER.search(text)


def test_sentences_are_of_like_length() -> None:
    assert {len(text.split()) for text in SENTENCES} <= {8, 9}
    assert {len(text.split()) for text in PASSAGE_LINES} <= {9, 10, 11, 12}


def test_no_sentence_is_part_of_another() -> None:
    assert not [(a, b) for a in SENTENCES for b in SENTENCES if a is not b and a in b]


def test_voices_say_everything_in_their_own_words() -> None:
    assert len(VOICES) >= 3
    for field in fields(VOICES[0]):
        values = [getattr(voice, field.name) for voice in VOICES]
        assert len(set(values)) == len(values), field.name


LINES = ("trial", "name", "anything", "code", "choose", "code_any", "choose_any")


def test_trial_lines_are_of_like_length() -> None:
    lines = [getattr(voice, name) for voice in VOICES for name in LINES]
    assert all(line.startswith("Trial 1: ") for line in lines)
    assert {len(line.split()) for line in lines} <= set(range(7, 12))


def test_the_plain_setting_says_nothing_of_injections_and_is_about_as_long() -> None:
    for voice in VOICES:
        controls = (voice.codes_any, voice.code_any, voice.choice_any, voice.choose_any)
        for text in (voice.plain, voice.neutral, voice.anything, *controls):
            assert not re.search(r"thought|idea|signal|state of|inject|planted|graft|wire", text), text
        assert 0.75 <= len(voice.plain.split()) / len(voice.setting.split()) <= 1.25


def test_the_control_of_identification_has_trial_lines_of_as_many_words() -> None:
    for voice in VOICES:
        assert len(voice.code_any.split()) == len(voice.code.split())
        assert len(voice.choose_any.split()) == len(voice.choose.split())
        assert not INNER.search(" ".join((voice.codes_any, voice.code_any, voice.choice_any, voice.choose_any)))


def test_same_answer_controls_are_several_and_say_nothing_inner() -> None:
    assert len(PLACE_CONTROLS) >= 4
    assert len(PLACE_TEXTS) == len(STRENGTH_TEXTS) == 3
    assert not any(
        INNER.search(text.replace("{concept}", "")) for text in [*PLACE_CONTROLS.values(), *STRENGTH_CONTROLS.values()]
    )
