"""Whose claims may be trained on, and what a folder of trainings answers for; nothing is trained here."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from firsthand.counterfactual.claims import Answered
from firsthand.counterfactual.responses import Request, Response, Sampling
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.training.adapters import Trained
from firsthand.counterfactual.training.examples import training_set
from firsthand.counterfactual.training.experiment import Contender, Study, contend, general_of
from firsthand.counterfactual.training.folders import begun, content_of, listed, verified, write_claims
from firsthand.counterfactual.training.own import Own, checked, fresh_of, study_of
from firsthand.counterfactual.training.planting.words import groups_of, other_lot
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel
from firsthand.errors import CounterfactualError, TraceError
from firsthand.progress import Silent

sys.path.insert(0, str(Path(__file__).parent))
from training_parts import claims_of, items


def own(target: LoadedModel, about: str, **changes: object) -> Own:
    kin = replace(target, name="kin", weights_sha256="1" * 64)
    made = Own(
        claims=claims_of(about), target=target, cross=(kin,), siblings=frozenset({"kin"}), elsewhere=[],
        held_out=0.3, sampling=None,
    )  # fmt: skip
    return made._replace(**changes)  # type: ignore[arg-type]


def identity(loaded: LoadedModel, longest: int = 200) -> str:
    return LocalTarget(loaded, Sampling(max_tokens=longest)).identity


def test_claims_must_be_about_the_target_or_be_said_to_be(words_model: LoadedModel) -> None:
    checked(own(words_model, identity(words_model)))
    with pytest.raises(CounterfactualError, match="is not known to be that"):
        checked(own(words_model, "someone else"))
    checked(own(words_model, "someone else", another=True))


def test_nobody_is_compared_with_itself(words_model: LoadedModel) -> None:
    copy = replace(words_model, name="copy")
    with pytest.raises(CounterfactualError, match="has the weights of the target"):
        checked(own(words_model, identity(words_model), cross=(copy,)))


def test_names_that_would_share_a_folder_are_refused(words_model: LoadedModel) -> None:
    two = tuple(replace(words_model, name=name, weights_sha256=name * 32) for name in ("a/b", "a b"))
    with pytest.raises(CounterfactualError, match="Two models have the name"):
        study_of(own(words_model, identity(words_model), cross=two), {})


def test_claims_about_one_who_is_compared_are_no_control_of_ability(words_model: LoadedModel) -> None:
    rival = replace(words_model, name="rival", weights_sha256="0" * 64)
    asked = own(words_model, identity(words_model), cross=(rival,), siblings=frozenset())
    checked(asked._replace(elsewhere=claims_of("a third"), third=True))
    with pytest.raises(CounterfactualError, match="--elsewhere-is-another"):
        checked(asked._replace(elsewhere=claims_of("a third")))
    with pytest.raises(CounterfactualError, match="about rival, which is compared"):
        checked(asked._replace(elsewhere=claims_of(identity(rival))))


def test_a_response_to_show_is_drawn_once_and_kept_and_one_that_came_with_the_claim_is_shown(
    words_model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    respond = LocalTarget.respond

    def counted(self: LocalTarget, requests: Sequence[Request]) -> list[list[Response]]:
        asked.append(len(requests))
        return respond(self, requests)

    monkeypatch.setattr(LocalTarget, "respond", counted)
    made = own(words_model, identity(words_model), sampling=Sampling(samples=2, max_tokens=4))
    said = Answered(response=Response(text="tweet"))
    made = made._replace(claims=[made.claims[0].model_copy(update={"responses": (said,)}), *made.claims[2:]])
    fresh = fresh_of(made, tmp_path, Silent())
    assert sum(asked) == len({claim.prompt.id for claim in made.claims[1:]})
    assert fresh_of(made, tmp_path, Silent()) == fresh
    assert sum(asked) == len(fresh)
    study, missing = study_of(made, fresh)
    shown = {item.id: item.response.text for item in (*study.train, *study.held_out)}
    assert shown[made.claims[0].id] == "tweet"
    assert missing == 0


@pytest.mark.parametrize("changes", [{"architecture": "gpt2"}, {"tokenizer_sha256": "0" * 64}, {"n_layers": 9}])
def test_a_sibling_is_built_like_the_target(words_model: LoadedModel, changes: dict[str, object]) -> None:
    odd = replace(words_model, name="kin", weights_sha256="2" * 64, **changes)  # type: ignore[arg-type]
    with pytest.raises(CounterfactualError, match="another architecture or tokenizer"):
        checked(own(words_model, identity(words_model), cross=(odd,)))


def test_held_out_claims_of_one_label_stop_a_run_before_it_trains(words_model: LoadedModel, tmp_path: Path) -> None:
    some = items(8)
    only = tuple(item for item in some[8:] if item.label)
    contenders = (Contender(words_model, "a", "self"), Contender(words_model, "b", "cross"))
    with pytest.raises(CounterfactualError, match="both kinds are needed"):
        contend(Study("s", contenders, tuple(some[:8]), only), TrainSettings(), (0,), tmp_path, Silent())
    assert not list(tmp_path.iterdir())


def test_only_chats_that_are_trained_on_hold_a_model_to_its_base(words_model: LoadedModel) -> None:
    some = items(8)
    study = Study("s", (Contender(words_model, "a", "self"),), tuple(some), ())
    refused = some[0].question.prompt.id
    data = training_set(some, 1, 0, [lambda prompt, _: "too long" if prompt.turns[1].content == long else None])
    assert general_of(words_model, study, data, TrainSettings()) == []
    held = general_of(words_model, study, data, TrainSettings(kl_share=0.1))
    assert len(held) == len({one.question.prompt.id for one in some} - {refused})


long = items(1)[0].question.prompt.turns[1].content


def test_a_training_held_to_its_base_on_other_chats_is_another() -> None:
    one = Trained(base_weights="w", base_tokenizer="t", settings="s", data="d", general="g")
    assert one.same_run(one.model_copy(update={"steps": 3}))
    assert not one.same_run(one.model_copy(update={"general": "h"}))


def test_a_part_may_be_asked_for_later_and_belongs_to_the_run_then(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    first = begun(folder, {"dtype": "float32"})
    assert begun(folder, {"dtype": "float32"}, {"hints": "these"}) == first
    assert begun(folder, {"dtype": "float32"}, {"hints": "these"}) == first
    for changed in ({"hints": "others"}, None):  # what was judged cannot be left out of the report by asking again
        with pytest.raises(TraceError, match="other settings"):
            begun(folder, {"dtype": "float32"}, changed)


def test_a_folder_of_another_kind_of_run_is_refused(tmp_path: Path) -> None:
    begun(tmp_path / "new", {"dtype": "float32"})
    begun(tmp_path / "new", {"dtype": "float32"})
    with pytest.raises(TraceError, match="other settings"):
        begun(tmp_path / "new", {"dtype": "bfloat16"})
    other = tmp_path / "other"
    other.mkdir()
    (other / "predictions.jsonl").write_text("")
    with pytest.raises(TraceError, match="no training run"):
        begun(other, {})


@pytest.mark.parametrize(
    "name",
    [
        "claims/claims.jsonl",
        "targets/private/measured.json",
        "targets/private/rows.safetensors",
        "claims/target/seed-0/training.json",
        "claims/kin/seed-0/learnt.json",
        "result.json",
    ],
)
def test_whatever_a_result_rests_on_is_verified(name: str, tmp_path: Path) -> None:
    begun(tmp_path, {})
    write_claims(tmp_path / "claims" / "claims.jsonl", claims_of("t"))
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(json.dumps({"some": "value"}))
    listed(tmp_path)
    path.write_text(path.read_text() + " ")
    with pytest.raises(TraceError, match="not the file that was written"):
        verified(tmp_path)


def test_a_twin_follows_another_lot_of_the_same_words(words_model: LoadedModel) -> None:
    groups = groups_of(words_model.tokenizer, 60, 0)
    twin = other_lot(groups, 0)
    assert [{one.live, one.dead} for one in twin] == [{one.live, one.dead} for one in groups]
    assert 15 <= sum(a.live == b.live for a, b in zip(groups, twin, strict=True)) <= 45


def test_claims_measured_anew_are_others_under_the_same_names() -> None:
    some = claims_of("t")
    turned = [some[0].model_copy(update={"label": not some[0].label}), *some[1:]]
    assert {one.id for one in turned} == {one.id for one in some}
    assert content_of(turned) != content_of(some)
    assert content_of(some[::-1]) == content_of(some)
