import pytest
from pydantic import ValidationError

from firsthand.counterfactual.training.settings import EXPLANATIONS, PREDICTIONS, TrainSettings


def test_the_defaults_are_those_of_table_8() -> None:
    assert PREDICTIONS.model_dump(exclude={"top_layers", "micro_batch", "seed", "checkpoint_steps", "kl_weight"}) == {
        "rank": 64,
        "alpha": 128.0,
        "dropout": 0.05,
        "targets": "all-linear",
        "learning_rate": 5e-5,
        "warmup": 0.05,
        "weight_decay": 0.01,
        "clip": 1.0,
        "batch": 8,
        "max_tokens": 4096,
        "epochs": 1,
        "kl_share": 0.0,
    }
    assert EXPLANATIONS.epochs == 3


def test_how_often_work_is_kept_is_no_part_of_what_is_trained() -> None:
    assert TrainSettings(checkpoint_steps=1).key == TrainSettings(checkpoint_steps=50).key
    assert TrainSettings(seed=1).key != TrainSettings(seed=2).key


def test_a_micro_batch_divides_the_batch() -> None:
    assert TrainSettings(batch=8, micro_batch=2).micro_batch == 2
    with pytest.raises(ValidationError, match="does not divide"):
        TrainSettings(batch=8, micro_batch=3)
