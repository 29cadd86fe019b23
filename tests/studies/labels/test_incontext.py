"""Labels predicted in context are those of plain runs of every prompt by itself, with and without edits."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from plain_rows import TOLERANCE, told_by_the_twin
from plain_run import PlainModel, plain_twin

from firsthand.engine import Anatomy, LoadedModel, Operation, Row, inspect_model, resid_post, resid_pre, run
from firsthand.errors import LabelsError
from firsthand.studies.labels import incontext as module
from firsthand.studies.labels.conversations import Conversation, Shot, TextEdit, lay_out
from firsthand.studies.labels.incontext import Predictions, independent, most_shots, teacher_forced

TEXTS = ("I gave the dog a bath.", "user", "I gave it away.", 'He said "no",\nand left.', "It rained", "We ate it all.")
ASKED = ("I gave it back.", "I gave the dog away", "Birds sing.")


def direction(seed: int, hidden: int = 32) -> torch.Tensor:
    return torch.randn(hidden, generator=torch.Generator().manual_seed(seed))


def edits(number: int) -> tuple[TextEdit, ...]:
    """Something else at every shot: nothing, one edit, or two at different layers."""
    one = TextEdit(resid_post(1), direction(number), 0.7 + number)
    other = TextEdit(resid_pre(0), direction(50 + number), 0.2, Operation.ADD_SCALED)
    return ((), (one,), (other, one))[number % 3]


def shots(texts: Sequence[str], edited: bool, begin: int = 0) -> tuple[Shot, ...]:
    return tuple(Shot(t, i % 3 % 2, edits(i + begin) if edited else ()) for i, t in enumerate(texts))


def talk(edited: bool = False) -> Conversation:
    return Conversation("Give the label, 3 or 7.", ("7", "3"), shots(TEXTS, edited))


@pytest.fixture(scope="module")
def twin(tiny: LoadedModel) -> PlainModel:
    return plain_twin(tiny.model, "model.layers", "self_attn")


def asked_plainly(
    tiny: LoadedModel, twin: PlainModel, conversation: Conversation
) -> tuple[torch.Tensor, tuple[int, int], torch.Tensor]:
    """The last shot's distribution and its text's mean state, from a whole row of its own through the plain twin."""
    laid = lay_out(tiny.tokenizer, conversation)
    made = [e.at(span) for shot, span in zip(conversation.shots, laid.spans, strict=True) for e in shot.edits]
    row = Row(laid.tokens[: laid.places[-1]], tuple(made), tuple(module._captures(laid, [SITE], [len(laid.spans) - 1])))
    logprobs, readings = told_by_the_twin(twin, row)
    return logprobs[0], laid.answers, next(iter(readings.values())).mean(0)


SITE = resid_post(2)


def assert_plain(found: Predictions, plain: Sequence[tuple[torch.Tensor, tuple[int, int], torch.Tensor]]) -> None:
    for i, (logprobs_V, pair, state_H) in enumerate(plain):
        both = logprobs_V[list(pair)]
        np.testing.assert_allclose(found.logprobs_NC[i], both, atol=TOLERANCE)
        assert found.coverage_N[i] == pytest.approx(float(both.exp().sum()), abs=TOLERANCE)
        likeliest = int(logprobs_V.argmax())
        assert found.answers[i] == (pair.index(likeliest) if likeliest in pair else None)
        np.testing.assert_allclose(found.states[SITE][i], state_H, atol=TOLERANCE)


@pytest.mark.parametrize("edited", [False, True])
def test_one_teacher_forced_pass_gives_what_each_number_of_shots_gives_by_itself(
    tiny: LoadedModel, anatomy: Anatomy, twin: PlainModel, edited: bool
) -> None:
    conversation = talk(edited)
    found = teacher_forced(tiny, anatomy, conversation, sites=[SITE])
    assert_plain(found, [asked_plainly(tiny, twin, conversation.starting(i + 1)) for i in range(len(TEXTS))])
    assert found.truth_N.tolist() == [shot.label for shot in conversation.shots]


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("count", [0, 1, len(TEXTS)])
def test_independent_queries_give_what_whole_prompts_give(
    tiny: LoadedModel,
    anatomy: Anatomy,
    twin: PlainModel,
    edited: bool,
    count: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "tokens_at_once", lambda _: 30)
    conversation, queries, told = talk(edited), shots(ASKED, edited, begin=1), []
    found = independent(tiny, anatomy, conversation, count, queries, sites=[SITE], advance=told.append)
    assert_plain(found, [asked_plainly(tiny, twin, conversation.starting(count, query)) for query in queries])
    assert found.truth_N.tolist() == [query.label for query in queries]
    assert sum(told) == len(queries)
    assert len(told) > 1


def test_both_protocols_agree_where_they_ask_the_same(tiny: LoadedModel, anatomy: Anatomy) -> None:
    conversation = talk(edited=True)
    whole = teacher_forced(tiny, anatomy, conversation)
    for i, shot in enumerate(conversation.shots):
        alone = independent(tiny, anatomy, conversation, i, [shot])
        np.testing.assert_allclose(alone.logprobs_NC[0], whole.logprobs_NC[i], atol=TOLERANCE)
        assert alone.answers[0] == whole.answers[i]


def test_an_edit_of_a_shot_is_felt_after_it_and_not_before(tiny: LoadedModel, anatomy: Anatomy) -> None:
    clean, conversation = teacher_forced(tiny, anatomy, talk()), talk()
    struck = Shot(TEXTS[2], conversation.shots[2].label, (TextEdit(resid_post(1), direction(0), 5.0),))
    changed = Conversation(
        conversation.instruction, conversation.names, (*conversation.shots[:2], struck, *conversation.shots[3:])
    )
    moved = np.abs(teacher_forced(tiny, anatomy, changed).logprobs_NC - clean.logprobs_NC).max(1)
    assert moved[:2].max() < TOLERANCE
    assert moved[2:].min() > 1e-3


def test_an_answer_is_invalid_unless_a_label_is_the_likeliest_token() -> None:
    logprobs = torch.log(torch.tensor([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.4, 0.4, 0.2], [0.3, 0.5, 0.2]]))
    read = module._read(logprobs, (0, 1)).numpy()
    assert [None if math.isnan(value) else value for value in read[:, 3]] == [0, None, None, 1]
    np.testing.assert_allclose(read[:, 2], [0.8, 0.5, 0.8, 0.8], atol=1e-6)
    np.testing.assert_allclose(np.exp(read[:, :2]), [[0.5, 0.3], [0.2, 0.3], [0.4, 0.4], [0.3, 0.5]], atol=1e-6)


def test_a_random_model_answers_nothing_and_that_is_no_class(tiny: LoadedModel, anatomy: Anatomy) -> None:
    found = teacher_forced(tiny, anatomy, talk())
    assert found.answers == (None,) * len(TEXTS)
    assert (found.coverage_N < 0.1).all()
    np.testing.assert_allclose(np.exp(found.logprobs_NC).sum(1), found.coverage_N, rtol=1e-9)


def test_a_conversation_beyond_the_models_context_is_refused_with_what_fits(
    tiny: LoadedModel, anatomy: Anatomy, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = talk()
    places = lay_out(tiny.tokenizer, conversation).places
    monkeypatch.setattr(tiny.model.config, "max_position_embeddings", places[3])
    assert most_shots(tiny, conversation) == 4
    with pytest.raises(LabelsError, match=f"6 shots make a conversation of {places[-1]} tokens") as caught:
        teacher_forced(tiny, anatomy, conversation)
    assert caught.value.remedy == "Use at most 4 shots."
    assert len(teacher_forced(tiny, anatomy, conversation.starting(4)).answers) == 4
    monkeypatch.setattr(tiny.model.config, "max_position_embeddings", places[3] - 1)
    assert most_shots(tiny, conversation) == 3
    monkeypatch.setattr(tiny.model.config, "max_position_embeddings", places[0] - 1)
    with pytest.raises(LabelsError, match="not even one shot fits"):
        teacher_forced(tiny, anatomy, conversation)


def test_the_number_of_shots_that_fits_before_the_longest_query_is_exact(
    tiny: LoadedModel, anatomy: Anatomy, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation, queries = talk(), shots(ASKED, edited=False)
    lengths = [
        max(lay_out(tiny.tokenizer, conversation.starting(count, query)).places[-1] for query in queries)
        for count in range(len(TEXTS) + 1)
    ]
    for fitting in (1, 3, 5):
        for room in (lengths[fitting], lengths[fitting + 1] - 1):
            monkeypatch.setattr(tiny.model.config, "max_position_embeddings", room)
            with pytest.raises(LabelsError, match=f"conversation of {lengths[6]} tokens") as caught:
                independent(tiny, anatomy, conversation, 6, queries)
            assert caught.value.remedy == f"Use at most {fitting} shots."
            assert len(independent(tiny, anatomy, conversation, fitting, queries).answers) == len(ASKED)


@pytest.mark.parametrize(
    ("count", "texts", "problem"),
    [
        (2, (), "0 queries"),
        (7, ASKED, "after 7 of 6 shots"),
        (-1, ASKED, "after -1"),
        (2, (TEXTS[1],), "'user' is among the shots"),
    ],
)
def test_queries_that_cannot_be_asked_are_refused(
    tiny: LoadedModel, anatomy: Anatomy, count: int, texts: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(LabelsError, match=problem):
        independent(tiny, anatomy, talk(), count, shots(texts, edited=False))


def test_other_families_give_what_plain_runs_give_whether_they_can_share_or_not(family: LoadedModel) -> None:
    anatomy = inspect_model(family.model)
    made = plain_twin(family.model, "transformer.h")
    conversation, queries = talk(edited=True).starting(3), shots(ASKED, edited=True, begin=1)
    forced = teacher_forced(family, anatomy, conversation, sites=[SITE])
    assert_plain(forced, [asked_plainly(family, made, conversation.starting(i + 1)) for i in range(3)])
    alone = independent(family, anatomy, conversation, 2, queries, sites=[SITE])
    assert_plain(alone, [asked_plainly(family, made, conversation.starting(2, query)) for query in queries])


def test_three_classes_are_predicted_as_plain_runs_predict_them(
    tiny: LoadedModel, anatomy: Anatomy, twin: PlainModel
) -> None:
    names = ("7", "3", "5")
    conversation = Conversation("Give the label.", names, tuple(Shot(text, i % 3) for i, text in enumerate(TEXTS)))
    found = teacher_forced(tiny, anatomy, conversation)
    alone = independent(tiny, anatomy, conversation, 2, [Shot(text, 2) for text in ASKED])
    for i in range(len(TEXTS)):
        logprobs_V, answers, _ = asked_plainly(tiny, twin, conversation.starting(i + 1))
        np.testing.assert_allclose(found.logprobs_NC[i], logprobs_V[list(answers)], atol=TOLERANCE)
    for i, text in enumerate(ASKED):
        logprobs_V, answers, _ = asked_plainly(tiny, twin, conversation.starting(2, Shot(text, 2)))
        np.testing.assert_allclose(alone.logprobs_NC[i], logprobs_V[list(answers)], atol=TOLERANCE)
        assert alone.coverage_N[i] == pytest.approx(float(logprobs_V[list(answers)].exp().sum()), abs=TOLERANCE)


def test_of_three_labels_the_likeliest_is_the_answer_unless_another_token_or_label_is_as_likely() -> None:
    rows = [[0.1, 0.2, 0.6, 0.1], [0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7], [0.5, 0.2, 0.2, 0.1]]
    read = module._read(torch.log(torch.tensor(rows)), (0, 1, 2)).numpy()
    assert [None if math.isnan(value) else value for value in read[:, -1]] == [2, None, None, 0]
    np.testing.assert_allclose(read[:, -2], [0.9, 0.9, 0.3, 0.9], atol=1e-6)


@pytest.fixture(scope="module")
def smollm() -> LoadedModel:
    from firsthand.engine.loading import load

    return load("smollm2")


def test_a_real_model_answers_with_a_label_once_it_has_seen_some(smollm: LoadedModel) -> None:
    """Both protocols and a plain run of whole rows agree; coverage rises from the first shot on."""
    anatomy = inspect_model(smollm.model)
    texts = [f"The {thing} is {much} today." for much in ("old", "big") for thing in ("cat", "sea", "tree", "town")]
    conversation = Conversation(
        "Every sentence has one of the labels 3 and 7. Answer with its label.",
        ("3", "7"),
        tuple(Shot(text, int("big" in text)) for text in texts[::3] + texts[1::3]),
    )
    found = teacher_forced(smollm, anatomy, conversation)
    laid = lay_out(smollm.tokenizer, conversation)
    rows = [Row(laid.tokens[:place]) for place in laid.places]
    plain = run(anatomy, rows, path="plain", reduce=lambda logprobs, _: logprobs[:, list(laid.answers)]).logprobs_RV
    np.testing.assert_allclose(found.logprobs_NC, plain, atol=1e-4)
    assert found.coverage_N[-1] > 0.5 > found.coverage_N[0]
    assert found.answers[-1] is not None
    alone = independent(smollm, anatomy, conversation, 4, conversation.shots[4:])
    np.testing.assert_allclose(alone.logprobs_NC[0], found.logprobs_NC[4], atol=1e-4)
