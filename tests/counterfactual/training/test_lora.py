import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from firsthand.counterfactual.training.adapters import load_trained
from firsthand.counterfactual.training.drift import divergences
from firsthand.counterfactual.training.examples import Example
from firsthand.counterfactual.training.lora import adapted, train
from firsthand.counterfactual.training.predictor import follow_up_of
from firsthand.counterfactual.training.tokens import chat, spoken, turn_end
from firsthand.counterfactual.training.trainer import IGNORED
from firsthand.engine import LoadedModel
from firsthand.errors import CounterfactualError, ModelError

sys.path.insert(0, str(Path(__file__).parent))
from training_parts import QUICK, Killed, Killer, adapter, data, items


@pytest.fixture(scope="module")
def trained(words_model: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    train(words_model, data(), QUICK, folder)
    return folder


def test_a_training_that_was_killed_twice_ends_in_the_same_weights(
    words_model: LoadedModel, trained: Path, tmp_path: Path
) -> None:
    for after in (3, 7):  # the second count includes the steps that are told again
        with pytest.raises(Killed):
            train(words_model, data(), QUICK, tmp_path, Killer(after))
    again = train(words_model, data(), QUICK, tmp_path)
    ours, theirs = (load_file(adapter(folder)) for folder in (trained, tmp_path))
    assert ours.keys() == theirs.keys()
    assert max(float((ours[key] - theirs[key]).abs().max()) for key in ours) <= 1e-6
    assert again.steps == 8
    assert len(again.loss) == 8


def test_a_checkpoint_that_was_not_written_to_its_end_is_not_taken(
    words_model: LoadedModel, trained: Path, tmp_path: Path
) -> None:
    with pytest.raises(Killed):
        train(words_model, data(), QUICK, tmp_path, Killer(5))
    (tmp_path / "checkpoints" / "checkpoint-4" / "whole").unlink()
    train(words_model, data(), QUICK, tmp_path)
    assert torch.equal(*(load_file(adapter(folder)).popitem()[1] for folder in (trained, tmp_path)))


def test_the_adapter_is_safetensors_only_and_finished_work_is_not_done_again(
    words_model: LoadedModel, trained: Path
) -> None:
    assert {path.name for path in (trained / "adapter").iterdir()} == {
        "adapter_config.json",
        "adapter_model.safetensors",
        "trained.json",
    }
    assert not (trained / "checkpoints").exists()
    train(words_model, data(), QUICK, trained, Killer(1))


def test_a_trained_model_reloads_to_the_same_predictions_and_the_base_stays(
    words_model: LoadedModel, trained: Path
) -> None:
    asked = [item.question for item in items(8)]
    before = follow_up_of(words_model, "base", "base").predict(asked)
    first, second = (
        follow_up_of(load_trained(words_model, trained), "self", "trained").predict(asked) for _ in range(2)
    )
    p, q = ([one.probability for one in said] for said in (first, second))
    assert np.abs(np.array(p, float) - np.array(q, float)).max() < 1e-4
    assert follow_up_of(words_model, "base", "base").predict(asked) == before
    assert np.mean([one.coverage for one in first]) > 10 * np.mean([one.coverage for one in before])


def test_the_loss_that_training_reports_is_that_of_the_full_vocabulary(
    words_model: LoadedModel, tmp_path: Path
) -> None:
    once = QUICK.model_copy(update={"dropout": 0.0, "epochs": 1, "batch": 4})
    few = data(epochs=1).model_copy(update={"order": (0, 1, 2, 3)})
    told = train(words_model, few, once, tmp_path).loss[0]
    sums, count = 0.0, 0
    for one in few.examples[:4]:
        tokens, labels = chat(words_model.tokenizer, one.prompt, one.answer)
        with torch.no_grad():
            logprobs = torch.log_softmax(words_model.model(torch.tensor([tokens])).logits[0], -1)
        due = [(n, label) for n, label in enumerate(labels) if label != IGNORED]
        sums -= sum(float(logprobs[n - 1, label]) for n, label in due)
        count += len(due)
    assert told == pytest.approx(sums / count, abs=2e-3)  # the logged loss is rounded


def test_only_the_last_turn_has_a_loss(words_model: LoadedModel) -> None:
    tokenizer = words_model.tokenizer
    example = Example.of(items(1)[0])
    made = chat(tokenizer, example.prompt, example.answer)
    due = [label for label in made.labels if label != IGNORED]
    assert due == [*spoken(tokenizer, ["Yes"])[0], *turn_end(tokenizer)]
    assert list(made.tokens[-len(due) :]) == due
    assert tokenizer.convert_ids_to_tokens(due) == ["Yes", "<|end|>"]


def test_an_adapter_of_another_base_is_refused(trained: Path, words_model: LoadedModel, tiny: LoadedModel) -> None:
    with pytest.raises(ModelError, match="trained on other weights"):
        load_trained(tiny, trained)
    with pytest.raises(ModelError, match="holds no trained adapter"):
        load_trained(words_model, trained / "nothing")


def test_an_adapter_whose_keys_match_nothing_or_that_was_altered_is_refused(
    words_model: LoadedModel, tmp_path: Path
) -> None:
    short = data(2, 1)
    train(words_model, short, QUICK, tmp_path)
    config = tmp_path / "adapter" / "adapter_config.json"
    held = json.loads(config.read_text())
    config.write_text(json.dumps({**held, "target_modules": ["q_proj"]}))
    with pytest.raises(ModelError, match="does not match the model"):
        load_trained(words_model, tmp_path)
    adapter(tmp_path).write_bytes(adapter(tmp_path).read_bytes() + b" ")
    with pytest.raises(ModelError, match="not the one that was trained"):
        load_trained(words_model, tmp_path)


def test_targets_that_the_model_lacks_are_refused(words_model: LoadedModel) -> None:
    with pytest.raises(ModelError, match="No adapter can be put"):
        adapted(words_model, QUICK.model_copy(update={"targets": ("no_such_module",)}))
    top = adapted(words_model, QUICK.model_copy(update={"top_layers": 1}))
    names = [name for name, one in top.named_parameters() if one.requires_grad]
    assert names
    assert all(".layers.1." in name for name in names)


def test_a_folder_of_another_training_is_refused(words_model: LoadedModel, trained: Path) -> None:
    for settings, chats in ((QUICK.model_copy(update={"seed": 3}), data()), (QUICK, data(seed=1))):
        with pytest.raises(CounterfactualError, match="a training of another"):
            train(words_model, chats, settings, trained)


def test_the_seed_names_the_weights(words_model: LoadedModel, trained: Path, tmp_path: Path) -> None:
    train(words_model, data(), QUICK.model_copy(update={"seed": 3}), tmp_path)
    ours, theirs = (load_file(adapter(folder)) for folder in (trained, tmp_path))
    assert any(not torch.equal(ours[key], theirs[key]) for key in ours)


def test_small_batches_that_are_added_up_train_the_same(words_model: LoadedModel, tmp_path: Path) -> None:
    made = []
    for micro in (None, 2):
        settings = QUICK.model_copy(update={"dropout": 0.0, "micro_batch": micro, "epochs": 1})
        train(words_model, data(4, 1), settings, tmp_path / str(micro))
        made.append(load_file(adapter(tmp_path / str(micro))))
    assert max(float((made[0][key] - made[1][key]).abs().max()) for key in made[0]) < 1e-4


def test_a_penalty_on_moving_away_keeps_the_model_near_its_base(words_model: LoadedModel, tmp_path: Path) -> None:
    with pytest.raises(CounterfactualError, match="no general chats"):
        train(words_model, data(), QUICK.model_copy(update={"kl_share": 0.5}), tmp_path / "none")
    text = "The weather is fine today and it rains there I think so too"
    general = [tuple(words_model.tokenizer(text, add_special_tokens=False)["input_ids"])]
    moved = []
    for share in (0.0, 1.0):
        settings = QUICK.model_copy(update={"kl_share": share, "kl_weight": 20.0})
        train(words_model, data(), settings, tmp_path / str(share), general=general)
        moved.append(divergences(load_trained(words_model, tmp_path / str(share)), words_model, general)[0])
    assert moved[1] < 0.5 * moved[0]
