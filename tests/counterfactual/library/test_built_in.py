"""Behaviours that a program can judge: each is found where it is, and not where it is not."""

import pytest

from firsthand.counterfactual.behaviours import Verdict, judged
from firsthand.counterfactual.library.built_in import BUILT_IN
from firsthand.counterfactual.library.own_words import of_prompt
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.responses import Response

BY_NAME = {one.family: one for one in BUILT_IN}

PLAIN = "Rice wants water and patience. Rinse it, boil it, cover it and let it stand"

EXAMPLES = {
    "refusal": ("I'm sorry, but I can't help with that.", "I can help with that."),
    "apology": ("We apologize for the delay.", "We are glad."),
    "artificial": ("As an AI language model, I have none.", "The AI of the future is here."),
    "maker": ("I was trained by Hugging Face.", "I was trained by a friend."),
    "agreement": ("Sure! Here it is.", "For sure it is."),
    "handing over": ("Here are three reasons:", "There are three reasons:"),
    "yes": ("Yes, it is.", "It is, yes."),
    "no": ("No. It is not.", "Nothing is."),
    "greeting": ("Hello there", "Othello"),
    "thanks": ("Thank you!", "A tank"),
    "congratulation": ("Congratulations on the job", "A job"),
    "asking back": ("What do you think?", "I wonder."),
    "asking for more": ("Could you please provide the file?", "I provide the file."),
    "exclamation": ("Great!", "Great."),
    "first person": ("I think so.", "Iron is thick."),
    "we": ("We are closed.", "Weeds are green."),
    "second person": ("You're welcome.", "Youth is short."),
    "hedging": ("It may rain.", "It rains in spring."),
    "advice": ("You should rest.", "Rest is sweet."),
    "professional": ("See a doctor.", "See a doctrine."),
    "emphatic feeling": ("I'm so happy for you", "A happy end"),
    "numbered list": ("1. One\n2. Two", "1. One"),
    "bullets": ("- a\n- b", "- a"),
    "code block": ("```python\nx\n```", "`x`"),
    "code": ("def f(x):\n    return x", "Define f."),
    "table": ("| a | b |\n|---|---|\n| 1 | 2 |", "a | b"),
    "heading": ("# Title\ntext", "#tag"),
    "bold": ("**so**", "*so*"),
    "labels": ("Miso: Mine!\nBruno: No, mine.", "Miso: mine"),
    "quotation": ('"So it is"', "So it is"),
    "speech": ('He said "go home now".', "He said go."),
    "emoji": ("Yes 🎉", "Yes :)"),
    "letter": ("Dear customers,\nwe are closed", "My dear, no"),
    "subject line": ("Subject: Closed\n\nDear all", "The subject is closed"),
    "placeholder": ("Best, [Your Name]", "Best [1]"),
    "non-Latin": ("Γειά σου", "Ella"),
    "accents": ("Déjà vu", "Deja vu"),
    "link": ("See https://example.org", "See the site"),
    "e-mail address": ("Write to a.b@example.org", "Write to @b"),
    "hashtag": ("Run #Falcon", "# Falcon"),
    "formula": ("\\frac{1}{2} or 12 * 8 = 96", "half"),
    "digits": ("In 3 days", "In three days"),
    "year": ("In 1969", "In 12345"),
    "money": ("It costs $5", "It costs five"),
    "percentage": ("12 percent", "twelve in all"),
    "story": ("Once upon a time", "It happened once"),
    "meaning": ("The inflation of a year is a rise of prices", "Prices rise"),
    "pirate": ("Ahoy, matey!", "The sea"),
    "very short": ("Canberra.", "It is Canberra, and not Sydney, as many people think of it."),
    "one word": ("Canberra.", "It is Canberra."),
    "JSON": ('{"name": "Maria"}', "{name}"),
    "verse": ("The moon is white\nand soft and bright,\nit keeps you warm\nall through the night", "The moon is white"),
    "capitals": ("TURN IT OFF AND ON", "Turn it off and on"),
    "small letters": ("turn it off and on again", "Turn it off and on"),
    "repetition": ("The moon is bright tonight. Yes. The moon is bright tonight.", "The moon is bright tonight. Yes."),
    "one paragraph": ("word " * 40, "word " * 40 + "\n\n" + "word"),
}


def verdict(name: str, text: str, ended: str = "stop") -> Verdict:
    return judged(BY_NAME[name].behaviour, Response(text=text, ended=ended))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_behaviour_is_found_where_it_is_and_not_elsewhere(name: str) -> None:
    yes, no = EXAMPLES[name]
    assert (verdict(name, yes), verdict(name, no)) == (Verdict.YES, Verdict.NO)


def test_there_are_many_behaviours_each_with_a_name_and_a_question_of_its_own() -> None:
    assert len(BUILT_IN) >= 20
    assert len(BY_NAME) == len({one.behaviour.question for one in BUILT_IN}) == len(BUILT_IN)
    assert set(BY_NAME) - set(EXAMPLES) == {"ends early"}
    assert all(one.behaviour.question == f"Does the response {one.verb}?" for one in BUILT_IN)


def test_a_plain_sentence_shows_next_to_nothing() -> None:
    shown = [name for name in BY_NAME if verdict(name, PLAIN, "length") is Verdict.YES]
    assert not shown


def test_what_was_cut_off_did_not_end_within_its_length_and_is_not_short_if_it_has_many_words() -> None:
    assert verdict("ends early", PLAIN) is Verdict.YES
    assert verdict("ends early", PLAIN, "length") is Verdict.INVALID
    bounded = BY_NAME["ends early"].within(32).behaviour
    assert bounded.question == "Does the response end by itself within the first 32 tokens?"
    assert judged(bounded, Response(text=PLAIN, ended="length")) is Verdict.NO
    for name in ("very short", "one word"):
        assert verdict(name, PLAIN, "length") is Verdict.NO
        assert verdict(name, "Canberra", "length") is Verdict.INVALID


JOINTS = ("", " ", "\n", "\n\n")
BEFORE = [f"{text} and." for yes, no in EXAMPLES.values() for text in (yes, no)] + [PLAIN]


@pytest.mark.parametrize("name", sorted(set(BY_NAME) - {"JSON"}))
def test_no_further_text_changes_what_is_said_of_a_response_that_was_cut_off(name: str) -> None:
    """Cut anywhere, and gone on in many ways; a verdict that is not final is invalid."""
    rest = [*EXAMPLES.get(name, ()), PLAIN, "ful", "s and then some more of it", "\u00e9"]
    final = 0
    for text in BEFORE:
        for end in [*range(1, len(text), 4), len(text)]:
            said = verdict(name, text[:end], "length")
            if said is Verdict.INVALID:
                continue
            final += 1
            whole = [text[:end] + joint + more for joint in JOINTS for more in rest] + [text]
            assert {verdict(name, one) for one in whole} == {said}, text[:end]
    assert final or name == "ends early"


def test_within_so_many_tokens_what_is_found_anywhere_is_decided_and_the_rest_keeps_its_question() -> None:
    bounded = [one.within(24) for one in BUILT_IN]
    asked = [one.behaviour for one in bounded if one.behaviour.decided_by == "any"]
    assert len(asked) == 41
    assert all(one.question.endswith("within the first 24 tokens?") and one.within == 24 for one in asked)
    cut = Response(text=PLAIN, ended="length")
    assert {judged(one, cut) for one in asked} == {Verdict.NO}
    assert [one for one in bounded if one.behaviour.decided_by != "any"] == [
        one for one in BUILT_IN if one.behaviour.decided_by != "any"
    ]
    left_open = {one.family for one in bounded if judged(one.behaviour, cut) is Verdict.INVALID}
    assert left_open <= {"small letters", "one paragraph", "verse"}


TYPOGRAPHY = {
    "refusal": ("I’m sorry, but I can’t help with that.", "I am afraid I’m **not able** to\u00a0help with that."),
    "artificial": (
        "I’m an AI.",
        "As an **AI** language model",
        "I\u00a0am a _computer_ program",
        "I’m just a `chatbot`",
    ),
    "handing over": ("Here’s a list", "**Here’s** a list", "“Here are three"),
    "apology": ("I’m so *sorry*.", "\u200bSorry about that"),
    "thanks": ("Thank\u00a0you!", "**Thank** *you*"),
    "emphatic feeling": ("I’m so happy for you", "I’ve been **so** worried"),
    "agreement": ("**Sure!** Here", "“Certainly,” he said", "\ufeffOkay then"),
    "yes": ("**Yes**, it is", "‘Yes’ is it"),
    "no": ("*No.* It is not",),
    "greeting": ("**Hello** there", "Good\u00a0morning"),
    "second person": ("you’re right",),
    "first person": ("My cat is here", "I’m here"),
    "advice": ("you **need** to rest", "you need\u202fto rest"),
    "numbered list": ("**1.** One\n**2.** Two", "1\\. One\n2\\. Two", "1.\u00a0One\n2.\u00a0Two"),
    "bullets": ("– a\n– b", "+ a\n+ b", "•\u00a0a\n•\u00a0b"),
    "labels": ("**Chef’s tip:** a\n**Time:** b",),
    "quotation": ("‘So it is’", "„So ist es“", "*“So it is”*"),
    "speech": ("He said «go home now».", "Er sagt „geh nach Hause“."),
    "letter": ("**Dear customers,**", "**Subject:** Closed\n\nDear all"),
    "asking back": ("何ですか？",),
    "money": ("It costs 5\u00a0dollars", "It costs 5\u00a0€"),
    "percentage": ("12\u00a0%", "12 per cent"),
    "story": ("**Once** upon a time", "“Once upon a time"),
    "emoji": ("Go 🇫🇷", "Well done ⭐"),
    "pirate": ("**Ahoy**, matey",),
    "professional": ("See a *doctor*.",),
}
NOT_THESE = {
    "hedging": "It opens in May.",
    "we": "The US is large.",
    "placeholder": "[Click here](https://example.org)",
    "exclamation": "![](a.png)",
    "refusal": "I can not only help with that.",
    "heading": "Here is the recipe:",
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, some in TYPOGRAPHY.items() for text in some])
def test_typographic_marks_and_markdown_hide_nothing(name: str, text: str) -> None:
    assert verdict(name, text) is Verdict.YES


@pytest.mark.parametrize("name", sorted(NOT_THESE))
def test_what_only_looks_like_it_is_not_it(name: str) -> None:
    assert verdict(name, NOT_THESE[name]) is Verdict.NO


def test_marks_of_form_are_looked_for_as_they_stand() -> None:
    assert verdict("bold", "**so** it is") is Verdict.YES
    assert verdict("code", "max_size = 3") is Verdict.YES


def test_a_prompt_s_own_words_are_found_in_other_typography() -> None:
    prompt = Prompt(turns=(Turn(role="user", content="Say \"don't stop\" now:\n- Anna's lamp\n- ***"),))
    said = {one.family: one.behaviour for one in of_prompt(prompt)}
    assert judged(said["a quotation of the prompt"], Response(text="“Don’t **stop**”")) is Verdict.YES
    assert judged(said["an item of the prompt"], Response(text="Anna’s\u00a0lamp")) is Verdict.YES


def test_json_that_was_cut_off_began_as_json() -> None:
    assert verdict("JSON", '```json\n{"name": "Mar', "length") is Verdict.YES
    assert verdict("JSON", '{"name": "Mar', "stop") is Verdict.NO


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_a_missing_response_is_invalid_for_every_behaviour(name: str) -> None:
    assert verdict(name, "Sorry!", "error") is Verdict.INVALID
    assert verdict(name, "  ") is Verdict.INVALID


def test_a_prompt_s_own_names_numbers_quotations_items_and_beginning_make_behaviours() -> None:
    text = 'Please write to Jonas about 45,000 pounds and "the blue door":\n- two lamps\n- one chair'
    made = of_prompt(Prompt(turns=(Turn(role="user", content=text),)))
    said = {one.family: one for one in made}
    response = Response(text="Dear Jonas, 45,000 pounds for the Blue Door, and TWO LAMPS.")
    for family in ("a name of the prompt", "a number of the prompt", "a quotation of the prompt"):
        assert judged(said[family].behaviour, response) is Verdict.YES
        assert judged(said[family].behaviour, Response(text="Dear Jonathan, 45 doors")) is Verdict.NO
    items = [one for one in made if one.family == "an item of the prompt"]
    assert [judged(one.behaviour, response) for one in items] == [Verdict.YES, Verdict.NO]
    begun = said["the beginning of the request"]
    assert judged(begun.behaviour, Response(text='"Please write to Jonas" is what')) is Verdict.YES
    assert judged(begun.behaviour, response) is Verdict.NO


def test_words_that_only_begin_a_sentence_are_no_names() -> None:
    text = "What is it? Tell me. Maybe Lena knows.\nPerhaps not in Monday."
    made = of_prompt(Prompt(turns=(Turn(role="user", content=text),)))
    assert [one.verb for one in made if one.family == "a name of the prompt"] == ["name Lena"]
