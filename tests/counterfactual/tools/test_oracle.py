"""An oracle answers from the states of the target, which are added by the published formula."""

import json
from pathlib import Path

import pytest
import torch
from tiny_tools import HIDDEN, write_adapter

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.oracle import Oracle, OracleSettings, asked, written
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine import Capture, LoadedModel, Row, inspect_model, load_adapter, resid_post, run
from firsthand.errors import CounterfactualError, ModelError

SEGMENT = (6, 7, 8)


def test_marks_stand_after_the_line_that_names_the_layer(tiny: LoadedModel) -> None:
    found = asked(tiny.tokenizer, OracleSettings(), 15, 3, "What is it about? ?")
    texts = [tiny.tokenizer.decode([token]) for token in found.tokens]
    assert [texts[place] for place in found.places] == [" ?"] * 3
    before = "".join(texts[: found.places[0]])
    assert before.endswith("Layer: 15\n")
    assert "".join(texts[found.places[-1] + 1 :]).startswith(" \nWhat is it about? ?")


def test_states_are_added_in_their_direction_with_the_norm_of_what_stands_there(tiny: LoadedModel) -> None:
    anatomy, settings = inspect_model(tiny.model), OracleSettings()
    prompt = asked(tiny.tokenizer, settings, 2, 2, "Well?")
    states = torch.randn(2, HIDDEN) * torch.tensor([[0.1], [50.0]])
    row = written(prompt, states, settings)
    capture = Capture("h", resid_post(1), prompt.places)
    plain, edited = run(
        anatomy, [Row(row.tokens, captures=(capture,)), Row(row.tokens, row.edits, (capture,))]
    ).captures
    h, norm = plain["h"], plain["h"].norm(dim=-1, keepdim=True)
    assert torch.allclose(edited["h"], h + norm * states / states.norm(dim=-1, keepdim=True), atol=1e-4)


def test_it_answers_from_each_layer_and_from_the_states_of_the_segment(
    subject: Subject, question: Question, adapter: Path
) -> None:
    oracle = Oracle(subject, adapter)
    found = oracle.read(question, SEGMENT, "What is it about?")
    assert [one.text.partition(":")[0] for one in found] == ["layer 1", "layer 2", "layer 3"]
    assert {one.token for one in found} == {subject.transcript(question).text(6, 8)}
    assert oracle.read(question, SEGMENT, "What is it about?") == found
    others = [oracle.read(question, SEGMENT, "Which one?"), oracle.read(question, (12, 13, 14), "What is it about?")]
    assert all([one.text for one in other] != [one.text for one in found] for other in others)


def test_states_are_those_of_the_target_without_the_oracles_adapter(
    tiny: LoadedModel, subject: Subject, question: Question, adapter: Path
) -> None:
    Oracle(subject, adapter)
    site = resid_post(2)
    clean = subject.states(question, [site], SEGMENT)[site]
    adapted = Subject(load_adapter(tiny, adapter)).states(question, [site], SEGMENT)[site]
    capture = Capture("h", site, SEGMENT)
    tokens = subject.transcript(question).tokens
    whole = run(inspect_model(tiny.model), [Row(tokens, captures=(capture,))]).captures[0]["h"]
    assert torch.allclose(clean, whole, atol=2e-5)
    assert not torch.allclose(adapted, whole, atol=1e-2)


def test_a_target_with_an_adapter_is_read_with_it_and_asked_on_its_base(
    tiny: LoadedModel, question: Question, adapter: Path, tmp_path: Path
) -> None:
    trained = load_adapter(tiny, write_adapter(tmp_path, tiny, size=1.0))
    oracle = Oracle(Subject(trained), adapter)
    assert oracle.reader.base is tiny
    assert oracle.read(question, SEGMENT, "What?") != Oracle(Subject(tiny), adapter).read(question, SEGMENT, "What?")


def test_an_adapter_that_does_not_land_is_refused(subject: Subject, adapter: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    (tmp_path / "adapter_config.json").write_bytes((adapter / "adapter_config.json").read_bytes())
    tensors = load_file(adapter / "adapter_model.safetensors")
    save_file(
        {name.replace("layers.3", "layers.7"): one for name, one in tensors.items()},
        tmp_path / "adapter_model.safetensors",
    )
    with pytest.raises(ModelError, match="does not match"):
        Oracle(subject, tmp_path)


def test_an_oracle_that_was_trained_otherwise_says_so(
    subject: Subject, question: Question, adapter: Path, tmp_path: Path
) -> None:
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (tmp_path / name).write_bytes((adapter / name).read_bytes())
    (tmp_path / "oracle.json").write_text(json.dumps({"depths": [0.5], "max_tokens": 3, "system": ""}))
    oracle = Oracle(subject, tmp_path)
    assert len(oracle.read(question, SEGMENT, "What?")) == 1
    assert oracle.identity != Oracle(subject, adapter).identity
    (tmp_path / "oracle.json").write_text('{"marks": 1}')
    with pytest.raises(CounterfactualError, match="does not say how"):
        Oracle(subject, tmp_path)
    (tmp_path / "oracle.json").write_text('{"mark": " several tokens"}')
    with pytest.raises(CounterfactualError, match="not one token"):
        Oracle(subject, tmp_path)
