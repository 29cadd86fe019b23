"""What is no outcome waits: outages after an answer, calls lost, mistakes of one's own; and nothing waits for ever."""

import sys
import types
from pathlib import Path
from typing import Any

import pytest
from planted_world import CALLS, MODELS, Refused, world
from running_world import prompts, run, settings

from firsthand.counterfactual import behaviours
from firsthand.counterfactual.behaviours import Computed
from firsthand.counterfactual.inspecting.running import run_stages
from firsthand.counterfactual.inspecting.stages.settings import RoleModel, StagesSettings
from firsthand.counterfactual.inspecting.stages.stage import left_by
from firsthand.counterfactual.responses import Sampling
from firsthand.errors import CounterfactualError

ONCE = {"sampling": Sampling(samples=4), "until": "sample", "retries": 0, "samples_at_once": 1}


class Broken(Exception):  # noqa: N818
    """What a server says that is broken."""

    status_code = 500


def sampled(folder: Path, count: int, model: str, **others: Any) -> dict[str, str]:
    """Where each prompt ended, by the line that it stands in."""
    fields = {**ONCE, **others}
    until = fields.pop("until")
    chosen = settings(folder, model, **fields)
    ends = {one.prompt: one.status for one in run_stages(chosen, prompts(count), until=until).endings}
    return {one.place or "": ends[one.id] for one in prompts(count)}


def playing(monkeypatch: pytest.MonkeyPatch, refuses: Any) -> None:
    """A world that raises what a function of the prompt's text gives, if it gives anything."""

    def model(role, messages, tools, config):  # type: ignore[no-untyped-def]
        error = refuses("\n".join(one.text for one in messages))
        if error is not None:
            raise error
        return world(role, messages, tools, config)

    monkeypatch.setitem(MODELS, "odd", model)


def test_a_provider_that_begins_to_refuse_everybody_makes_no_outcomes_and_a_resumed_run_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    playing(monkeypatch, lambda text: None if "Note 0." in text else Refused("no"))
    for _ in range(2):
        ends = sampled(tmp_path, 7, "odd", give_up_after=3)
        assert ends == {"line 0": "sampled", **{f"line {n}": "waits" for n in range(1, 7)}}
    playing(monkeypatch, lambda text: None)
    assert set(sampled(tmp_path, 7, "odd", give_up_after=3).values()) == {"sampled"}


def test_a_prompt_that_alone_is_refused_is_its_own_outcome_even_as_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    playing(monkeypatch, lambda text: Refused("no") if "Note 2." in text else None)
    assert sampled(tmp_path, 3, "odd") == {"line 0": "sampled", "line 1": "sampled", "line 2": "nothing said"}


def test_a_prompt_that_fails_in_three_runs_is_recorded_but_only_if_others_would_be_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    playing(monkeypatch, lambda text: Broken("an error") if "Note 1." in text else None)
    assert [sampled(tmp_path, 2, "odd")["line 1"] for _ in range(2)] == ["waits", "waits"]
    playing(monkeypatch, lambda text: Broken("an error"))
    assert sampled(tmp_path, 2, "odd")["line 1"] == "waits"
    playing(monkeypatch, lambda text: Broken("an error") if "Note 1." in text else None)
    assert sampled(tmp_path, 2, "odd") == {"line 0": "sampled", "line 1": "error"}
    (found,) = [one for one in left_by(tmp_path, "sample").values() if one["status"] == "error"]
    assert "an error" in found["problem"]
    assert "in 4 runs" in found["problem"]


def test_a_mistake_in_a_function_of_one_s_own_makes_nothing_final_and_a_mended_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("my_judges")
    monkeypatch.setitem(sys.modules, "my_judges", module)
    behaviours._function.cache_clear()
    judge = Computed(question="Is there a lighthouse?", function="my_judges:judge")
    given = {"behaviours": (judge,), "until": "screen"}

    before = len(CALLS)
    with pytest.raises(CounterfactualError, match="my_judges:judge cannot be imported"):
        sampled(tmp_path, 2, "world", **given)
    assert len(CALLS) == before

    for error in (KeyError("a"), OSError("no space left")):

        def judging(response: object, error: Exception = error) -> bool:
            raise error

        module.judge = judging  # type: ignore[attr-defined]
        behaviours._function.cache_clear()
        assert set(sampled(tmp_path, 2, "world", **given).values()) == {"waits"}
    module.judge = lambda response: "lighthouse" in response.text  # type: ignore[attr-defined]
    behaviours._function.cache_clear()
    assert set(sampled(tmp_path, 2, "world", **{**given, "until": "classify"}).values()) == {"frequent"}


def test_wrong_values_of_a_model_s_config_are_told_in_words(tmp_path: Path) -> None:
    playing = RoleModel(model="planted/world", config={"temperature": "hot"})
    chosen = StagesSettings(folder=str(tmp_path), roles={"target": playing, "investigator": playing})
    with pytest.raises(CounterfactualError, match=r"temperature: .*'hot'"):
        run_stages(chosen, prompts(1))


def test_a_behaviour_about_other_tokens_than_are_drawn_is_refused(tmp_path: Path) -> None:
    judge = behaviours.Pattern(question="?", pattern="x", within=24)
    with pytest.raises(ValueError, match="about the first 24 tokens, and responses have at most 500"):
        run(tmp_path, 1, behaviours=(judge,))
