"""Facts are read as the sets of the CounterFact family keep them, and what cannot be used is counted."""

import csv
import json
import os
from pathlib import Path

import pytest

from firsthand.errors import LabelsError
from firsthand.studies.labels.belief.records import DRAWN_COUNTER, Facts, in_order, occurs, read_facts

DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[4].parent / "shared" / "data")) / "counterfact"


def written(tmp_path: Path, rows: object, name: str = "facts.json") -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(rows))
    return path


def published(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"CounterFact is not in {DATA}; set FIRSTHAND_DATA to run against it")
    return path


def test_entities_lose_the_space_that_they_begin_with(facts: Facts) -> None:
    assert facts.facts[1].base == "Lima"
    assert not any(entity != entity.strip() for fact in facts.facts for entity in (fact.base, fact.counter))


def test_one_fact_is_kept_of_each_sentence_and_every_other_row_is_counted_by_reason(
    fact_rows: list[dict[str, str]], tmp_path: Path
) -> None:
    good, odd = fact_rows[0], fact_rows[1]
    rows = [
        *fact_rows,
        {**good, "target_new": " Milan"},
        {**odd, "base_prompt": "", "subject": "nobody"},
        {**odd, "base_prompt": "Elsewhere it is in"},
        {**odd, "base_prompt": f"{odd['subject']} of Lima is in"},
        {**odd, "base_prompt": f"{odd['subject']} lies in", "target_new": odd["target_true"].upper()},
        {**odd, "base_prompt": f"{odd['subject']} stands in", "target_true": None},
    ]
    found = read_facts(written(tmp_path, rows))
    assert len(found) == 24
    assert found.dropped == {
        "repeated sentence": 1,
        "incomplete": 2,
        "subject not in the sentence": 1,
        "entity in the sentence": 1,
        "same entities": 1,
    }


def test_a_table_with_quotes_and_new_lines_in_its_fields_gives_sentences_on_one_line(
    fact_rows: list[dict[str, str]], tmp_path: Path
) -> None:
    rows = [{**row, "base_prompt": row["base_prompt"].replace(" is in", ' "the\nbest" is in')} for row in fact_rows]
    path = tmp_path / "facts.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert read_facts(path).facts[0].prompt == 'The seat of company A0 "the best" is in'


def test_where_a_file_has_no_counter_entities_they_are_drawn_from_the_same_relation(tmp_path: Path) -> None:
    rows = [
        {
            "subject": f"item {i}",
            "attribute": f" {'city' if i % 2 else 'river'} {i % 6}",
            "prompt": f"item {i} is at",
            "relation_id": "C" if i % 2 else "R",
        }
        for i in range(20)
    ]
    rows.append({"subject": "item", "attribute": "alone", "prompt": "an item is at", "relation_id": "only"})
    found = read_facts(written(tmp_path, rows))
    assert all(fact.base.split()[0] == fact.counter.split()[0] for fact in found.facts)
    assert all(fact.base != fact.counter for fact in found.facts)
    assert found.dropped == {"no counter entity": 1}
    assert found.notes == (DRAWN_COUNTER,)
    assert read_facts(written(tmp_path, rows)).facts == found.facts
    assert read_facts(written(tmp_path, rows), seed=1).facts != found.facts


def test_original_counterfact_records_are_read_too(tmp_path: Path) -> None:
    rows = [
        {
            "case_id": i,
            "requested_rewrite": {
                "prompt": "The mother tongue of {} is",
                "subject": f"person {i}",
                "target_true": {"str": "French"},
                "target_new": {"str": "English"},
            },
        }
        for i in range(10)
    ]
    fact = read_facts(written(tmp_path, rows)).facts[3]
    assert (fact.prompt, fact.base, fact.counter) == ("The mother tongue of person 3 is", "French", "English")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"text": "a", "label": 1}], ("columns label, text", "base_prompt, subject")),
        ([], ("no rows",)),
        (
            [{"base_prompt": 1, "subject": 2, "target_true": 3, "target_new": 4}],
            ("0 usable facts of 1", "1 incomplete"),
        ),
        ({"base_prompt": "a"}, ("instead of a list",)),
    ],
)
def test_files_of_another_form_are_refused_in_words(tmp_path: Path, rows: object, words: tuple[str, ...]) -> None:
    with pytest.raises(LabelsError) as caught:
        read_facts(written(tmp_path, rows))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("entity", "text", "there"),
    [
        ("Paris", "It is PARIS, of course.", True),
        ("Paris", "A Parisian is not it.", False),
        ("New York", "new\nyork", True),
        ("C++", "written in C++.", True),
        ("C", "written in C++.", True),
        ("Oslo", "oslofjord", False),
        ("", "anything", False),
    ],
)
def test_an_entity_occurs_as_whole_words_whatever_their_case(entity: str, text: str, there: bool) -> None:
    assert occurs(entity, text) is there


def test_facts_are_used_at_random_and_one_of_every_subject_first(facts: Facts) -> None:
    order = in_order(facts, 0)
    assert sorted(order) == list(range(24))
    assert len({facts.facts[i].subject for i in order[:20]}) == 20
    assert order != in_order(facts, 1)


def test_the_published_set_keeps_a_fact_of_each_usable_sentence() -> None:
    found = read_facts(published("comp-mech_full_data_sampled_gpt2_with_subjects.json"))
    assert len(found) + sum(found.dropped.values()) == 10_000
    assert len({fact.prompt for fact in found.facts}) == len(found) > 1000
    assert found.dropped["subject not in the sentence"] <= 145


def test_the_published_known_facts_get_counter_entities_of_their_relation() -> None:
    found = read_facts(published("known_1000.json"))
    assert found.notes == (DRAWN_COUNTER,)
    assert len(found) > 1000
