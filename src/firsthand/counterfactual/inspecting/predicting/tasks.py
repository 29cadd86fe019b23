"""Predicting as a registered task. Nothing heavy is imported here, since every command of Inspect imports it."""

from inspect_ai import Task, task


@task
def predict(run: str) -> Task:
    """Probabilities of claims, by a model that reads transcripts, with or without tools.

    Args:
        run: Folder of the run.
    """
    from firsthand.counterfactual.inspecting.predicting.working import build

    return build(run)
