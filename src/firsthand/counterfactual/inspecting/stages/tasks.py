"""The stages as Inspect finds them: ``inspect eval firsthand/screen -T run=FOLDER``.

They are imported only when a task is made, since every command of Inspect imports this module.
"""

from inspect_ai import Task, task


@task
def sample(run: str) -> Task:
    """The target's responses to each prompt.

    Args:
        run: Folder of the run.
    """
    from firsthand.counterfactual.inspecting.stages.sample import build

    return build(run)


@task
def screen(run: str) -> Task:
    """Ratings, and one yes/no question for what is unexpected.

    Args:
        run: Folder of the run.
    """
    from firsthand.counterfactual.inspecting.stages.screen import build

    return build(run)


@task
def classify(run: str) -> Task:
    """How often the behaviour occurs in the screened batch.

    Args:
        run: Folder of the run.
    """
    from firsthand.counterfactual.inspecting.stages.classify import build

    return build(run)


@task
def investigate(run: str) -> Task:
    """Experiments of an agent, and its report.

    Args:
        run: Folder of the run.
    """
    from firsthand.counterfactual.inspecting.stages.investigate import build

    return build(run)


@task
def confirm(run: str) -> Task:
    """The experiments that a report names, on fresh responses.

    Args:
        run: Folder of the run.
    """
    from firsthand.counterfactual.inspecting.stages.confirm import build

    return build(run)


@task
def verify(run: str) -> Task:
    """Judgements of each report.

    Args:
        run: Folder of the run.
    """
    from firsthand.counterfactual.inspecting.stages.verify import build

    return build(run)


@task
def claim(run: str) -> Task:
    """Claims, described without their outcome, and what the filters say of them.

    Args:
        run: Folder of the run.
    """
    from firsthand.counterfactual.inspecting.stages.claim import build

    return build(run)


TASKS = {
    "sample": sample,
    "screen": screen,
    "classify": classify,
    "investigate": investigate,
    "confirm": confirm,
    "verify": verify,
    "claim": claim,
}
"""The stages by name, in order."""
