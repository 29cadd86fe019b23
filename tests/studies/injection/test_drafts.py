"""The conversations as text: one frame for all arms, leads, earlier spans, draws from streams."""

from collections import Counter

import pytest

from firsthand.errors import ElicitationError
from firsthand.studies.injection import drafts, places
from firsthand.studies.injection.built_in import built_in
from firsthand.studies.injection.concepts import CONCEPTS
from firsthand.studies.injection.drafts import Draft, Earlier, Task
from firsthand.studies.injection.texts_gaslight import GASLIGHTS
from firsthand.studies.injection.texts_places import CONFIDENCE_TEXTS, PLACE_CONTROLS, PLACE_TEXTS, STRENGTH_TEXTS
from firsthand.studies.injection.texts_questions import RIGHT_NO
from firsthand.studies.injection.texts_sentences import FILLERS, SENTENCES
from firsthand.studies.injection.wordings import Framing, Meaning, Wording, orders
from firsthand.trials.randomness import stream

TWO = built_in(options=2)
YES_NO = (Meaning.YES, Meaning.NO)


def plain(wording: Wording) -> Draft:
    return drafts.detection(wording, wording.meanings)


@pytest.mark.parametrize("wording", TWO, ids=lambda w: w.name)
def test_the_unrelated_arm_has_the_same_frame(wording: Wording) -> None:
    asked, other = plain(wording), drafts.unrelated(wording, YES_NO, RIGHT_NO[0])
    assert [role for role, _ in asked.messages] == [role for role, _ in other.messages]
    assert asked.labels == other.labels
    assert asked.stem == other.stem
    assert other.marks == (f"Trial 1: {RIGHT_NO[0]}",)
    assert other.messages[-2][1].endswith(other.marks[0])
    assert asked.messages[-2][1].endswith(asked.marks[0])
    setting = wording.turns[0].text.split("\n\n")[0]
    assert asked.messages[0][1].startswith(setting)
    assert other.messages[0][1].startswith(setting)


@pytest.mark.parametrize("wording", TWO, ids=lambda w: w.name)
def test_without_a_question_the_frame_stays_and_nothing_inner_is_asked(wording: Wording) -> None:
    asked = drafts.naming(wording)
    for told in (True, False):
        other = drafts.no_question(wording, told)
        assert [role for role, _ in asked.messages] == [role for role, _ in other.messages]
        assert asked.stem == other.stem
        assert other.labels == ()
        setting = wording.turns[0].text.split("\n\n")[0]
        assert (setting in other.messages[0][1]) is told


@pytest.mark.parametrize("wording", TWO, ids=lambda w: w.name)
@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("codes", [None, "QJXE"])
def test_the_control_of_identification_shares_the_list_and_asks_nothing_inner(
    wording: Wording, told: bool, codes: str | None
) -> None:
    concepts = CONCEPTS[4:8]
    asked = drafts.identification_by_choice(wording, concepts)
    if codes is not None:
        asked = drafts.identification_by_code(wording, concepts, codes)
    other = drafts.identification_control(wording, concepts, codes, told=told)
    assert other.task is (Task.CHOICE_CONTROL if codes is None else Task.CODES_CONTROL)
    assert (other.labels, other.meanings, other.stem) == (asked.labels, asked.meanings, asked.stem)
    line = wording.choice_line if codes is None else wording.code_line
    listed = "\n".join(line.format(label=a, concept=c) for a, c in zip(asked.labels, concepts, strict=True))
    assert listed in asked.messages[0][1]
    assert listed in other.messages[0][1]
    assert [role for role, _ in asked.messages] == [role for role, _ in other.messages]
    assert other.messages[-2][1].endswith(other.marks[0])
    assert (wording.turns[0].text.split("\n\n")[0] in other.messages[0][1]) is told
    assert other.detail == ("told" if told else "untold")
    assert wording.now not in other.messages[0][1]


def test_the_control_of_identification_refuses_what_the_question_refuses() -> None:
    with pytest.raises(ElicitationError, match="different codes"):
        drafts.identification_control(TWO[0], ["a", "b"], ["Q", "Q"], told=False)
    with pytest.raises(ElicitationError, match="2 to 10"):
        drafts.identification_control(TWO[0], ["a"], told=True)
    bare = TWO[0].model_copy(update={"neutral_turns": None})
    assert drafts.identification_control(bare, ["a", "b"], told=True).labels
    with pytest.raises(ElicitationError, match="no neutral turns"):
        drafts.identification_control(bare, ["a", "b"], told=False)
    for field, codes in (("choice_any", None), ("codes_any", "QJ")):
        without = TWO[0].model_copy(update={field: None})
        with pytest.raises(ElicitationError, match=f"no text for '{field}'"):
            drafts.identification_control(without, ["a", "b"], codes, told=True)


@pytest.mark.parametrize("wording", built_in(), ids=lambda w: w.name)
def test_the_open_question_marks_the_line_of_detection_and_lists_nothing(wording: Wording) -> None:
    asked, other = plain(wording), drafts.open_detection(wording)
    assert other.task is Task.OPEN
    assert other.marks == asked.marks
    assert (other.labels, other.meanings, other.stem) == ((), (), "")
    text = "\n".join(content for _, content in other.messages)
    assert not [label for label in asked.labels if f"({label})" in text]
    assert wording.now in text


def test_framings_differ_in_turns_only() -> None:
    one, three = built_in("instruction", 2, "digits")[0], built_in("conversation", 2, "digits")[0]  # type: ignore[arg-type]
    assert one.framing is Framing.INSTRUCTION
    assert len(plain(one).messages) == 2
    assert [role for role, _ in plain(three).messages] == ["user", "assistant", "user", "assistant"]
    assert plain(one).marks == plain(three).marks


def test_no_placeholder_is_left_in_any_text() -> None:
    rng = stream("test")
    for wording in built_in():
        for earlier in (None, drafts.draw_earlier(2, rng)):
            found = [drafts.detection(wording, o, earlier) for o in orders(wording.meanings)]
            found += [drafts.unrelated(wording, YES_NO, "Is it?", earlier), drafts.naming(wording, earlier)]
            found += [drafts.no_question(wording, told, earlier) for told in (True, False)]
            found += [drafts.identification_by_choice(wording, CONCEPTS[:3], earlier)]
            found += [drafts.identification_by_code(wording, CONCEPTS[:3], "QJX", earlier)]
            found += [drafts.open_detection(wording, earlier)]
            found += [
                drafts.identification_control(wording, CONCEPTS[:3], codes, told=told, earlier=earlier)
                for codes in (None, "QJX")
                for told in (True, False)
            ]
            assert not [m for d in found for _, m in d.messages if "{" in m or "}" in m]
            assert not [m for d in found for _, m in d.messages[:-1] if m != m.strip() or not m]


@pytest.mark.parametrize("wording", built_in(), ids=lambda w: w.name)
@pytest.mark.parametrize("delay", [0, 3, len(FILLERS)])
def test_an_earlier_span_lies_before_the_task_and_the_question(wording: Wording, delay: int) -> None:
    earlier = drafts.draw_earlier(delay, stream("test", delay))
    draft = drafts.detection(wording, wording.meanings, earlier)
    assert draft.later is not None
    assert draft.later == len(draft.messages) - 2
    first = [i for i, (_, content) in enumerate(draft.messages) if content == draft.marks[0]]
    assert len(first) == 1
    assert draft.later - first[0] == 2 + 2 * delay
    assert draft.delay == delay == len(set(earlier.fillers))
    assert wording.options.injected.split(") ")[1] in draft.messages[draft.later][1]
    assert wording.earlier in draft.messages[draft.later][1]
    assert not any(wording.now in content for _, content in draft.messages)


def test_roles_alternate_in_every_conversation() -> None:
    for wording in built_in():
        draft = drafts.detection(wording, wording.meanings, Earlier(fillers=FILLERS[:6]))
        for given in (draft, places.confidence(draft, 0)):
            assert [role for role, _ in given.messages] == ["user", "assistant"] * (len(given.messages) // 2)


def test_a_delay_without_enough_fillers_is_refused() -> None:
    with pytest.raises(ElicitationError, match="neutral exchanges"):
        drafts.draw_earlier(len(FILLERS) + 1, stream("x"))


@pytest.mark.parametrize("place", ["user", "system"])
def test_a_lead_stands_before_everything(place: str) -> None:
    text = GASLIGHTS[0].format(concept="sushi")
    for wording in built_in(options=3):
        for earlier in (None, Earlier()):
            draft = drafts.detection(wording, wording.meanings, earlier)
            led = drafts.with_lead(draft, text, "push00-sushi", place)  # type: ignore[arg-type]
            assert led.messages[0][1].startswith(text)
            assert led.messages[0][0] == place
            assert led.lead == "push00-sushi"
            if draft.later is not None:
                assert led.later is not None
                assert led.messages[led.later] == draft.messages[draft.later]
            with pytest.raises(ElicitationError, match="already"):
                drafts.with_lead(led, text, "again")


def test_a_lead_follows_a_system_message_that_is_there() -> None:
    draft = Draft(
        Task.NAMING, "w", "w", "instruction", (("system", "Be brief."), ("user", "hi"), ("assistant", "It")), ("hi",)
    )
    assert drafts.with_lead(draft, "Push.", "p", "system").messages[0] == ("system", "Be brief.\n\nPush.")
    assert drafts.with_lead(draft, "Push.", "p").messages[1] == ("user", "Push.\n\nhi")


def test_orders_and_concepts_that_do_not_fit_are_refused() -> None:
    wording = TWO[0]
    with pytest.raises(ElicitationError, match="no order"):
        drafts.detection(wording, (Meaning.INJECTED, Meaning.MANIPULATED))
    with pytest.raises(ElicitationError, match="no order"):
        drafts.unrelated(wording, wording.meanings, "Is it?")
    for concepts in (["a"], ["a", "A"], [str(i) for i in range(11)]):
        with pytest.raises(ElicitationError, match="2 to 10"):
            drafts.identification_by_choice(wording, concepts)
    with pytest.raises(ElicitationError, match="different codes"):
        drafts.identification_by_code(wording, ["a", "b"], ["Q", "Q"])
    with pytest.raises(ElicitationError, match="letters"):
        drafts.identification_by_choice(wording, [f"c{i}" for i in range(10)])


@pytest.mark.parametrize("count", range(2, 11))
def test_codebooks_are_drawn_anew_and_keep_concepts_and_codes_apart(count: int) -> None:
    concepts = CONCEPTS[:count]
    books = [drafts.draw_codebook(concepts, "EJMOQSUVYZ", stream("book", i)) for i in range(300)]
    assert all({c for c, _ in book} == set(concepts) and len({k for _, k in book}) == count for book in books)
    assert books[0] == drafts.draw_codebook(concepts, "ZYVUSQOMJE", stream("book", 0))
    firsts = Counter(book[0][0] for book in books)
    assert max(firsts.values()) < 300 / count * 2
    codes = Counter(dict(book)[concepts[0]] for book in books)
    assert set(codes) == set("EJMOQSUVYZ")
    with pytest.raises(ElicitationError, match="as many codes"):
        drafts.draw_codebook(concepts, "Q", stream("book"))


def test_localisation_and_its_controls_share_everything_but_the_question() -> None:
    sentences = places.draw_sentences(10, stream("s", 0))
    asked = places.localisation(PLACE_TEXTS[0], sentences)
    for control in PLACE_CONTROLS:
        other = places.localisation_control(PLACE_TEXTS[0], control, sentences, "sushi")
        assert (other.labels, other.meanings, other.marks, other.stem) == (
            asked.labels,
            asked.meanings,
            asked.marks,
            asked.stem,
        )
        assert other.messages[0][1].rpartition("\n\n")[0] == asked.messages[0][1].rpartition("\n\n")[0]
        assert other.messages[0][1] != asked.messages[0][1]
        assert ("sushi" in other.messages[0][1]) is (control == "concept")
    with pytest.raises(ElicitationError, match="no control question"):
        places.localisation_control(PLACE_TEXTS[0], "none", sentences, "sushi")


def test_sentences_are_redrawn_for_each_trial() -> None:
    draws = [places.draw_sentences(10, stream("s", i)) for i in range(400)]
    assert all(len(set(draw)) == 10 for draw in draws)
    assert len(set(draws)) == 400
    assert {s for draw in draws for s in draw} == set(SENTENCES)
    assert draws[0] == places.draw_sentences(10, stream("s", 0))
    for count in (0, len(SENTENCES) + 1):
        with pytest.raises(ElicitationError, match="sentences"):
            places.draw_sentences(count, stream("s"))
    for few in (draws[0][:1], (*draws[0], "One more."), (draws[0][0], draws[0][0])):
        with pytest.raises(ElicitationError, match="2 to 10"):
            places.localisation(PLACE_TEXTS[0], few)


@pytest.mark.parametrize("answers", ["words", "digits"])
def test_strength_is_asked_in_both_orders_of_the_same_text(answers: str) -> None:
    for text in STRENGTH_TEXTS:
        one, other = (places.strength(text, SENTENCES[0], i, answers) for i in (0, 1))  # type: ignore[arg-type]
        assert one.labels == other.labels[::-1]
        assert one.meanings == other.meanings[::-1] == ("first", "second")
        assert dict(zip(one.labels, one.meanings, strict=True)) == dict(zip(other.labels, other.meanings, strict=True))
        question = one.messages[0][1].splitlines()[-1]
        assert question.index(f"({one.labels[0]})") < question.index(f"({one.labels[1]})")
        assert one.messages[0][1].splitlines()[:-1] == other.messages[0][1].splitlines()[:-1]


def test_confidence_follows_the_report_in_the_same_conversation() -> None:
    report = plain(TWO[0])
    for answer, label in enumerate(report.labels):
        asked = places.confidence(report, answer)
        assert asked.messages[: len(report.messages) - 1] == report.messages[:-1]
        assert asked.messages[-3] == ("assistant", f"I choose option ({label}).")
        assert asked.labels == tuple("0123456789")
        values = [float(m) for m in asked.meanings]
        assert values == sorted(values)
        assert [int(100 * v // 10) for v in values] == list(range(10))
    assert len(CONFIDENCE_TEXTS) >= 3
    with pytest.raises(ElicitationError, match="no answer"):
        places.confidence(report, 2)
    with pytest.raises(ElicitationError, match="no answer"):
        places.confidence(drafts.naming(TWO[0]), 0)
    with pytest.raises(ElicitationError, match="no question"):
        places.confidence(report, 0, "none")


@pytest.mark.parametrize(
    ("stem", "said"),
    [("", "1."), ("It is", "It is 1."), ("It is (", "It is (1)."), ('Say "', 'Say "1".'), ("It is ", "It is 1.")],
)
def test_what_was_said_is_closed_as_it_was_opened(stem: str, said: str) -> None:
    draft = Draft(
        Task.DETECTION, "w", "w", "instruction", (("user", "hi"), ("assistant", stem)), ("hi",), ("1", "2"), ("a", "b")
    )
    assert draft.said(0) == said
