"""Every report is asked about the right answer, in both wordings, and read exactly."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from firsthand.auditing.labels.confidence_gates import Said
from firsthand.claims.labels import ConfidenceClaim
from firsthand.engine import LoadedModel, Row, candidate_tokens, run, score_candidates
from firsthand.engine.prompts import render
from firsthand.errors import ElicitationError
from firsthand.studies.labels.confidence.asking import (
    ALL,
    TWO,
    Bench,
    Prompt,
    chosen,
    question_of,
    reader_rows,
    rows_of,
)
from firsthand.studies.labels.confidence.questions import digest_of, read_questions
from firsthand.studies.labels.confidence.reading import Question, replies
from firsthand.studies.labels.confidence.scores import report_of
from firsthand.studies.labels.confidence.texts import CODES, WORDINGS, Frame


def test_every_question_is_answered_and_reported_on_in_both_orders(rows: pd.DataFrame) -> None:
    counts = rows[rows["set"] == ALL].groupby(["frame", "ask"]).size()
    assert counts["answer", "answer"] == 6
    for ask in ("true", "percent", "code"):
        assert counts["own", ask] == counts["other", ask] == counts["student", ask] == 6
    assert counts["hidden", "know"] == 6
    assert ("student", "know") not in counts
    two = rows[rows["set"] == TWO].groupby(["frame", "ask"]).size()
    assert two.to_dict() == {("answer", "answer"): 4, ("own", "percent"): 4, ("own", "true"): 4}
    assert rows["trial_id"].is_unique


def test_reports_are_about_the_answer_that_is_likeliest_over_the_orders_and_the_control_about_another(
    rows: pd.DataFrame,
) -> None:
    for key, some in rows[rows["set"] == ALL].groupby("question"):
        own = chosen(some[some["frame"] == "answer"].sort_values("order")["logprobs"].tolist())
        assert set(some[some["frame"].isin(["own", "student"])]["proposed"]) == {own}, key
        others = set(some[some["frame"] == "other"]["proposed"])
        assert len(others) == 1
        assert own not in others
        assert not others & set(some["right"]), "the other option is wrong whether the own answer is right or not"
        assert set(some[some["frame"].isin(["answer", "hidden"])]["proposed"]) == {-1}


def test_another_option_is_a_wrong_one_as_often_beside_right_answers_as_beside_wrong_ones(bench: Bench) -> None:
    for item in bench.items:
        for own in range(4):
            other = bench.another(item, own)
            assert other is not None
            assert other not in (own, item.answer)
        assert bench.another(replace(item, options=item.options[:2]), 0) is None
    drawn = {(bench.another(item, item.answer) or 0) - item.answer for item in bench.items}
    assert len(drawn) > 2


def test_of_two_options_no_other_is_asked_about(tiny: LoadedModel, tmp_path: Path) -> None:
    lines = [f'{{"question": "Is it {i}?", "choices": ["yes", "no"], "answer": "{"AB"[i % 2]}"}}' for i in range(20)]
    (tmp_path / "two.jsonl").write_text("\n".join(lines))
    questions = read_questions(tmp_path / "two.jsonl")
    claim = ConfidenceClaim(data_sha256=digest_of(questions), questions=20, pairs=0, layers=(0,), reports=("true",))
    rows = rows_of(Bench.of(claim, tiny, questions.items), 0, 2)
    assert set(rows["frame"]) == {"answer", "own", "student"}
    keys = list(rows["question"].unique())
    assert not Said.of(report_of(rows, Frame.OTHER, "true", keys)).asked
    assert Said.of(report_of(rows, Frame.OWN, "true", keys)).asked


def test_in_a_choice_between_two_each_order_has_its_own_answer(rows: pd.DataFrame) -> None:
    two = rows[rows["set"] == TWO]
    given = two[two["frame"] == "answer"].set_index(["question", "order"])["logprobs"]
    for _, row in two[two["frame"] == "own"].iterrows():
        assert row["proposed"] == int(np.argmax(given[row["question"], row["order"]]))


def test_a_letter_preference_alone_chooses_every_option_as_often_as_a_lot() -> None:
    letters = np.log([0.7, 0.1, 0.1, 0.1])
    orders = ([0, 1, 2, 3], [2, 3, 0, 1])
    by_option = [[letters[order.index(option)] for option in range(4)] for order in orders]
    assert chosen(by_option) in (0, 2)  # the two that stood behind the preferred letter once each
    assert by_option[0][0] == by_option[1][2]


def test_the_two_wordings_undo_each_other() -> None:
    for ask, (first, second) in WORDINGS.items():
        assert first.stem == second.stem, ask
        assert first.labels == second.labels, ask
        assert np.allclose(np.array(first.values) + np.array(second.values), 1.0), ask


def test_codes_are_drawn_for_every_question_and_are_no_letters_of_options(bench: Bench) -> None:
    drawn = [bench.codes(item) for item in bench.items]
    assert len(set(drawn)) > 5
    assert all(x != y and {x, y} <= set(CODES) for x, y in drawn)
    assert not set(CODES) & set("ABCDEFGHIJ")


def test_a_prompt_shows_the_letter_that_the_option_has_in_this_order(bench: Bench) -> None:
    for one in bench.every[0]:
        for frame, place in ((Frame.OWN, 1), (Frame.STUDENT, 2)):
            messages = Prompt(one, ALL, frame, "true", 3, ("", "")).messages()
            assert one.letter(3) in messages[place][1].split("Is")[0]
            assert f"{one.letter(3)}. {one.item.options[3]}" in messages[0][1]
    hidden = Prompt(bench.every[0][0], ALL, Frame.HIDDEN, "know", -1, ("", "")).messages()
    assert "would your answer be right" in hidden[2][1].lower()


def test_replies_are_those_of_every_prompt_run_by_itself(bench: Bench) -> None:
    prompts = [
        Prompt(bench.every[i][i % 2], ALL, frame, ask, 1, bench.codes(bench.items[i]))
        for i in (0, 1)
        for frame, ask in ((Frame.OWN, "true"), (Frame.OWN, "percent"), (Frame.OTHER, "code"), (Frame.ANSWER, "answer"))
    ]
    asked = [question_of(bench.loaded.tokenizer, prompt) for prompt in prompts]
    for question, found in zip(asked, replies(bench.anatomy, asked), strict=True):
        flat = [form for forms in question.labels for form in forms]
        exact = score_candidates(bench.anatomy, [Row(question.tokens)], flat)
        assert found.coverage == pytest.approx(float(exact.coverage_R[0]), rel=1e-4)
        of = dict(zip(flat, exact.logprobs_RC[0].tolist(), strict=True))
        for forms, logprob in zip(question.labels, found.logprobs, strict=True):
            assert logprob == pytest.approx(np.logaddexp.reduce([of[form] for form in forms]), abs=1e-4)


def test_a_reply_is_invalid_where_the_likeliest_token_is_none_of_them(bench: Bench) -> None:
    rendered = render(bench.loaded.tokenizer, [("user", "Say it."), ("assistant", "Here:")])
    best = int(run(bench.anatomy, [Row(rendered.tokens)]).logprobs_RV[0].argmax())
    (other,) = candidate_tokens(bench.loaded.tokenizer, rendered.text, [" river"])
    assert best != other[0]
    named, unnamed = replies(
        bench.anatomy,
        [Question(rendered.tokens, (((best,),), (other,))), Question(rendered.tokens, ((other,), ((other[0] + 1,),)))],
    )
    assert named.named
    assert not unnamed.named
    assert named.coverage > unnamed.coverage


def test_the_ends_of_question_and_report_are_read_at_every_layer_named(bench: Bench, rows: pd.DataFrame) -> None:
    states = rows[(rows["set"] == ALL) & (rows["frame"] == "answer")]["state"]
    assert {len(state) for state in states} == {2 * bench.anatomy.hidden_size}
    lengths = rows[rows["set"] == ALL].groupby("frame")["state"].agg(lambda states: set(map(len, states)))
    whole = {2 * bench.anatomy.hidden_size}
    assert lengths.to_dict() == {"answer": whole, "own": whole, "hidden": whole, "other": {0}, "student": {0}}
    asked = rows[(rows["set"] == ALL) & (rows["frame"] == "own") & (rows["ask"] == "true")].iloc[0]
    prompt = Prompt(bench.every[0][0], ALL, Frame.OWN, "true", int(asked["proposed"]), ("", ""))
    with torch.no_grad():
        tokens = torch.tensor([question_of(bench.loaded.tokenizer, prompt).tokens])
        at_report = bench.loaded.model(tokens, output_hidden_states=True).hidden_states
    np.testing.assert_allclose(np.concatenate([at_report[1][0, -1], at_report[3][0, -1]]), asked["state"], atol=2e-4)
    one = bench.every[0][0]
    tokens = question_of(bench.loaded.tokenizer, Prompt(one, ALL, Frame.ANSWER, "answer", -1, ("", ""))).tokens
    with torch.no_grad():
        hidden = bench.loaded.model(torch.tensor([tokens]), output_hidden_states=True).hidden_states
    np.testing.assert_allclose(np.concatenate([hidden[1][0, -1], hidden[3][0, -1]]), states.iloc[0], atol=2e-4)


def test_rows_do_not_depend_on_what_is_asked_together(bench: Bench, rows: pd.DataFrame) -> None:
    alone = rows_of(bench, 1, 1)
    same = rows[rows["question"] == alone["question"].iloc[0]].set_index("trial_id").loc[alone["trial_id"]]
    for a, b in zip(alone["logprobs"], same["logprobs"], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_another_model_is_asked_for_its_own_answer_and_about_the_judged_model_s(bench: Bench) -> None:
    own = {item.key: 2 for item in bench.items}
    found = reader_rows(bench, 0, own, 2)
    assert found.groupby("frame").size().to_dict() == {"answer": 4, "student": 12}
    assert set(found[found["frame"] == "student"]["ask"]) == {"true", "percent", "code"}
    assert set(found[found["frame"] == "student"]["proposed"]) == {2}


def test_replies_that_are_the_same_tokens_are_refused(bench: Bench) -> None:
    prompt = Prompt(bench.every[0][0], ALL, Frame.OWN, "code", 0, ("Q", "Q"))
    with pytest.raises(ElicitationError, match="same tokens"):
        question_of(bench.loaded.tokenizer, prompt)


def test_a_bench_needs_no_pairs(bench: Bench) -> None:
    without = replace(bench, claim=bench.claim.model_copy(update={"pairs": 0}))
    assert set(rows_of(without, 0, 1)["set"]) == {ALL}
