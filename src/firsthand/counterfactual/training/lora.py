"""Training of a LoRA adapter on a model that the engine loaded: resumable, and the same however often it was stopped.

The base is never changed: its module tree is copied while its parameters are shared; the adapter goes into the copy.
"""

import copy
import math
import random
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from datasets import Dataset, are_progress_bars_disabled, disable_progress_bars, enable_progress_bars
from peft import LoraConfig, get_peft_model
from trl import SFTConfig

from firsthand.counterfactual.training.adapters import Trained, read_trained, save_adapter
from firsthand.counterfactual.training.examples import TrainingSet
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.counterfactual.training.tokens import columns
from firsthand.counterfactual.training.trainer import KeptTrainer, Regulariser, Told, last_whole
from firsthand.engine import LoadedModel
from firsthand.engine.loading.quiet import quiet
from firsthand.errors import CounterfactualError, ModelError
from firsthand.progress import Progress, Silent
from firsthand.trials.canonical import digest
from firsthand.trials.files import read_json, write_json


def train(
    loaded: LoadedModel,
    data: TrainingSet,
    settings: TrainSettings,
    folder: Path,
    progress: Progress | None = None,
    general: Sequence[Sequence[int]] = (),
) -> Trained:
    """Train an adapter; a folder that was trained in goes on where it stopped, or is finished already.

    What decides the weights (order of the data, optimiser, schedule, random numbers) is kept in checkpoints, so a run
    that was stopped and taken up again ends in the same weights as one that was not.

    Args:
        loaded: The base; it is not changed.
        data: Chats in the order in which they are shown.
        settings: How.
        folder: Where checkpoints and the adapter go.
        progress: Who is told; one step a training step.
        general: Tokens of general chats, for the penalty on moving away from the base where there is to be one.

    Returns:
        What was trained; :func:`~firsthand.counterfactual.training.adapters.load_trained` loads it.

    Raises:
        CounterfactualError: If the folder holds another training, or a penalty is wanted without general chats.
        ModelError: If the model has an adapter already, or none of its modules is a wanted target.
    """
    _check(loaded, settings, general)
    listener = progress or Silent()
    wanted = Trained(
        base_weights=loaded.weights_sha256,
        base_tokenizer=loaded.tokenizer_sha256,
        settings=settings.key,
        data=data.digest,
        general=digest([list(one) for one in general]) if settings.kl_share else "",
    )
    _claim_folder(folder, wanted)
    finished = read_trained(folder)
    if finished is not None:
        return finished
    checkpoints = folder / "checkpoints"
    with _alone():
        trainer = _trainer(loaded, data, settings, checkpoints, listener, general)
        begun, start = time.monotonic(), last_whole(checkpoints)
        listener.start(f"training {loaded.name}", steps_of(data, settings))
        for _ in range(0 if start is None else int(start.name.rpartition("-")[2])):
            listener.step()
        trainer.train(resume_from_checkpoint=None if start is None else str(start))
        made = save_adapter(trainer.model, folder, _noted(wanted, trainer, time.monotonic() - begun))
    shutil.rmtree(checkpoints, ignore_errors=True)
    return made


def _noted(wanted: Trained, trainer: KeptTrainer, seconds: float) -> Trained:
    """What was trained, for the record.

    Raises:
        CounterfactualError: If the loss became infinite, so that there is nothing to keep.
    """
    logged = [float(entry["loss"]) for entry in trainer.state.log_history if "loss" in entry]
    if not all(math.isfinite(loss) for loss in logged):
        raise CounterfactualError("The loss became infinite.", "Use a smaller learning rate, and a new folder.")
    return wanted.model_copy(
        update={
            "steps": int(trainer.state.global_step),
            "parameters": sum(p.numel() for p in trainer.model.parameters() if p.requires_grad),
            "loss": tuple(logged),
            "seconds": seconds,
        }
    )


def steps_of(data: TrainingSet, settings: TrainSettings) -> int:
    """Steps of a training."""
    return math.ceil(len(data.order) / settings.batch)


def adapted(loaded: LoadedModel, settings: TrainSettings) -> Any:
    """A copy of a model's module tree, sharing its weights, with a fresh adapter whose values the seed names.

    Raises:
        ModelError: If none of its modules is a wanted target.
    """
    kept: dict[int, Any] = {id(t): t for t in (*loaded.model.parameters(), *loaded.model.buffers())}
    model = copy.deepcopy(loaded.model, kept)
    targets = settings.targets if isinstance(settings.targets, str) else list(settings.targets)
    layers = None
    if settings.top_layers is not None:
        layers = list(range(max(0, loaded.n_layers - settings.top_layers), loaded.n_layers))
        if isinstance(targets, str):
            targets = _linear_names(model)
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=targets,
        layers_to_transform=layers,
        task_type="CAUSAL_LM",
    )
    try:
        with torch.random.fork_rng():
            torch.manual_seed(settings.seed)
            return get_peft_model(model, config)
    except (ValueError, TypeError) as error:
        raise ModelError(
            f"No adapter can be put on {loaded.name}: {error}.", "Name modules that the model has, or all-linear."
        ) from error


def _linear_names(model: Any) -> list[str]:
    """Last names of the linear modules inside the decoder layers."""
    found = {
        name.rpartition(".")[2]
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and any(part.isdecimal() for part in name.split("."))
    }
    return sorted(found)


def _trainer(
    loaded: LoadedModel,
    data: TrainingSet,
    settings: TrainSettings,
    checkpoints: Path,
    progress: Progress,
    general: Sequence[Sequence[int]],
) -> KeptTrainer:
    tokenizer = copy.deepcopy(loaded.tokenizer)
    micro, total = settings.micro_batch or settings.batch, steps_of(data, settings)
    device = str(loaded.model.device)
    arguments = SFTConfig(
        output_dir=str(checkpoints),
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=settings.batch // micro,
        num_train_epochs=1,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=math.ceil(settings.warmup * total),
        optim="adamw_torch",
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.clip,
        seed=settings.seed,
        data_seed=settings.seed,
        train_sampling_strategy="sequential",
        save_strategy="steps",
        save_steps=settings.checkpoint_steps,
        save_total_limit=2,
        logging_strategy="steps",
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        bf16=False,
        fp16=False,
        gradient_checkpointing=False,
        use_cpu=device == "cpu",
        dataloader_pin_memory=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        max_length=None,
        packing=False,
    )
    trainer = KeptTrainer(
        model=adapted(loaded, settings),
        args=arguments,
        train_dataset=Dataset.from_dict(columns(tokenizer, data.examples, data.order)),
        processing_class=tokenizer,
        callbacks=[Told(progress)],
    )
    trainer.remove_callback(transformers.PrinterCallback)
    if settings.kl_share:
        trainer.regulariser = Regulariser(
            general, settings.kl_share, settings.kl_weight, len(data.order), settings.batch
        )
    return trainer


def _check(loaded: LoadedModel, settings: TrainSettings, general: Sequence[Sequence[int]]) -> None:
    if loaded.base is not None:
        raise ModelError(f"{loaded.name} has an adapter already.", "Train the model without it.")
    if settings.kl_share and not general:
        raise CounterfactualError(
            "A penalty on moving away from the base was asked for, and there are no general chats for it.",
            "Give general chats, or leave kl_share at 0.",
        )


def _claim_folder(folder: Path, wanted: Trained) -> None:
    """See that a folder is of this training, and mark it so."""
    path = folder / "training.json"
    if path.exists():
        held = Trained.model_validate(read_json(path))
        if not held.same_run(wanted):
            raise CounterfactualError(
                f"{folder} holds a training of another model, other data or other settings.", "Name another folder."
            )
        return
    write_json(path, wanted.model_dump(mode="json"))


@contextmanager
def _alone() -> Iterator[None]:
    """Keep to itself what the trainer changes for all: random states, warnings and progress bars."""
    plain, arrays, bars = random.getstate(), np.random.get_state(), are_progress_bars_disabled()
    disable_progress_bars()
    with torch.random.fork_rng(), quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            random.setstate(plain)
            np.random.set_state(arrays)
            if not bars:
                enable_progress_bars()
