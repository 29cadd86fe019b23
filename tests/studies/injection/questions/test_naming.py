"""Naming and reconstruction: what is written, how high the concept ranks there, and the visible answer Y."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from firsthand.engine import Row, run
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import JUDGED, Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.concepts import surface_forms
from firsthand.studies.injection.questions import naming
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.questions.identification import lists
from firsthand.studies.injection.settling import settled
from firsthand.studies.injection.trials import Trial

CELL = Cell(1, 1.0)
ABOUT_INJECTIONS = re.compile(r"thought|inject|plant|graft|wire|signal|idea|inner", re.IGNORECASE)


@pytest.fixture(scope="module")
def made(injection_bench: InjectionBench) -> list[Trial]:
    return naming.trials(injection_bench, "sushi", [CELL], Setting())


@pytest.fixture(scope="module")
def visible(injection_bench: InjectionBench) -> list[Trial]:
    return naming.visible_trials(injection_bench, "sushi", [CELL], Setting())


@pytest.fixture(scope="module")
def table(injection_bench: InjectionBench, made: list[Trial]) -> pd.DataFrame:
    return naming.table(injection_bench, made)


def test_the_question_is_asked_in_every_arm_and_a_request_for_any_word_beside_it(made: list[Trial]) -> None:
    asked = [t for t in made if t.prompt.draft.task == "naming"]
    beside = [t for t in made if t.prompt.draft.task == "no_question"]
    assert sorted(str(t.arm) for t in asked) == sorted(map(str, JUDGED))
    assert [(t.arm, t.prompt.draft.detail) for t in beside] == [(Arm.CLEAN, "told"), (Arm.TARGET, "told")]
    assert {t.prompt.draft.cluster for t in made} == {asked[0].prompt.draft.cluster}


def test_the_visible_answer_is_asked_in_every_arm_without_a_word_about_injections(
    bench: InjectionBench, visible: list[Trial]
) -> None:
    assert sorted(str(t.arm) for t in visible) == sorted(map(str, JUDGED))
    assert {t.prompt.draft.detail for t in visible} == {"untold"}
    for concept in bench.concepts[:4]:
        wording = bench.asked(concept, "instruction")[0]
        assert ABOUT_INJECTIONS.search(naming.naming(wording).messages[0][1])
        for _, content in naming.no_question(wording, told=False).messages:
            assert not ABOUT_INJECTIONS.search(content)


def test_what_is_written_is_what_plain_greedy_steps_write(
    bench: InjectionBench, made: list[Trial], table: pd.DataFrame
) -> None:
    for trial, said in list(zip(settled(bench, made), table["said"], strict=True))[:4]:
        tokens = list(trial.prompt.tokens)
        for _ in range(naming.WORDS):
            logprobs = run(bench.anatomy, [Row(tuple(tokens), trial.edits)], path="plain").logprobs_RV[0]
            tokens.append(int(logprobs.argmax()))
            if re.search(r'"|\n', bench.loaded.tokenizer.decode(tokens[len(trial.prompt.tokens) :])):
                break
        plain = bench.loaded.tokenizer.decode(tokens[len(trial.prompt.tokens) :])
        assert said.strip() == re.split(r'"|\n', plain)[0].strip()


def test_percentile_and_rank_are_those_of_a_slow_count(
    bench: InjectionBench, made: list[Trial], table: pd.DataFrame
) -> None:
    tokenizer, part = bench.loaded.tokenizer, bench.part("sushi")
    for trial, (_, row) in zip(settled(bench, made), table.iterrows(), strict=True):
        logprobs = run(bench.anatomy, [Row(trial.prompt.tokens, trial.edits)], path="plain").logprobs_RV[0].double()
        firsts: dict[str, set[int]] = {}
        for concept in part:
            for form in surface_forms(concept):
                whole = tokenizer.encode(trial.prompt.text + form, add_special_tokens=False)
                if whole[: len(trial.prompt.tokens)] == list(trial.prompt.tokens):
                    firsts.setdefault(concept, set()).add(whole[len(trial.prompt.tokens)])
        mass = {c: float(sum(logprobs[t].exp() for t in tokens)) for c, tokens in firsts.items()}
        others = [mass[c] for c in part if c != "sushi"]
        assert row["percentile"] == pytest.approx(np.mean([value < mass["sushi"] for value in others]), abs=1e-6)
        best = max(float(logprobs[t]) for t in firsts["sushi"])
        assert row["rank"] == 1 + int((logprobs > best + 1e-6).sum())


def test_ties_among_concepts_count_half_and_a_rank_begins_at_one() -> None:
    logprobs = torch.log(torch.tensor([0.4, 0.2, 0.2, 0.1, 0.1]))
    forms = {"a": [1], "b": [2], "c": [3], "d": [0]}
    assert naming._ranks(logprobs, forms, "a") == ((1 + 0.5) / 3, 2.0)
    assert naming._ranks(logprobs, forms, "d") == (1.0, 1.0)
    assert naming._ranks(logprobs, {"a": [3, 4], "b": [1]}, "a")[0] == pytest.approx(0.5)


def test_an_answer_names_the_concept_if_it_says_that_this_is_it(
    bench: InjectionBench, made: list[Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["Sushi", "sushi.", "rice", ""]
    written = [[SimpleNamespace(text=text)] for text in texts]
    monkeypatch.setattr(naming, "generate", lambda *_, **__: written)
    found = naming.table(bench, made[:4])
    np.testing.assert_array_equal(found["named"], [1.0, 1.0, 0.0, np.nan])
    assert found["said"].tolist() == texts


def test_concepts_together_are_read_as_each_by_itself(bench: InjectionBench, visible: list[Trial]) -> None:
    other = naming.visible_trials(bench, "war", [CELL], Setting())
    apart = [naming.explained(bench, naming.table(bench, one), Setting()) for one in (visible, other)]
    together = naming.explained(bench, naming.table(bench, [*visible, *other]), Setting())
    before = pd.concat(apart, ignore_index=True)
    assert together[["trial_id", "said", "order"]].equals(before[["trial_id", "said", "order"]])
    np.testing.assert_allclose(together["rank"], before["rank"], atol=1)
    for one, two in zip(together["logprobs"], before["logprobs"], strict=True):
        np.testing.assert_allclose(one, two, atol=1e-3)


def test_the_table_says_what_was_done_in_every_row(made: list[Trial], table: pd.DataFrame) -> None:
    assert table["trial_id"].tolist() == [t.trial_id for t in made]
    assert table["trial_id"].is_unique
    assert table["percentile"].between(0, 1).all()
    assert (table["rank"] >= 1).all()


def test_the_reading_of_y_is_how_likely_each_pushed_conversation_makes_it(
    bench: InjectionBench, visible: list[Trial]
) -> None:
    table = naming.table(bench, visible).assign(said="rice and fish")
    found = naming.explained(bench, table, Setting())
    listed = lists(bench, "sushi")[0]
    for _, row in found.iterrows():
        if row["arm"] != "target":
            assert (row["order"], row["logprobs"]) == ("", [])
            continue
        assert row["order"] == "|".join(listed)
        wording = bench.asked("sushi", "instruction")[0]
        tail = bench.loaded.tokenizer.encode("rice and fish", add_special_tokens=False)
        for concept, value in zip(listed, row["logprobs"], strict=True):
            tokens = list(bench.led(naming.no_question(wording, told=False), "sushi", towards=concept).tokens)
            plain = 0.0
            for token in tail:
                plain += float(run(bench.anatomy, [Row(tuple(tokens))], path="plain").logprobs_RV[0, token])
                tokens.append(token)
            assert value == pytest.approx(plain, abs=1e-3)


def test_an_empty_y_is_equally_likely_after_every_concept(bench: InjectionBench) -> None:
    assert naming._likelihoods(bench, [("sushi", "")], Setting()) == [[0.0] * 4]
