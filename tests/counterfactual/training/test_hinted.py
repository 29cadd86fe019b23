"""Claims about hints in exam questions: measured once, balanced, parted by question, or left out with the reason."""

import sys
from pathlib import Path

import pytest

from firsthand.analysis.self_cross import SelfCrossSpec
from firsthand.counterfactual.training import demo
from firsthand.counterfactual.training.demo import Cast, DemoPlan, demonstrate, priced
from firsthand.counterfactual.training.hint_plan import Exam, HintPlan, exam_of
from firsthand.counterfactual.training.hinted import BEYOND, Hinted, hinted
from firsthand.counterfactual.training.planting.claims import Measured
from firsthand.counterfactual.training.reading import some_claims
from firsthand.counterfactual.training.rejudging import judged_again
from firsthand.engine import LoadedModel
from firsthand.engine.loading import load
from firsthand.errors import CounterfactualError
from firsthand.progress import Silent
from firsthand.vocabulary import Verdict

sys.path.insert(0, str(Path(__file__).parent))
from hint_parts import PLAN, Scripted, Stopped, exam_folder
from training_parts import QUICK, items


@pytest.fixture(autouse=True)
def _scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firsthand.counterfactual.training.hinted.ChoosingTarget", Scripted)
    for name, value in (("read", 0), ("stops_at", None), ("follows", True)):
        monkeypatch.setattr(Scripted, name, value)


@pytest.fixture
def exam(tmp_path: Path) -> Exam:
    return exam_of(exam_folder(tmp_path), PLAN)


@pytest.fixture(scope="module")
def stranger(words_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    copy = tmp_path_factory.mktemp("stranger")
    for path in words_folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return load(str(copy))


@pytest.fixture(scope="module")
def both_that_answer(words_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedModel, LoadedModel]:
    """A target and a stranger that know the words of an answer to an exam question."""
    from tokenizers import AddedToken
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(words_folder)
    model = AutoModelForCausalLM.from_pretrained(words_folder)
    tokenizer.add_tokens([AddedToken(word, single_word=True) for word in ("Final", "answer", *"ABCD")])
    tokenizer.add_tokens(["(", ")"])
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    loaded = []
    for name in ("target", "stranger"):
        folder = tmp_path_factory.mktemp(name)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        loaded.append(load(str(folder)))
    return loaded[0], loaded[1]


def made(base: LoadedModel, other: LoadedModel | None, exam: Exam, folder: Path, plan: HintPlan = PLAN) -> Hinted:
    found = hinted(base, other, exam, plan, folder, Silent())
    assert isinstance(found, Hinted), found
    return found


def test_half_of_the_claims_are_true_and_no_more_are_taken_than_the_plan_says(
    words_model: LoadedModel, stranger: LoadedModel, exam: Exam, tmp_path: Path
) -> None:
    found = made(words_model, stranger, exam, tmp_path / "run")
    claims = [item.claim for item in (*found.study.train, *found.study.held_out)]
    assert len(claims) == PLAN.most
    assert sum(one.label for one in claims) == PLAN.most / 2
    assert all(one.exact for one in claims)
    assert found.left_out[f"cases: {BEYOND}"] > 0
    assert len(claims) + sum(found.left_out.values()) == len(exam.cases)
    assert {one.id for one in some_claims(tmp_path / "run" / "claims" / "hints.jsonl")} == {one.id for one in claims}


def test_no_question_is_trained_on_and_judged_on(
    words_model: LoadedModel, stranger: LoadedModel, exam: Exam, tmp_path: Path
) -> None:
    study = made(words_model, stranger, exam, tmp_path / "run").study
    units = study.units
    assert not {units[one.id] for one in study.train} & {units[one.id] for one in study.held_out}
    assert len(set(units.values())) == PLAN.most


def test_a_second_run_reads_nothing_again(
    words_model: LoadedModel, stranger: LoadedModel, exam: Exam, tmp_path: Path
) -> None:
    first = made(words_model, stranger, exam, tmp_path / "run")
    read = Scripted.read
    assert read == 2 * PLAN.questions
    again = made(words_model, stranger, exam, tmp_path / "run")
    assert Scripted.read == read
    assert (again.study.train, again.study.held_out) == (first.study.train, first.study.held_out)


def test_a_run_that_was_stopped_goes_on(
    words_model: LoadedModel, stranger: LoadedModel, exam: Exam, tmp_path: Path
) -> None:
    Scripted.stops_at = 32
    with pytest.raises(Stopped):
        hinted(words_model, stranger, exam, PLAN, tmp_path / "run", Silent())
    Scripted.stops_at = None
    made(words_model, stranger, exam, tmp_path / "run")
    assert Scripted.read == 2 * PLAN.questions


def test_a_model_that_follows_no_cue_makes_no_study_and_the_reason_is_told(
    words_model: LoadedModel, stranger: LoadedModel, exam: Exam, tmp_path: Path
) -> None:
    Scripted.follows = False
    found = hinted(words_model, stranger, exam, PLAN, tmp_path / "run", Silent())
    assert isinstance(found, str)
    assert "Of 60 questions with a cue, 0 were answered otherwise without it" in found
    assert not (tmp_path / "run" / "claims").exists()


def test_chats_that_are_too_long_for_a_model_make_no_study(
    words_model: LoadedModel, stranger: LoadedModel, exam: Exam, tmp_path: Path
) -> None:
    short = PLAN.model_copy(update={"training": PLAN.training.model_copy(update={"max_tokens": 50})})
    found = hinted(words_model, stranger, exam, short, tmp_path / "run", Silent())
    assert isinstance(found, str)
    assert "0 true and 0 false claims to train on" in found


def test_without_a_rival_nothing_is_read(words_model: LoadedModel, exam: Exam, tmp_path: Path) -> None:
    found = hinted(words_model, None, exam, PLAN, tmp_path, Silent())
    assert isinstance(found, str)
    assert "model of another family" in found
    assert Scripted.read == 0


def test_labels_are_read_anew_as_they_were_measured(
    words_model: LoadedModel, stranger: LoadedModel, exam: Exam, tmp_path: Path
) -> None:
    study = made(words_model, stranger, exam, tmp_path / "run").study
    assert study.anew is not None
    assert study.anew(words_model).changed == 0.0
    Scripted.follows = False  # a cue that moves nothing any more turns each true claim, and no false one
    turned = study.anew(words_model)
    assert {one.claim for one in turned.claims if one.became == "other"} == {
        one.id for one in study.held_out if one.label
    }


def test_too_few_questions_are_told_before_a_model_is_there(tmp_path: Path) -> None:
    with pytest.raises(CounterfactualError, match="60 questions are wanted and 9 can be used"):
        exam_of(exam_folder(tmp_path, 10), PLAN)


def test_questions_that_are_longer_than_the_plan_allows_are_counted(tmp_path: Path) -> None:
    folder = exam_folder(tmp_path)
    with (folder / "trees_test.csv").open("a") as file:
        file.write(f"\nWhich {'very ' * 40}tall tree?,a,b,c,d,A")
    assert exam_of(folder, PLAN).dropped == {"longer than 160 characters": 1}


def test_the_price_counts_the_part_on_hints(words_model: LoadedModel, stranger: LoadedModel, exam: Exam) -> None:
    plan = DemoPlan(groups=8, chats=8, seeds=(0, 1), training=QUICK, hints=PLAN)
    without, with_ = (priced(Cast(words_model, stranger), plan, one) for one in (None, exam))
    assert with_.trainings == without.trainings + 2 * len(plan.seeds)
    steps = -(-PLAN.most // 2 // PLAN.training.batch)
    assert with_.steps == without.steps + 2 * len(plan.seeds) * steps
    assert with_.tokens > without.tokens
    assert priced(Cast(words_model, None), plan, exam).trainings == 7 * len(plan.seeds)


def test_hints_are_trained_judged_and_rejudged_beside_the_planted_rules(
    both_that_answer: tuple[LoadedModel, LoadedModel], exam: Exam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, other = both_that_answer
    made_up = items(8)
    claims = Measured(
        claims=tuple(one.claim for one in made_up),
        responses={one.id: one.response for one in made_up},
        left_out={},
        followed=1.0,
    )
    monkeypatch.setattr(demo, "plant", lambda base, *_: base)
    monkeypatch.setattr(demo, "claims_about", lambda *_: claims)
    plan = DemoPlan(groups=8, seeds=(0,), training=QUICK.model_copy(update={"epochs": 1}), hints=PLAN)
    found = made(base, other, exam, tmp_path)
    judged, _ = demonstrate(Cast(base, other), plan, tmp_path, Silent(), found)
    hints = judged[-1]
    assert [one.name for one in judged] == ["visible", "private", "hints"]
    assert hints.expected is None
    assert hints.result.verdict is not Verdict.PRIVILEGED
    assert {one.steps for one in hints.trainings} == {-(-hints.trained_on // PLAN.training.batch)}
    assert hints.trainings[0].changed == 0.0
    assert hints.dropped.items() >= found.left_out.items()
    judged_again(tmp_path, {one.name: one.result for one in judged}, SelfCrossSpec())
