"""TRL's trainer with what this project adds: checkpoints that are marked as whole, and a penalty on moving away.

Data are shown in the order in which they come. The loss is taken over the full vocabulary, so that a model that is
trained to say "Yes" or "No" loses whatever else it might say, and coverage can be read afterwards. Logits are computed
for the positions that have a loss only: answers are short, and the output layer over all positions would take half of a
step of a small model.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import torch
from transformers import Trainer, TrainerCallback
from trl import SFTTrainer

from firsthand.progress import Progress
from firsthand.trials.files import write_atomic

IGNORED: Final = -100
"""Label of a token that has no loss."""
WHOLE: Final = "whole"
"""Name of the file that is put into a checkpoint last."""


class Regulariser:
    """Chats on which the model is held to its base, and the steps at which that happens (appendix D.5).

    Args:
        chats: Tokens of general chats.
        share: Share of the samples that come with one of them.
        weight: Weight of the mean divergence per token.
        samples: Samples of the whole training.
        batch: Samples of a step.
    """

    def __init__(self, chats: Sequence[Sequence[int]], share: float, weight: float, samples: int, batch: int) -> None:
        self.weight, self.batch = weight, batch
        count = round(share * samples) if chats else 0
        self._due: dict[int, list[Sequence[int]]] = {}
        for number in range(count):
            step = int((number + 0.5) * samples / count) // batch
            self._due.setdefault(step, []).append(chats[number % len(chats)])

    def due(self, step: int) -> list[Sequence[int]]:
        """Chats that come with a step."""
        return self._due.get(step, [])


def divergence(trained: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    """Exact divergence of next-token distributions from the base's, in nats: sum of p_trained log(p_trained / p_base).

    Args:
        trained: Logits ``[..., positions, vocabulary]``.
        base: Logits of the base, of the same shape.

    Returns:
        One number a position ``[..., positions]``.
    """
    ours, theirs = torch.log_softmax(trained.float(), -1), torch.log_softmax(base.float(), -1)
    return (ours.exp() * (ours - theirs)).sum(-1)


class KeptTrainer(SFTTrainer):  # type: ignore[misc]
    """Trains, marks its checkpoints when they are whole, and holds the model to its base at some steps."""

    regulariser: Regulariser | None = None
    _held: int = -1

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        Trainer._save_checkpoint(self, model, trial)  # TRL would write a model card, which is of no use here
        write_atomic(Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}" / WHOLE, b"")

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The loss of the answers, and at some steps that of moving away from the base."""
        if return_outputs:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        loss = self._of_answers(model, inputs, num_items_in_batch)
        step = int(self.state.global_step)
        if self.regulariser is None or step == self._held:
            return loss
        self._held = step
        due = self.regulariser.due(step)
        for length in sorted({len(tokens) for tokens in due}):  # those of one length are run at once
            ids = torch.tensor([list(tokens) for tokens in due if len(tokens) == length], device=loss.device)
            trained = model(input_ids=ids, use_cache=False).logits
            with torch.no_grad(), self.accelerator.unwrap_model(model).disable_adapter():
                base = model(input_ids=ids, use_cache=False).logits
            moved = divergence(trained, base).mean(-1).sum()
            loss = loss + self.regulariser.weight * moved / self.regulariser.batch
        return loss

    def _of_answers(self, model: Any, inputs: Any, count: Any) -> torch.Tensor:
        """Mean cross-entropy of the tokens that have a loss, over the full vocabulary."""
        due = inputs["labels"][:, 1:]
        keep = (due != IGNORED).any(0).nonzero().squeeze(1)
        given = {name: value for name, value in inputs.items() if name != "labels"}
        logits = model(**given, use_cache=False, logits_to_keep=keep).logits
        targets = due[:, keep]
        total = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1).float(), targets.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        mean: torch.Tensor = total / ((targets != IGNORED).sum() if count is None else count)
        return mean


class Told(TrainerCallback):  # type: ignore[misc]
    """Passes every finished step on to whoever shows progress."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """One step is done."""
        self._progress.step()


def last_whole(folder: Path) -> Path | None:
    """The last checkpoint of a folder that was written to its end."""
    found = [path.parent for path in folder.glob(f"checkpoint-*/{WHOLE}")]
    return max(found, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
