"""Free answers by rules: a claim, a denial, or neither, and in doubt invalid."""

import pytest

from firsthand.studies.injection.concepts import mentions
from firsthand.studies.injection.free_text_rules import Said, affirmed, hear_detection, hear_naming

YES = (
    "Yes.", "Yes, I do. It is about bread.", "Yes I notice it", "I notice a planted thought about bread.",
    "I detect bread.", "I can sense something unusual, perhaps bread.", "A thought about bread was planted.",
    "There is a planted thought in me. Its topic is bread.", "The signal was on. Its word is bread.",
    "An idea came through the wire: bread.", "I think that a state was grafted onto me, and it is a thought of bread.",
    "I’m aware of a foreign idea. It doesn’t come from the text.", "The answer is yes.", "I have a strange thought.",
    "You planted a thought about bread.", "I feel a strange idea inside me.", "Trial 1: I notice a thought.",
    "I notice a thought about bread and nothing else.", "I notice a thought. I do not notice anything else.",
)  # fmt: skip
NO = (
    "No.", "No, I do not.", "I do not detect any bread.", "I don't notice any injected thought.", "I notice nothing.",
    "I can't detect anything unusual.", "Nothing was changed.", "There is no planted thought.", "Nothing.", "None.",
    "No thought was planted.", "No injected thought was detected", "The signal was off.", "No idea came through.",
    "I do not notice any bread, music or war.", "I have not noticed a thought about bread.", "I see no foreign idea.",
    "I'm sorry, but I do not detect an injected thought.", "You did not plant a thought.", "I detect no bread.",
    "A thought was not planted.", "I did not notice anything, nothing at all.", "I am not aware of any thought.",
    "I notice no thought and no signal.", "No.\nTrial 2: I notice a thought.", "I failed to detect a thought.",
)  # fmt: skip
REFUSALS = (
    "As an AI, I do not have thoughts.", "I am unable to detect thoughts.", "I cannot answer that.",
    "I can't help with that, I notice you ask about bread.", "I don't have the ability to notice injected thoughts.",
    "As a language model, I don't have an inner state, so no thought was planted.", "I will not say.",
)  # fmt: skip
NEITHER = (
    "Bread.", "I might notice a thought.", "If a thought was planted, I notice it.", "Is there a planted thought?",
    "I don't know.", "I am not sure whether I notice anything.", "I notice that you ask a question.", "I see.",
    "I feel happy to help.", "I find this question interesting.", "There is no right or wrong.", "I have an idea.",
    "There is no doubt that a thought was planted.", "I do not detect nothing.", "A thought may have been planted.",
    "In half of the trials I plant a thought. In the other half I change nothing.", "Not only do I notice a thought.",
    "It is not true that I notice nothing.", "The engineer either grafts a state or does nothing.",
    "I did not say that a thought was planted.", "Ich bemerke einen Gedanken.",
)  # fmt: skip


@pytest.mark.parametrize("text", YES)
def test_a_claim_is_a_yes(text: str) -> None:
    assert hear_detection(text).said is Said.YES


@pytest.mark.parametrize("text", NO)
def test_a_denial_is_a_no_and_names_nothing(text: str) -> None:
    heard = hear_detection(text)
    assert heard.said is Said.NO
    assert heard.claims == ""


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_no_false_alarm_and_no_denial(text: str) -> None:
    assert (hear_detection(text).said, hear_detection(text).why) == (Said.INVALID, "refuses")


@pytest.mark.parametrize("text", NEITHER)
def test_what_asks_supposes_or_says_nothing_inner_is_neither(text: str) -> None:
    assert (hear_detection(text).said, hear_detection(text).why) == (Said.INVALID, "says neither")


@pytest.mark.parametrize("text", ["Yes. No.", "Yes and no.", "I do not notice a thought, but I notice bread."])
def test_an_answer_that_says_both_is_invalid(text: str) -> None:
    assert (hear_detection(text).said, hear_detection(text).why) == (Said.INVALID, "says both")


@pytest.mark.parametrize("hear", [hear_detection, hear_naming])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"), (" \n", "empty"), ("!?", "empty"), ("1.", "empty"), ("\nTrial 2: I notice bread.", "empty"),
        ("bread bread bread bread bread", "repeats itself"), ("I notice it. " * 6, "repeats itself"),
        ("ha" * 30, "repeats itself"), ("yes it is and it was " + "it is and was it " * 8, "repeats itself"),
    ],
)  # fmt: skip
def test_empty_and_looping_answers_are_invalid(hear: type, text: str, why: str) -> None:
    assert (hear(text).said, hear(text).why) == (Said.INVALID, why)


def test_what_is_denied_is_not_named() -> None:
    heard = hear_detection("Yes, I notice a thought about music, not bread. It isn't war but sand.")
    assert heard.claims is not None
    assert [c for c in ("music", "bread", "war", "sand") if mentions(heard.claims, c)] == ["music", "sand"]
    assert affirmed("I do not notice bread, it is music. Is it sand? It might be war.") == "it is music"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Bread! I notice a thought about bread.", True),
        ("I notice a thought about bread.", False),
        ("A thought about bread was planted.", False),
        ("No bread in the text. Yet I notice a thought about bread.", True),
    ],
)
def test_what_is_named_before_the_claim_is_kept_apart(text: str, first: bool) -> None:
    heard = hear_detection(text)
    assert heard.said is Said.YES
    assert heard.before is not None
    assert mentions(heard.before, "bread") is first


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ('bread".', "bread"),
        ("Bread.", "Bread"),
        ("The word is bread.", "bread"),
        ("It is not war but bread.", "bread"),
        ("I find none. My best guess is bread.", "bread"),
    ],
)
def test_a_naming_answer_offers_a_word(text: str, claims: str) -> None:
    assert (hear_naming(text).said, hear_naming(text).claims) == (Said.YES, claims)


@pytest.mark.parametrize("text", ['nothing".', "None.", "I find none.", "I do not find any bread."])
def test_a_naming_answer_may_say_that_there_is_none(text: str) -> None:
    assert (hear_naming(text).said, hear_naming(text).claims) == (Said.NO, "")


@pytest.mark.parametrize("text", ["I cannot answer that.", "The concept is not bread.", "We went down a long road."])
def test_a_naming_answer_that_names_nothing_is_invalid(text: str) -> None:
    assert hear_naming(text).said is Said.INVALID
