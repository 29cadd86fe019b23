"""Wordings as data: all that are built in, every order, labels crossed with meanings, and what is refused."""

from collections import Counter
from typing import Any

import pytest
from pydantic import ValidationError

from firsthand.errors import ElicitationError
from firsthand.studies.injection.built_in import built_in
from firsthand.studies.injection.drafts import detection
from firsthand.studies.injection.wordings import Framing, Meaning, Wording, check_placeholders, fill, labels_of, orders

PLAIN: dict[str, Any] = {
    "name": "mine",
    "framing": "instruction",
    "turns": [{"role": "user", "text": "{task}\n{trial}"}],
    "options": {"injected": "{label} for yes", "nothing": "{label} for no"},
    "detection": {"task": "Say {options}.", "trial": "Trial 1: what is it?", "stem": ""},
}
TALK = [{"role": "user", "text": "{task}"}, {"role": "assistant", "text": "Fine."}, {"role": "user", "text": "{trial}"}]


def wording(**changes: object) -> Wording:
    return Wording.model_validate({**PLAIN, **changes})


@pytest.mark.parametrize("framing", list(Framing))
@pytest.mark.parametrize("options", [2, 3])
@pytest.mark.parametrize("labels", ["digits", "letters"])
def test_each_framing_and_number_of_options_has_three_paraphrases_or_more(
    framing: Any, options: Any, labels: Any
) -> None:
    found = built_in(framing, options, labels)
    assert len({w.cluster for w in found}) == len(found) >= 3
    assert all(w.framing is framing and len(w.meanings) == options and w.labels == labels for w in found)


def test_names_are_unique_and_strings_select_as_well() -> None:
    names = [w.name for w in built_in()]
    assert len(names) == len(set(names)) == 32
    assert built_in("instruction", 2, "digits") == built_in(Framing.INSTRUCTION, 2, "digits")  # type: ignore[arg-type]
    with pytest.raises(ElicitationError, match="no built-in wording"):
        built_in(options=4)


def test_orders_are_complete_and_balanced() -> None:
    for given in built_in():
        found = orders(given.meanings)
        assert len(found) == len(set(found)) == {2: 2, 3: 6}[len(given.meanings)]
        places = Counter((place, meaning) for order in found for place, meaning in enumerate(order))
        assert len(set(places.values())) == 1
        assert len(places) == len(given.meanings) ** 2


def test_over_the_orders_every_label_stands_for_every_meaning_in_the_text() -> None:
    for given in built_in():
        pairs: Counter[tuple[str, str]] = Counter()
        for order in orders(given.meanings):
            text = detection(given, order).messages[0][1]
            lines = [
                fill(given.option(m), {"label": lb})
                for m, lb in zip(order, labels_of(given.labels, len(order)), strict=True)
            ]
            assert given.between.join(lines) in text
            pairs.update((lb, str(m)) for m, lb in zip(order, labels_of(given.labels, len(order)), strict=True))
        assert len(pairs) == len(given.meanings) ** 2
        assert len(set(pairs.values())) == 1


def test_a_wording_cannot_be_changed_and_can_be_a_key() -> None:
    with pytest.raises(ValidationError):
        wording().name = "other"  # type: ignore[misc]
    assert len({wording(), wording()}) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extra": 1}, "extra"),
        ({"name": " "}, "name"),
        ({"framing": "poem"}, "framing"),
        ({"labels": "roman"}, "labels"),
        ({"options": {"injected": "{label} yes"}}, "nothing"),
        ({"options": {"injected": "x", "nothing": "{label}"}}, r"options.injected: .*\{label\} is missing"),
        ({"options": {"injected": "{label} {x}", "nothing": "{label}"}}, r"options.injected: there is no .* \{x\}"),
        ({"detection": {"task": "Say it.", "trial": "T"}}, r"detection.task: the placeholder \{options\} is missing"),
        ({"detection": {"task": "{options} {options}", "trial": "T"}}, r"detection.task: .*\{options\} .* 2 times"),
        ({"detection": {"task": "{options}", "trial": "{question}"}}, r"detection.trial: there is no .*\{question\}"),
        ({"unrelated": {"task": "{options}", "trial": "T"}}, r"unrelated.trial: .*\{question\} is missing"),
        ({"naming": {"task": "{options}", "trial": "T"}}, r"naming.task: there is no placeholder \{options\}"),
        ({"open": {"task": "{options}", "trial": "T"}}, r"open.task: there is no placeholder \{options\}"),
        ({"codes_any": {"task": "Any.", "trial": "T"}}, r"codes_any.task: the placeholder \{options\} is missing"),
        ({"choice_any": {"task": "Any.", "trial": "T"}}, r"choice_any.task: the placeholder \{options\} is missing"),
        ({"code_line": "{label}"}, r"code_line: the placeholder \{concept\} is missing"),
        ({"turns": [{"role": "user", "text": "{task}"}]}, r"turns: the placeholder \{trial\} is missing"),
        ({"turns": [{"role": "user", "text": "{trial}"}]}, r"turns: the placeholder \{task\} is missing"),
        ({"turns": TALK}, "does not go with 3 turns"),
        ({"framing": "conversation"}, "does not go with 1 turns"),
        ({"framing": "conversation", "turns": TALK[:2]}, "user first and last"),
        ({"framing": "conversation", "turns": [TALK[2], TALK[1], TALK[0]]}, r"\{trial\} must stand in the last turn"),
        ({"neutral_turns": TALK}, "neutral_turns: the framing"),
        ({"turns": []}, "user first and last"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        wording(**changes)


def test_a_missing_question_is_named() -> None:
    with pytest.raises(ElicitationError, match="'mine' has no text for 'naming'"):
        wording().ask("naming")


def test_values_with_braces_are_left_alone_and_unknown_braces_of_no_word_too() -> None:
    assert fill("{a} {b}", {"a": "{b}", "b": "x"}) == "{b} x"
    check_placeholders("here", "a set {1, 2} and { x }", set())


def test_labels_end_where_one_would_begin_another() -> None:
    assert labels_of("digits", 9)[-1] == "9"
    assert labels_of("letters", 10)[-1] == "J"
    for count in (1, 10):
        with pytest.raises(ElicitationError, match=r"no \d+ labels"):
            labels_of("digits", count)


def test_meanings_follow_the_options() -> None:
    assert wording().meanings == (Meaning.INJECTED, Meaning.NOTHING)
    assert wording().cluster == "mine"
