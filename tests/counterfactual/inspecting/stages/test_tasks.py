"""The stages are tasks that Inspect finds by name, with plain parameters."""

import inspect

from inspect_ai._util.registry import registry_find

import firsthand.counterfactual.inspecting.registry  # noqa: F401 - as the entry point does
from firsthand.counterfactual.inspecting.stages.stage import STAGES
from firsthand.counterfactual.inspecting.stages.tasks import TASKS


def test_every_stage_is_registered_under_its_name() -> None:
    known = {info.name.rpartition("/")[2] for info in map(_info, registry_find(lambda one: one.type == "task"))}
    assert set(STAGES) <= known
    assert tuple(TASKS) == STAGES


def _info(task: object):  # type: ignore[no-untyped-def]
    from inspect_ai._util.registry import registry_info

    return registry_info(task)


def test_parameters_are_plain_and_documented() -> None:
    for task in TASKS.values():
        assert list(inspect.signature(task).parameters) == ["run"]
        assert "Args:\n        run: " in (task.__doc__ or "")
