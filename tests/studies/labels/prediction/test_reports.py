"""Every condition changes one thing about the question, and nothing in a question tells the truth of what is asked."""

from collections import Counter
from collections.abc import Callable

import numpy as np

from firsthand.engine import Anatomy, LoadedModel
from firsthand.studies.labels.prediction.bench import Bench
from firsthand.studies.labels.prediction.reports import (
    ANSWER_SHOWN,
    LOT,
    TARGET,
    THIRD_PERSON,
    asked_rows,
    outright_rows,
    prompt_of,
    questions,
)

Made = Callable[..., Bench]
SAID = [("bread", "cow", "plum", "egg")[(i * 7 + i // 5) % 4] for i in range(64)]


def read(tiny: LoadedModel, made: Made, arm: str, count: int) -> list[str]:
    bench = made(SAID, 32)
    asked = questions(tiny, bench, bench.settled[0], 0, arm, count)
    return [str(tiny.tokenizer.decode(forms[0].tokens)) for forms in asked]


def test_each_prompt_is_judged_in_one_experiment_and_no_example_is_judged(made: Made) -> None:
    bench = made(SAID, 32)
    one = bench.settled[0]
    items = [item for experiment in range(2) for item in bench.items(one, experiment)]
    assert sorted(items) == np.flatnonzero(np.isfinite(one.judged_J)).tolist()
    for experiment in range(2):
        assert max(bench.example_numbers(one, experiment, 8)) < bench.fit


def test_fewer_examples_are_the_first_of_more_and_hold_every_class(made: Made) -> None:
    bench = made(SAID, 32)
    one = bench.settled[0]
    few, many = (bench.example_numbers(one, 1, count) for count in (4, 8))
    assert many[:4] == few
    assert {shot.number for shot in bench.examples(one, 1, 4)} == {0, 1}


def test_examples_by_lot_have_as_many_of_each_class_for_the_same_prompts(made: Made) -> None:
    bench = made(SAID, 32)
    one = bench.settled[0]
    told, lot = bench.examples(one, 0, 8), bench.examples(one, 0, 8, lot=True)
    assert [shot.prompt for shot in told] == [shot.prompt for shot in lot]
    assert Counter(shot.number for shot in told) == Counter(shot.number for shot in lot)
    assert told != lot


def test_a_question_holds_the_prompt_and_never_the_answer_unless_it_is_shown(tiny: LoadedModel, made: Made) -> None:
    bench = made(SAID, 32)
    items = bench.items(bench.settled[0], 0)
    for arm, count in ((TARGET, 0), (TARGET, 8), (THIRD_PERSON, 8), (LOT, 8)):
        for text, item in zip(read(tiny, made, arm, count), items, strict=True):
            assert bench.judged[item].text in text
            assert not any(answer in text for answer in ("bread", "plum", "egg"))
    for text, item in zip(read(tiny, made, ANSWER_SHOWN, 8), items, strict=True):
        assert text.count("\nAnswer: ") == 9
        assert f"Answer: {bench.answers[bench.fit + item].text}\n" in text


def test_the_third_person_is_asked_the_same_of_somebody_else(tiny: LoadedModel, made: Made) -> None:
    own, other = read(tiny, made, TARGET, 8)[0], read(tiny, made, THIRD_PERSON, 8)[0]
    assert "your answer" in own
    assert "your answer" not in other
    assert "language model" in other
    assert own.count("Prompt:") == other.count("Prompt:") == 9


def test_both_orders_give_every_letter_to_every_class_of_two(tiny: LoadedModel, made: Made) -> None:
    bench = made(SAID, 32)
    for forms in questions(tiny, bench, bench.settled[0], 1, TARGET, 4):
        assert forms[0].labels == forms[1].labels[::-1]
        assert forms[0].tokens != forms[1].tokens


def test_what_a_reader_is_shown_is_what_the_model_read(tiny: LoadedModel, made: Made) -> None:
    bench = made(SAID, 32)
    shown, read_text = prompt_of(bench, bench.settled[0], 8), read(tiny, made, TARGET, 8)[0]
    assert shown.rpartition("\n\n")[0] in read_text


def test_rows_hold_the_truth_of_each_prompt_and_what_is_replied(
    tiny: LoadedModel, anatomy: Anatomy, made: Made
) -> None:
    bench = made(SAID, 32)
    one = bench.settled[0]
    table = asked_rows(tiny, anatomy, bench, one, 0, TARGET, 4)
    assert table["truth"].tolist() == one.judged_J[bench.items(one, 0)].tolist()
    assert table["trial_id"].is_unique
    assert all(len(each) == 2 for each in table["logprobs"])
    again = outright_rows(tiny, anatomy, bench, one, 0)
    assert again["number"].tolist() == table["number"].tolist()
    assert set(again["answer"].dropna()) <= {0.0, 1.0}


def test_a_property_of_fewer_answers_than_examples_is_refused(made: Made) -> None:
    bench = made([*(["bread", "cow"] * 6), *["?"] * 20, *(["bread", "cow"] * 16)], 32, examples=(0, 16))
    assert bench.settled[0].refused == "12 answers to learn from have it, and 16 examples are wanted"
