"""A conversation shows the labels of the model's own states, and what the model expects is read before each of them."""

from dataclasses import replace

import numpy as np
import pytest
from small_study import claim_on, examples

from firsthand.engine import LoadedModel
from firsthand.errors import LabelsError
from firsthand.studies.labels.biofeedback import (
    REDRAWN,
    TARGET,
    Bench,
    labels_of,
    prepare,
    redrawn,
    redrawn_rows,
    target_rows,
)


def test_axes_are_fitted_on_texts_that_no_conversation_shows(bench: Bench) -> None:
    assert not set(bench.fit.texts) & set(bench.held_out.texts)
    assert [one.name for one in bench.referents] == [
        f"{name} at {layer}" for layer in (0, 2) for name in ("probe", "permuted", "pc1")
    ]


def test_every_conversation_has_texts_of_its_own_and_none_twice(bench: Bench) -> None:
    numbers = [*bench.experiments(0), *bench.experiments(2)]
    assert numbers == [0, 1, 2, 3]
    drawn = [tuple(bench.drawn(number).tolist()) for number in numbers]
    assert len(set(drawn)) == 4
    assert all(len(set(texts)) == 8 for texts in drawn)
    assert drawn[0] == tuple(bench.drawn(0).tolist())


def test_a_text_is_labelled_by_the_side_of_the_axis_that_its_state_lies_on(bench: Bench) -> None:
    referent, texts = bench.referents[2], bench.drawn(1)
    labels, cut = labels_of(bench, referent, texts)
    for label, text in zip(labels, texts, strict=True):
        state = bench.states.layers[referent.layer][text].astype(np.float64)
        score = float(state @ referent.axis.direction_H.astype(np.float64)) + referent.axis.offset
        assert (score > cut) == bool(label)
    assert set(labels.tolist()) == {0, 1}


def test_rows_say_what_was_shown_what_is_true_and_what_was_expected(bench: Bench) -> None:
    referent = bench.referents[3]
    number = bench.experiments(2)[0]
    rows = target_rows(bench, referent, number)
    assert rows["place"].tolist() == list(range(8))
    assert rows["number"].tolist() == bench.drawn(number).tolist()
    assert rows["truth"].tolist() == labels_of(bench, referent, bench.drawn(number))[0].tolist()
    assert set(rows["arm"]) == {TARGET}
    assert rows["trial_id"].is_unique
    assert (rows["coverage"] <= 1).all()
    assert set(rows["group"]) <= set(bench.held_out.groups)


def test_the_wire_reads_the_axis_at_the_text_in_the_conversation(bench: Bench) -> None:
    rows = target_rows(bench, bench.referents[0], 0)
    right = (rows["wire"] > 0) == (rows["truth"] == 1)
    assert right.mean() > 0.6  # the same text after others has not the very same state
    assert rows["wire"].notna().all()


def test_labels_drawn_by_lot_are_the_same_for_all_referents_and_held_against_each(bench: Bench) -> None:
    found = redrawn(bench, 0)
    tables = [redrawn_rows(bench, one, 0, found) for one in bench.referents[:3]]
    answers = [table["answer"].fillna(-1).tolist() for table in tables]
    assert answers[0] == answers[1] == answers[2]
    assert {tuple(table["truth"]) for table in tables} == {
        tuple(labels_of(bench, one, bench.drawn(0))[0]) for one in bench.referents[:3]
    }
    assert {arm for table in tables for arm in table["arm"]} == {REDRAWN}


def test_asked_independently_a_text_after_the_same_shots_is_expected_as_in_one_pass(bench: Bench) -> None:
    claim = bench.claim.model_copy(update={"protocol": "independent", "counts": (0, 5)})
    apart = target_rows(replace(bench, claim=claim), bench.referents[0], 0)
    assert list(zip(apart["place"], apart["at"], strict=True)) == [(0, i) for i in range(8)] + [(5, 5), (5, 6), (5, 7)]
    whole = target_rows(bench, bench.referents[0], 0)
    for count in (0, 5):  # the first query after the shots stands where it stands in the one pass
        one = apart[(apart["place"] == count) & (apart["at"] == count)].iloc[0]
        same = whole[whole["place"] == count].iloc[0]
        assert one["truth"] == same["truth"]
        np.testing.assert_allclose(one["logprobs"], same["logprobs"], atol=1e-4)
        assert one["wire"] == pytest.approx(same["wire"], abs=1e-3)
    assert apart["trial_id"].is_unique


def test_axes_along_which_no_answer_could_be_judged_are_refused_before_anything_is_run(tiny: LoadedModel) -> None:
    data = examples()

    def refused(seed: int) -> bool:
        claim = claim_on(data, layers=(0,), referents=("pc1",), judged_from=7, seed=seed)  # two answers are judged
        try:
            prepare(tiny, data, claim)
        except LabelsError as error:
            return "have the same label" in str(error)
        return False

    assert {refused(seed) for seed in range(6)} == {True, False}


def test_other_data_than_the_claim_names_are_refused(tiny: LoadedModel) -> None:
    data = examples()
    other = replace(data, labels=(1 - data.labels[0], *data.labels[1:]))
    with pytest.raises(LabelsError, match="not those that the claim names"):
        prepare(tiny, other, claim_on(data))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"judged_from": 8}, "none would be judged"),
        ({"shots": 30}, "more than the 24"),
        ({"protocol": "independent", "counts": (0, 8)}, "below shots"),
        ({"protocol": "independent", "counts": (0, 2)}, "at least judged_from"),
        ({"layers": ()}, "layers must hold"),
        ({"referents": ("probe", "probe")}, "more than once"),
        ({"analysis": {"clusters": ("text",)}}, "use group and experiment"),
    ],
)
def test_claims_that_could_not_be_run_are_refused(changes: dict[str, object], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        claim_on(examples(), **changes)
