"""Tools cannot edit: the target is bit for bit what it was, and a tool that changes anything is found out."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from tiny_tools import question_of, write_autoencoder

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.prompts import Prompt, Tool, Turn
from firsthand.counterfactual.tools.altered import AlteredError
from firsthand.counterfactual.tools.guard import Guarded
from firsthand.counterfactual.tools.plugged import Plugged, View
from firsthand.counterfactual.tools.registry import open_tools
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine import LoadedModel, Row, load, run

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def digest_of(loaded: LoadedModel) -> str:
    found = hashlib.sha256()
    for name, one in sorted([*loaded.model.named_parameters(), *loaded.model.named_buffers()]):
        found.update(name.encode() + one.detach().contiguous().numpy().tobytes())
    return found.hexdigest()


def hooks_of(loaded: LoadedModel) -> list[list[int]]:
    return [[id(hook) for hook in getattr(one, name).values()] for one in loaded.model.modules() for name in HOOKS]


def test_no_tool_of_ours_changes_weights_hooks_outputs_or_the_question(
    tiny: LoadedModel, subject: Subject, adapter: Path, tmp_path: Path
) -> None:
    question = question_of()
    sae = write_autoencoder(tmp_path / "sae")
    nla = tmp_path / "nla"
    nla.mkdir()
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (nla / name).write_bytes((adapter / name).read_bytes())
    own = {"reads": "resid_post[2]", "mark": " X", "prompt": "It means {mark}.", "max_tokens": 4}
    (nla / "verbaliser.yaml").write_text(yaml.safe_dump(own))
    tools = open_tools(["logit-lens", f"sae:{sae}", f"oracle:{adapter}", f"nla:{nla}"], subject)
    rows = [Row(subject.transcript(question).tokens, read=(3, 9, 20))]

    before = digest_of(tiny), hooks_of(tiny), run(subject.anatomy, rows).logprobs_RV.numpy().tobytes()
    shown = question.model_dump_json()
    for tool in tools:
        assert tool.read(question, (3, 4, 5), "What?")
    after = digest_of(tiny), hooks_of(tiny), run(subject.anatomy, rows).logprobs_RV.numpy().tobytes()
    assert after == before
    assert question.model_dump_json() == shown


@pytest.fixture
def own_subject(tiny_folder: Path) -> Subject:
    """A target that may be spoiled."""
    return Subject(load(str(tiny_folder)))


def _hook(subject: Subject) -> None:
    subject.anatomy.blocks[1].register_forward_hook(lambda *_: None)


def _pre_hook(subject: Subject) -> None:
    subject.loaded.model.lm_head.register_forward_pre_hook(lambda *_: None)


def _weight(subject: Subject) -> None:
    next(subject.loaded.model.parameters()).data[7, 3] += 1e-6


def _weight_twice(subject: Subject) -> None:
    with torch.no_grad():
        one = subject.anatomy.blocks[2].mlp.down_proj.weight
        one.add_(1.0)
        one.sub_(1.0)


def _swapped(subject: Subject) -> None:
    subject.anatomy.blocks[0].mlp.gate_proj.weight = torch.nn.Parameter(torch.zeros(48, 32), requires_grad=False)


def _method(subject: Subject) -> None:
    block = subject.anatomy.blocks[1]
    block.forward = block.forward


def _training(subject: Subject) -> None:
    subject.loaded.model.train()


def _gradients(subject: Subject) -> None:
    next(subject.loaded.model.parameters()).requires_grad_(True)


def _buffer(subject: Subject) -> None:
    _, one = next(iter(subject.loaded.model.named_buffers()))
    one.data.mul_(1.0001)


def _attention(subject: Subject) -> None:
    subject.loaded.model.set_attn_implementation("eager")


CHANGES: dict[str, Callable[[Subject], None]] = {
    "a hook": _hook,
    "a hook ": _pre_hook,
    "weight": _weight,
    "a weight": _weight_twice,
    "a weight ": _swapped,
    "a method": _method,
    "training mode": _training,
    "a weight  ": _gradients,
    "of the target": _buffer,
    "of the target ": _attention,
}


@pytest.mark.parametrize("named", CHANGES)
def test_a_tool_that_changes_the_target_is_found_out(own_subject: Subject, named: str) -> None:
    def spoil(view: View, positions: Sequence[int], ask: str) -> list[str]:
        """Says nothing."""
        CHANGES[named](own_subject)
        return ["" for _ in positions]

    with pytest.raises(AlteredError, match=f"'spoil' changed .*{named.strip()}"):
        Guarded(Plugged(own_subject, spoil), own_subject).read(question_of(), (2, 3), "")


def test_a_tool_that_raises_after_a_change_is_found_out_too(own_subject: Subject) -> None:
    def spoil(view: View, positions: Sequence[int], ask: str) -> list[str]:
        """Says nothing."""
        _hook(own_subject)
        raise RuntimeError("nothing to see")

    with pytest.raises(AlteredError, match="a hook"):
        Guarded(Plugged(own_subject, spoil), own_subject).read(question_of(), (2,), "")


def test_a_target_that_does_not_run_any_more_is_found_out(own_subject: Subject) -> None:
    def spoil(view: View, positions: Sequence[int], ask: str) -> list[str]:
        """Says nothing."""
        own_subject.loaded.model.model.norm = None
        return [""]

    with pytest.raises(AlteredError, match="does not run any more"):
        Guarded(Plugged(own_subject, spoil), own_subject).read(question_of(), (2,), "")


def test_a_global_hook_is_found_out(own_subject: Subject) -> None:
    handles: list[Any] = []

    def spoil(view: View, positions: Sequence[int], ask: str) -> list[str]:
        """Says nothing."""
        handles.append(torch.nn.modules.module.register_module_forward_hook(lambda *_: None))
        return [""]

    try:
        with pytest.raises(AlteredError, match="a global hook"):
            Guarded(Plugged(own_subject, spoil), own_subject).read(question_of(), (2,), "")
    finally:
        handles[0].remove()


def test_a_tool_gets_a_copy_of_the_question_and_may_not_alter_even_that(subject: Subject) -> None:
    tool = Tool(name="look", parameters={"type": "object"})
    question = question_of().model_copy(
        update={"prompt": Prompt(turns=(Turn(role="user", content="Look."),), source="x").model_copy()}
    )
    with_tool = question.model_copy(update={"prompt": question.prompt.model_copy(update={"tools": (tool,)})})

    class Altering:
        name, description, identity, takes = "altering", "Alters.", "altering", "positions"

        def read(self, question: Question, positions: Sequence[int], ask: str) -> tuple[()]:
            question.prompt.tools[0].parameters["type"] = "array"
            return ()

    with pytest.raises(AlteredError, match="the question"):
        Guarded(Altering(), subject).read(with_tool, (1,), "")  # type: ignore[arg-type]
    assert with_tool.prompt.tools[0].parameters == {"type": "object"}


def test_a_tool_that_only_reads_is_left_alone_after_somebody_else_changed_the_weights(own_subject: Subject) -> None:
    def norms(view: View, positions: Sequence[int], ask: str) -> list[str]:
        """Tells how long each state is."""
        return [f"{float(one.norm()):.1f}" for one in view.states("resid_post[1]", positions)]

    guarded = Guarded(Plugged(own_subject, norms), own_subject)
    first = guarded.read(question_of(), (2, 3), "")
    with torch.no_grad():
        own_subject.anatomy.blocks[0].mlp.down_proj.weight.mul_(3.0)
    assert guarded.read(question_of(), (2, 3), "") != first
