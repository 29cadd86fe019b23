"""A verbaliser writes the activation where its settings say, and what it then says is the description."""

from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.autoencoder import Verbaliser, read_settings
from firsthand.counterfactual.tools.oracle import GREEDY
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine import Capture, Row, generate, inspect_model, resid_post, resid_pre, run
from firsthand.errors import CounterfactualError, EngineError

OWN: dict[str, Any] = {"reads": "resid_post[2]", "mark": " X", "prompt": "It means {mark} here.", "max_tokens": 6}
PUBLISHED: dict[str, Any] = {
    "kind": "nla_model",
    "d_model": 32,
    "extraction_layer_index": 2,
    "extraction": {"injection_scale": 7.0},
    "tokens": {"injection_char": " X", "injection_token_id": 1},
    "prompt_templates": {"av": "It means {injection_char} here."},
}


def adapter_with(adapter: Path, folder: Path, name: str, settings: dict[str, Any]) -> Path:
    for file in ("adapter_config.json", "adapter_model.safetensors"):
        (folder / file).write_bytes((adapter / file).read_bytes())
    (folder / name).write_text(yaml.safe_dump(settings))
    return folder


def test_the_state_takes_the_place_of_the_marks_embedding_at_the_norm_that_is_wanted(
    subject: Subject, question: Question, adapter: Path, tmp_path: Path
) -> None:
    tool = Verbaliser(subject, adapter_with(adapter, tmp_path, "verbaliser.yaml", {**OWN, "scale": 7.0}))
    site = resid_post(2)
    state = subject.states(question, [site], (5,))[site][0]
    row = Row(tool._prompt.tokens, (tool._edit(state),), (Capture("e", resid_pre(0), tool._prompt.places),))
    written = run(inspect_model(tool.reader.model), [row]).captures[0]["e"][0]
    assert torch.allclose(written, state * 7.0 / state.norm(), atol=1e-5)
    assert tool.reader.tokenizer.decode([row.tokens[tool._prompt.places[0]]]) == " X"


def test_each_token_gets_its_own_description_whatever_it_is_read_with(
    subject: Subject, question: Question, adapter: Path, tmp_path: Path
) -> None:
    tool = Verbaliser(subject, adapter_with(adapter, tmp_path, "verbaliser.yaml", OWN))
    together = tool.read(question, (4, 5, 9), "")
    assert [one.position for one in together] == [4, 5, 9]
    assert len({one.text for one in together}) == 3
    assert tool.read(question, (5,), "")[0] == together[1]


def test_what_it_says_of_nothing_is_another_text(
    subject: Subject, question: Question, adapter: Path, tmp_path: Path
) -> None:
    tool = Verbaliser(subject, adapter_with(adapter, tmp_path, "verbaliser.yaml", OWN))
    anatomy = inspect_model(tool.reader.model)
    bare = generate(anatomy, tool.reader.tokenizer, [Row(tool._prompt.tokens)], max_tokens=6, sampling=GREEDY)
    assert tool.read(question, (5,), "")[0].text != bare[0][0].text.strip()


def test_published_settings_are_read(subject: Subject, adapter: Path, tmp_path: Path) -> None:
    folder = adapter_with(adapter, tmp_path, "nla_meta.yaml", PUBLISHED)
    found = read_settings(folder)
    assert (found.reads, found.writes, found.operation, found.scale) == (
        "resid_post[2]",
        "resid_pre[0]",
        "replace",
        7.0,
    )
    assert found.prompt == "It means {mark} here."
    assert (found.opens, found.closes) == ("<explanation>", "</explanation>")
    tool = Verbaliser(subject, folder)
    assert tool._described("Well. <explanation> A fruit. </explanation> So.") == "A fruit."
    assert tool._described("Never opened") == "Never opened"


def test_a_whole_model_can_be_the_verbaliser(
    subject: Subject, question: Question, tiny_folder: Path, tmp_path: Path
) -> None:
    for file in tiny_folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "verbaliser.yaml").write_text(
        yaml.safe_dump({**OWN, "operation": "add_scaled", "writes": "resid_post[1]"})
    )
    assert Verbaliser(subject, tmp_path).read(question, (5,), "")[0].position == 5


@pytest.mark.parametrize(
    ("name", "changes", "named"),
    [
        ("verbaliser.yaml", {"prompt": "no mark"}, "does not say how"),
        ("verbaliser.yaml", {"mark": " several tokens"}, "not one token"),
        ("verbaliser.yaml", {"reads": "resid_post[9]"}, "layer 9"),
        ("verbaliser.yaml", {"reads": "hidden_states[2]"}, "does not name a site"),
        ("nla_meta.yaml", {"prompt_templates": {"av": "nothing"}}, "does not say how"),
        ("nla_meta.yaml", {"tokens": {}}, "does not say how"),
    ],
)
def test_what_cannot_be_carried_out_is_refused(
    subject: Subject, adapter: Path, tmp_path: Path, name: str, changes: dict[str, Any], named: str
) -> None:
    settings = {**(OWN if name == "verbaliser.yaml" else PUBLISHED), **changes}
    with pytest.raises((CounterfactualError, EngineError), match=named):
        Verbaliser(subject, adapter_with(adapter, tmp_path, name, settings))


def test_a_folder_without_settings_is_refused(subject: Subject, adapter: Path) -> None:
    with pytest.raises(CounterfactualError, match="does not say how its verbaliser is asked"):
        Verbaliser(subject, adapter)
